#include "InlineCalls.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln::llvmir {

void inlineCalls(ir::FuncOp kernel) {
  SmallVector<ir::CallOp> calls;
  kernel.walk([&](ir::CallOp call) { calls.push_back(call); });
  while (!calls.empty()) {
    ir::CallOp call = calls.pop_back_val();
    auto callee = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(call, call.getCalleeAttr());
    IRMapping map;
    map.map(callee.getArguments(), call.getArgs());
    OpBuilder builder(call);
    Block &body = callee.getBody().front();
    for (Operation &op : body.without_terminator()) {
      Operation *copy = builder.clone(op, map);
      copy->walk([&](ir::CallOp inner) { calls.push_back(inner); });
    }
    for (auto [result, value] :
         llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(map.lookupOrDefault(value));
    call.erase();
  }
}

} // namespace kiln::llvmir
