#include "kiln/Dialect/Assembly.h"

using namespace mlir;

namespace kiln::assembly {

// OpAsmParser has no query "what is the type of %x". Resolving %x against a type that no Kiln value
// has makes the parser compare and complain; the complaint carries the real type as a typed
// argument, which is read here and swallowed. If %x is not defined yet, resolving succeeds with a
// placeholder: an error for us, since every region of these dialects is in dominance order.
FailureOr<Type> typeOfOperand(OpAsmParser &parser, const Operand &operand) {
  Type probe = NoneType::get(parser.getContext());
  Type found;
  SmallVector<Value, 1> resolved;
  {
    ScopedDiagnosticHandler swallow(parser.getContext(), [&](Diagnostic &diagnostic) {
      for (DiagnosticArgument &argument : diagnostic.getArguments())
        if (argument.getKind() == DiagnosticArgument::DiagnosticArgumentKind::Type &&
            argument.getAsType() != probe)
          found = argument.getAsType();
      return success();
    });
    (void)parser.resolveOperand(operand, probe, resolved);
  }
  if (found)
    return found;
  parser.emitError(operand.location, "use of undeclared value '") << operand.name << "'";
  return failure();
}

ParseResult parseTyped(OpAsmParser &parser, Operand &operand, Type &type) {
  if (parser.parseOperand(operand))
    return failure();
  FailureOr<Type> found = typeOfOperand(parser, operand);
  if (failed(found))
    return failure();
  type = *found;
  return success();
}

void printTyped(OpAsmPrinter &printer, Operation *, Value value, Type) { printer << value; }

ParseResult parseTyped(OpAsmParser &parser, Operands &operands, SmallVectorImpl<Type> &types) {
  // A leading `)` means an empty list; parseOperandList without a delimiter accepts none.
  if (parser.parseOperandList(operands))
    return failure();
  for (const Operand &operand : operands) {
    FailureOr<Type> found = typeOfOperand(parser, operand);
    if (failed(found))
      return failure();
    types.push_back(*found);
  }
  return success();
}

void printTyped(OpAsmPrinter &printer, Operation *, OperandRange values, TypeRange) {
  printer << values;
}

bool isMadeUpName(StringRef name) {
  name.consume_front("arg");
  return llvm::all_of(name, llvm::isDigit);
}

ParseResult parseResultName(OpAsmParser &parser, StringAttr &name) {
  if (succeeded(parser.parseOptionalKeyword("name"))) {
    std::string text;
    if (parser.parseLParen() || parser.parseString(&text) || parser.parseRParen())
      return failure();
    if (!text.empty())
      name = parser.getBuilder().getStringAttr(text);
    return success();
  }
  if (parser.getNumResults() == 0)
    return success();
  StringRef ssaName = parser.getResultName(0).first;
  if (!isMadeUpName(ssaName))
    name = parser.getBuilder().getStringAttr(ssaName);
  return success();
}

void printResultName(OpAsmPrinter &printer, Operation *op, StringAttr name) {
  std::string ssaName;
  llvm::raw_string_ostream os(ssaName);
  printer.printOperand(op->getResult(0), os);
  StringRef shown = StringRef(ssaName).drop_front();
  StringRef given = name ? name.getValue() : StringRef();
  if (isMadeUpName(shown) ? !given.empty() : shown != given) {
    printer << " name(";
    printer.printString(given);
    printer << ")";
  }
}

ParseResult parseParens(OpAsmParser &parser, Operands &values, DenseI64ArrayAttr &constants) {
  return parseDynamicIndexList(parser, values, constants, nullptr, AsmParser::Delimiter::Paren);
}

void printParens(OpAsmPrinter &printer, Operation *op, OperandRange values,
                 DenseI64ArrayAttr constants) {
  printDynamicIndexList(printer, op, values, constants, TypeRange(), AsmParser::Delimiter::Paren);
}

ParseResult parsePad(OpAsmParser &parser, Attribute &pad) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    std::optional<tile::PadKind> kind = tile::symbolizePadKind(keyword);
    if (!kind)
      return parser.emitError(loc, "expected zero, min, max or a number as pad, found '")
             << keyword << "'";
    pad = tile::PadKindAttr::get(parser.getContext(), *kind);
  } else {
    double value = 0;
    if (parser.parseFloat(value))
      return failure();
    pad = parser.getBuilder().getF64FloatAttr(value);
  }
  return success();
}

void printPad(OpAsmPrinter &printer, Operation *, Attribute pad) {
  if (auto kind = dyn_cast<tile::PadKindAttr>(pad))
    printer << tile::stringifyPadKind(kind.getValue());
  else
    printer.printFloat(cast<FloatAttr>(pad).getValue());
}

static ParseResult parseComparison(OpAsmParser &parser, arith::CmpIPredicate &cmp) {
  using P = arith::CmpIPredicate;
  auto orEqual = [&](P strict, P loose) {
    cmp = succeeded(parser.parseOptionalEqual()) ? loose : strict;
    return success();
  };
  if (succeeded(parser.parseOptionalGreater()))
    return orEqual(P::sgt, P::sge);
  if (succeeded(parser.parseOptionalLess()))
    return orEqual(P::slt, P::sle);
  if (succeeded(parser.parseOptionalKeyword("ne"))) {
    cmp = P::ne;
    return success();
  }
  if (succeeded(parser.parseOptionalEqual())) {
    cmp = P::eq;
    return parser.parseEqual();
  }
  return parser.emitError(parser.getCurrentLocation(), "expected one of > >= < <= == ne");
}

static StringRef comparisonText(arith::CmpIPredicate cmp) {
  using P = arith::CmpIPredicate;
  switch (cmp) {
  case P::sgt:
    return ">";
  case P::sge:
    return ">=";
  case P::slt:
    return "<";
  case P::sle:
    return "<=";
  case P::ne:
    return "ne";
  default:
    return "==";
  }
}

ParseResult parsePredicate(OpAsmParser &parser, std::optional<Operand> &tensor, Type &type,
                           Operands &indices, DenseI64ArrayAttr &constants,
                           arith::CmpIPredicateAttr &cmp, IntegerAttr &constant) {
  tensor.emplace();
  int64_t value = 0;
  arith::CmpIPredicate comparison;
  if (parseTyped(parser, *tensor, type) || parseDynamicIndexList(parser, indices, constants) ||
      parseComparison(parser, comparison) || parser.parseInteger(value))
    return failure();
  cmp = arith::CmpIPredicateAttr::get(parser.getContext(), comparison);
  constant = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

void printPredicate(OpAsmPrinter &printer, Operation *op, Value tensor, Type, OperandRange indices,
                    DenseI64ArrayAttr constants, arith::CmpIPredicateAttr cmp,
                    IntegerAttr constant) {
  printer << tensor;
  printDynamicIndexList(printer, op, indices, constants);
  printer << " " << comparisonText(cmp.getValue()) << " " << constant.getInt();
}

ParseResult parsePushOperands(OpAsmParser &parser, Operands &tiles,
                              SmallVectorImpl<Type> &tileTypes, Operand &pipe, Type &pipeType) {
  SMLoc loc = parser.getCurrentLocation();
  if (parseTyped(parser, tiles, tileTypes))
    return failure();
  if (tiles.empty())
    return parser.emitError(loc, "expected the tiles to push and then the pipe");
  pipe = tiles.pop_back_val();
  pipeType = tileTypes.pop_back_val();
  return success();
}

void printPushOperands(OpAsmPrinter &printer, Operation *, OperandRange tiles, TypeRange,
                       Value pipe, Type) {
  for (Value tile : tiles)
    printer << tile << ", ";
  printer << pipe;
}

} // namespace kiln::assembly
