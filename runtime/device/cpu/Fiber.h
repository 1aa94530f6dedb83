//===- Fiber.h - a stack of its own for a role ---------------------------===//
//
// What: a computation that can be left and come back to, on Boost.Context. Switching is symmetric
//   and costs about as much as a call. Address- and ThreadSanitizer are told of every switch.
//
// Ownership: its stack, which has a guard page below it. A fiber's entry never returns: it is
//   destroyed while switched away from, and what is on its stack then is dropped, not destroyed.
//
// Threads: switch between the fibers of one thread. A suspended fiber may be continued by another
//   thread. Internal to the runtime.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CPU_FIBER_H
#define KILN_RUNTIME_DEVICE_CPU_FIBER_H

#include <cstddef>

namespace kiln {

class Fiber {
public:
  using Entry = void (*)(void *argument);
  /// Tiles live in scratch memory and in pipes, so this is for frames only.
  static constexpr size_t stackBytes = 256 << 10;

  /// Stands for the stack of whichever thread switches away from it.
  Fiber();
  Fiber(Entry entry, void *argument);
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// False when there was no memory for its stack: it must not be switched to.
  bool isUsable() const { return !Entered || Stack; }

  /// Leaves this fiber, which must be the running one, and continues `to`. Returns when somebody
  /// switches back.
  void switchTo(Fiber &to);

private:
  struct Switch;
  struct Start;
  void arrive(Switch &how, void *suspended);

  // What the C++ runtime keeps per thread about exceptions in flight belongs to the stack.
  struct ExceptionState {
    void *caught = nullptr;
    unsigned uncaught = 0;
  };

  void *Context = nullptr; // where it continues; null while it runs
  Entry Entered = nullptr;
  void *Argument = nullptr;
  void *Stack = nullptr; // the mapping, guard page first
  ExceptionState Exceptions;
  const void *Bottom = nullptr; // of the stack; for AddressSanitizer
  size_t Size = 0;
  [[maybe_unused]] void *FakeStack = nullptr;   // AddressSanitizer's
  [[maybe_unused]] void *ThreadState = nullptr; // ThreadSanitizer's
};

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_CPU_FIBER_H
