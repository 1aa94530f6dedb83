//===- Lending.h - processes that see each other's memory ----------------------------------===//
//
// What: a large message between two processes of one machine without a copy. The receiver maps the
//   pages of the sender over the tensor that it receives into, and reads them there. The memory is
//   the sender's again once the receiver has let its tensor go or written to it, and at the latest
//   when the run ends. Who wants to write to what it has lent asks for it: then the receiver makes
//   a copy.
//
// Where: what is sent lies in memory that Kiln has shared (abi/LargeMemory.h), what is received is
//   an intermediate of the run, and both begin at the same place of a huge page. What lies before
//   the first huge page and behind the last is copied. Everything else goes through MPI.
//
// Cleaning up: the file of a process has no name, and its pages go with the last process that maps
//   them, however these end.
//
// Ownership: of the process, never destroyed; memory is let go at its very end. Threads: any.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_RANKS_LENDING_H
#define KILN_RUNTIME_RANKS_LENDING_H

#include "abi/LargeMemory.h"
#include "kiln/runtime/ranks.h"

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

namespace kiln {

/// Where a process finds another's file. The token tells it from another with the same numbers on
/// another machine, or in another container.
struct FileAddress {
  int32_t process = 0, descriptor = -1;
  uint64_t token[2] = {};
};

/// What both ranks of a message say of it. Travels as bytes.
struct LoanTerms {
  uint64_t at = 0;   ///< Where the bytes lie: in the sender's file, in the receiver's memory.
  int32_t slot = -1; ///< Of the sender: where both say what becomes of the loan.
  int32_t isWilling = 0;
};
/// Whether both want it and it can be.
bool agree(const LoanTerms &mine, const LoanTerms &theirs);

class Lending {
public:
  static Lending &ofProcess();

  /// What the others need to know of this process, and what they have said, in their order.
  FileAddress open();
  void setOthers(std::vector<FileAddress> others);

  /// Before a message: what this rank says of it.
  LoanTerms offer(const Collective &send, int32_t to);
  LoanTerms wish(const Collective &recv, int32_t from);
  /// When both have agreed. The receiver has the data then.
  Status borrow(const Collective &recv, int32_t from, const LoanTerms &terms);
  /// When they have not.
  void withdraw(const LoanTerms &offered);

  /// Whether anything is lent or borrowed.
  bool hasLoans() const { return Count.load(std::memory_order_acquire) != 0; }
  /// Transport::own. Also returns when `isOver`.
  void own(const kiln_tensor &tensor, MemoryAccess access, const std::function<bool()> &isOver);
  /// The same for all memory.
  void settle(const std::function<bool()> &isOver);
  /// Gives back what others ask for; to be called now and then.
  void serve();

private:
  enum State : uint32_t { Free, Lent, Wanted, Returned };
  struct Control;
  struct Loan {
    std::byte *data;
    uint64_t bytes;
    std::shared_ptr<Buffer> memory;
    int32_t slot, to;
    bool isAskedFor = false;
  };
  struct Borrowing {
    BorrowedPages pages;
    std::atomic<uint32_t> *state;
    int32_t from;
  };
  /// Another process. Where copies had to be made after all, some messages go without a loan.
  struct Other {
    FileAddress address;
    int file = -1;
    Control *control = nullptr;
    bool isTried = false;
    uint32_t failures = 0, skip = 0;
  };

  Lending() = default;
  static void beforeEnd(std::byte *data, uint64_t bytes);
  // With the lock held.
  bool attach(Other &other);
  bool mayTry(Other &other);
  static void noteFailure(Other &other);
  void giveBack(std::list<Borrowing>::iterator borrowing, bool keepsContents);
  void giveBackWhere(const std::byte *data, uint64_t bytes, bool keepsContents, bool isFailure);
  /// Whether nothing of it is lent any more; if not, asks for it. What has ended goes to `ended`.
  bool isBack(const std::byte *data, uint64_t bytes, bool asks, std::list<Loan> &ended);
  std::atomic<uint32_t> &stateOf(int32_t slot);

  std::mutex Mutex;
  Control *Mine = nullptr;
  std::vector<Other> Others;
  std::list<Loan> Loans;
  std::list<Borrowing> Borrowings;
  std::atomic<uint32_t> Count{0};
};

} // namespace kiln

#endif // KILN_RUNTIME_RANKS_LENDING_H
