//===- Group.h - one block of a launch: its instances, pipes and schedule ---------------===//
//
// A block of a kernel is one instance; a block of a group is one instance per role, or `lanes` of
// the role that has lanes, joined by the pipes the group makes. The scheduler runs one instance at
// a time up to its next pipe operation or barrier and then picks another that can go on: round
// robin for seed 0, at random otherwise. When nobody can go on and somebody is not done, that is a
// deadlock, reported at once. Barrier.h has the blocks that run together.
//
// Ownership: a block lives for one call of run(). One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_GROUP_H
#define KILN_LIB_SIMULATOR_GROUP_H

#include "Interpreter.h"
#include "Pipe.h"
#include "Random.h"

#include "kiln/runtime/timeline.h"

#include <memory>

namespace kiln::simulator {

/// What the blocks of a simulation share.
struct BlockContext {
  mlir::SymbolTable &symbols;
  GlobalMemory &memory;
  const Machine *machine; ///< Null: none in particular; two slots by default.
  /// None: round robin.
  Random *random;
  Steps &steps;
  /// Where the blocks of a launch meet; none: they do not.
  Barrier *barrier = nullptr;
};

class GroupBlock {
public:
  /// `func` is a kernel or a group, `args` in parameter order.
  GroupBlock(ir::FuncOp func, std::vector<Value> args, Place place, const BlockContext &context);

  /// To the end, or to the first fault or deadlock.
  Status run();

  // The parts of run(), for a block that takes turns with others.
  Status start();
  /// Lets one instance that can go on do so; false if nobody can.
  Expected<bool> step();
  /// When nobody can go on: an error unless all are done and have left nothing behind.
  Status finish();

  /// The instances of a launch when nobody can go on, as a reader needs them.
  struct BarrierReport {
    llvm::SmallVector<std::string> waiting; ///< At a barrier.
    llvm::SmallVector<std::string> ended;   ///< Though they have a barrier to come to.
    llvm::SmallVector<std::string> blocked; ///< At a pipe.
    mlir::Operation *barrier = nullptr;     ///< One that somebody waits at.
  };
  void addTo(BarrierReport &report) const;

private:
  struct Instance {
    std::string name; ///< The function, with `#lane` where the role has lanes.
    std::string role; ///< Empty for a kernel without roles.
    Interpreter interpreter;
    bool meetsOthers;        ///< The function contains a barrier.
    int64_t waitsSince = -1; ///< In the timeline; negative: it does not wait.

    /// "aic", "aiv#1": the role, with the lane where there are several.
    std::string track() const {
      size_t lane = name.rfind('#');
      return role + (lane == std::string::npos ? "" : name.substr(lane));
    }
  };
  class GroupHost;
  /// Of kernels and roles.
  class KernelHost final : public Host {
  public:
    explicit KernelHost(const BlockContext &context)
        : Host(context.symbols, context.steps), Meeting(context.barrier) {}
    Status meet(Interpreter &in, tile::BarrierOp op) override;

  private:
    Barrier *Meeting;
  };

  int64_t defaultSlots() const;
  Status makeInstances();
  void addInstances(ir::FuncOp func, const std::vector<Value> &args, int64_t lanes);
  /// Who can go on and is to do so; null when nobody can.
  Instance *pickNext();

  /// The error with the instance or group it happened in, and the block.
  Status locate(const Status &status, const std::string &who) const;
  bool isDone() const;
  /// Runs one instance; `timeline` is null if nobody asked for one.
  Expected<bool> step(RoleTimeline *timeline);
  /// Adds the levels of pipes that have changed since the last call.
  void recordLevels(RoleTimeline &timeline);
  /// Ends the wait of an instance in the timeline, if it has one.
  void recordWait(Instance &instance, RoleTimeline &timeline) const;
  Status checkPipesEmpty() const;
  Status reportDeadlock() const;
  void tellBlocked(Watcher &watcher, const Instance &instance) const;
  /// The pipe operation a blocked instance waits in, taken apart.
  struct Wait {
    mlir::Operation *op = nullptr;
    const Pipe *pipe = nullptr;
    bool isPush = false;
    std::string slots;                ///< How full the pipe is.
    std::string role;                 ///< Of those it waits for.
    llvm::SmallVector<int64_t> lanes; ///< And their lanes.
  };
  Wait waitOf(const Instance &instance) const;
  std::string describeWait(const Instance &instance) const;
  const Instance *find(llvm::StringRef role, int64_t lane) const;
  std::string describeCycle(const Instance &first) const;

  ir::FuncOp Func;
  std::vector<Value> Args;
  Place Where;
  const BlockContext &Context;
  KernelHost Kernels;
  std::vector<std::unique_ptr<Pipe>> Pipes;
  std::vector<uint64_t> Levels; ///< Of each pipe, as the timeline knows it.
  std::vector<std::unique_ptr<Instance>> Instances;
  size_t Turn = 0; ///< Round robin: who is asked first.
};

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_GROUP_H
