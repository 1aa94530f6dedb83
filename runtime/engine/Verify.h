//===- Verify.h - checks of a submission ---------------------------------===//
//
// What: everything about a task that can be judged from the task and its kernel alone. Pure
//   functions. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_VERIFY_H
#define KILN_RUNTIME_ENGINE_VERIFY_H

#include "kiln/runtime/task.h"

namespace kiln {

/// `kernel` is null for a dummy, or when the task names none that exists.
Status verifyTask(const Task &task, const KernelRecord *kernel);

/// The failure of a run that ends early, at this task.
Status interruptedAt(uint64_t task, const KernelRecord *kernel);
/// "kernel 'name'" or "dummy task", for messages.
std::string describeTask(const Task &task);

/// The name of an argument for messages: from the signature if there is one.
std::string argumentName(const KernelRecord *kernel, size_t index);

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_VERIFY_H
