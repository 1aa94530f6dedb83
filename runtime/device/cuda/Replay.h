//===- Replay.h - launching again what was launched before -----------------------------------===//
//
// A plan (Plan.h) kept together with what its last launch left: argument blocks that are filled,
// and from the second launch on a CUDA graph. Another launch changes what has moved, as a rule
// nothing, and asks the driver once.
//
// Plans are kept by key: the extents and strides of the tensors, the numbers, the stream. A table
// has a fixed number of places; the least recently used of a set goes.
//
// Threads: any. Nobody waits: a plan that another thread is launching is not found, and the call
// gets a plan of its own, or is launched as if there was none.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_REPLAY_H
#define KILN_RUNTIME_DEVICE_CUDA_REPLAY_H

#include "Captures.h"
#include "Plan.h"
#include "TaskTable.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

namespace kiln::cuda {

/// What was done in place of launching kernel by kernel.
struct ReplayCounts {
  std::atomic<uint64_t> plans{0}, graphs{0}, graphLaunches{0};
};

/// What may be done, for who wants to know what it is worth.
struct ReplayOptions {
  bool mayGraph = true;      ///< Several kernels may become a graph.
  bool mayBeginEarly = true; ///< Kernels may begin before those before them have ended.
};

class Replay {
public:
  /// The GPU is the current one of every call.
  Replay(const Gpu &gpu, std::unique_ptr<Plan> plan, ReplayOptions options, ReplayCounts &counts)
      : On(gpu), What(std::move(plan)), May(options), Counts(counts) {}
  ~Replay();
  Replay(const Replay &) = delete;
  Replay &operator=(const Replay &) = delete;

  Status launch(const kiln_args &args, const LaunchPlace &where);
  /// The last launch of a kernel; null if it is none of these.
  const Plan::Launch *findLaunch(const LoadedKernel &kernel) const;

private:
  /// Brings the argument blocks to where the tensors are now; what had to be changed is marked.
  void place(const kiln_args &args, DevicePointer workspace);
  /// The arguments that some kernel reads early, or writes.
  static std::vector<ByteRange> rangesOf(const kiln_args &args, const std::vector<bool> &which);
  /// Whether what kernels read early is apart from what kernels write, for these arguments.
  bool isReadAheadApart(const kiln_args &args) const;
  bool isCaptured(const LaunchPlace &where) const;
  /// Whether a copying role sets up pipes, and may read ahead, while others still run.
  static bool hasCopies(const Plan::Launch &launch) {
    return launch.kernel.description.isPersistent && !launch.kernel.description.maps.empty() &&
           !launch.kernel.description.isPart();
  }
  /// Whether the launch with this number begins early: if its kernel has something to read ahead,
  /// for the others only wait longer. Who knows what comes before the first: that one sets up its
  /// roles and pipes meanwhile, and reads ahead only where it is known (`Captures`).
  bool beginsEarly(size_t number) const {
    const Plan::Launch &launch = What->launches[number];
    return number > 0 ? BeginsEarly && launch.kernel.description.runsAhead()
                      : May.mayBeginEarly && hasCopies(launch);
  }
  /// Whether the first kernel may read ahead: right before it comes another call, in a capture.
  bool isBehindCall(const kiln_args &args, Stream stream) const;
  Result start(const LaunchPlace &where);
  /// Divides the launches of a persistent kernel into tables, with what each task waits for.
  void makeTables(DevicePointer workspace);
  /// Whether there is a graph for this launch, made now if it is time.
  bool hasGraph(const LaunchPlace &where);
  Result makeGraph();
  Result launchGraph(Stream stream);
  void dropGraph();

  const Gpu &On;
  std::unique_ptr<Plan> What;
  ReplayOptions May;
  ReplayCounts &Counts;
  std::vector<TaskTable> Tables; ///< Of a persistent kernel: in place of its launches.
  bool BeginsEarly = false;
  bool IsPlaced = false;       ///< The argument blocks are those of a launch.
  bool WasLaunched = false;    ///< A graph pays from the second launch on.
  DevicePointer Workspace = 0; ///< Of the last launch.
  Graph Made = nullptr;        ///< Names the nodes as long as `Ready` lives.
  GraphExec Ready = nullptr;
  std::vector<GraphNode> Nodes; ///< One for each launch of the plan.
  std::vector<bool> HasMoved;   ///< The node does not have the argument block as it is now.
};

/// The plans of one program on one GPU.
class Replays {
public:
  Replays(PlannedProgram program, ReplayOptions options) : Of(program), May(options) {}
  Replays(const Replays &) = delete;
  Replays &operator=(const Replays &) = delete;

  /// Launches the program as planned. Nothing if it has no plan for this call, or every place for
  /// one is taken: then it is to be launched in another way.
  std::optional<Status> launch(const kiln_args &args, const LaunchPlace &where);
  const ReplayCounts &counts() const { return Counts; }
  /// What a kernel was launched with last, as far as that is known; "" if it is not.
  std::string describeLast(const LoadedKernel &kernel, const NativeInfo &info);

private:
  class Key;
  struct Slot {
    std::atomic<bool> isTaken{false};
    std::atomic<uint64_t> hash{0}, lastUse{0}; ///< Changed by who has taken it.
    std::vector<uint64_t> key;                 ///< These belong to who has taken it.
    std::unique_ptr<Replay> replay;            ///< Null: the call cannot be planned.
  };
  static constexpr size_t numSets = 16, numWays = 4;

  /// The place of this key, or the one that may be used for it; taken. Null if all are.
  Slot *take(const Key &key, bool &isKnown);
  Status plan(Slot &slot, const Key &key, const kiln_args &args);

  const PlannedProgram Of;
  const ReplayOptions May;
  ReplayCounts Counts;
  std::atomic<uint64_t> Clock{0};
  std::array<Slot, numSets * numWays> Slots;
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_REPLAY_H
