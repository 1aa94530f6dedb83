//===- KilnTypes.cpp - tensors, and the attributes of the kiln dialect ----------===//
#include "kiln/Dialect/Kiln/KilnDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "kiln/Dialect/Kiln/KilnEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/Dialect/Kiln/KilnAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/Dialect/Kiln/KilnTypes.cpp.inc"

namespace kiln::ir {

void KilnDialect::registerTypesAndAttributes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kiln/Dialect/Kiln/KilnTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/Dialect/Kiln/KilnAttrs.cpp.inc"
      >();
}

bool isElementType(Type type) {
  return type.isF32() || type.isF16() || type.isBF16() ||
         isa<Float8E4M3FNType, Float8E5M2Type>(type) || type.isSignlessInteger(8) ||
         type.isSignlessInteger(16) || type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
         type.isSignlessInteger(1);
}

StringRef elementTypeList() { return "f32, f16, bf16, f8E4M3FN, f8E5M2, i8, i16, i32, i64 or i1"; }

//===----------------------------------------------------------------------===//
// TensorType
//===----------------------------------------------------------------------===//

static Type parseTensorStrides(AsmParser &parser, SmallVectorImpl<int64_t> &strides) {
  auto parseStride = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      strides.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(strides.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStride))
    return {};
  return NoneType::get(parser.getContext());
}

Type TensorType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma()))
    if (parser.parseKeyword("strides") || !parseTensorStrides(parser, strides))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TensorType>(loc, parser.getContext(), shape, element, strides);
}

void TensorType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType();
  if (!getStrides().empty()) {
    printer << ", strides [";
    llvm::interleaveComma(getStrides(), printer, [&](int64_t stride) {
      if (ShapedType::isDynamic(stride))
        printer << "?";
      else
        printer << stride;
    });
    printer << "]";
  }
  printer << ">";
}

LogicalResult TensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType,
                                 ArrayRef<int64_t> strides) {
  if (shape.empty() || int64_t(shape.size()) > kMaxRank)
    return emitError() << "a tensor has rank 1 to " << kMaxRank << ", this one has "
                       << shape.size();
  if (!isElementType(elementType))
    return emitError() << elementType << " cannot be the element of a tensor; use "
                       << elementTypeList();
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 0)
      return emitError() << "negative extent " << extent;
  // Bounds every later product of extents and byte sizes.
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (extent > 0 &&
        (llvm::MulOverflow(elements, extent, elements) || elements > (int64_t(1) << 56)))
      return emitError() << "more elements than any memory holds";
  if (!strides.empty() && strides.size() != shape.size())
    return emitError() << "a tensor of rank " << shape.size() << " has as many strides, not "
                       << strides.size();
  for (int64_t stride : strides)
    if (!ShapedType::isDynamic(stride) && stride < 0)
      return emitError() << "negative stride " << stride << "; strides are zero or more";
  return success();
}

bool TensorType::canPassAs(TensorType to) const {
  if (getElementType() != to.getElementType() || getRank() != to.getRank())
    return false;
  auto forgets = [](int64_t have, int64_t want) {
    return ShapedType::isDynamic(want) || have == want;
  };
  if (!llvm::all_of_zip(getShape(), to.getShape(), forgets))
    return false;
  return to.getStrides().empty() ||
         (!getStrides().empty() && llvm::all_of_zip(getStrides(), to.getStrides(), forgets));
}

LogicalResult LoopAttr::verify(function_ref<InFlightDiagnostic()> emitError, LoopKind kind,
                               int64_t stages) {
  if (kind == LoopKind::Pipeline ? stages < 1 : stages != 0)
    return emitError() << "a pipeline loop has stages >= 1, the other kinds have none";
  return success();
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

Attribute AlongAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef chosen;
  SmallVector<int64_t> extents;
  SmallVector<StringAttr> names;
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    if (succeeded(parser.parseOptionalQuestion())) {
      extents.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(extents.emplace_back());
  };
  if (parser.parseLess() || parser.parseKeyword(&chosen) || parser.parseKeyword("of") ||
      parser.parseCommaSeparatedList(parseAxis) || parser.parseGreater())
    return {};
  const auto *found =
      llvm::find_if(names, [&](StringAttr name) { return name.getValue() == chosen; });
  if (found == names.end()) {
    parser.emitError(loc) << "the mesh has no axis '" << chosen << "'";
    return {};
  }
  return parser.getChecked<AlongAttr>(loc, parser.getContext(), found - names.begin(), extents,
                                      names);
}

void AlongAttr::print(AsmPrinter &printer) const {
  printer << "<" << getNames()[getAxis()].getValue() << " of ";
  llvm::interleaveComma(llvm::zip(getNames(), getExtents()), printer, [&](auto axis) {
    auto [name, extent] = axis;
    printer << name.getValue() << " = ";
    if (ShapedType::isDynamic(extent))
      printer << "?";
    else
      printer << extent;
  });
  printer << ">";
}

static bool isAxisName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

LogicalResult AlongAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t axis,
                                ArrayRef<int64_t> extents, ArrayRef<StringAttr> names) {
  if (extents.empty() || extents.size() != names.size())
    return emitError() << "a mesh has one name for each of its axes, and at least one axis";
  if (axis < 0 || axis >= int64_t(extents.size()))
    return emitError() << "the mesh has no axis " << axis;
  if (llvm::count(extents, ShapedType::kDynamic) > 1)
    return emitError() << "one extent of a mesh may be left open, not several";
  int64_t count = 1;
  for (int64_t extent : extents)
    if (!ShapedType::isDynamic(extent) &&
        (extent < 1 || llvm::MulOverflow(count, extent, count) || count > (1 << 24)))
      return emitError() << "a mesh has extents of 1 or more, and at most " << (1 << 24)
                         << " ranks";
  llvm::SmallDenseSet<StringAttr> seen;
  for (StringAttr name : names)
    if (!isAxisName(name.getValue()) || !seen.insert(name).second)
      return emitError()
             << "the axes of a mesh have names of letters, digits and '_', each its own, "
                "not '"
             << name.getValue() << "'";
  return success();
}

} // namespace kiln::ir
