//===- LargeMemory.h - memory on huge pages -------------------------------------------------===//
//
// What: memory of two megabytes and more. It is mapped, since what malloc gives may lie where small
//   pages were before, which then stay small; and what is let go is kept for the next who wants
//   some, up to a limit, since the system clears each page that it maps. AddressSanitizer knows
//   only the memory that malloc gave.
//
// Lending: after shareLargeMemory() memory that may be lent lies in a file without a name, which
//   other processes of the same user can map. A forked process has a copy of it.
//
// Threads: any.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_LARGEMEMORY_H
#define KILN_RUNTIME_ABI_LARGEMEMORY_H

#include <cstddef>
#include <cstdint>
#include <optional>

namespace kiln {

/// What the machine can map as one page. Tiles of a large tensor lie on one page a row, more than
/// there are entries to translate addresses with.
inline constexpr uint64_t hugePage = uint64_t(2) << 20;

constexpr uint64_t roundUp(uint64_t bytes, uint64_t multiple) {
  return (bytes + multiple - 1) & ~(multiple - 1);
}

enum class LargeUse : uint8_t {
  Any,         ///< May be lent to other processes.
  Intermediate ///< Of a run: its pages may be another process's for a while.
};

/// The address is a multiple of a huge page. Null: there is no memory.
void *takeLarge(uint64_t bytes, LargeUse use);
void giveLarge(void *data, uint64_t bytes);

/// Whether memory can be lent from now on. The first `controlBytes` of the file are zero, and for
/// those who lend and borrow.
bool shareLargeMemory();
inline constexpr uint64_t controlBytes = 16384;

/// What others map.
struct SharedFile {
  int descriptor = -1; ///< -1: nothing can be lent.
  void *control = nullptr;
};
SharedFile sharedFile();
/// Where in the file these bytes lie, if they do.
std::optional<uint64_t> offsetInFile(const void *data, uint64_t bytes);

/// Whether these bytes are of one intermediate.
bool isIntermediate(const void *data, uint64_t bytes);
/// Called before memory of an intermediate is let go.
void beforeIntermediatesEnd(void (*call)(std::byte *data, uint64_t bytes));

/// Large memory that shows what lies in another process's file. What was there is kept aside.
class BorrowedPages {
public:
  /// All of them are multiples of a huge page. Nothing where the system refuses.
  static std::optional<BorrowedPages> map(std::byte *data, uint64_t bytes, int file,
                                          uint64_t offset);
  /// The memory is this process's own again, with what it shows now, or with anything. Who reads it
  /// meanwhile sees the same.
  void end(bool keepsContents);

  std::byte *data() const { return Data; }
  uint64_t bytes() const { return Bytes; }

private:
  BorrowedPages(std::byte *data, uint64_t bytes, std::byte *aside)
      : Data(data), Bytes(bytes), Aside(aside) {}

  std::byte *Data;
  uint64_t Bytes;
  std::byte *Aside;
};

} // namespace kiln

#endif // KILN_RUNTIME_ABI_LARGEMEMORY_H
