// A global operator new that counts, in a unit of its own so that no compiler sees both ends of a
// pair at once.
#include "Allocations.h"

#include <cstdlib>
#include <new>

thread_local uint64_t kiln::test::allocations = 0;

#if KILN_OWN_OPERATOR_NEW
void *operator new(size_t size) {
  ++kiln::test::allocations;
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  std::abort();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif
