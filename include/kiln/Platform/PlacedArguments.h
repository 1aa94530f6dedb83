//===- PlacedArguments.h - arguments where a platform's programs have theirs ---------------===//
//
// A caller of the JIT has its tensors where the platform wants them. Whoever has arguments in the
// host's memory and wants to call a program again and again, as tuning does, lets the platform
// place them (`Platform::place`).
//
// Ownership: it owns copies of the tensors. Threads: one at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PLATFORM_PLACEDARGUMENTS_H
#define KILN_PLATFORM_PLACEDARGUMENTS_H

#include "kiln/Jit/TensorAdaptor.h"
#include "kiln/Program/Arguments.h"

namespace kiln {

class PlacedArguments {
public:
  virtual ~PlacedArguments() = default;
  /// For calls, as long as this lives.
  virtual std::vector<CallArg> forCalls() const = 0;
  /// Waits until all calls have run.
  virtual Status wait() const { return Status::ok(); }
  /// What they are now, in tensors of the host that may change with later calls.
  virtual Expected<std::vector<Argument>> read() const = 0;

protected:
  static CallArg forCall(const ScalarBits &scalar);
};

/// In the host's memory, where `args` are.
Expected<std::unique_ptr<PlacedArguments>> placeInHost(std::span<const Argument> args);

} // namespace kiln

#endif // KILN_PLATFORM_PLACEDARGUMENTS_H
