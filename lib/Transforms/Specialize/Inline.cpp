#include "kiln/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNINLINE
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// Helpers that call helpers twice each double the code with every level.
constexpr unsigned kMaxCalls = 10000;

void inlineCall(ir::CallOp call, ir::FuncOp helper) {
  OpBuilder builder(call);
  IRMapping values;
  values.map(helper.getArguments(), call.getArgs());
  Block &body = helper.getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, values);
  for (auto [result, returned] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(values.lookupOrDefault(returned));
  call.erase();
}

struct Inline : impl::KilnInlineBase<Inline> {
  using KilnInlineBase::KilnInlineBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<ir::CallOp> calls;
    auto isHelper = [&](ir::CallOp call) {
      return symbols.lookup<ir::FuncOp>(call.getCallee()).getKind() == ir::FuncKind::Incore;
    };
    getOperation().walk([&](ir::CallOp call) {
      if (isHelper(call))
        calls.push_back(call);
    });
    llvm::SmallSetVector<ir::FuncOp, 4> helpers;
    for (unsigned done = 0; !calls.empty(); ++done) {
      ir::CallOp call = calls.pop_back_val();
      if (done == kMaxCalls) {
        call.emitOpError("is one of more than ") << kMaxCalls << " calls of helpers to inline";
        return signalPassFailure();
      }
      auto helper = symbols.lookup<ir::FuncOp>(call.getCallee());
      helpers.insert(helper);
      Operation *before = call->getPrevNode(), *after = call->getNextNode();
      Block *block = call->getBlock();
      inlineCall(call, helper);
      // What was inlined may call in turn.
      Operation *op = before ? before->getNextNode() : &block->front();
      for (; op != after; op = op->getNextNode())
        op->walk([&](ir::CallOp inner) { calls.push_back(inner); });
    }
    // Nobody launches or calls them any more; a run must not start with one by chance.
    for (ir::FuncOp helper : helpers)
      if (helper.getSymName() != entry && symbols.symbolKnownUseEmpty(helper, getOperation()))
        symbols.erase(helper);
  }
};
} // namespace
} // namespace kiln
