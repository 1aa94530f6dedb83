//===- MpiTransport.h - ranks that are processes under MPI ----------------===//
//
// What: collectives as non-blocking operations of MPI. An operation is a list of requests and what
//   comes after them; whoever waits drives all of them, and a thread does so while everybody
//   computes. Tensors without gaps are sent and received where they lie.
//
// Agreement: before each collective every rank sends the others a line of text that says what it
//   does, and so do both ranks of a message. Ranks that do different things fail with both lines
//   instead of exchanging nonsense; small tensors travel with the line.
//
// Ownership: the process's; lives until it ends. Threads: as Transport; one lock.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_RANKS_MPITRANSPORT_H
#define KILN_RUNTIME_RANKS_MPITRANSPORT_H

#include "kiln/runtime/ranks.h"
#include "ranks/Lending.h"
#include "ranks/RankWatch.h"
#include "ranks/kiln_mpi.h"

#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <thread>

namespace kiln {

class MpiTransport final : public Transport {
public:
  static Expected<std::unique_ptr<MpiTransport>> open();
  ~MpiTransport() override;

  int32_t rank() const override { return Rank; }
  int32_t ranks() const override { return Ranks; }
  void start(const Collective &collective, Done done) override;
  void wait(const std::function<bool()> &isOver) override;
  void fail(const Status &why) override;
  Status prepare(const RankLine &line) override;
  bool isAmongProcesses() const override { return true; }
  void watch(std::function<bool()> isIdle) override;
  bool lends() const override { return Ranks > 1; }
  void own(const kiln_tensor &tensor, MemoryAccess access) override;
  void settle() override;
  /// Ends MPI; after a failure all processes.
  void close(bool failed);

private:
  struct Operation;
  using Stage = void (MpiTransport::*)(Operation &);

  /// Memory for what others send, contents unspecified.
  struct Memory {
    std::unique_ptr<std::byte[]> data;
    uint64_t bytes = 0;
  };

  explicit MpiTransport(const kiln_mpi_functions *functions) : Mpi(*functions) {}

  // All of these with the lock held.
  /// Drives every operation; those that have ended go to `ended`.
  void progress(std::vector<std::pair<Done, Status>> &ended);
  bool advance(Operation &op);
  void begin(Operation &op);
  void carry(Operation &op);
  void finishSmall(Operation &op);
  void exchange(Operation &op);
  void combineMine(Operation &op);
  void spreadResult(Operation &op);
  Memory takeMemory(uint64_t bytes);
  static std::byte *partOf(Operation &op, int32_t place, uint64_t bytes);
  void gatherAll(Operation &op);
  void exchangeParts(Operation &op);
  /// Tells all processes where memory that is lent can be found.
  Status openLending();
  bool hasFailed();
  void beginMessage(Operation &op);
  void carryMessage(Operation &op);
  void check(Operation &op, int error);
  void send(Operation &op, const void *data, uint64_t bytes, int32_t to);
  void receive(Operation &op, void *data, uint64_t bytes, int32_t from);
  /// Whether all ranks say that they do the same.
  void compareHeaders(Operation &op);
  /// Whether the other rank sends what this one receives, or the other way round.
  void compareMessage(Operation &op);
  int32_t tagOf(const Operation &op) const;
  Status errorOf(int error, const Collective &collective) const;

  // Whether all processes wait for ever (MpiWatch.cpp); with the lock held but for the first.
  Status openWatch();
  Status listen();
  void noteStarted(Operation &op);
  RankReport reportNow(bool hasLeft);
  void tell(RankReport report);
  void lookAround();
  void findDeadlock();
  void awaitOthers();

  void work();

  const kiln_mpi_functions &Mpi;
  int Rank = 0, Ranks = 1;
  std::mutex Mutex;
  std::map<RankLine, kiln_mpi_line *> Lines;
  std::list<Operation> Running;
  Lending &Loans = Lending::ofProcess();
  Memory Spare; ///< Of the last large one: fresh pages cost more than the sum.
  Status Failure;
  bool IsStopping = false;
  std::atomic<int> Waiting{0};      ///< Somebody drives in wait().
  kiln_mpi_line *Control = nullptr; ///< Carries reports, and nothing else.
  std::function<bool()> IsIdle;
  RankReport State;                               ///< What of a report is kept up to date.
  std::vector<std::optional<RankReport>> Reports; ///< Of all ranks, on the first one.
  std::vector<char> Heard;                        ///< Where the next one comes.
  kiln_mpi_request Hearing{};
  std::list<std::pair<std::string, kiln_mpi_request>> Told;
  uint64_t Steps = 0;                  ///< Requests that have ended.
  uint64_t Events = 0, EventsSeen = 0; ///< What has started or ended.
  std::chrono::steady_clock::time_point IdleSince{};
  bool HasTold = false;
  std::condition_variable HasWork;
  std::thread Worker;
};

} // namespace kiln

#endif // KILN_RUNTIME_RANKS_MPITRANSPORT_H
