#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Transforms/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNEXACTINDICES
#include "kiln/Transforms/Passes.h.inc"

namespace {

using Wide = __int128; ///< Holds sums, products and quotients of all 64-bit integers.

bool fits(Wide value) { return value == static_cast<int64_t>(value); }

/// The exact result of an operation that may leave 64 bits.
std::optional<Wide> exactResult(Operation *op, Wide a, Wide b) {
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  if (isa<arith::MulIOp>(op))
    return a * b;
  if (isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op) && b == -1)
    return -a;
  return std::nullopt;
}

/// The constants, and what is computed from them alone.
using Constants = llvm::DenseMap<Value, Attribute>;

std::optional<Wide> valueOf(Value value, const Constants &known) {
  if (auto number = dyn_cast_if_present<IntegerAttr>(known.lookup(value)))
    return number.getValue().getSExtValue();
  return std::nullopt;
}

/// Of a chain of sums, or of products, what its constants come to at most: MLIR puts them together.
template <typename... Chain>
Wide combinedConstants(Operation *op, const Constants &known, Wide start,
                       Wide (*combine)(Wide, Wide)) {
  Wide total = start;
  while (isa_and_nonnull<Chain...>(op) && fits(total)) {
    Operation *next = nullptr;
    for (Value operand : op->getOperands())
      if (std::optional<Wide> constant = valueOf(operand, known))
        total = combine(total, *constant < 0 ? -*constant : *constant);
      else
        next = operand.getDefiningOp();
    op = next;
  }
  return total;
}

/// An index to a narrow integer in two steps. MLIR takes index -> i8 -> index for the index itself.
template <typename Cast> void splitCast(Cast cast) {
  auto type = dyn_cast<IntegerType>(cast.getType());
  if (!type || type.getWidth() >= 64)
    return;
  OpBuilder builder(cast);
  Value wide = Cast::create(builder, cast.getLoc(), builder.getI64Type(), cast.getIn());
  cast.replaceAllUsesWith(arith::TruncIOp::create(builder, cast.getLoc(), type, wide).getResult());
  cast.erase();
}

struct ExactIndices : impl::KilnExactIndicesBase<ExactIndices> {
  void runOnOperation() override {
    Constants known;
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
      if (op->getNumResults() != 1 || !isa<arith::ArithDialect>(op->getDialect()))
        return WalkResult::advance();
      if (op->getResult(0).getType().isIndex() && failed(checkFits(op, known)))
        return WalkResult::interrupt();
      remember(op, known);
      if (auto cast = dyn_cast<arith::IndexCastOp>(op))
        splitCast(cast);
      else if (auto cast = dyn_cast<arith::IndexCastUIOp>(op))
        splitCast(cast);
      return WalkResult::skip(); // the op may be gone
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult checkFits(Operation *op, const Constants &known) {
    if (op->getNumOperands() == 2) {
      std::optional<Wide> a = valueOf(op->getOperand(0), known),
                          b = valueOf(op->getOperand(1), known);
      std::optional<Wide> result = a && b ? exactResult(op, *a, *b) : std::nullopt;
      if (result && !fits(*result))
        return op->emitOpError("has a result that never fits the 64 bits of an index");
    }
    Wide sum = combinedConstants<arith::AddIOp, arith::SubIOp>(
        op, known, 0, [](Wide a, Wide b) { return a + b; });
    Wide product =
        combinedConstants<arith::MulIOp>(op, known, 1, [](Wide a, Wide b) { return a * b; });
    if (!fits(sum) || !fits(product))
      return op->emitOpError("combines constants that together do not fit the 64 bits of an index");
    return success();
  }

  /// What an op comes to, if its operands are known.
  static void remember(Operation *op, Constants &known) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(known.lookup(operand));
    SmallVector<OpFoldResult> results;
    if (llvm::is_contained(operands, Attribute()) || failed(op->fold(operands, results)) ||
        results.empty())
      return;
    auto value = dyn_cast<Value>(results[0]);
    known[op->getResult(0)] = value ? known.lookup(value) : cast<Attribute>(results[0]);
  }
};
} // namespace
} // namespace kiln
