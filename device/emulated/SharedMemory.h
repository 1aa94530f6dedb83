//===- SharedMemory.h - the shared memory of a block, and who did what in it
//-------------------===//
//
// What: bytes at 32-bit addresses, with what is known of each: who wrote and who read it last, and
//   whether a copy or a product in flight is going to. Every access is checked against that; what
//   is wrong is told as text.
//
// Ownership and threads: a block's.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DEVICE_EMULATED_SHAREDMEMORY_H
#define KILN_DEVICE_EMULATED_SHAREDMEMORY_H

#include "Clock.h"

#include <string>
#include <vector>

namespace kiln::emulated {

/// Who accesses memory: a thread, or a unit that it has asked.
struct Accessor {
  unsigned thread;
  const Clock &clock;
};

class SharedMemory {
public:
  /// The first addresses are the system's, as on hardware.
  static constexpr unsigned kBegin = 1024;

  /// Of a block whose threads have the numbers from `first` on, among all of its cluster; the one
  /// behind them is the copy engine's.
  SharedMemory(unsigned bytes, unsigned threads, unsigned first);

  // Each is empty if the access is right, or says what is wrong with it.
  std::string read(const Accessor &by, unsigned address, void *to, unsigned bytes);
  std::string write(const Accessor &by, unsigned address, const void *from, unsigned bytes);
  std::string beginCopy(const Accessor &by, unsigned address, unsigned bytes);
  /// By a unit, up to `finishReading`.
  std::string beginReading(const Accessor &by, unsigned address, unsigned bytes, const char *what);
  std::string markBarrier(const Accessor &by, unsigned address);

  void finishCopy(unsigned address, const unsigned char *from, unsigned bytes, uint32_t epoch);
  void finishReading(const Accessor &by, unsigned address, unsigned bytes);

  const unsigned char *at(unsigned address) const { return Bytes.data() + address; }
  bool has(unsigned address, unsigned bytes) const {
    return address >= kBegin && address + bytes <= Bytes.size() && address + bytes >= address;
  }
  /// A thread has executed a fence for asynchronous units.
  void noteFence(unsigned thread) { ++Fences[thread - First]; }

private:
  struct Cell {
    uint32_t writeTime, readTime, writerFences;
    uint16_t writer, reader;
    uint8_t isWritten, isCopied, products, isBarrier;
  };

  std::string outside(unsigned address, unsigned bytes) const;
  std::string raceWithWriter(const Accessor &by, const Cell &cell, const char *what) const;
  std::string raceWithReader(const Accessor &by, const Cell &cell) const;
  /// What no access may meet.
  std::string inUse(const Cell &cell, bool writes) const;
  std::string unfenced(const Cell &cell) const;
  std::string nameOf(unsigned thread) const;

  std::vector<unsigned char> Bytes;
  std::vector<Cell> Cells;
  std::vector<uint32_t> Fences;
  unsigned Threads, First;
};

} // namespace kiln::emulated

#endif // KILN_DEVICE_EMULATED_SHAREDMEMORY_H
