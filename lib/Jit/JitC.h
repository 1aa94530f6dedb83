//===- JitC.h - what is behind the handles of the C API ----------------------------------===//
#ifndef KILN_LIB_JIT_JITC_H
#define KILN_LIB_JIT_JITC_H

#include "abi/CBoundary.h"
#include "kiln/Jit/Jit.h"

struct kiln_jit {
  kiln::Jit jit;
};

struct kiln_compiled {
  kiln::Compiled function;
};

namespace kiln {

/// Keeps the message for kiln_jit_error(), and returns the code.
int32_t rememberError(const Status &status);

/// Every function of the C API is one call of this: nothing it does throws.
template <typename Result, typename Body> Result guarded(Result failed, Body body) noexcept {
  return withoutThrowing(failed, body, rememberError);
}

} // namespace kiln

#endif // KILN_LIB_JIT_JITC_H
