//===- Allocations.h - how often this thread has called operator new ---------------------===//
#ifndef KILN_UNITTESTS_JIT_ALLOCATIONS_H
#define KILN_UNITTESTS_JIT_ALLOCATIONS_H

#include <cstdint>

namespace kiln::test {
extern thread_local uint64_t allocations;
} // namespace kiln::test

#endif // KILN_UNITTESTS_JIT_ALLOCATIONS_H
