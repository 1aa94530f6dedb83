#include "device/cpu/Fiber.h"

#include <boost/context/detail/fcontext.hpp>

#include <cstring>
#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define KILN_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KILN_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define KILN_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KILN_TSAN 1
#endif
#endif
#ifdef KILN_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef KILN_TSAN
#include <sanitizer/tsan_interface.h>
#endif

using namespace kiln;
namespace context = boost::context::detail;

/// What the fiber that leaves tells the one that continues.
struct Fiber::Switch {
  Fiber &from, &to;
};

/// The first frame on a new stack.
struct Fiber::Start {
  [[noreturn]] static void run(context::transfer_t transfer) {
    auto &how = *static_cast<Switch *>(transfer.data);
    Fiber &self = how.to;
    self.arrive(how, transfer.fctx);
    self.Entered(self.Argument);
    __builtin_unreachable(); // see Fiber.h: an entry never returns
  }
};

/// The thread's state of exceptions, whose layout the C++ ABI of the platform fixes. Not to be
/// inlined: the compiler may assume that a thread-local address does not change within a function,
/// but a fiber may be continued on another thread.
[[gnu::noinline]] static void *exceptionGlobals() {
  void *globals = abi::__cxa_get_globals();
  asm volatile("" : "+r"(globals));
  return globals;
}

Fiber::Fiber() = default;

Fiber::Fiber(Entry entry, void *argument) : Entered(entry), Argument(argument) {
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void *mapping = mmap(nullptr, stackBytes + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return;
  mprotect(mapping, page, PROT_NONE);
  Stack = mapping;
  Bottom = static_cast<std::byte *>(mapping) + page;
  Size = stackBytes;
  Context = context::make_fcontext(static_cast<std::byte *>(mapping) + page + stackBytes,
                                   stackBytes, Start::run);
#ifdef KILN_TSAN
  ThreadState = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  if (!Stack)
    return;
#ifdef KILN_TSAN
  __tsan_destroy_fiber(ThreadState);
#endif
  munmap(Stack, stackBytes + static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

/// Runs on the fiber that has just continued: `suspended` is where the other one stopped.
void Fiber::arrive(Switch &how, void *suspended) {
  how.from.Context = suspended;
#ifdef KILN_ASAN
  __sanitizer_finish_switch_fiber(std::exchange(FakeStack, nullptr), &how.from.Bottom,
                                  &how.from.Size);
#endif
  std::memcpy(exceptionGlobals(), &Exceptions, sizeof(Exceptions));
}

void Fiber::switchTo(Fiber &to) {
  Switch how{*this, to};
  std::memcpy(&Exceptions, exceptionGlobals(), sizeof(Exceptions));
#ifdef KILN_ASAN
  __sanitizer_start_switch_fiber(&FakeStack, to.Bottom, to.Size);
#endif
#ifdef KILN_TSAN
  if (!Stack)
    ThreadState = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.ThreadState, 0);
#endif
  context::transfer_t transfer = context::jump_fcontext(std::exchange(to.Context, nullptr), &how);
  arrive(*static_cast<Switch *>(transfer.data), transfer.fctx);
}
