#include "abi/LargeMemory.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

using namespace kiln;

/// So much is kept at the most, of what can be lent and of what cannot.
static constexpr uint64_t mostSpare = uint64_t(128) << 20;
#ifdef __SANITIZE_ADDRESS__
static constexpr bool isMapped = false;
#else
static constexpr bool isMapped = true;
#endif
/// ThreadSanitizer takes notes of each thread, which a process in its place would write, too.
#ifdef __SANITIZE_THREAD__
static constexpr bool isNoted = true;
#else
static constexpr bool isNoted = false;
#endif
/// Holes cost nothing, so no part of the file is used twice.
static constexpr uint64_t fileBytes = uint64_t(1) << 60;

namespace {

struct Spares {
  std::vector<std::pair<std::byte *, uint64_t>> blocks; ///< The first was let go first.
  uint64_t bytes = 0;
};

struct LargeMemory {
  std::mutex lock;
  Spares own, shared;
  SharedFile file;
  uint64_t fileEnd = 0;
  bool isWilling = true; ///< To share more.
  struct InFile {
    uint64_t bytes, offset;
  };
  std::map<std::byte *, InFile> inFile;                ///< What is mapped of it.
  std::map<const std::byte *, uint64_t> intermediates; ///< Only while others lend to this process.
  void (*beforeEnd)(std::byte *, uint64_t) = nullptr;
};

} // namespace

static LargeMemory *memory;

static void *pagesAt(int file, uint64_t offset, std::byte *at, uint64_t bytes, int sharing) {
  return mmap(at, bytes, PROT_READ | PROT_WRITE, sharing | MAP_FIXED, file,
              static_cast<off_t>(offset));
}

/// Another thread of the process that forked may have held the lock, so the new one begins anew.
/// What the two would share becomes its own.
static void beginAnew() {
  for (const auto &[data, part] : memory->inFile)
    if (pagesAt(memory->file.descriptor, part.offset, data, part.bytes, MAP_PRIVATE) == MAP_FAILED)
      std::abort(); // it would write to the other process's tensors
  memory = new LargeMemory;
}

/// Lives as long as the process: memory may be let go at its very end.
static LargeMemory &largeMemory() {
  static const bool isMade = [] {
    memory = new LargeMemory;
    pthread_atfork([] { memory->lock.lock(); }, [] { memory->lock.unlock(); }, beginAnew);
    return true;
  }();
  (void)isMade;
  return *memory;
}

//===----------------------------------------------------------------------===//
// Mapping
//===----------------------------------------------------------------------===//

/// Addresses for so many bytes, which begin with a huge page. Null: there are none.
static std::byte *reserve(uint64_t bytes, int protection) {
  void *mapped = mmap(nullptr, bytes + hugePage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  auto *begin = static_cast<std::byte *>(mapped);
  uint64_t before =
      roundUp(reinterpret_cast<uint64_t>(begin), hugePage) - reinterpret_cast<uint64_t>(begin);
  if (before > 0)
    munmap(begin, before);
  if (before < hugePage)
    munmap(begin + before + bytes, hugePage - before);
  return begin + before;
}

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static void punchHole(int file, uint64_t offset, uint64_t bytes) {
  (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(bytes));
}

/// Making a page huge takes about 0.2 ms, but before the first the system waits for every
/// processor: for seconds, now and then, where disks or processors are busy.
static constexpr std::chrono::milliseconds mostPatience(50), mostForPage(1);

namespace {

/// Makes pages huge in a process of its own that has this one's memory, since whoever waits for the
/// processors can neither be interrupted nor killed. What is not waited for to its end is leaked.
class PageMaker {
public:
  PageMaker(void *data, uint64_t bytes) : Data(data), Bytes(bytes) {}

  /// Whether all are huge now, and soon enough.
  static bool make(void *data, uint64_t bytes) {
    if (isNoted)
      return madvise(data, bytes, MADV_COLLAPSE) == 0;
    auto maker = std::make_unique<PageMaker>(data, bytes);
    auto end = std::chrono::steady_clock::now() + mostPatience + mostForPage * (bytes / hugePage);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the process that asked
    auto *top = maker->Stack.data() + maker->Stack.size();
    pid_t process = clone(run, top, CLONE_VM, maker.get());
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (process < 0)
      return false;
    while (waitpid(process, nullptr, __WALL | WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        std::ignore = maker.release(); // which it runs on
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return maker->Result == 0;
  }

private:
  static int run(void *given) {
    auto *maker = static_cast<PageMaker *>(given);
    syscall(SYS_close_range, 0, ~0u, 0); // nobody is to wait until it closes what it has open
    maker->Result = madvise(maker->Data, maker->Bytes, MADV_COLLAPSE);
    return 0;
  }

  void *Data;
  uint64_t Bytes;
  int Result = -1;
  alignas(64) std::array<std::byte, 65536> Stack;
};

} // namespace

/// Null where the system has no huge pages for it: on small ones everything else would be slower.
static std::byte *mapShared(LargeMemory &all, uint64_t bytes) {
  std::byte *data = reserve(bytes, PROT_NONE);
  if (!data)
    return nullptr;
  uint64_t offset = all.fileEnd;
  bool isGood = pagesAt(all.file.descriptor, offset, data, bytes, MAP_SHARED) != MAP_FAILED;
  // A page is made huge that is there.
  for (uint64_t at = 0; isGood && at < bytes; at += hugePage)
    *reinterpret_cast<volatile char *>(data + at) = 0;
  if (!isGood || !PageMaker::make(data, bytes)) {
    all.isWilling = false; // to wait for it once more
    munmap(data, bytes);
    punchHole(all.file.descriptor, offset, bytes);
    return nullptr;
  }
  all.fileEnd += bytes;
  all.inFile[data] = {bytes, offset};
  return data;
}

/// The part of the file that a block lies in; at the end if it does not.
static auto findInFile(LargeMemory &all, const void *data, uint64_t bytes) {
  auto *address = static_cast<std::byte *>(const_cast<void *>(data));
  auto part = all.inFile.upper_bound(address);
  if (part == all.inFile.begin())
    return all.inFile.end();
  --part;
  return address + bytes <= part->first + part->second.bytes ? part : all.inFile.end();
}

static void unmap(LargeMemory &all, std::byte *data, uint64_t bytes) {
  munmap(data, bytes);
  auto found = findInFile(all, data, bytes);
  if (found == all.inFile.end())
    return;
  auto [begin, part] = *found;
  all.inFile.erase(found);
  auto before = static_cast<uint64_t>(data - begin), after = part.bytes - before - bytes;
  if (before > 0)
    all.inFile[begin] = {before, part.offset};
  if (after > 0)
    all.inFile[data + bytes] = {after, part.offset + before + bytes};
  punchHole(all.file.descriptor, part.offset + before, bytes);
}

//===----------------------------------------------------------------------===//
// Taking and giving back
//===----------------------------------------------------------------------===//

/// The smallest block that is large enough; what is left of it stays.
static std::byte *takeSpare(Spares &spare, uint64_t bytes) {
  auto best = spare.blocks.end();
  for (auto block = spare.blocks.begin(); block != spare.blocks.end(); ++block)
    if (block->second >= bytes && (best == spare.blocks.end() || block->second < best->second))
      best = block;
  if (best == spare.blocks.end())
    return nullptr;
  std::byte *data = best->first;
  spare.bytes -= bytes;
  *best = {data + bytes, best->second - bytes};
  if (best->second == 0)
    spare.blocks.erase(best);
  return data;
}

static void *takeRounded(uint64_t bytes, LargeUse use) {
  if (!isMapped)
    return std::aligned_alloc(hugePage, bytes);
  LargeMemory &all = largeMemory();
  std::lock_guard guard(all.lock);
  bool isShared = all.file.descriptor >= 0 && use == LargeUse::Any;
  std::byte *data = isShared ? takeSpare(all.shared, bytes) : nullptr;
  if (isShared && !data && all.isWilling)
    data = mapShared(all, bytes);
  if (!data)
    data = takeSpare(all.own, bytes);
  if (!data)
    data = reserve(bytes, PROT_READ | PROT_WRITE);
  if (data && use == LargeUse::Intermediate && all.file.descriptor >= 0)
    all.intermediates[data] = bytes;
  return data;
}

void *kiln::takeLarge(uint64_t bytes, LargeUse use) {
  uint64_t rounded = roundUp(bytes, hugePage);
  void *data = rounded < bytes ? nullptr : takeRounded(rounded, use);
#ifdef MADV_HUGEPAGE
  if (data)
    madvise(data, bytes & ~(hugePage - 1), MADV_HUGEPAGE); // whole pages only: no memory is wasted
#endif
  return data;
}

void kiln::giveLarge(void *given, uint64_t bytes) {
  bytes = roundUp(bytes, hugePage);
  if (!isMapped)
    return std::free(given);
  auto *data = static_cast<std::byte *>(given);
  LargeMemory &all = largeMemory();
  std::unique_lock guard(all.lock);
  if (all.intermediates.erase(data) && all.beforeEnd) {
    guard.unlock();
    all.beforeEnd(data, bytes);
    guard.lock();
  }
  if (bytes > mostSpare)
    return unmap(all, data, bytes);
  Spares &spare = findInFile(all, data, bytes) != all.inFile.end() ? all.shared : all.own;
  spare.blocks.emplace_back(data, bytes);
  for (spare.bytes += bytes; spare.bytes > mostSpare; spare.blocks.erase(spare.blocks.begin())) {
    unmap(all, spare.blocks.front().first, spare.blocks.front().second);
    spare.bytes -= spare.blocks.front().second;
  }
}

//===----------------------------------------------------------------------===//
// What other processes see
//===----------------------------------------------------------------------===//

bool kiln::shareLargeMemory() {
  LargeMemory &all = largeMemory();
  std::lock_guard guard(all.lock);
  if (all.file.descriptor >= 0 || !isMapped)
    return all.file.descriptor >= 0;
  // A file that grows beyond this limit ends the process.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
    return false;
  int file = memfd_create("kiln", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0)
    return false;
  // Nobody can make it shorter under those who have mapped it.
  bool isGood = ftruncate(file, static_cast<off_t>(fileBytes)) == 0 &&
                fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  void *control = isGood ? mmap(nullptr, controlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                         : MAP_FAILED;
  if (control == MAP_FAILED) {
    close(file);
    return false;
  }
  all.file = {file, control};
  all.fileEnd = hugePage;
  return true;
}

SharedFile kiln::sharedFile() {
  LargeMemory &all = largeMemory();
  std::lock_guard guard(all.lock);
  return all.file;
}

std::optional<uint64_t> kiln::offsetInFile(const void *data, uint64_t bytes) {
  LargeMemory &all = largeMemory();
  std::lock_guard guard(all.lock);
  auto part = findInFile(all, data, bytes);
  if (part == all.inFile.end())
    return std::nullopt;
  return part->second.offset +
         static_cast<uint64_t>(static_cast<const std::byte *>(data) - part->first);
}

bool kiln::isIntermediate(const void *data, uint64_t bytes) {
  LargeMemory &all = largeMemory();
  std::lock_guard guard(all.lock);
  const auto *address = static_cast<const std::byte *>(data);
  auto next = all.intermediates.upper_bound(address);
  return next != all.intermediates.begin() &&
         address + bytes <= std::prev(next)->first + std::prev(next)->second;
}

void kiln::beforeIntermediatesEnd(void (*call)(std::byte *, uint64_t)) {
  LargeMemory &all = largeMemory();
  std::lock_guard guard(all.lock);
  all.beforeEnd = call;
}

//===----------------------------------------------------------------------===//
// What other processes lend
//===----------------------------------------------------------------------===//

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/// `flags` may say that nobody else is to get the addresses that the pages leave.
static bool movePages(std::byte *from, std::byte *to, uint64_t bytes, int flags = 0) {
  return mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | flags, to) != MAP_FAILED;
}

std::optional<BorrowedPages> BorrowedPages::map(std::byte *data, uint64_t bytes, int file,
                                                uint64_t offset) {
  std::byte *aside = reserve(bytes, PROT_NONE);
  if (!aside)
    return std::nullopt;
  if (!movePages(data, aside, bytes, MREMAP_DONTUNMAP))
    return std::nullopt; // somebody else may have the addresses aside by now
  // Private: what is written here by mistake does not reach the other process.
  if (pagesAt(file, offset, data, bytes, MAP_PRIVATE) != MAP_FAILED)
    return BorrowedPages(data, bytes, aside);
  if (!movePages(aside, data, bytes))
    std::abort(); // the memory of a tensor would be gone
  return std::nullopt;
}

void BorrowedPages::end(bool keepsContents) {
  if (keepsContents)
    std::memcpy(Aside, Data, Bytes);
  if (!movePages(Aside, Data, Bytes))
    std::abort();
}
