//===- LoadedArtifact.h - code in this process -------------------------------------------===//
//
// What: a shared object that has been mapped, and its entry. Lives as long as anybody holds it.
//
// Threads: constant once made.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_JIT_LOADEDARTIFACT_H
#define KILN_LIB_JIT_LOADEDARTIFACT_H

#include "kiln/Jit/DiskCache.h"

#include <memory>

namespace kiln {

class LoadedArtifact {
public:
  /// Maps the object: from its file where it has one (debuggers and profilers then find its
  /// symbols), else from anonymous memory.
  static Expected<std::shared_ptr<const LoadedArtifact>> load(const CacheEntry &entry);
  ~LoadedArtifact();
  LoadedArtifact(const LoadedArtifact &) = delete;
  LoadedArtifact &operator=(const LoadedArtifact &) = delete;

  kiln_kernel_fn entry() const { return Entry; }
  uint64_t workspaceBytes() const { return Workspace; }

private:
  LoadedArtifact() = default;
  Status map(const CacheEntry &entry);
  Status mapAnonymous(const CacheEntry &entry);

  void *Handle = nullptr;
  int Fd = -1; ///< Of the anonymous memory; debuggers read it by its name in /proc.
  kiln_kernel_fn Entry = nullptr;
  uint64_t Workspace = 0;
};

} // namespace kiln

#endif // KILN_LIB_JIT_LOADEDARTIFACT_H
