#include "kiln/Dialect/Tile/TileDialect.h"

#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Tile/GlobalRing.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNINFERDIRECTIONS
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// The two facts about a tensor parameter; each with the op that shows it.
struct Access {
  Operation *read = nullptr;
  Operation *write = nullptr;

  ir::Direction direction() const {
    if (!write)
      return ir::Direction::In;
    return read ? ir::Direction::InOut : ir::Direction::Out;
  }
};

struct InferDirections : impl::KilnInferDirectionsBase<InferDirections> {
  using Accesses = SmallVector<Access>;
  llvm::DenseMap<Operation *, Accesses> known;

  const Accesses &accessesOf(ir::FuncOp func) {
    // Recursion is rejected by the verifier, so callees first terminates.
    if (auto it = known.find(func); it != known.end())
      return it->second;
    Accesses accesses(func.getNumArguments());
    auto note = [&](Value tensor, Operation *op, bool reads, bool writes) {
      auto root = dyn_cast<BlockArgument>(ir::rootOf(tensor));
      if (!root || root.getOwner() != &func.getBody().front())
        return;
      Access &access = accesses[root.getArgNumber()];
      if (reads && !access.read)
        access.read = op;
      if (writes && !access.write)
        access.write = op;
    };
    auto noteCallee = [&](Operation *op, StringAttr name, ValueRange args) {
      auto callee = getOperation().lookupSymbol<ir::FuncOp>(name);
      for (auto [arg, access] : llvm::zip(args, accessesOf(callee)))
        if (isa<ir::TensorType>(arg.getType()))
          note(arg, op, access.read, access.write);
    };
    func.walk([&](Operation *op) {
      for (const tile::TensorAccess &access : tile::tensorAccesses(op))
        note(access.tensor, op, access.reads, access.writes);
      llvm::TypeSwitch<Operation *>(op)
          .Case<ir::CallOp>(
              [&](auto call) { noteCallee(op, call.getCalleeAttr().getAttr(), call.getArgs()); })
          .Case<ir::IncoreOp>([&](auto incore) {
            if (incore.getPredicate())
              note(incore.getPredicate(), op, true, false);
          })
          .Case<ir::SubmitOp>([&](auto submit) {
            if (submit.getPredicate())
              note(submit.getPredicate(), op, true, false);
            if (submit.getCallee())
              noteCallee(op, submit.getCalleeAttr().getAttr(), submit.getArgs());
          });
    });
    return known[func] = std::move(accesses);
  }

  /// What is declared may not fall short of what the body does. It may promise more reads than
  /// there are: what is written in part keeps the caller's values elsewhere, and is inout. An
  /// orchestration may read what it declares out, for it may have written it before; a kernel's
  /// direction is what tasks are ordered by, so there it is what one task does to memory.
  LogicalResult check(ir::FuncOp func, unsigned index, const Access &access) {
    ir::Direction declared = *func.getArgDirection(index);
    bool declaredReads =
        declared != ir::Direction::Out || func.getKind() == ir::FuncKind::Orchestration;
    bool declaredWrites = declared != ir::Direction::In;
    bool hidesRead = access.read && !declaredReads;
    if (!hidesRead && declaredWrites == (access.write != nullptr))
      return success();
    InFlightDiagnostic diag = func.emitOpError("parameter '")
                              << func.getArgName(index) << "' is declared "
                              << ir::stringifyDirection(declared);
    if (!access.write)
      return diag << "; nothing writes it";
    diag << " but the body makes it " << ir::stringifyDirection(access.direction());
    if (hidesRead)
      diag.attachNote(access.read->getLoc()) << "it is read here";
    if (!declaredWrites)
      diag.attachNote(access.write->getLoc()) << "it is written here";
    return diag;
  }

  /// Gives a parameter that declares no direction the one that the body makes of it.
  static void infer(ir::FuncOp func, unsigned index, const Access &access) {
    func.setArgDirection(index, access.direction());
    if (access.direction() == ir::Direction::InOut)
      func.setArgAttr(index, ir::kInferredAttr, UnitAttr::get(func.getContext()));
  }

  void runOnOperation() override {
    known.clear();
    if (failed(tile::requireFacts(getOperation(), "which tensors it reads and writes")))
      return signalPassFailure();
    for (auto func : getOperation().getOps<ir::FuncOp>())
      for (auto [index, access] : llvm::enumerate(accessesOf(func))) {
        if (!isa<ir::TensorType>(func.getArgumentTypes()[index]))
          continue;
        if (ir::isInternal(func, index)) // the pass that added it has said
          continue;
        if (!func.isArgDirectionDeclared(index))
          infer(func, index, access);
        else if (failed(check(func, index, access)))
          return signalPassFailure();
      }
  }
};
} // namespace
} // namespace kiln
