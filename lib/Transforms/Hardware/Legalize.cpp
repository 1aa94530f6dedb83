// Operations that the units of a machine have no instruction for, as others that they have.
#include "PassMachine.h"
#include "kiln/Transforms/Passes.h"

#include "kiln/Analysis/IndexFacts.h"
#include "kiln/Dialect/Tile/TileElementwise.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Machine/Hardware.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILELEGALIZE
#include "kiln/Transforms/Passes.h.inc"

namespace {

using tile::Space;
using tile::TileType;

/// What a value is at least where `user` uses it; none if nothing is known. Looks at branches that
/// are taken only if it is more than a number.
std::optional<int64_t> leastOf(Value value, Operation *user, unsigned depth = 0) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return constant;
  if (depth > 16)
    return std::nullopt;
  std::optional<int64_t> least;
  auto know = [&](std::optional<int64_t> bound) {
    if (bound)
      least = std::max(*bound, least.value_or(INT64_MIN));
  };
  for (Operation *op = user; auto branch = op->getParentOfType<scf::IfOp>(); op = branch) {
    auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
    bool isThen = branch.getThenRegion().isAncestor(op->getParentRegion());
    if (!compare || !isThen || compare.getLhs() != value)
      continue;
    std::optional<int64_t> than = getConstantIntValue(compare.getRhs());
    if (than && compare.getPredicate() == arith::CmpIPredicate::sgt)
      know(*than + 1);
    if (than && compare.getPredicate() == arith::CmpIPredicate::sge)
      know(than);
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      know(leastOf(loop.getLowerBound(), loop, depth + 1));
    return least;
  }
  Operation *op = value.getDefiningOp();
  if (isa<tile::BlockIdxOp, tile::BlockCountOp, tile::LaneOp, ir::DimOp>(op))
    know(0);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp,
           arith::FloorDivSIOp, arith::CeilDivSIOp>(op))
    return least;
  std::optional<int64_t> a = leastOf(op->getOperand(0), user, depth + 1),
                         b = leastOf(op->getOperand(1), user, depth + 1);
  std::optional<int64_t> by = getConstantIntValue(op->getOperand(1));
  if (isa<arith::MaxSIOp>(op))
    know(a), know(b);
  else if (isa<arith::MinSIOp>(op) && a && b)
    know(std::min(*a, *b));
  else if (isa<arith::AddIOp>(op) && a && b)
    know(*a + *b);
  else if (isa<arith::SubIOp>(op) && a && by)
    know(*a - *by);
  else if (isa<arith::MulIOp>(op) && a && b && *a >= 0 && *b >= 0)
    know(*a * *b);
  else if (isa<arith::FloorDivSIOp>(op) && a && by && *by > 0)
    know(llvm::divideFloorSigned(*a, *by));
  else if (isa<arith::CeilDivSIOp>(op) && a && by && *by > 0)
    know(llvm::divideCeilSigned(*a, *by));
  return least;
}

/// Rewrites one role.
class Legalizer {
public:
  Legalizer(ir::FuncOp func, const Machine &machine)
      : Func(func), Target(machine), B(func.getContext()) {}

  LogicalResult run() {
    if (failed(forEach([&](Operation *op) { return fillWhatIsOutside(op); })) ||
        failed(forEach([&](Operation *op) { return startAccumulator(op); })) ||
        failed(forEach([&](Operation *op) { return widen(op); })) ||
        failed(forEach([&](Operation *op) { return expand(op); })) ||
        failed(forEach([&](Operation *op) { return spread(op); })) ||
        failed(forEach([&](Operation *op) { return turnForMatrix(op); })))
      return failure();
    // What the rewritten operations were the only ones to use.
    SmallVector<Operation *> ops;
    Func.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
    return success();
  }

private:
  /// On all operations as they are now; what `rewrite` adds comes later.
  LogicalResult forEach(llvm::function_ref<LogicalResult(Operation *)> rewrite) {
    SmallVector<Operation *> ops;
    Func.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      B.setInsertionPoint(op);
      Loc = op->getLoc();
      if (failed(rewrite(op)))
        return failure();
    }
    return success();
  }

  LogicalResult refuse(Operation *op, const Twine &why) {
    return op->emitOpError("cannot be compiled for ") << Target.platform << ": " << why;
  }
  void replace(Operation *op, Value by) {
    op->getResult(0).replaceAllUsesWith(by);
    op->erase();
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(B, *Loc, value); }

  //===-- Loads -----------------------------------------------------------------------===//

  /// The instructions of a load leave what is outside the tensor as it was: filling it is
  /// vector work of its own.
  LogicalResult fillWhatIsOutside(Operation *op) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (!load)
      return success();
    if (load.getOutside())
      return refuse(op, "a load may miss its tensor");
    if (failed(checkBegin(load)))
      return failure();
    TileType type = load.getType();
    if (type.getSpace() != Space::Vec) {
      auto kind = dyn_cast_or_null<tile::PadKindAttr>(load.getPadAttr());
      if (load.getPadAttr() && (!kind || kind.getValue() != tile::PadKind::Zero))
        return refuse(op, "a tile for the matrix unit is padded with zeros only");
      return success();
    }
    if (isa_and_nonnull<FloatAttr>(load.getPadAttr()))
      return refuse(op, "loads are padded with zero, min or max");
    SmallVector<OpFoldResult> valid;
    bool isWhole = true;
    for (unsigned axis : {0, 1}) {
      std::optional<Value> left = leftAlong(load, axis);
      isWhole &= !left;
      valid.push_back(left ? OpFoldResult(*left) : B.getIndexAttr(type.getExtent(axis)));
    }
    if (isWhole)
      return success();
    SmallVector<int64_t> constants;
    SmallVector<Value> values;
    dispatchIndexOpFoldResults(valid, values, constants);
    B.setInsertionPointAfter(op);
    auto mask = tile::MaskOp::create(B, *Loc, type, load, values, constants, load.getPadAttr());
    load.getResult().replaceAllUsesExcept(mask, mask);
    return success();
  }

  /// The axis of the tensor that rows (0) or columns (1) of a tile run along; none if the tile has
  /// one of them only.
  static std::optional<unsigned> axisOf(ir::TensorType tensor, TileType tile, unsigned axis) {
    if (tensor.getRank() > 1)
      return tensor.getRank() - 2 + axis;
    bool isColumn = tile.getCols() == 1 && tile.getRows() != 1;
    return isColumn == (axis == 0) ? std::optional(0u) : std::nullopt;
  }

  OpFoldResult startAlong(tile::LoadOp load, unsigned axis) {
    return getMixedValues(load.getStaticIndices(), load.getIndices(), B.getContext())[axis];
  }

  LogicalResult checkBegin(tile::LoadOp load) {
    for (unsigned axis : {0, 1}) {
      std::optional<unsigned> along = axisOf(load.getTensor().getType(), load.getType(), axis);
      if (!along || load.getType().getExtent(axis) == 1)
        continue;
      OpFoldResult start = startAlong(load, *along);
      std::optional<int64_t> constant = getConstantIntValue(start);
      std::optional<int64_t> least =
          constant ? constant : leastOf(cast<Value>(start), load.getOperation());
      if (!least || *least < 0)
        return refuse(load, "a tile may begin before its tensor does");
    }
    return success();
  }

  /// How many rows or columns of a tile are there; none if all of them are.
  std::optional<Value> leftAlong(tile::LoadOp load, unsigned axis) {
    ir::TensorType tensor = load.getTensor().getType();
    int64_t extent = load.getType().getExtent(axis);
    std::optional<unsigned> along = axisOf(tensor, load.getType(), axis);
    std::optional<Value> given;
    if (load.getStaticValid()) {
      OpFoldResult valid =
          getMixedValues(*load.getStaticValid(), load.getValid(), B.getContext())[axis];
      std::optional<int64_t> constant = getConstantIntValue(valid);
      if (!constant || *constant < extent)
        given = constant ? index(*constant) : cast<Value>(valid);
    }
    if (!along || extent == 1) // a tile that misses its tensor is the program's fault
      return given;
    OpFoldResult start = startAlong(load, *along);
    IndexFacts facts(Func);
    std::optional<int64_t> constant = getConstantIntValue(start);
    int64_t divisor = constant ? *constant : facts.divisorOf(cast<Value>(start));
    bool isAligned =
        divisor % extent == 0 && facts.divisorOfExtent(load.getTensor(), *along) % extent == 0;
    if (isAligned || (constant && !tensor.isDynamicDim(*along) &&
                      *constant + extent <= tensor.getShape()[*along]))
      return given;
    Value whole = ir::DimOp::create(B, *Loc, load.getTensor(), *along);
    Value at = constant ? index(*constant) : cast<Value>(start);
    Value left = arith::SubIOp::create(B, *Loc, whole, at);
    return given ? Value(arith::MinSIOp::create(B, *Loc, left, *given)) : left;
  }

  //===-- Accumulators ----------------------------------------------------------------===//

  /// Nothing but a product is written to an accumulator, so it starts as the product of zeros: one
  /// for each that starts, because nothing copies them either.
  LogicalResult startAccumulator(Operation *op) {
    auto full = dyn_cast<tile::FullOp>(op);
    if (!full || full.getType().getSpace() != Space::Acc)
      return success();
    if (!matchPattern(full.getValue(), m_AnyZeroFloat()) &&
        !matchPattern(full.getValue(), m_Zero()))
      return refuse(op, "an accumulator starts with zeros, or as a product");
    TileType type = full.getType();
    bool isInteger = type.getElementType().isInteger();
    Type element = isInteger ? Type(B.getI8Type()) : B.getF16Type();
    int64_t depth = isInteger ? 32 : 16;
    Value zero = isInteger ? Value(arith::ConstantOp::create(B, *Loc, B.getI8IntegerAttr(0)))
                           : Value(arith::ConstantOp::create(B, *Loc, B.getF16FloatAttr(0)));
    auto operand = [&](int64_t rows, int64_t cols, Space space) {
      auto in = [&](Space where) {
        return TileType::get(B.getContext(), rows, cols, element, where);
      };
      Value zeros = tile::FullOp::create(B, *Loc, in(Space::Mat), zero);
      return tile::MoveOp::create(B, *Loc, in(space), zeros);
    };
    Value left = operand(type.getRows(), depth, Space::Left),
          right = operand(depth, type.getCols(), Space::Right);
    for (OpOperand &use : llvm::make_early_inc_range(full->getUses()))
      use.set(tile::MatmulOp::create(B, *Loc, type, left, right));
    op->erase();
    return success();
  }

  //===-- Pipes -----------------------------------------------------------------------===//

  /// What is pushed straight into the memory of the matrix unit is brought into that one's blocks
  /// before: a copy in this core's own memory.
  LogicalResult turnForMatrix(Operation *op) {
    auto push = dyn_cast<tile::PushOp>(op);
    if (!push || Target.pipeStorage != PipeStorage::ConsumerMemory)
      return success();
    const Role *reader = Target.findRole(push.getPipe().getType().getTo());
    if (!reader || !(reader->executes & MatrixWork))
      return success();
    for (OpOperand &tile : push.getTilesMutable()) {
      auto type = cast<TileType>(tile.get().getType());
      auto made = tile.get().getDefiningOp<tile::MoveOp>();
      if (type.getSpace() != Space::Vec || (made && made.getOperand().getType() == type))
        continue; // it is one already
      if (type.getRows() % 16 != 0)
        return refuse(op, "the rows of a tile for the matrix unit are a multiple of 16");
      tile.set(tile::MoveOp::create(B, *Loc, type, tile.get()));
    }
    return success();
  }

  //===-- Arithmetic ------------------------------------------------------------------===//

  static bool isSmallFloat(Type type) { return type.isBF16() || type.isF16(); }
  static bool computes(Operation *op) {
    auto facts = dyn_cast<tile::TileOpInterface>(op);
    return facts &&
           (facts.getPadding().kind == tile::Padding::Elementwise || isa<tile::ReduceOp>(op)) &&
           !isa<tile::SelectOp>(op);
  }

  /// Floats of 16 bits are computed with in 32.
  LogicalResult widen(Operation *op) {
    if (!computes(op) || op->getNumResults() != 1)
      return success();
    bool isSmall = llvm::any_of(op->getOperandTypes(), [](Type type) {
      auto tile = dyn_cast<TileType>(type);
      return tile && isSmallFloat(tile.getElementType());
    });
    if (!isSmall)
      return success();
    for (OpOperand &operand : op->getOpOperands()) {
      if (auto type = dyn_cast<TileType>(operand.get().getType()))
        operand.set(tile::CastOp::create(B, *Loc, type.withElement(B.getF32Type()), operand.get()));
      else if (isSmallFloat(operand.get().getType()))
        operand.set(arith::ExtFOp::create(B, *Loc, B.getF32Type(), operand.get()));
    }
    auto type = cast<TileType>(op->getResult(0).getType());
    if (!isSmallFloat(type.getElementType()))
      return success(); // a comparison
    op->getResult(0).setType(type.withElement(B.getF32Type()));
    B.setInsertionPointAfter(op);
    auto narrowed = tile::CastOp::create(B, *Loc, type, op->getResult(0));
    op->getResult(0).replaceAllUsesExcept(narrowed, narrowed);
    return success();
  }

  // On tiles of f32, with tiles or numbers.
  Value number(double value) {
    return arith::ConstantOp::create(B, *Loc, B.getF32FloatAttr(static_cast<float>(value)));
  }
  template <typename Op> Value make(Value a, Value b) {
    Type type = isa<TileType>(a.getType()) ? a.getType() : b.getType();
    return Op::create(B, *Loc, type, a, b);
  }
  template <typename Op> Value make(Value a) { return Op::create(B, *Loc, a.getType(), a); }
  Value add(Value a, Value b) { return make<tile::AddOp>(a, b); }
  /// A number is only subtracted from a tile.
  Value sub(Value a, Value b) {
    return isa<TileType>(a.getType()) ? make<tile::SubOp>(a, b) : add(make<tile::NegOp>(b), a);
  }
  Value mul(Value a, Value b) { return make<tile::MulOp>(a, b); }
  Value clamp(Value x, double low, double high) {
    return make<tile::MinOp>(make<tile::MaxOp>(x, number(low)), number(high));
  }
  /// The first coefficient is that of the lowest power.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = mul(x, number(coefficients.back()));
    for (double coefficient : llvm::reverse(coefficients.drop_back().drop_front()))
      sum = mul(add(sum, number(coefficient)), x);
    return add(sum, number(coefficients.front()));
  }

  /// A number divided by a tile is a tile of that number divided by it.
  Value divide(Value a, Value b) {
    if (!isa<TileType>(a.getType()))
      a = tile::FullOp::create(B, *Loc, b.getType(), a);
    return make<tile::DivOp>(a, b);
  }
  Value sigmoid(Value x) {
    return divide(number(1), add(make<tile::ExpOp>(make<tile::NegOp>(x)), number(1)));
  }

  /// An odd polynomial up to 1; beyond, what e^-p(|x|) falls by, with p fitted to -log(erfc). Both
  /// are evaluated everywhere, each on what is clamped to where it holds.
  Value erf(Value x) {
    Value within = clamp(x, -1, 1), square = mul(within, within);
    Value near =
        mul(within, polynomial(square, {1.1283791670955126, -0.3761262595653534, 0.1128358542919159,
                                        -0.02685381844639778, 0.00518833938986063,
                                        -0.0008010288001969457, 7.854148861952126e-05}));
    static constexpr double p[] = {-0.00018847336468752474, 1.1295803785324097,
                                   0.6332163214683533,      0.10842215269804001,
                                   -0.025210371240973473,   0.004205296281725168,
                                   -0.0004414748982526362,  2.1697798729292117e-05};
    double atOne = 0;
    for (double coefficient : p)
      atOne += coefficient;
    Value beyond = clamp(make<tile::AbsOp>(x), 1, 4);
    Value fall =
        sub(number(std::exp(-atOne)), make<tile::ExpOp>(make<tile::NegOp>(polynomial(beyond, p))));
    Value sign = clamp(mul(x, number(1e30)), -1, 1);
    return add(near, mul(sign, fall));
  }

  /// tanh(x) = 2 sigmoid(2x) - 1.
  Value tanh(Value x) { return sub(mul(sigmoid(mul(x, number(2))), number(2)), number(1)); }

  LogicalResult expand(Operation *op) {
    Value x = op->getNumOperands() ? op->getOperand(0) : Value();
    auto subtract = dyn_cast<tile::SubOp>(op);
    if (subtract && !isa<TileType>(subtract.getLhs().getType())) {
      replace(op, sub(subtract.getLhs(), subtract.getRhs()));
      return success();
    }
    auto quotient = dyn_cast<tile::DivOp>(op);
    if (quotient && !isa<TileType>(quotient.getLhs().getType())) {
      replace(op, divide(quotient.getLhs(), quotient.getRhs()));
      return success();
    }
    if (auto mask = dyn_cast<tile::MaskDiagOp>(op))
      return expandDiagonal(mask);
    Value by =
        TypeSwitch<Operation *, Value>(op)
            .Case<tile::CastOp>([&](auto cast) { return choice(cast); })
            .Case<tile::RoundOp>([&](auto) { return nearest(x); })
            .Case<tile::FloorOp>([&](auto) { return wholeBeside(x, /*isAbove=*/false); })
            .Case<tile::CeilOp>([&](auto) { return wholeBeside(x, /*isAbove=*/true); })
            .Case<tile::TruncOp>([&](auto) {
              return select(compare(tile::CmpKind::Lt, x, number(0)),
                            wholeBeside(x, /*isAbove=*/true), wholeBeside(x, /*isAbove=*/false));
            })
            .Case<tile::IotaOp>([&](auto iota) { return indices(iota); })
            .Case<tile::RecipOp>([&](auto) { return divide(number(1), x); })
            .Case<tile::SigmoidOp>([&](auto) { return sigmoid(x); })
            .Case<tile::ErfOp>([&](auto) { return erf(x); })
            .Case<tile::TanhOp>([&](auto) { return tanh(x); })
            .Case<tile::Exp2Op>(
                [&](auto) { return make<tile::ExpOp>(mul(x, number(0.6931471805599453))); })
            .Default(Value());
    if (by)
      replace(op, by);
    return success();
  }

  Value compare(tile::CmpKind kind, Value a, Value b) {
    auto type = cast<TileType>(a.getType());
    return tile::CmpOp::create(B, *Loc, type.withElement(B.getI1Type()), kind, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return tile::SelectOp::create(B, *Loc, isa<TileType>(a.getType()) ? a.getType() : b.getType(),
                                  condition, a, b);
  }

  /// From 2^23 on numbers are whole, and a sum of 2^23 and less is rounded to one; of two that are
  /// as near to the even one. There is an instruction, but not in the public simulator.
  Value nearest(Value x) {
    Value size = make<tile::AbsOp>(x), limit = number(0x1p23);
    Value rounded = sub(add(size, limit), limit);
    Value whole =
        select(compare(tile::CmpKind::Lt, x, number(0)), make<tile::NegOp>(rounded), rounded);
    return select(compare(tile::CmpKind::Lt, size, limit), whole, x);
  }
  /// The smallest whole number that is not smaller, or the largest that is not larger.
  Value wholeBeside(Value x, bool isAbove) {
    Value near = nearest(x);
    Value missed = compare(isAbove ? tile::CmpKind::Lt : tile::CmpKind::Gt, near, x);
    return select(missed, add(near, number(isAbove ? 1 : -1)), near);
  }

  /// Truth values as numbers: a choice between one and zero; null if the cast is of numbers.
  Value choice(tile::CastOp cast) {
    TileType type = cast.getType();
    Type element = type.getElementType();
    bool isSmall = element.isInteger() && element.getIntOrFloatBitWidth() < 16;
    if (!cast.getOperand().getType().getElementType().isInteger(1) || isSmall)
      return {};
    auto filled = [&](int64_t value) {
      TypedAttr number = isa<FloatType>(element) ? TypedAttr(B.getFloatAttr(element, double(value)))
                                                 : B.getIntegerAttr(element, value);
      return tile::FullOp::create(B, *Loc, type, arith::ConstantOp::create(B, *Loc, number));
    };
    return tile::SelectOp::create(B, *Loc, type, cast.getOperand(), filled(1), filled(0));
  }

  /// Indices are counted along one line, by the scalar unit; null if they are that already.
  Value indices(tile::IotaOp iota) {
    TileType type = iota.getType();
    int64_t axis = iota.getAxis();
    if (type.getExtent(1 - axis) == 1)
      return {};
    TileType line =
        axis == 0 ? type.withShape(type.getRows(), 1) : type.withShape(1, type.getCols());
    return repeated(tile::IotaOp::create(B, *Loc, line, axis), type);
  }

  /// A select by column <= row + offset. All three are small whole numbers, which f32 has.
  LogicalResult expandDiagonal(tile::MaskDiagOp mask) {
    TileType type = mask.getType();
    if (!type.getElementType().isF32())
      return refuse(mask, "the triangle of a tile is masked in f32");
    auto line = [&](int64_t rows, int64_t cols, int64_t axis) -> Value {
      return tile::IotaOp::create(B, *Loc, type.withShape(rows, cols), axis);
    };
    // Beyond these offsets nothing changes any more.
    Value offset = arith::MinSIOp::create(B, *Loc, mask.getOffset(), index(type.getCols()));
    offset = arith::MaxSIOp::create(B, *Loc, offset, index(-type.getRows()));
    Value whole = arith::IndexCastOp::create(B, *Loc, B.getI64Type(), offset);
    Value limits =
        add(line(type.getRows(), 1, 0), arith::SIToFPOp::create(B, *Loc, B.getF32Type(), whole));
    Value keeps = compare(tile::CmpKind::Le, repeated(line(1, type.getCols(), 1), type),
                          repeated(limits, type));
    Value pad = tile::FullOp::create(B, *Loc, type, number(padOf(mask.getPadAttr())));
    replace(mask, select(keeps, mask.getOperand(), pad));
    return success();
  }

  static double padOf(Attribute pad) {
    if (auto value = dyn_cast_or_null<FloatAttr>(pad))
      return value.getValueAsDouble();
    auto kind = dyn_cast_or_null<tile::PadKindAttr>(pad);
    double infinity = std::numeric_limits<double>::infinity();
    if (!kind || kind.getValue() == tile::PadKind::Zero)
      return 0;
    return kind.getValue() == tile::PadKind::Min ? -infinity : infinity;
  }

  //===-- Broadcasts ------------------------------------------------------------------===//

  static bool isTile(Value value, int64_t rows, int64_t cols) {
    auto type = dyn_cast<TileType>(value.getType());
    return type && type.getRows() == rows && type.getCols() == cols;
  }

  /// A tile as large as `like` with the rows or the column of `value` repeated.
  Value repeated(Value value, TileType like) {
    auto type = cast<TileType>(value.getType());
    TileType whole = type.withShape(like.getRows(), like.getCols());
    Value one =
        type.getElementType().isF32()
            ? number(1)
            : Value(arith::ConstantOp::create(B, *Loc, B.getIntegerAttr(type.getElementType(), 1)));
    return mul(tile::FullOp::create(B, *Loc, whole, one), value);
  }

  /// Instructions take a row or a column beside a whole tile, as their second operand. A single
  /// element is a number for them.
  LogicalResult spread(Operation *op) {
    auto facts = dyn_cast<tile::TileOpInterface>(op);
    if (!facts || facts.getPadding().kind != tile::Padding::Elementwise ||
        op->getNumResults() != 1 || op->getNumOperands() < 2)
      return success();
    auto type = cast<TileType>(op->getResult(0).getType());
    if (auto select = dyn_cast<tile::SelectOp>(op))
      return spreadSelect(select);
    bool isBig = type.getRows() > 1 && type.getCols() > 1;
    bool hasWhole = false, mayComeFirst = tile::isCommutative(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (isTile(operand.get(), 1, 1) && type.getNumElements() > 1)
        operand.set(tile::ElementOp::create(
            B, *Loc, cast<TileType>(operand.get().getType()).getElementType(), operand.get(),
            ValueRange(), ArrayRef<int64_t>{0, 0}));
      hasWhole |= isTile(operand.get(), type.getRows(), type.getCols());
    }
    for (OpOperand &operand : op->getOpOperands()) {
      auto given = dyn_cast<TileType>(operand.get().getType());
      if (!given || !isBig || isTile(operand.get(), type.getRows(), type.getCols()))
        continue;
      bool isFirst = operand.getOperandNumber() == 0;
      if (!hasWhole || isa<tile::CmpOp>(op) || (isFirst && !mayComeFirst)) {
        operand.set(repeated(operand.get(), type));
        hasWhole = true;
      }
    }
    return success();
  }

  /// The mask, and both sides, are as large as the result.
  LogicalResult spreadSelect(tile::SelectOp select) {
    TileType type = select.getType();
    if (type.getCols() == 1)
      return selectColumn(select);
    auto condition = cast<TileType>(select.getCondition().getType());
    if (condition.getRows() != type.getRows() || condition.getCols() != type.getCols()) {
      auto compare = select.getCondition().getDefiningOp<tile::CmpOp>();
      if (!compare)
        return refuse(select, "its condition has another shape and is no comparison");
      auto whole = [&](Value side) {
        return isa<TileType>(side.getType()) ? repeatedOrNumber(side, type) : side;
      };
      select.getConditionMutable().assign(
          tile::CmpOp::create(B, *Loc, condition.withShape(type.getRows(), type.getCols()),
                              compare.getKind(), whole(compare.getLhs()), whole(compare.getRhs())));
    }
    for (OpOperand *side : {&select.getLhsMutable(), &select.getRhsMutable()})
      if (!isTile(side->get(), type.getRows(), type.getCols()))
        side->set(isa<TileType>(side->get().getType())
                      ? repeatedOrNumber(side->get(), type)
                      : Value(tile::FullOp::create(B, *Loc, type, side->get())));
    return success();
  }

  /// Rows of masks are 32 bytes of numbers, so a column is chosen from in a tile that repeats it.
  LogicalResult selectColumn(tile::SelectOp select) {
    TileType type = select.getType();
    auto compare = select.getCondition().getDefiningOp<tile::CmpOp>();
    if (!compare)
      return refuse(select, "its condition is a column and no comparison");
    TileType wide =
        type.withShape(type.getRows(), 256 / type.getElementType().getIntOrFloatBitWidth());
    auto whole = [&](Value side) -> Value {
      return isa<TileType>(side.getType()) ? repeatedOrNumber(side, wide)
                                           : tile::FullOp::create(B, *Loc, wide, side);
    };
    Value condition =
        this->compare(compare.getKind(), whole(compare.getLhs()), whole(compare.getRhs()));
    Value chosen = this->select(condition, whole(select.getLhs()), whole(select.getRhs()));
    replace(select, tile::ReduceOp::create(B, *Loc, type, tile::ReduceKind::Max, chosen, 1));
    return success();
  }

  Value repeatedOrNumber(Value value, TileType like) {
    auto type = cast<TileType>(value.getType());
    if (type.getNumElements() > 1 || like.getNumElements() == 1)
      return repeated(value, like);
    Value element = tile::ElementOp::create(B, *Loc, type.getElementType(), value, ValueRange(),
                                            ArrayRef<int64_t>{0, 0});
    return tile::FullOp::create(B, *Loc, type.withShape(like.getRows(), like.getCols()), element);
  }

  ir::FuncOp Func;
  const Machine &Target;
  OpBuilder B;
  std::optional<Location> Loc;
};

struct Legalize : impl::TileLegalizeBase<Legalize> {
  using TileLegalizeBase::TileLegalizeBase;

  /// As many slots as guarantee what was proved; rings in global memory have them already.
  void setSlots(const Machine &target) {
    getOperation().walk([&](tile::PipeOp pipe) {
      if (!pipe->hasAttr(tile::kLocalRingAttr))
        pipe.setSlots(hardwareOf(target)->slotsFor(pipe.getSlots().value_or(target.defaultSlots)));
    });
  }

  void runOnOperation() override {
    const Machine *target = machineOf(getOperation(), machine);
    if (!target)
      return signalPassFailure();
    if (!hardwareOf(*target))
      return;
    if (target->pipeStorage == PipeStorage::ConsumerMemory)
      setSlots(*target);
    for (auto func : getOperation().getOps<ir::FuncOp>())
      if (func.getKind() == ir::FuncKind::Role && failed(Legalizer(func, *target).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace kiln
