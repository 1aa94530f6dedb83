#include "kiln/Program/TensorName.h"

using namespace mlir;

namespace kiln {

std::string describeTensor(Value tensor) {
  Value root = ir::rootOf(tensor);
  StringRef given;
  if (auto parameter = dyn_cast<BlockArgument>(root)) {
    if (auto func = dyn_cast<ir::FuncOp>(parameter.getOwner()->getParentOp()))
      given = func.getArgName(parameter.getArgNumber());
  } else if (auto alloc = root.getDefiningOp<ir::AllocOp>()) {
    given = alloc.getName().value_or("");
  }
  return (root == tensor ? "" : "a view of ") +
         (given.empty() ? std::string("the tensor") : "'" + given.str() + "'");
}

} // namespace kiln
