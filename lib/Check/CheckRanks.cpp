// Several ranks of one program, each with a checker of its own, and how long their common schedule
// is.
#include "kiln/Check/CheckProgram.h"

#include "Checker.h"

#include "kiln/runtime/ranks.h"

#include <deque>
#include <map>

namespace kiln {
namespace {

/// What ranks meet at, as the trace of each names it.
using Meeting = std::array<int64_t, 5>;

const char *const kKinds[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                              "all_to_all", "send",       "recv",           "rank_barrier"};

/// The meeting of a collective, and how many come to it; nothing for a kernel.
std::optional<std::pair<Meeting, int64_t>> meetingOf(const TraceTask &task, int64_t rank) {
  if (task.scalars.size() != 7 || !llvm::is_contained(kKinds, llvm::StringRef(task.kernel)))
    return std::nullopt;
  auto scalar = [&](size_t i) { return task.scalars[i].asInt(); };
  RankLine line{static_cast<int32_t>(scalar(2)), static_cast<int32_t>(scalar(3)),
                static_cast<int32_t>(scalar(4))};
  if (task.kernel != "send" && task.kernel != "recv")
    return std::pair(Meeting{0, line.first, line.stride, line.count, scalar(1)},
                     int64_t{line.count});
  int64_t peer = line.at(static_cast<int32_t>(scalar(0)));
  bool sends = task.kernel == "send";
  return std::pair(Meeting{1, sends ? rank : peer, sends ? peer : rank, 0, scalar(1)}, int64_t{2});
}

} // namespace

/// Goes through the tasks of all ranks in a common schedule, in which each takes one step and a
/// collective ends on all its ranks at once: how many collectives met, and how long it is.
static void schedule(std::span<const SimulationReport> ranks, RankReport &report) {
  struct Node {
    uint64_t ready = 0, unmet = 0;
    std::vector<uint64_t> next;
  };
  std::vector<std::vector<Node>> nodes(ranks.size());
  std::deque<std::pair<size_t, uint64_t>> able;
  struct Arrived {
    std::vector<std::pair<size_t, uint64_t>> who;
    uint64_t ready = 0;
  };
  std::map<Meeting, Arrived> meetings;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    nodes[rank].resize(ranks[rank].trace.tasks.size());
    for (const TraceEdge &edge : ranks[rank].trace.edges) {
      nodes[rank][edge.from].next.push_back(edge.to);
      ++nodes[rank][edge.to].unmet;
    }
    for (uint64_t task = 0; task < nodes[rank].size(); ++task)
      if (nodes[rank][task].unmet == 0)
        able.emplace_back(rank, task);
  }
  uint64_t length = 0;
  auto finish = [&](size_t rank, uint64_t task, uint64_t end) {
    length = std::max(length, end);
    for (uint64_t next : nodes[rank][task].next) {
      Node &node = nodes[rank][next];
      node.ready = std::max(node.ready, end);
      if (--node.unmet == 0)
        able.emplace_back(rank, next);
    }
  };
  while (!able.empty()) {
    auto [rank, task] = able.front();
    able.pop_front();
    uint64_t ready = nodes[rank][task].ready;
    auto meeting = meetingOf(ranks[rank].trace.tasks[task], static_cast<int64_t>(rank));
    if (!meeting) {
      ++report.tasks;
      finish(rank, task, ready + 1);
      continue;
    }
    Arrived &here = meetings[meeting->first];
    here.who.emplace_back(rank, task);
    here.ready = std::max(here.ready, ready);
    if (static_cast<int64_t>(here.who.size()) != meeting->second)
      continue;
    ++report.collectives;
    for (auto [other, its] : here.who)
      finish(other, its, here.ready + 1);
  }
  report.length = length;
}

Expected<RankReport> checkRanks(mlir::ModuleOp prepared, ir::FuncOp entry,
                                std::span<const std::vector<Argument>> args,
                                const CheckOptions &options, bool runsKernels) {
  SimulatorOptions simulator;
  simulator.seed = options.firstSeed;
  simulator.machine = options.machine;
  simulator.maxSteps = options.maxSteps;
  simulator.program = options.program;
  simulator.platform = options.platform;
  if (!runsKernels)
    simulator.runTask = [](ir::FuncOp, std::span<const Argument>, std::array<int64_t, 3>) {
      return Status::ok();
    };
  simulator::Findings findings;
  findings.wantsNan = false;
  findings.undeclared = options.undeclared;
  findings.seed = simulator.seed;
  std::deque<simulator::Checker> checkers;
  for (size_t rank = 0; runsKernels && rank < args.size(); ++rank)
    checkers.emplace_back(findings);
  std::vector<SimulationReport> runs(args.size());
  Status status = simulator::simulateRanks(
      prepared, entry, args, simulator, runs, [&](int32_t rank) -> simulator::Watcher * {
        return runsKernels ? &checkers[static_cast<size_t>(rank)] : nullptr;
      });
  bool isOutOfSteps =
      llvm::any_of(runs, [](const SimulationReport &run) { return run.isOutOfSteps; });
  if (!isOutOfSteps &&
      (status.code() == StatusCode::KernelFailed || status.code() == StatusCode::Deadlock))
    findings.addFailure(status);
  else if (!isOutOfSteps && !status.isOk())
    return status;
  RankReport report;
  report.findings = findings.take();
  if (isOutOfSteps)
    report.outOfSteps = status;
  schedule(runs, report);
  return report;
}

} // namespace kiln
