//===- PlacedArguments.h - arguments where a platform's programs have theirs ---------------===//
//
// A caller of the JIT has its tensors where the platform wants them. Whoever has arguments in the
// host's memory and wants to call a program again and again, as tuning does, lets the platform
// place them (`Platform::place`).
//
// Ownership: it owns copies of the tensors that calls may write, and shares the others. Threads:
// one at a time; several may read forCalls() while nothing is called.
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
  /// Makes what calls may have written what it was when it was placed.
  virtual Status restore() = 0;
  /// What they are now, in tensors of the host that may change with later calls and reads.
  virtual Expected<std::vector<Argument>> read() = 0;

protected:
  static CallArg forCall(const ScalarBits &scalar);
};

/// In the host's memory, where `args` are. `isWritten` says of each whether calls may write it.
Expected<std::unique_ptr<PlacedArguments>> placeInHost(std::span<const Argument> args,
                                                       const std::vector<bool> &isWritten);

} // namespace kiln

#endif // KILN_PLATFORM_PLACEDARGUMENTS_H
