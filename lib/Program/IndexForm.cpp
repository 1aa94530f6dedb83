#include "kiln/Program/IndexForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace kiln {

/// What has not wrapped; of anything else nothing is known.
static IndexForm checked(IndexForm form) {
  bool isSmall = form.sum.isSmall() && Affine<Value>(form.stride).isSmall() &&
                 Affine<Value>(form.reach.value_or(0)).isSmall();
  return isSmall ? form : IndexForm::unknown();
}

IndexForm IndexForm::operator+(const IndexForm &other) const {
  IndexForm result{sum + other.sum, std::gcd(stride, other.stride), std::nullopt};
  if (reach && other.reach)
    result.reach = *reach + *other.reach;
  return checked(std::move(result));
}

IndexForm IndexForm::operator*(int64_t factor) const {
  if (factor <= -Affine<Value>::kMostFactor || factor >= Affine<Value>::kMostFactor)
    return unknown();
  IndexForm result{sum * factor, stride * std::abs(factor), std::nullopt};
  if (reach) {
    result.reach = *reach * std::abs(factor);
    if (factor < 0) // what was the last is now the first
      result.sum = result.sum + *reach * factor;
  }
  if (factor == 0)
    result.reach = 0;
  return checked(std::move(result));
}

namespace {

class FormReader {
public:
  explicit FormReader(llvm::function_ref<bool(Value)> isSymbol) : IsSymbol(isSymbol) {}

  IndexForm read(OpFoldResult index, unsigned depth = 0) const {
    if (std::optional<int64_t> constant = getConstantIntValue(index))
      return checked({*constant});
    auto value = cast<Value>(index);
    IndexForm symbol{Affine<Value>::of(value)};
    if (depth == kMaxDepth || (IsSymbol && IsSymbol(value)))
      return symbol;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      return loop && argument == loop.getInductionVar() ? readInduction(loop, depth + 1) : symbol;
    }
    // Narrower sums and products wrap.
    if (!value.getType().isIndex() && !value.getType().isInteger(64))
      return symbol;
    auto operand = [&](Value part) { return read(OpFoldResult(part), depth + 1); };
    return llvm::TypeSwitch<Operation *, IndexForm>(value.getDefiningOp())
        .Case([&](arith::AddIOp add) { return operand(add.getLhs()) + operand(add.getRhs()); })
        .Case([&](arith::SubIOp sub) { return operand(sub.getLhs()) - operand(sub.getRhs()); })
        .Case([&](arith::MulIOp product) {
          for (auto [factor, other] : {std::pair(product.getLhs(), product.getRhs()),
                                       std::pair(product.getRhs(), product.getLhs())})
            if (std::optional<int64_t> constant = getConstantIntValue(factor))
              return operand(other) * *constant;
          return symbol;
        })
        // A true i1 is -1 as an index.
        .Case([&](arith::IndexCastOp cast) {
          return cast.getIn().getType().isInteger(1) ? symbol : operand(cast.getIn());
        })
        .Default([&](Operation *) { return symbol; });
  }

private:
  /// From the lower bound to the last iteration.
  IndexForm readInduction(scf::ForOp loop, unsigned depth) const {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!step || *step <= 0)
      return {Affine<Value>::of(loop.getInductionVar())};
    IndexForm lower = read(OpFoldResult(loop.getLowerBound()), depth);
    IndexForm distance = read(OpFoldResult(loop.getUpperBound()), depth) - lower;
    IndexForm result = lower;
    result.stride = std::gcd(lower.stride, *step);
    if (!lower.reach || !distance.reach || !distance.sum.isConstant()) {
      result.reach = std::nullopt;
      return checked(std::move(result));
    }
    int64_t most = std::max<int64_t>(distance.sum.constant() + *distance.reach - 1, 0);
    *result.reach += most / *step * *step;
    return checked(std::move(result));
  }

  /// Sums nested deeper than this are not looked into: they may share operands, and double each
  /// time.
  static constexpr unsigned kMaxDepth = 12;
  llvm::function_ref<bool(Value)> IsSymbol;
};

} // namespace

IndexForm formOf(OpFoldResult index, llvm::function_ref<bool(Value)> isSymbol) {
  return FormReader(isSymbol).read(index);
}

} // namespace kiln
