//===- CheckedMath.h - 64-bit arithmetic that says when it overflows -----===//
//
// What: add and multiply on sizes that come from outside. Internal to the runtime; pure, any
//   thread.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_CHECKEDMATH_H
#define KILN_RUNTIME_ABI_CHECKEDMATH_H

#include <cstdint>

namespace kiln {

/// False, leaving `result` unspecified, when the exact value does not fit.
inline bool checkedMul(int64_t a, int64_t b, int64_t &result) {
  return !__builtin_mul_overflow(a, b, &result);
}
inline bool checkedAdd(int64_t a, int64_t b, int64_t &result) {
  return !__builtin_add_overflow(a, b, &result);
}

} // namespace kiln

#endif // KILN_RUNTIME_ABI_CHECKEDMATH_H
