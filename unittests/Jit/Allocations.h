//===- Allocations.h - how often this thread has called operator new ---------------------===//
#ifndef KILN_UNITTESTS_JIT_ALLOCATIONS_H
#define KILN_UNITTESTS_JIT_ALLOCATIONS_H

#include <cstdint>

namespace kiln::test {

/// ThreadSanitizer brings an operator new of its own, and clang links no second one.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KILN_OWN_OPERATOR_NEW 0
#endif
#endif
#ifndef KILN_OWN_OPERATOR_NEW
#define KILN_OWN_OPERATOR_NEW 1
#endif
inline constexpr bool countsAllocations = KILN_OWN_OPERATOR_NEW;

extern thread_local uint64_t allocations;

} // namespace kiln::test

#endif // KILN_UNITTESTS_JIT_ALLOCATIONS_H
