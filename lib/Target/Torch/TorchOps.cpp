//===- TorchOps.cpp - expressions ---------------------------------------------------===//
//
// Most ops are one row of a table; those of elementwise ops come from TileElementwise.td. An op
// whose attributes matter has a case in makeExpression.
//
//===----------------------------------------------------------------------------===//
#include "TorchFunction.h"

#include "kiln/Dialect/IndexRange.h"
#include "kiln/Program/PadValue.h"
#include "kiln/Program/ScalarText.h"
#include "kiln/Program/Signature.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace kiln::torch {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

/// Kinds of elements a row is for.
enum Kinds : unsigned {
  Float = 1,
  Int = 2,
  Index = 4,
  Bool = 8,
  Whole = Int | Index,
  Bits = Int | Bool,
  Number = Float | Int,
  Any = 15
};

/// What the result still needs: rounding to its float type, wrapping to its integer type (torch
/// wraps tiles itself), or a look whether it is still an index.
enum Finish : bool { Exact = false, Rounds = true };

struct Row {
  StringLiteral op;
  Kinds kinds;
  StringLiteral
      pattern; ///< `$i`: operand i; `@i`: the same as a tensor, also if it is a scalar; `#`: bits.
  Prec prec;
  Finish finish;
  StringLiteral hint; ///< What a variable for the result is called.
};

constexpr Row kRows[] = {
// Tiles.
#include "kiln/Dialect/Tile/Elementwise/Torch.inc"
    {"tile.select", Any, "torch.where($0, @1, @2)", Prec::Atom, Exact, "chosen"},
    {"tile.move", Any, "$0", Prec::Atom, Exact, "moved"},
    {"tile.await", Any, "$0", Prec::Atom, Exact, "acc"},
    {"tile.transpose", Any, "$0.T", Prec::Atom, Exact, "transposed"},
    {"tile.lane", Any, "_current_sb[0]", Prec::Atom, Exact, "lane"},
    // Scalars.
    {"arith.addi", Whole, "$0 + $1", Prec::Sum, Rounds, "offset"},
    {"arith.addi", Bool, "$0 ^ $1", Prec::BitXor, Exact, "flag"},
    {"arith.subi", Whole, "$0 - $1", Prec::Sum, Rounds, "offset"},
    {"arith.subi", Bool, "$0 ^ $1", Prec::BitXor, Exact, "flag"},
    {"arith.muli", Whole, "$0 * $1", Prec::Product, Rounds, "offset"},
    {"arith.muli", Bool, "$0 & $1", Prec::BitAnd, Exact, "flag"},
    {"arith.divsi", Whole, "_div_trunc($0, $1)", Prec::Atom, Rounds, "quotient"},
    {"arith.remsi", Whole, "_rem_trunc($0, $1)", Prec::Atom, Exact, "remainder"},
    {"arith.floordivsi", Whole, "$0 // $1", Prec::Product, Rounds, "quotient"},
    {"arith.ceildivsi", Whole, "-(-$0 // $1)", Prec::Unary, Rounds, "quotient"},
    {"arith.divui", Whole, "_wrap(_unsigned($0, #) // _unsigned($1, #), #)", Prec::Atom, Exact,
     "quotient"},
    {"arith.remui", Whole, "_wrap(_unsigned($0, #) % _unsigned($1, #), #)", Prec::Atom, Exact,
     "remainder"},
    {"arith.ceildivui", Whole, "_wrap(-(-_unsigned($0, #) // _unsigned($1, #)), #)", Prec::Atom,
     Exact, "quotient"},
    {"arith.minsi", Whole, "min($0, $1)", Prec::Atom, Exact, "smaller"},
    {"arith.maxsi", Whole, "max($0, $1)", Prec::Atom, Exact, "larger"},
    {"arith.minui", Whole, "_wrap(min(_unsigned($0, #), _unsigned($1, #)), #)", Prec::Atom, Exact,
     "smaller"},
    {"arith.maxui", Whole, "_wrap(max(_unsigned($0, #), _unsigned($1, #)), #)", Prec::Atom, Exact,
     "larger"},
    {"arith.andi", Any, "$0 & $1", Prec::BitAnd, Exact, "bits"},
    {"arith.ori", Any, "$0 | $1", Prec::BitOr, Exact, "bits"},
    {"arith.xori", Any, "$0 ^ $1", Prec::BitXor, Exact, "bits"},
    {"arith.shli", Whole, "_shift_left($0, $1, #)", Prec::Atom, Exact, "bits"},
    {"arith.shrsi", Whole, "_shift_right($0, $1, #)", Prec::Atom, Exact, "bits"},
    {"arith.shrui", Whole, "_shift_right_unsigned($0, $1, #)", Prec::Atom, Exact, "bits"},
    {"arith.addf", Float, "$0 + $1", Prec::Sum, Rounds, "value"},
    {"arith.subf", Float, "$0 - $1", Prec::Sum, Rounds, "value"},
    {"arith.mulf", Float, "$0 * $1", Prec::Product, Rounds, "value"},
    {"arith.divf", Float, "_div_float($0, $1)", Prec::Atom, Rounds, "value"},
    {"arith.remf", Float, "_rem_float($0, $1)", Prec::Atom, Rounds, "value"},
    {"arith.negf", Float, "-$0", Prec::Unary, Exact, "value"},
    {"arith.maximumf", Float, "_max_float($0, $1)", Prec::Atom, Exact, "larger"},
    {"arith.minimumf", Float, "_min_float($0, $1)", Prec::Atom, Exact, "smaller"},
    {"arith.select", Any, "$1 if $0 else $2", Prec::Ternary, Exact, "chosen"},
};

} // namespace

static Type elementOf(Type type) {
  if (auto tile = dyn_cast<tile::TileType>(type))
    return tile.getElementType();
  if (auto tensor = dyn_cast<ir::TensorType>(type))
    return tensor.getElementType();
  return type;
}

static unsigned kindOf(Type type) {
  type = elementOf(type);
  return isa<FloatType>(type) ? Float : type.isIndex() ? Index : type.isInteger(1) ? Bool : Int;
}

static const Row *findRow(Operation *op) {
  StringRef name = op->getName().getStringRef();
  unsigned kind = kindOf(op->getResult(0).getType());
  for (const Row &row : kRows)
    if (row.op == name && (row.kinds & kind))
      return &row;
  return nullptr;
}

StringRef tableHint(Operation *op) {
  const Row *row = op->getNumResults() == 1 ? findRow(op) : nullptr;
  return row ? row->hint : StringLiteral("value");
}

Expr FunctionEmitter::tableExpression(Operation *op) {
  const Row *row = findRow(op);
  if (!row)
    return fail(op, "there is no rule for it");
  std::string pattern,
      bits = std::to_string(op->getNumOperands() ? bitWidth(elementOf(op->getOperand(0).getType()))
                                                 : 0);
  SmallVector<Expr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(valueOf(operand));
  for (size_t i = 0; i < row->pattern.size(); ++i) {
    char c = row->pattern[i];
    if (c == '@') {
      unsigned index = row->pattern[i + 1] - '0';
      operands[index] = tensorOf(op->getOperand(index));
      c = '$';
    }
    pattern += c == '#' ? bits : std::string(1, c);
  }
  Expr expr = expandPattern(pattern, row->prec, operands);
  if (row->finish == Rounds && isa<IndexType>(op->getResult(0).getType()) && mayLeaveIndex(op))
    return {"_index(" + expr.text + ")"};
  return row->finish == Rounds ? rounded(std::move(expr), op->getResult(0).getType()) : expr;
}

Expr FunctionEmitter::expressionOf(Operation *op) {
  if (op->getNumResults() != 1)
    return fail(op, "there is no rule for it");
  SmallVector<Type> types(op->getOperandTypes());
  types.push_back(op->getResult(0).getType());
  for (Type type : types)
    if (!isa<tile::TileType, ir::TensorType, ir::TaskType, IndexType>(type) &&
        !ir::isElementType(type))
      return fail(op, "the language has no values of type " + llvm::to_string(type));
  Expr special = makeExpression(op);
  return special.text.empty() ? tableExpression(op) : special;
}

Expr FunctionEmitter::rounded(Expr expr, Type type) {
  Type element = elementOf(type);
  if (isa<tile::TileType>(type)) {
    if (isFloat8(element))
      return {"_round_f8(" + expr.text + ", " + float8Kind(element).str() + ")"};
    return isNarrowFloat(element)
               ? Expr{"_round(" + expr.text + ", " + tensorDtype(element).str() + ")"}
               : expr;
  }
  if (isFloat8(element))
    return {"_float_f8(" + expr.text + ", " + float8Kind(element).str() + ")"};
  if (isa<FloatType>(element))
    return {"_float(" + expr.text + (element.isF32() ? "" : ", " + tensorDtype(element).str()) +
            ")"};
  return element.isIndex()
             ? expr
             : Expr{"_wrap(" + expr.text + ", " + std::to_string(bitWidth(element)) + ")"};
}

Expr FunctionEmitter::tensorOf(Value value) {
  if (isa<tile::TileType>(value.getType()))
    return valueOf(value);
  return {"torch.tensor(" + text(value) + ", dtype=" + tileDtype(value.getType()).str() + ")"};
}

//===----------------------------------------------------------------------===//
// Ops with attributes
//===----------------------------------------------------------------------===//

/// A constant as Python. In tiles torch itself rounds a number to float32; elsewhere it must be
/// exact.
static Expr constantText(arith::ConstantOp op) {
  bool isForTiles = llvm::all_of(
      op->getUsers(), [](Operation *user) { return isa<tile::TileDialect>(user->getDialect()); });
  if (auto number = dyn_cast<FloatAttr>(op.getValue())) {
    APFloat value = number.getValue();
    bool loses;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    return floatLiteral(value.convertToDouble(), isForTiles);
  }
  auto number = dyn_cast<IntegerAttr>(op.getValue());
  if (!number)
    return {};
  if (op.getType().isInteger(1))
    return {number.getValue().isZero() ? "False" : "True"};
  return intLiteral(number.getValue().getSExtValue());
}

static StringRef signOf(tile::CmpKind kind) {
  static constexpr StringLiteral signs[] = {"==", "!=", "<",
                                            "<=", ">",  ">="}; // in the order of the enum
  return signs[unsigned(kind)];
}

static Expr call(const Twine &text) { return {text.str()}; }

/// Scalars, and tensors by reference.
Expr FunctionEmitter::tensorExpression(Operation *op) {
  return TypeSwitch<Operation *, Expr>(op)
      .Case<arith::ConstantOp>(constantText)
      .Case<arith::CmpIOp>([&](auto cmp) { return compareInts(cmp); })
      .Case<arith::CmpFOp>([&](auto cmp) { return compareFloats(cmp); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::ExtFOp,
            arith::TruncFOp>([&](auto) { return castScalar(op); })
      .Case<ir::AllocOp>([&](ir::AllocOp alloc) {
        ir::TensorType type = alloc.getResult().getType();
        return call("_alloc(" + mixedTuple(type.getShape(), alloc.getSizes()) + ", " +
                    tensorDtype(type.getElementType()) + ")");
      })
      .Case<ir::RankIdOp>(
          [&](ir::RankIdOp rank) { return rankExpression(rank.getAlongAttr(), false); })
      .Case<ir::RankCountOp>(
          [&](ir::RankCountOp ranks) { return rankExpression(ranks.getAlongAttr(), true); })
      .Case<ir::DimOp>([&](ir::DimOp dim) {
        return call(text(dim.getTensor(), Prec::Atom) + ".shape[" + Twine(dim.getDim()) + "]");
      })
      .Case<ir::SliceOp>([&](ir::SliceOp slice) {
        std::string drop;
        if (!slice.getDropped().empty())
          drop = ", drop=" + mixedTuple(slice.getDropped(), {});
        return call("_slice(" + text(slice.getTensor()) + ", " +
                    mixedTuple(slice.getStaticOffsets(), slice.getOffsets()) + ", " +
                    mixedTuple(slice.getStaticSizes(), slice.getSizes()) + drop + ")");
      })
      .Case<ir::TransposeOp>([&](ir::TransposeOp transpose) {
        return call(text(transpose.getTensor(), Prec::Atom) + ".permute" +
                    mixedTuple(transpose.getPermutation(), {}));
      })
      .Case<ir::ReshapeOp>([&](ir::ReshapeOp reshape) {
        return call("_reshape(" + text(reshape.getTensor()) + ", " +
                    mixedTuple(reshape.getStaticSizes(), reshape.getSizes()) + ")");
      })
      .Case<ir::ReadOp, ir::GetOp>([&](auto read) {
        return call("_read(" + text(read.getTensor()) + ", " +
                    mixedTuple(read.getStaticIndices(), read.getIndices()) + ")");
      })
      .Default(Expr{});
}

/// Tiles that are made, moved and compared.
Expr FunctionEmitter::tileExpression(Operation *op) {
  return TypeSwitch<Operation *, Expr>(op)
      .Case<tile::FullOp>([&](tile::FullOp full) {
        tile::TileType type = full.getResult().getType();
        return call("torch.full(" + shapeText(type) + ", " + text(full.getValue()) +
                    ", dtype=" + tileDtype(type.getElementType()) + ")");
      })
      .Case<tile::IotaOp>([&](tile::IotaOp iota) {
        tile::TileType type = iota.getResult().getType();
        Expr index = call("_iota(" + shapeText(type) + ", " + Twine(iota.getAxis()) + ", " +
                          tileDtype(type.getElementType()) + ")");
        return isNarrowFloat(type.getElementType()) ? rounded(index, type) : index;
      })
      .Case<tile::LoadOp>([&](auto load) { return loadExpression(load); })
      .Case<tile::ReshapeOp>([&](tile::ReshapeOp reshape) {
        return call(text(reshape.getOperand(), Prec::Atom) + ".reshape" +
                    shapeText(reshape.getResult().getType()));
      })
      .Case<tile::CastOp>([&](auto cast) { return castTile(cast); })
      .Case<tile::ExtractOp>([&](tile::ExtractOp extract) {
        return call("_extract(" + text(extract.getTile()) + ", " +
                    mixedTuple(extract.getStaticIndices(), extract.getIndices()) + ", " +
                    shapeText(extract.getResult().getType()) + ")");
      })
      .Case<tile::InsertOp>([&](tile::InsertOp insert) {
        return call("_insert(" + text(insert.getTile()) + ", " + text(insert.getInto()) + ", " +
                    mixedTuple(insert.getStaticIndices(), insert.getIndices()) + ")");
      })
      .Case<tile::ConcatOp>([&](tile::ConcatOp concat) {
        return call("torch.cat([" + arguments(concat.getTiles()) +
                    "], dim=" + Twine(concat.getAxis()) + ")");
      })
      .Case<tile::CmpOp>([&](tile::CmpOp cmp) {
        // Of two scalars Python would make a bool, not a tile.
        bool hasTile = llvm::any_of(cmp->getOperandTypes(), llvm::IsaPred<tile::TileType>);
        Expr lhs =
            hasTile ? valueOf(cmp.getLhs()) : Expr{tensorOf(cmp.getLhs()).text + ".reshape(1, 1)"};
        return expandPattern(("$0 " + signOf(cmp.getKind()) + " $1").str(), Prec::Compare,
                             {lhs, valueOf(cmp.getRhs())});
      })
      .Default(Expr{});
}

/// What computes with tiles, and where a block is.
Expr FunctionEmitter::mathExpression(Operation *op) {
  return TypeSwitch<Operation *, Expr>(op)
      .Case<tile::GatherRowsOp>([&](auto gather) { return gatherRowsExpression(gather); })
      .Case<tile::GatherOp>([&](tile::GatherOp gather) {
        return call("torch.gather(" + text(gather.getOperand()) + ", " + Twine(gather.getAxis()) +
                    ", " + text(gather.getIndex(), Prec::Atom) + ".long())");
      })
      .Case<tile::RandomOp>([&](tile::RandomOp random) {
        tile::TileType type = random.getResult().getType();
        return call("_random(" + text(random.getKey()) + ", " + text(random.getCounter()) + ", " +
                    shapeText(type) + ", " + tileDtype(type.getElementType()) + ")");
      })
      .Case<tile::ReduceOp>([&](auto reduce) { return reduceExpression(reduce); })
      .Case<tile::ScanOp>([&](auto scan) { return scanExpression(scan); })
      .Case<tile::ProductInterface>([&](tile::ProductInterface product) {
        Expr made = productExpression(product.getLhs(), product.getRhs(), product.getTransA(),
                                      product.getTransB());
        OpOperand *acc = product.getAccumulator();
        return acc ? expandPattern("$0 + $1", Prec::Sum, {valueOf(acc->get()), made}) : made;
      })
      .Case<tile::MaskOp>([&](tile::MaskOp mask) {
        return call("_mask(" + text(mask.getOperand()) + ", " +
                    mixedTuple(mask.getStaticValid(), mask.getValid()) + ", " +
                    padText(mask.getPadAttr(), elementOf(mask.getType()), false) + ")");
      })
      .Case<tile::MaskDiagOp>([&](tile::MaskDiagOp mask) {
        return call("_mask_diag(" + text(mask.getOperand()) + ", " + text(mask.getOffset()) + ", " +
                    padText(mask.getPadAttr(), elementOf(mask.getType()), false) + ")");
      })
      .Case<tile::BlockIdxOp>(
          [&](tile::BlockIdxOp block) { return call("_block[" + Twine(block.getDim()) + "]"); })
      .Case<tile::BlockCountOp>(
          [&](tile::BlockCountOp count) { return call("_grid[" + Twine(count.getDim()) + "]"); })
      .Case<tile::ElementOp>([&](tile::ElementOp element) {
        return call("_read(" + text(element.getTile()) + ", " +
                    mixedTuple(element.getStaticIndices(), element.getIndices()) + ")");
      })
      .Default(Expr{});
}

Expr FunctionEmitter::makeExpression(Operation *op) {
  for (auto part : {&FunctionEmitter::tensorExpression, &FunctionEmitter::tileExpression,
                    &FunctionEmitter::mathExpression})
    if (Expr made = (this->*part)(op); !made.text.empty())
      return made;
  return {};
}

/// A number of a tile's element type.
static std::string scalarText(ScalarBits value) {
  if (isFloat(value.type))
    return floatLiteral(value.asDouble(), true).text;
  if (value.type == DType::I1)
    return value.asInt() ? "True" : "False";
  return std::to_string(value.asInt());
}

Expr FunctionEmitter::reduceExpression(tile::ReduceOp reduce) {
  std::string x = text(reduce.getOperand(), Prec::Atom),
              axis = "dim=" + std::to_string(reduce.getAxis()) + ", keepdim=True";
  Type element = reduce.getOperand().getType().getElementType();
  bool isBool = element.isInteger(1);
  // Of integers torch would make int64.
  std::string typed = isa<FloatType>(element) ? axis : axis + ", dtype=" + tileDtype(element).str();
  switch (reduce.getKind()) {
  case tile::ReduceKind::Max:
    return {x + (isBool ? ".any(" : ".amax(") + axis + ")"};
  case tile::ReduceKind::Min:
    return {x + (isBool ? ".all(" : ".amin(") + axis + ")"};
  case tile::ReduceKind::Sum:
    if (isBool)
      return {"(" + x + ".sum(" + axis + ") % 2).bool()"};
    return rounded({x + ".sum(" + typed + ")"}, reduce.getType());
  case tile::ReduceKind::Prod:
    if (isBool)
      return {x + ".all(" + axis + ")"};
    return rounded({x + ".prod(" + typed + ")"}, reduce.getType());
  case tile::ReduceKind::ArgMax:
  case tile::ReduceKind::ArgMin:
    return {x + (isBool ? ".int()" : "") +
            (reduce.getKind() == tile::ReduceKind::ArgMax ? ".argmax(" : ".argmin(") + axis +
            ").int()"};
  }
  return fail(reduce, "there is no rule for this reduction");
}

Expr FunctionEmitter::scanExpression(tile::ScanOp scan) {
  Type element = scan.getType().getElementType();
  bool isBool = element.isInteger(1), isFloat = isa<FloatType>(element);
  std::string axis = std::to_string(scan.getAxis()), flip = ".flip(" + axis + ")";
  std::string x = text(scan.getOperand(), Prec::Atom) + (scan.getReverse() ? flip : "");
  // Of integers torch would make int64.
  std::string typed = isFloat || isBool ? "" : ", dtype=" + tileDtype(element).str();
  auto extremes = [&](StringRef name) {
    return x + (isBool ? ".int()." : ".") + name.str() + "(dim=" + axis + ").values" +
           (isBool ? ".bool()" : "");
  };
  std::string steps;
  switch (scan.getKind()) {
  case tile::ReduceKind::Sum:
    steps = x + ".cumsum(dim=" + axis + typed + ")";
    if (isBool)
      steps = "(" + steps + " % 2).bool()";
    break;
  case tile::ReduceKind::Prod:
    steps = x + ".cumprod(dim=" + axis + typed + ")" + (isBool ? ".bool()" : "");
    break;
  case tile::ReduceKind::Max:
    steps = extremes("cummax");
    break;
  case tile::ReduceKind::Min:
    steps = extremes("cummin");
    break;
  case tile::ReduceKind::ArgMax:
  case tile::ReduceKind::ArgMin:
    return fail(scan, "there is no rule for this scan");
  }
  if (scan.getExclusive())
    steps = "_shifted(" + steps + ", " + axis + ", " +
            scalarText(neutralValue(scan.getKind(), *dtypeOf(element))) + ")";
  return rounded({steps + (scan.getReverse() ? flip : "")}, scan.getType());
}

Expr FunctionEmitter::productExpression(Value lhs, Value rhs, bool transA, bool transB) {
  auto side = [&](Value value, bool isTransposed) {
    StringRef widen = isa<FloatType>(elementOf(value.getType())) ? "" : ".int()";
    return Expr{isTransposed || !widen.empty()
                    ? text(value, Prec::Atom) + (isTransposed ? ".T" : "") + widen.str()
                    : text(value, Prec::Unary)};
  };
  return expandPattern("$0 @ $1", Prec::Product, {side(lhs, transA), side(rhs, transB)});
}

std::string FunctionEmitter::padText(Attribute pad, Type element, bool asBits) {
  ScalarBits value = padValue(pad, *dtypeOf(element));
  return asBits ? std::to_string(value.bits & 0xff) : scalarText(value);
}

//===----------------------------------------------------------------------===//
// Comparisons and conversions
//===----------------------------------------------------------------------===//

Expr FunctionEmitter::compareInts(arith::CmpIOp cmp) {
  SmallVector<Expr> operands = {valueOf(cmp.getLhs()), valueOf(cmp.getRhs())};
  if (isUnsigned(cmp.getPredicate()))
    for (Expr &operand : operands)
      operand = {"_unsigned(" + operand.text + ", " +
                 std::to_string(bitWidth(cmp.getLhs().getType())) + ")"};
  else if (cmp.getPredicate() >= arith::CmpIPredicate::slt && bitWidth(cmp.getLhs().getType()) == 1)
    std::swap(operands[0], operands[1]); // signed, the one bit of true means -1
  return expandPattern(("$0 " + kiln::signOf(cmp.getPredicate()) + " $1").str(), Prec::Compare,
                       operands);
}

Expr FunctionEmitter::compareFloats(arith::CmpFOp cmp) {
  // Python's comparisons are false for NaN, except `!=`. In the order of the enum.
  static constexpr StringLiteral patterns[] = {"False",
                                               "$0 == $1",
                                               "$0 > $1",
                                               "$0 >= $1",
                                               "$0 < $1",
                                               "$0 <= $1",
                                               "$0 < $1 or $0 > $1",
                                               "$0 == $0 and $1 == $1",
                                               "not ($0 < $1 or $0 > $1)",
                                               "not $0 <= $1",
                                               "not $0 < $1",
                                               "not $0 >= $1",
                                               "not $0 > $1",
                                               "$0 != $1",
                                               "$0 != $0 or $1 != $1",
                                               "True"};
  // Operands as for a comparison; the whole binds as weakly as it may look.
  Expr expr = expandPattern(patterns[unsigned(cmp.getPredicate())], Prec::Compare,
                            {valueOf(cmp.getLhs()), valueOf(cmp.getRhs())});
  StringRef text = expr.text;
  expr.prec = text.contains(" or ") || text.contains(" and ") || text.starts_with("not ")
                  ? Prec::Or
                  : Prec::Compare;
  return expr;
}

Expr FunctionEmitter::castScalar(Operation *op) {
  Value operand = op->getOperand(0);
  Type from = operand.getType(), to = op->getResult(0).getType();
  std::string x = text(operand), bits = isa<FloatType>(from) ? "" : std::to_string(bitWidth(from));
  bool isUnsigned = isa<arith::ExtUIOp, arith::IndexCastUIOp, arith::UIToFPOp>(op);
  if (from.isInteger(1)) // a bool; as a signed number true is -1
    x = (isUnsigned ? "int(" : "-int(") + x + ")";
  else if (isUnsigned)
    x = "_unsigned(" + x + ", " + bits + ")";
  if (isa<arith::ExtFOp>(op))
    return valueOf(operand);
  if (isa<arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return rounded({x}, to);
  if (isa<arith::FPToSIOp>(op) && to.isInteger(1))
    return expandPattern("$0 != 0", Prec::Compare, {valueOf(operand)});
  if (isa<arith::FPToSIOp>(op))
    return {"_float_to_int(" + x + ", " + std::to_string(bitWidth(to)) + ")"};
  if (to.isInteger(1))
    return {"bool(" + atLeast(valueOf(operand), Prec::Shift) + " & 1)"};
  if (bitWidth(to) < bitWidth(from) || isa<arith::IndexCastUIOp>(op))
    return {"_wrap(" + x + ", " + std::to_string(bitWidth(to)) + ")"};
  return {x, from.isInteger(1) && !isUnsigned ? Prec::Unary
             : isUnsigned                     ? Prec::Atom
                                              : valueOf(operand).prec};
}

Expr FunctionEmitter::castTile(tile::CastOp cast) {
  Type from = cast.getOperand().getType().getElementType(), to = cast.getType().getElementType();
  std::string x = text(cast.getOperand(), Prec::Atom);
  if (from == to)
    return valueOf(cast.getOperand());
  if (to.isInteger(1))
    return expandPattern("$0 != 0", Prec::Compare, {valueOf(cast.getOperand())});
  if (isa<FloatType>(from) && !isa<FloatType>(to))
    return {"_to_int(" + x + ", " + tileDtype(to).str() + ")"};
  Expr converted = isa<FloatType>(from) ? valueOf(cast.getOperand())
                                        : Expr{x + ".to(" + tileDtype(to).str() + ")"};
  return isNarrowFloat(to) ? rounded(converted, cast.getType()) : converted;
}

} // namespace kiln::torch
