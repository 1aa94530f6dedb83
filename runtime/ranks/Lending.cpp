#include "ranks/Lending.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/random.h>
#include <thread>
#include <unistd.h>

using namespace kiln;

/// What is smaller is copied sooner than mapped.
static constexpr uint64_t smallestLoan = 2 * hugePage;
/// Who has nothing else to do waits so long for what it has lent before it asks for it: the others
/// are about to end, too, and need not copy what they have nearly done with.
static constexpr auto patience = std::chrono::milliseconds(5);

/// The first bytes of each file.
struct Lending::Control {
  static constexpr size_t numSlots = 250;
  struct alignas(64) Slot {
    std::atomic<uint32_t> state;
  };
  alignas(64) uint64_t token[2];
  std::array<Slot, numSlots> slots;
};

Lending &Lending::ofProcess() {
  static_assert(sizeof(Control) <= controlBytes);
  static auto *lending = new Lending;
  return *lending;
}

std::atomic<uint32_t> &Lending::stateOf(int32_t slot) {
  return Mine->slots[static_cast<size_t>(slot)].state;
}

//===----------------------------------------------------------------------===//
// Knowing each other
//===----------------------------------------------------------------------===//

FileAddress Lending::open() {
  std::lock_guard lock(Mutex);
  FileAddress address;
  if (!shareLargeMemory())
    return address;
  SharedFile file = sharedFile();
  if (!Mine) {
    uint64_t token[2];
    if (getrandom(token, sizeof token, 0) != sizeof token)
      return address;
    Mine = static_cast<Control *>(file.control);
    std::copy(std::begin(token), std::end(token), Mine->token);
    beforeIntermediatesEnd(beforeEnd);
  }
  address.process = getpid();
  address.descriptor = file.descriptor;
  std::copy(std::begin(Mine->token), std::end(Mine->token), address.token);
  return address;
}

void Lending::setOthers(std::vector<FileAddress> others) {
  std::lock_guard lock(Mutex);
  Others.resize(others.size());
  for (size_t i = 0; i < others.size(); ++i)
    Others[i].address = others[i];
}

/// Only a process of the same user can open the file, and only while it is allowed to look at the
/// other process at all.
bool Lending::attach(Other &other) {
  if (std::exchange(other.isTried, true))
    return other.control;
  const FileAddress &address = other.address;
  if (address.descriptor < 0)
    return false;
  std::string path =
      "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
  // In another container these numbers may be those of anything.
  char name[64] = "";
  if (readlink(path.c_str(), name, sizeof name - 1) < 0 ||
      std::string_view(name).find("memfd:kiln") == std::string_view::npos)
    return false;
  int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return false;
  // What is no such file may be too short to be read where it is mapped.
  uint64_t token[2] = {};
  void *mapped = MAP_FAILED;
  if (pread(file, token, sizeof token, 0) == sizeof token &&
      std::equal(std::begin(token), std::end(token), address.token))
    mapped = mmap(nullptr, controlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    close(file);
    return false;
  }
  other.file = file;
  other.control = static_cast<Control *>(mapped);
  return true;
}

bool Lending::mayTry(Other &other) {
  if (other.skip == 0)
    return true;
  --other.skip;
  return false;
}

void Lending::noteFailure(Other &other) {
  other.failures = std::min(other.failures + 1, 10u);
  other.skip = (1u << other.failures) - 1;
}

//===----------------------------------------------------------------------===//
// A message
//===----------------------------------------------------------------------===//

/// The huge pages that lie in it as a whole.
static std::pair<uint64_t, uint64_t> pagesIn(uint64_t begin, uint64_t bytes) {
  return {roundUp(begin, hugePage), (begin + bytes) & ~(hugePage - 1)};
}

bool kiln::agree(const LoanTerms &mine, const LoanTerms &theirs) {
  return mine.isWilling && theirs.isWilling && (mine.at - theirs.at) % hugePage == 0;
}

LoanTerms Lending::offer(const Collective &send, int32_t to) {
  LoanTerms terms;
  uint64_t bytes = bytesOf(send.source);
  std::lock_guard lock(Mutex);
  if (!Mine || !send.memory || bytes < smallestLoan || !isPacked(send.source) ||
      static_cast<size_t>(to) >= Others.size() || !mayTry(Others[static_cast<size_t>(to)]))
    return terms;
  std::optional<uint64_t> offset = offsetInFile(send.source.data, bytes);
  auto isFree = [](const Control::Slot &slot) {
    return slot.state.load(std::memory_order_relaxed) == Free;
  };
  auto slot = std::find_if(Mine->slots.begin(), Mine->slots.end(), isFree);
  if (!offset || slot == Mine->slots.end())
    return terms;
  slot->state.store(Lent, std::memory_order_release);
  terms = {*offset, static_cast<int32_t>(slot - Mine->slots.begin()), true};
  Loans.push_back({static_cast<std::byte *>(send.source.data), bytes, send.memory, terms.slot, to});
  Count.fetch_add(1, std::memory_order_release);
  return terms;
}

void Lending::withdraw(const LoanTerms &offered) {
  if (offered.slot < 0)
    return;
  std::lock_guard lock(Mutex);
  auto isIt = [&](const Loan &loan) { return loan.slot == offered.slot; };
  auto loan = std::find_if(Loans.begin(), Loans.end(), isIt);
  if (loan == Loans.end())
    return;
  stateOf(loan->slot).store(Free, std::memory_order_relaxed);
  Loans.erase(loan);
  Count.fetch_sub(1, std::memory_order_release);
}

LoanTerms Lending::wish(const Collective &recv, int32_t from) {
  LoanTerms terms;
  uint64_t bytes = bytesOf(recv.target);
  std::lock_guard lock(Mutex);
  if (bytes < smallestLoan || !isPacked(recv.target) || static_cast<size_t>(from) >= Others.size())
    return terms;
  Other &other = Others[static_cast<size_t>(from)];
  if (!mayTry(other) || !isIntermediate(recv.target.data, bytes) || !attach(other))
    return terms;
  terms.at = reinterpret_cast<uint64_t>(recv.target.data);
  terms.isWilling = true;
  return terms;
}

static Status readAll(int file, std::byte *to, uint64_t bytes, uint64_t offset) {
  while (bytes > 0) {
    ssize_t count = pread(file, to, bytes, static_cast<off_t>(offset));
    if (count <= 0)
      return Status(StatusCode::IoError, "cannot read what another rank sends");
    to += count;
    offset += static_cast<uint64_t>(count);
    bytes -= static_cast<uint64_t>(count);
  }
  return Status::ok();
}

Status Lending::borrow(const Collective &recv, int32_t from, const LoanTerms &terms) {
  uint64_t bytes = bytesOf(recv.target), begin = reinterpret_cast<uint64_t>(recv.target.data);
  auto *data = static_cast<std::byte *>(recv.target.data);
  auto [first, last] = pagesIn(begin, bytes);
  std::lock_guard lock(Mutex);
  Other &other = Others[static_cast<size_t>(from)];
  if (static_cast<size_t>(terms.slot) >= Control::numSlots)
    return Status(StatusCode::Internal, "rank " + std::to_string(from) +
                                            " lends memory that it "
                                            "does not name");
  auto &state = other.control->slots[static_cast<size_t>(terms.slot)].state;
  std::optional<BorrowedPages> pages = BorrowedPages::map(data + (first - begin), last - first,
                                                          other.file, terms.at + (first - begin));
  uint64_t before = pages ? first - begin : bytes, after = pages ? begin + bytes - last : 0;
  Status read = readAll(other.file, data, before, terms.at);
  if (read.isOk())
    read = readAll(other.file, data + (bytes - after), after, terms.at + bytes - after);
  if (pages) {
    Borrowings.push_back({*pages, &state, from});
    Count.fetch_add(1, std::memory_order_release);
  } else {
    noteFailure(other);
    state.store(Returned, std::memory_order_release);
  }
  return read;
}

//===----------------------------------------------------------------------===//
// Giving back
//===----------------------------------------------------------------------===//

static bool overlap(const std::byte *a, uint64_t bytesOfA, const std::byte *b, uint64_t bytesOfB) {
  auto beginOfA = reinterpret_cast<uint64_t>(a), beginOfB = reinterpret_cast<uint64_t>(b);
  return beginOfA < beginOfB + bytesOfB && beginOfB < beginOfA + bytesOfA;
}

void Lending::giveBack(std::list<Borrowing>::iterator borrowing, bool keepsContents) {
  borrowing->pages.end(keepsContents);
  borrowing->state->store(Returned, std::memory_order_release);
  Borrowings.erase(borrowing);
  Count.fetch_sub(1, std::memory_order_release);
}

void Lending::giveBackWhere(const std::byte *data, uint64_t bytes, bool keepsContents,
                            bool isFailure) {
  for (auto next = Borrowings.begin(); next != Borrowings.end();) {
    auto it = next++;
    if (!overlap(it->pages.data(), it->pages.bytes(), data, bytes))
      continue;
    Other &other = Others[static_cast<size_t>(it->from)];
    if (isFailure)
      noteFailure(other);
    else
      other.failures = 0;
    giveBack(it, keepsContents);
  }
}

bool Lending::isBack(const std::byte *data, uint64_t bytes, bool asks, std::list<Loan> &ended) {
  bool isBack = true;
  for (auto next = Loans.begin(); next != Loans.end();) {
    auto it = next++;
    if (!overlap(it->data, it->bytes, data, bytes))
      continue;
    std::atomic<uint32_t> &state = stateOf(it->slot);
    uint32_t before = Lent;
    if (asks && state.compare_exchange_strong(before, Wanted)) {
      it->isAskedFor = true;
      noteFailure(Others[static_cast<size_t>(it->to)]);
    }
    if (state.load(std::memory_order_acquire) != Returned) {
      isBack = false;
      continue;
    }
    if (!it->isAskedFor)
      Others[static_cast<size_t>(it->to)].failures = 0;
    state.store(Free, std::memory_order_relaxed);
    ended.splice(ended.end(), Loans, it);
    Count.fetch_sub(1, std::memory_order_release);
  }
  return isBack;
}

/// The bytes between the first and the last element.
static std::pair<const std::byte *, uint64_t> spanOf(const kiln_tensor &tensor) {
  int64_t low = 0, high = 0, width = sizeOf(static_cast<DType>(tensor.dtype));
  for (int i = 0; i < tensor.rank; ++i)
    (tensor.strides[i] < 0 ? low : high) += (tensor.extents[i] - 1) * tensor.strides[i];
  return {static_cast<const std::byte *>(tensor.data) + low * width,
          static_cast<uint64_t>((high - low + 1) * width)};
}

void Lending::own(const kiln_tensor &tensor, MemoryAccess access,
                  const std::function<bool()> &isOver) {
  if (bytesOf(tensor) == 0)
    return;
  auto [data, bytes] = spanOf(tensor);
  // What reaches beyond the tensor is not replaced.
  auto isInside = [&, data = data, bytes = bytes](const Borrowing &borrowing) {
    const BorrowedPages &pages = borrowing.pages;
    return !overlap(pages.data(), pages.bytes(), data, bytes) ||
           (pages.data() >= data && pages.data() + pages.bytes() <= data + bytes);
  };
  for (bool asks = true;; std::this_thread::yield()) {
    bool hasToEnd = isOver(); // may take a lock that others have when they come here
    std::list<Loan> ended;    // whose memory may be let go, not with the lock held either
    std::lock_guard lock(Mutex);
    bool isLost = access == MemoryAccess::Replace && isPacked(tensor) &&
                  std::all_of(Borrowings.begin(), Borrowings.end(), isInside);
    giveBackWhere(data, bytes, !isLost, !isLost);
    if (access == MemoryAccess::Send || isBack(data, bytes, asks, ended) || hasToEnd)
      return;
  }
}

void Lending::settle(const std::function<bool()> &isOver) {
  auto start = std::chrono::steady_clock::now();
  bool hasToEnd = isOver(); // not with the lock held, see own()
  {
    std::lock_guard lock(Mutex);
    for (auto next = Borrowings.begin(); next != Borrowings.end();) {
      auto it = next++;
      giveBack(it, /*keepsContents=*/!hasToEnd);
    }
  }
  for (unsigned round = 0; hasLoans(); ++round) {
    bool asks = std::chrono::steady_clock::now() - start > patience;
    hasToEnd = isOver();
    std::list<Loan> ended;
    {
      std::lock_guard lock(Mutex);
      if (isBack(nullptr, UINT64_MAX, asks, ended))
        return;
      if (hasToEnd) { // the others end, too; who still reads finds the memory as it is
        ended.splice(ended.end(), Loans);
        Count.store(static_cast<uint32_t>(Borrowings.size()));
        return;
      }
    }
    if (round > 200)
      std::this_thread::yield();
  }
}

void Lending::serve() {
  if (!hasLoans())
    return;
  std::lock_guard lock(Mutex);
  for (auto next = Borrowings.begin(); next != Borrowings.end();) {
    auto it = next++;
    if (it->state->load(std::memory_order_acquire) != Wanted)
      continue;
    noteFailure(Others[static_cast<size_t>(it->from)]);
    giveBack(it, /*keepsContents=*/true);
  }
}

/// Memory of an intermediate ends when all that reads it has.
void Lending::beforeEnd(std::byte *data, uint64_t bytes) {
  Lending &lending = ofProcess();
  if (!lending.hasLoans())
    return;
  std::lock_guard lock(lending.Mutex);
  lending.giveBackWhere(data, bytes, /*keepsContents=*/false, /*isFailure=*/false);
}
