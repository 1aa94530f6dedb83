//===- kiln/runtime/compiled_orchestration.h - runs a compiled orchestration ===//
//
// What: calls code that was compiled for kiln/orchestration_abi.h with an engine behind it.
//
// Ownership: borrows everything for the length of the call; tasks keep the tensors they use.
//
// Threads: the engine's submitter (see engine.h).
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_COMPILED_ORCHESTRATION_H
#define KILN_RUNTIME_COMPILED_ORCHESTRATION_H

#include "kiln/orchestration_abi.h"
#include "kiln/runtime/engine.h"

#include <span>

namespace kiln {

struct NativeRunReport;

/// Launches everything `entry` launches; Engine::wait() or finish() waits for it. `kernels` are
/// what its launches refer to by number. What fails is returned with its place in the user's
/// source.
Status runOrchestration(Engine &engine, kiln_orchestration_fn entry,
                        std::span<const KernelRecord *const> kernels,
                        std::span<const Tensor> tensors, std::span<const ScalarBits> scalars);

/// Ends a run of the engine, also after a failure: what was submitted drains, and the dump is
/// written. `started` is what launching came to, and goes first. `report` may be null.
Status finishRun(Engine &engine, Status started, NativeRunReport *report);

} // namespace kiln

#endif // KILN_RUNTIME_COMPILED_ORCHESTRATION_H
