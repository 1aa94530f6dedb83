//===- kiln/runtime/ranks.h - several ranks that run one program ----------===//
//
// What: `CollectiveTask`, what an orchestration asks of all ranks, which Engine::submit makes a
//   task; `Transport`, who carries the bytes; `RankHub`, the transport of ranks that are threads of
//   one process; openMpi(), that of processes which mpirun started. See docs/ranks.md.
//
// Ownership: an engine borrows its transport (RunOptions::ranks) for the length of a run. The
//   memory of a collective is the task's until it has ended.
//
// Threads: start(), fail() and done callbacks may come from any thread; wait() is the submitter's.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_RANKS_H
#define KILN_RUNTIME_RANKS_H

#include "kiln/orchestration_abi.h"
#include "kiln/runtime/signature.h"
#include "kiln/runtime/status.h"
#include "kiln/runtime/task.h"
#include "kiln/runtime/tensor.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

enum class CollectiveKind : uint8_t {
  AllReduce = KILN_ALL_REDUCE,
  AllGather = KILN_ALL_GATHER,
  ReduceScatter = KILN_REDUCE_SCATTER,
  Broadcast = KILN_BROADCAST,
  AllToAll = KILN_ALL_TO_ALL,
  Send = KILN_SEND,
  Recv = KILN_RECV,
  RankBarrier = KILN_RANK_BARRIER
};
/// "all_reduce", ...
const char *toString(CollectiveKind kind);
constexpr bool isBetweenTwo(CollectiveKind kind) {
  return kind == CollectiveKind::Send || kind == CollectiveKind::Recv;
}

enum class Reduction : uint8_t {
  Sum = KILN_REDUCE_SUM,
  Max = KILN_REDUCE_MAX,
  Min = KILN_REDUCE_MIN,
  Prod = KILN_REDUCE_PROD
};
/// "sum", "max", "min", "prod"
const char *toString(Reduction how);

/// The most ranks that a program runs on.
inline constexpr int64_t maxRanks = int64_t{1} << 24;

/// Ranks first, first + stride, ...: all of them, or a line of a mesh. Says the same with two ranks
/// and with thousands.
struct RankLine {
  int32_t first = 0, stride = 1, count = 1;

  int32_t at(int32_t place) const { return first + place * stride; }
  int32_t placeOf(int32_t rank) const { return (rank - first) / stride; }
  friend auto operator<=>(const RankLine &, const RankLine &) = default;
};

/// The ranks that differ from this one along one axis of a mesh; without extents: all of them.
struct MeshAxis {
  uint32_t axis = 0;
  std::vector<int64_t> extents; ///< One may be dynamicExtent: as many as there are ranks for.

  /// InvalidArgument when so many ranks do not form the mesh.
  Expected<RankLine> lineOf(int64_t rank, int64_t ranks) const;
};

/// What an orchestration asks for.
struct CollectiveTask {
  CollectiveKind kind = CollectiveKind::RankBarrier;
  Reduction how = Reduction::Sum;
  bool fixedOrder = false;
  MeshAxis group;
  int64_t peer = -1; ///< The root, the receiver or the sender, by its place in the group.
  Tensor source, target;
  bool isMarked = false; ///< The program asks for its tensors in the dump.
  std::vector<TaskId> deps;
  SourceLoc loc;
};

/// A collective whose turn has come.
struct Collective {
  CollectiveKind kind = CollectiveKind::RankBarrier;
  Reduction how = Reduction::Sum;
  bool fixedOrder = false;
  RankLine line;
  int32_t peer = -1; ///< A place in the line.
  /// Counts the collectives of the line, or the messages from one rank to another.
  uint64_t number = 0;
  kiln_tensor source{}, target{}; ///< Of rank 0 if there is none.
  /// Of a send: who keeps it has the source's memory, also after the send has ended. Null: only
  /// until then.
  std::shared_ptr<Buffer> memory;
  SourceLoc loc;

  /// What others see of it: what has to be the same on every rank.
  const kiln_tensor &shaped() const { return source.rank > 0 ? source : target; }
  /// "all_reduce of f32[64, 8] at file:3"
  std::string str() const;
};

/// The ranks of `task` as rank `rank` of `ranks` sees them. InvalidArgument, with its line, where
/// this rank alone can tell that it cannot be: the mesh, the other rank, the parts of its tensors.
Expected<RankLine> resolve(const CollectiveTask &task, int64_t rank, int64_t ranks);

/// What somebody is about to do with memory.
enum class MemoryAccess : uint8_t {
  Send,   ///< Others will read it.
  Write,  ///< Some of it.
  Replace ///< All of it.
};

class Transport {
public:
  using Done = std::function<void(Status)>;

  virtual ~Transport() = default;
  virtual int32_t rank() const = 0;
  virtual int32_t ranks() const = 0;
  /// Starts it and returns; `done` is called once, when it has ended or failed. For each line of
  /// ranks collectives come one after the other, in the order of their numbers.
  virtual void start(const Collective &collective, Done done) = 0;
  /// Whoever waits has nothing to do until `isOver`; returns when it may be. Only while something
  /// is in flight.
  virtual void wait(const std::function<bool()> &isOver) = 0;
  /// Tells all ranks that this one has failed: what is in flight anywhere fails, and what comes
  /// later. The first failure counts.
  virtual void fail(const Status &why) = 0;
  /// Before the first collective of a line is submitted; on every rank of it in the same order.
  virtual Status prepare(const RankLine &) { return Status::ok(); }
  /// At the start of a run: how any thread can tell that this rank does nothing until something in
  /// flight ends; null at its end. Who can tell otherwise does not ask.
  virtual void watch(std::function<bool()> /*isIdle*/) {}
  /// Whether what is sent and received may be the same memory for a while. Then own() is called for
  /// memory before it is accessed thus, and returns when it is this rank's alone; and settle() when
  /// the host may access all of it, after which all memory is.
  virtual bool lends() const { return false; }
  virtual void own(const kiln_tensor &, MemoryAccess) {}
  virtual void settle() {}
  /// Each rank is a process, so that it may have a GPU of its own.
  virtual bool isAmongProcesses() const { return false; }
};

/// The only rank there is.
Transport &aloneTransport();
/// Starts it and waits for it: for what the host has to say, while no run is going on.
Status perform(Transport &transport, const Collective &collective);

/// What a run is a part of whose options name no ranks: those of the thread, else those of the
/// process; null if there are none.
Transport *currentRanks();
/// Those of the process, until it ends.
void setProcessRanks(Transport *ranks);
/// As long as it lives, those of the thread.
class RankScope {
public:
  explicit RankScope(Transport &ranks);
  ~RankScope();
  RankScope(const RankScope &) = delete;
  RankScope &operator=(const RankScope &) = delete;

private:
  Transport *Before;
};

/// What a collective does among ranks whose memory this process sees; `all` are the collectives of
/// the line in the order of its ranks, or a send and its recv. They agree with one another.
Status performTogether(std::span<const Collective *const> all);
/// Whether the collectives of two ranks belong together; the error names both and their lines.
Status verifyAgree(const Collective &mine, int32_t me, const Collective &other, int32_t them);
/// Combines `parts` in their order, element by element; 16- and 8-bit floats in f32, rounded once.
void combine(DType type, Reduction how, std::span<const void *const> parts, void *into,
             int64_t count);
/// Calls `visit` for each run of elements that are next to each other, in their order.
void forEachRun(const kiln_tensor &tensor,
                const std::function<void(std::byte *data, size_t bytes)> &visit);
/// The elements of a strided view, without gaps, and back.
std::vector<std::byte> pack(const kiln_tensor &tensor);
void unpack(const void *from, const kiln_tensor &tensor);
bool isPacked(const kiln_tensor &tensor);
uint64_t bytesOf(const kiln_tensor &tensor);

/// Ranks that are threads of this process. A rank that waits for others for ever is found: when
/// every rank waits or has left, all of them fail with what each waits for.
class RankHub {
public:
  struct Options {
    int32_t ranks = 1;
    /// One rank runs at a time, and who is next depends on the seed alone: deterministic.
    bool takesTurns = false;
    uint64_t seed = 0;
  };
  explicit RankHub(Options options);
  ~RankHub();

  /// Calls `run` for every rank, each on a thread of its own, and waits for all. The failure of the
  /// rank that failed first.
  Status runAll(const std::function<Status(int32_t rank, Transport &)> &run);
  /// How many collectives, and messages, have ended.
  uint64_t collectives() const;

private:
  struct State;
  class Rank;
  std::unique_ptr<State> S;
};

/// Where a rank of several has its dump and its timeline: a folder in the run's.
std::string rankDirectory(const std::string &directory, int32_t rank);

/// Whether mpirun, or something like it, started this process; then the number of processes.
std::optional<int32_t> launchedRanks();
/// The transport of the processes that mpirun started: this process is one rank. NotFound, and
/// what is missing, without MPI. One for each process, which lives as long as it.
Expected<Transport *> openMpi();
/// Whether all processes say the same, for which `mine` is a text in lines of `name: what it is`,
/// such as arguments and their extents. InvalidArgument, with the first line that differs and whose
/// it is, if not. Before any collective. It waits no longer than so many seconds (0: for ever).
Status verifySame(Transport &transport, const std::string &mine, uint64_t timeout);
/// Ends MPI, if it was opened, at the end of main(); `failed`: and with it all other processes.
void closeMpi(bool failed);

} // namespace kiln

#endif // KILN_RUNTIME_RANKS_H
