//===- Forks.h - what a fork must not cut through ----------------------------------------===//
//
// What: any thread may fork the process at any time, as programs in Python do. Of the threads there
//   is one in the new process, so a lock that another one had is never given back there. Kiln's own
//   state begins anew; that of the dynamic linker and of LLVM's linker cannot.
//
// Threads: any; one at a time has an `Unforked`.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_FORKS_H
#define KILN_RUNTIME_ABI_FORKS_H

namespace kiln {

/// While there is one, nobody forks: whoever does waits. Not to be nested.
class Unforked {
public:
  Unforked();
  ~Unforked();
  Unforked(const Unforked &) = delete;
  Unforked &operator=(const Unforked &) = delete;
};

} // namespace kiln

#endif // KILN_RUNTIME_ABI_FORKS_H
