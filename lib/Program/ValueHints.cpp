#include "kiln/Program/ValueHints.h"

using namespace mlir;

namespace kiln {

StringRef useOfIndex(Value index) {
  auto axisOf = [&](ArrayRef<int64_t> constants, ValueRange values) -> std::optional<size_t> {
    size_t next = 0;
    for (auto [axis, constant] : llvm::enumerate(constants))
      if (ShapedType::isDynamic(constant) && values[next++] == index)
        return constants.size() - 1 - axis;
    return std::nullopt;
  };
  for (Operation *user : index.getUsers()) {
    std::optional<size_t> fromEnd;
    if (auto load = dyn_cast<tile::LoadOp>(user))
      fromEnd = axisOf(load.getStaticIndices(), load.getIndices());
    else if (auto store = dyn_cast<tile::StoreOp>(user))
      fromEnd = axisOf(store.getStaticIndices(), store.getIndices());
    else if (auto submit = dyn_cast<ir::SubmitOp>(user);
             submit && axisOf(submit.getStaticGrid(), submit.getGrid()))
      return "blocks";
    if (fromEnd && *fromEnd < 2)
      return *fromEnd == 0 ? "col" : "row";
  }
  return "";
}

std::string nameOf(tile::ReduceOp reduce) {
  return (reduce.getAxis() == 1 ? "row_" : "col_") +
         tile::stringifyReduceKind(reduce.getKind()).str();
}

Value yieldedAs(Value result) {
  auto made = dyn_cast<OpResult>(result);
  if (!made)
    return {};
  unsigned number = made.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(made.getOwner()))
    return loop.getYieldedValues()[number];
  if (auto loop = dyn_cast<scf::WhileOp>(made.getOwner()))
    return loop.getConditionOp().getArgs()[number];
  if (auto branch = dyn_cast<scf::IfOp>(made.getOwner()))
    return branch.thenYield().getResults()[number];
  return {};
}

} // namespace kiln
