#include "SharedMemory.h"

#include <cstring>

using namespace kiln::emulated;

static constexpr uint16_t kNobody = 0xffff;

SharedMemory::SharedMemory(unsigned bytes, unsigned threads, unsigned first)
    : Bytes(kBegin + bytes, 0xff), // NaN in every type of float
      Cells(kBegin + bytes, Cell{0, 0, 0, kNobody, kNobody, 0, 0, 0, 0}), Fences(threads),
      Threads(threads), First(first) {}

std::string SharedMemory::nameOf(unsigned thread) const {
  unsigned number = thread % (Threads + 1);
  return (number == Threads ? "the copy engine" : "thread " + std::to_string(number)) +
         (thread - number == First ? "" : " of another block");
}

std::string SharedMemory::outside(unsigned address, unsigned bytes) const {
  if (!has(address, bytes))
    return "it is outside of the block's shared memory, which has " +
           std::to_string(Bytes.size() - kBegin) + " bytes";
  if (address % bytes != 0 && (bytes & (bytes - 1)) == 0 && bytes <= 16)
    return "the address is no multiple of the " + std::to_string(bytes) + " bytes";
  return "";
}

std::string SharedMemory::inUse(const Cell &cell, bool writes) const {
  if (cell.isBarrier)
    return "a barrier is there";
  if (cell.isCopied)
    return "a copy in flight writes there";
  if (writes && cell.products)
    return "a product or a store in flight reads there";
  return "";
}

std::string SharedMemory::raceWithWriter(const Accessor &by, const Cell &cell,
                                         const char *what) const {
  if (cell.writer == kNobody || cell.writer == by.thread || cell.writeTime <= by.clock[cell.writer])
    return "";
  return nameOf(cell.writer) + " wrote there, and nothing orders that before " + what;
}

std::string SharedMemory::raceWithReader(const Accessor &by, const Cell &cell) const {
  if (cell.reader == kNobody || cell.reader == by.thread || cell.readTime <= by.clock[cell.reader])
    return "";
  return nameOf(cell.reader) + " read what was there, and nothing orders that before this";
}

std::string SharedMemory::unfenced(const Cell &cell) const {
  if (cell.writer < First || cell.writer >= First + Threads || // nobody, or the copy engine
      Fences[cell.writer - First] > cell.writerFences)
    return "";
  return nameOf(cell.writer) + " wrote there, without fence.proxy.async since";
}

std::string SharedMemory::read(const Accessor &by, unsigned address, void *to, unsigned bytes) {
  if (std::string bad = outside(address, bytes); !bad.empty())
    return bad;
  for (Cell *cell = &Cells[address], *end = cell + bytes; cell != end; ++cell) {
    if (cell->isBarrier | cell->isCopied)
      return inUse(*cell, false);
    if (!cell->isWritten)
      return "nobody has written there";
    if (std::string bad = raceWithWriter(by, *cell, "this read"); !bad.empty())
      return bad;
    cell->reader = static_cast<uint16_t>(by.thread);
    cell->readTime = by.clock[by.thread];
  }
  std::memcpy(to, &Bytes[address], bytes);
  return "";
}

std::string SharedMemory::write(const Accessor &by, unsigned address, const void *from,
                                unsigned bytes) {
  if (std::string bad = outside(address, bytes); !bad.empty())
    return bad;
  for (Cell *cell = &Cells[address], *end = cell + bytes; cell != end; ++cell) {
    if (std::string bad = inUse(*cell, true); !bad.empty())
      return bad;
    if (std::string bad = raceWithWriter(by, *cell, "this write"); !bad.empty())
      return bad;
    if (std::string bad = raceWithReader(by, *cell); !bad.empty())
      return bad;
    cell->writer = static_cast<uint16_t>(by.thread);
    cell->writeTime = by.clock[by.thread];
    cell->writerFences = Fences[by.thread - First];
    cell->isWritten = 1;
  }
  std::memcpy(&Bytes[address], from, bytes);
  return "";
}

std::string SharedMemory::beginCopy(const Accessor &by, unsigned address, unsigned bytes) {
  if (!has(address, bytes))
    return outside(address, bytes);
  for (Cell *cell = &Cells[address], *end = cell + bytes; cell != end; ++cell) {
    std::string bad = inUse(*cell, true);
    bad = bad.empty() ? raceWithWriter(by, *cell, "the copy") : bad;
    bad = bad.empty() ? raceWithReader(by, *cell) : bad;
    bad = bad.empty() ? unfenced(*cell) : bad;
    if (!bad.empty())
      return bad;
    cell->isCopied = 1;
  }
  return "";
}

void SharedMemory::finishCopy(unsigned address, const unsigned char *from, unsigned bytes,
                              uint32_t epoch) {
  std::memcpy(&Bytes[address], from, bytes);
  for (Cell *cell = &Cells[address], *end = cell + bytes; cell != end; ++cell) {
    cell->isCopied = 0;
    cell->isWritten = 1;
    cell->writer = static_cast<uint16_t>(First + Threads);
    cell->writeTime = epoch;
  }
}

std::string SharedMemory::beginReading(const Accessor &by, unsigned address, unsigned bytes,
                                       const char *what) {
  if (!has(address, bytes))
    return outside(address, bytes);
  for (Cell *cell = &Cells[address], *end = cell + bytes; cell != end; ++cell) {
    std::string bad = inUse(*cell, false);
    bad = bad.empty() ? raceWithWriter(by, *cell, what) : bad;
    bad = bad.empty() ? unfenced(*cell) : bad;
    if (!bad.empty())
      return bad;
    ++cell->products;
  }
  return "";
}

void SharedMemory::finishReading(const Accessor &by, unsigned address, unsigned bytes) {
  for (Cell *cell = &Cells[address], *end = cell + bytes; cell != end; ++cell) {
    --cell->products;
    cell->reader = static_cast<uint16_t>(by.thread);
    cell->readTime = by.clock[by.thread];
  }
}

std::string SharedMemory::markBarrier(const Accessor &by, unsigned address) {
  if (std::string bad = outside(address, 8); !bad.empty())
    return bad;
  for (Cell *cell = &Cells[address], *end = cell + 8; cell != end; ++cell) {
    if (std::string bad = raceWithReader(by, *cell); !bad.empty())
      return bad;
    cell->isBarrier = 1;
  }
  return "";
}
