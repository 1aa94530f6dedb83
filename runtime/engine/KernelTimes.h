//===- KernelTimes.h - which tasks are too brief to be handed over -------===//
//
// What: for the kernels of an engine, by size of the task, whether they have lately taken less time
//   than handing a task over to another core does, or so little that the submitter may run them
//   while there is plenty for the workers (BriefTasks.cpp). Tasks are timed until both are clear,
//   and from then on now and then.
//
// Why by experience: what a kernel does is not known here, and a wrong guess costs either way. One
//   slow call (an interrupt) changes nothing, two in a row do.
//
// Threads: the submitter only. Workers take the time of a task in its node. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_KERNELTIMES_H
#define KILN_RUNTIME_ENGINE_KERNELTIMES_H

#include "kiln/runtime/task.h"

#include <array>
#include <bit>
#include <cstdint>

namespace kiln {

class KernelTimes {
public:
  /// Stands for tasks of a kernel with about so many elements. 0: for none.
  using Slot = uint16_t;

  explicit KernelTimes(uint32_t briefNs) : BriefNs(briefNs), ShortNs(briefNs * shortPerBrief) {}

  Slot slotOf(const KernelRecord &kernel, std::span<const TaskTensor> tensors) {
    uint64_t elements = 0;
    for (const TaskTensor &arg : tensors) {
      uint64_t product = 1; // what does not fit is some size, too
      for (int i = 0; i < arg.tensor.rank(); ++i)
        product *= static_cast<uint64_t>(arg.tensor.extent(i));
      elements += product;
    }
    auto size = static_cast<uint8_t>(std::bit_width(elements));
    uint64_t hash = reinterpret_cast<uintptr_t>(&kernel) / sizeof(kernel) * 64 + size;
    auto slot = static_cast<Slot>(1 + (hash * 0x9e3779b97f4a7c15u >> (64 - slotBits)));
    Entry &entry = Entries[slot];
    if (entry.kernel != &kernel || entry.size != size) // another one was here before
      entry = {&kernel, size, 0, {}, {}};
    return slot;
  }

  /// Handing it over takes longer.
  bool isBrief(Slot slot) const { return Entries[slot].brief.isEnough(); }
  /// Nobody runs out of work while the submitter runs it, if there is plenty.
  bool isShort(Slot slot) const { return Entries[slot].isShort.isEnough(); }

  /// `slot` if the next task is to be timed, else 0.
  Slot wantsTime(Slot slot) {
    Entry &entry = Entries[slot];
    if (entry.untimed != 0)
      --entry.untimed;
    return entry.untimed == 0 ? slot : 0;
  }

  void note(Slot slot, const KernelRecord *kernel, uint32_t nanoseconds) {
    Entry &entry = Entries[slot];
    if (entry.kernel != kernel)
      return;
    entry.brief.note(nanoseconds < BriefNs);
    entry.isShort.note(nanoseconds < ShortNs);
    entry.untimed = entry.brief.isClear() && entry.isShort.isClear() ? timedOneIn : 0;
  }

private:
  /// In what tasks have shown so far.
  class Trust {
  public:
    void note(bool isGood) {
      if (isGood)
        Amount = std::min<uint8_t>(Amount + 1, full);
      else
        Amount = Amount > enough ? Amount - enough : 0;
    }
    bool isEnough() const { return Amount >= enough; }
    bool isClear() const { return Amount == 0 || Amount == full; }

  private:
    static constexpr uint8_t enough = 4, full = 8;
    uint8_t Amount = 0;
  };
  struct Entry {
    const KernelRecord *kernel = nullptr;
    uint8_t size = 0;
    uint8_t untimed = 0; // tasks that need not be timed
    Trust brief, isShort;
  };
  static constexpr uint8_t timedOneIn = 16;
  /// Of the 32 ready tasks that each worker has then (Scheduler::hasPlenty), it begins a few
  /// meanwhile even if they are brief.
  static constexpr uint64_t shortPerBrief = 64;

  const uint64_t BriefNs, ShortNs;
  static constexpr int slotBits = 10;
  std::array<Entry, 1 + (1 << slotBits)> Entries{};
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_KERNELTIMES_H
