#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Dialect/Tile/Unwritten.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEMARKUNWRITTEN
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// Follows parameters up to what the program itself is given.
class UnwrittenParameters {
public:
  explicit UnwrittenParameters(ModuleOp module) {
    for (auto func : module.getOps<ir::FuncOp>()) {
      bool isFirst = true;
      func.walk([&](Operation *op) {
        auto note = [&](SymbolRefAttr callee, OperandRange args, bool isLater) {
          if (callee)
            Calls[module.lookupSymbol<ir::FuncOp>(callee)].push_back({func, args, isLater});
        };
        if (auto call = dyn_cast<ir::CallOp>(op)) {
          note(call.getCalleeAttr(), call.getArgs(), false);
        } else if (auto submit = dyn_cast<ir::SubmitOp>(op)) {
          bool isAgain = op->getParentOfType<LoopLikeOpInterface>();
          note(submit.getCalleeAttr(), submit.getArgs(), !std::exchange(isFirst, false) || isAgain);
        }
      });
    }
  }

  /// Whether the program may launch other kernels before it launches this function.
  bool comesLater(ir::FuncOp func) const {
    auto calls = Calls.find(func);
    return calls != Calls.end() && llvm::any_of(calls->second, [&](const Call &call) {
             return call.isLater || comesLater(call.caller);
           });
  }

  /// Whether a tensor of a function is one that the program only reads. Functions do not recurse.
  bool contains(ir::FuncOp func, Value tensor) const {
    auto parameter = dyn_cast<BlockArgument>(ir::rootOf(tensor));
    if (!parameter || parameter.getOwner() != &func.getBody().front())
      return false;
    unsigned number = parameter.getArgNumber();
    auto calls = Calls.find(func);
    if (calls == Calls.end())
      return func.getKind() == ir::FuncKind::Orchestration &&
             func.getArgDirection(number) == ir::Direction::In;
    return llvm::all_of(calls->second,
                        [&](const Call &call) { return contains(call.caller, call.args[number]); });
  }

private:
  struct Call {
    ir::FuncOp caller;
    OperandRange args;
    bool isLater; ///< It is a launch, and not the first of its caller.
  };
  llvm::DenseMap<Operation *, SmallVector<Call>> Calls;
};

struct MarkUnwritten : impl::TileMarkUnwrittenBase<MarkUnwritten> {
  void runOnOperation() override {
    UnwrittenParameters unwritten(getOperation());
    for (auto func : getOperation().getOps<ir::FuncOp>()) {
      bool comesLater = unwritten.comesLater(func);
      func.walk([&](tile::LoadOp load) {
        bool isSent = llvm::any_of(load->getUsers(), llvm::IsaPred<tile::PushOp>);
        // Before a program's first kernel comes another program, now and then: worth it where
        // memory is all that a kernel waits for, in each round of a loop.
        bool streams = load->hasAttr(tile::kStreamsAttr) && load->getParentOfType<scf::ForOp>();
        if (isSent && (comesLater || streams) && unwritten.contains(func, load.getTensor()))
          load->setAttr(tile::kUnwrittenAttr, UnitAttr::get(&getContext()));
      });
    }
  }
};
} // namespace
} // namespace kiln
