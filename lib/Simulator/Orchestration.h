//===- Orchestration.h - launches, allocations and waits through the engine -------------===//
//
// Gives an orchestration's operations their meaning: each is a call of the runtime's engine, which
// finds the order of tasks, runs them and dumps their arguments. Borrows the engine; one thread at
// a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_ORCHESTRATION_H
#define KILN_LIB_SIMULATOR_ORCHESTRATION_H

#include "Interpreter.h"

#include "kiln/runtime/dump_marks.h"
#include "kiln/runtime/engine.h"
#include "kiln/runtime/ranks.h"

namespace kiln::simulator {

/// A task that runs `kernel`; `args` in parameter order become tensors and scalars in task order.
/// A tensor is marked for the dump if the kernel or `isMarked` says so.
Task makeTask(ir::FuncOp kernel, llvm::ArrayRef<Value> args,
              llvm::function_ref<bool(const Tensor &)> isMarked = {});

/// The comparison of a predicate; none for those that cannot be written.
std::optional<Compare> comparisonOf(mlir::arith::CmpIPredicate predicate);

class OrchestrationHost final : public Host {
public:
  /// `machine` may be null; where it is known, launches that start all blocks at once must fit it.
  OrchestrationHost(mlir::SymbolTable &symbols, Steps &steps, Engine &engine, Watcher *watcher,
                    const Machine *machine)
      : Host(symbols, steps), Run(engine), Watch(watcher), Hardware(machine) {}

  Expected<Tensor> alloc(DType dtype, Dims extents) override { return Run.alloc(dtype, extents); }
  void mark(const Tensor &tensor) override { Marked.add(tensor); }
  Status submit(Interpreter &in, ir::SubmitOp op) override;
  Status get(Interpreter &in, ir::GetOp op) override;
  Status collect(Interpreter &in, const ir::Collective &collective) override;
  Expected<int64_t> rank(ir::AlongAttr along, bool wantsCount) override;
  Status beginScope(ir::ScopeOp op) override;
  Status endScope(ir::ScopeOp) override { return Run.endScope(); }

private:
  Engine &Run;
  Watcher *Watch;
  const Machine *Hardware;
  DumpMarks Marked;
};

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_ORCHESTRATION_H
