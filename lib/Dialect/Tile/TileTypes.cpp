//===- TileTypes.cpp - tiles and pipes as types -----------------------------------===//
#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Machine/Machine.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "kiln/Dialect/Tile/TileEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/Dialect/Tile/TileTypes.cpp.inc"

namespace kiln::tile {

void TileDialect::registerTypesAndAttributes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kiln/Dialect/Tile/TileTypes.cpp.inc"
      >();
}

/// `128x64xbf16`.
static ParseResult parseShapeAndElement(AsmParser &parser, SmallVectorImpl<int64_t> &shape,
                                        Type &element) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(loc, "a tile has two dimensions, this one has ") << shape.size();
  return success();
}

static void printShapeAndElement(AsmPrinter &printer, TileType tile) {
  printer << tile.getRows() << "x" << tile.getCols() << "x" << tile.getElementType();
}

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  Space space = Space::Unassigned;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShapeAndElement(parser, shape, element))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    SMLoc spaceLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return {};
    std::optional<Space> parsed = symbolizeSpace(keyword);
    if (!parsed) {
      parser.emitError(spaceLoc, "expected vec, mat, left, right, acc or bias, found '")
          << keyword << "'";
      return {};
    }
    space = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(loc, parser.getContext(), shape[0], shape[1], element, space);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<";
  printShapeAndElement(printer, *this);
  if (getSpace() != Space::Unassigned)
    printer << ", " << stringifySpace(getSpace());
  printer << ">";
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                               int64_t cols, Type element, Space) {
  if (rows < 1 || cols < 1)
    return emitError() << "the extents of a tile are at least 1, these are " << rows << "x" << cols;
  // Bounds every later product of extents and byte sizes.
  if (rows > (1 << 20) || cols > (1 << 20) || rows * cols > (1 << 26))
    return emitError() << "a tile of " << rows << "x" << cols
                       << " is larger than any core's memory";
  if (!ir::isElementType(element))
    return emitError() << element << " cannot be the element of a tile; use "
                       << ir::elementTypeList();
  return success();
}

Type PipeType::parse(AsmParser &parser) {
  std::string from, to;
  SmallVector<TileType> payload;
  Split split = Split::None;
  SMLoc loc = parser.getCurrentLocation();
  auto parseTile = [&]() -> ParseResult {
    SmallVector<int64_t> shape;
    Type element;
    SMLoc tileLoc = parser.getCurrentLocation();
    if (parseShapeAndElement(parser, shape, element))
      return failure();
    payload.push_back(parser.getChecked<TileType>(tileLoc, parser.getContext(), shape[0], shape[1],
                                                  element, Space::Unassigned));
    return success(payload.back() != nullptr);
  };
  if (parser.parseLess() || parser.parseKeywordOrString(&from) || parser.parseArrow() ||
      parser.parseKeywordOrString(&to) || parser.parseComma())
    return {};
  if (failed(parser.parseOptionalKeyword("token"))) {
    if (succeeded(parser.parseOptionalLParen())) {
      if (parser.parseCommaSeparatedList(parseTile) || parser.parseRParen())
        return {};
    } else if (parseTile()) {
      return {};
    }
  }
  if (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    SMLoc splitLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return {};
    std::optional<Split> parsed = symbolizeSplit(keyword);
    if (!parsed) {
      parser.emitError(splitLoc, "expected none, up_down or left_right, found '") << keyword << "'";
      return {};
    }
    split = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PipeType>(loc, parser.getContext(), from, to, payload, split);
}

void PipeType::print(AsmPrinter &printer) const {
  printer << "<" << getFrom() << " -> " << getTo() << ", ";
  if (getPayload().empty()) {
    printer << "token";
  } else if (getPayload().size() == 1) {
    printShapeAndElement(printer, getPayload()[0]);
  } else {
    printer << "(";
    llvm::interleaveComma(getPayload(), printer,
                          [&](TileType tile) { printShapeAndElement(printer, tile); });
    printer << ")";
  }
  if (getSplit() != Split::None)
    printer << ", " << stringifySplit(getSplit());
  printer << ">";
}

LogicalResult PipeType::verify(function_ref<InFlightDiagnostic()> emitError, StringRef from,
                               StringRef to, ArrayRef<TileType>, Split) {
  for (StringRef role : {from, to})
    if (!findRole(role))
      return emitError() << "no machine has a role '" << role << "'; roles are " << roleNames();
  return success();
}

TileType laneShare(TileType full, Split split, int64_t lanes) {
  switch (split) {
  case Split::None:
    return full;
  case Split::UpDown:
    return full.withShape(full.getRows() / lanes, full.getCols());
  case Split::LeftRight:
    return full.withShape(full.getRows(), full.getCols() / lanes);
  }
  return full;
}

} // namespace kiln::tile
