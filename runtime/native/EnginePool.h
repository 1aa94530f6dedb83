//===- EnginePool.h - engines for compiled programs ----------------------===//
//
// What: the engines on which orchestrations of compiled programs run, shared by all programs of the
//   process. An engine has a thread for each core, so one for each program would be too many.
//
// Ownership: who takes an engine owns it until it is given back. A few idle ones are kept.
//
// Threads: any.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_NATIVE_ENGINEPOOL_H
#define KILN_RUNTIME_NATIVE_ENGINEPOOL_H

#include "kiln/runtime/engine.h"

#include <mutex>
#include <vector>

namespace kiln {

class EnginePool {
public:
  static EnginePool &get();

  /// An engine without an open run, for the kernels of this registry.
  Expected<std::unique_ptr<Engine>> take(const KernelRegistry &registry);
  /// Its run has been finished.
  void giveBack(std::unique_ptr<Engine> engine);

private:
  std::mutex Mutex;
  std::vector<std::unique_ptr<Engine>> Idle;
};

} // namespace kiln

#endif // KILN_RUNTIME_NATIVE_ENGINEPOOL_H
