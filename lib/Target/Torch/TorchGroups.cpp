//===- TorchGroups.cpp - what runs in turns: members of groups, blocks with barriers -===//
#include "TorchFunction.h"
#include "kiln/Program/Signature.h"

#include "kiln/Machine/Machine.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kiln::torch {

//===----------------------------------------------------------------------===//
// Which functions run in turns
//===----------------------------------------------------------------------===//

static bool usesPipes(ir::FuncOp role) {
  return role
      .walk([](Operation *op) {
        return isa<tile::PushOp, tile::PopOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// How often a block pushes to or pops from a pipe, if that is the same in every run.
static std::optional<int64_t> countTransfers(Block &block, Value pipe) {
  auto isTransfer = [&](Operation *op) {
    return isa<tile::PushOp, tile::PopOp>(op) && llvm::is_contained(op->getOperands(), pipe);
  };
  int64_t total = 0;
  for (Operation &op : block) {
    bool isInside = op.walk([&](Operation *inner) {
                        return isTransfer(inner) ? WalkResult::interrupt() : WalkResult::advance();
                      }).wasInterrupted();
    if (!isInside)
      continue;
    if (isTransfer(&op)) {
      ++total;
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return std::nullopt;
    std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                           to = getConstantIntValue(loop.getUpperBound()),
                           step = getConstantIntValue(loop.getStep()),
                           once = countTransfers(*loop.getBody(), pipe);
    int64_t all = 0;
    if (!from || !to || !step || *step < 1 || !once)
      return std::nullopt;
    int64_t trips = *to > *from ? llvm::divideCeil(*to - *from, *step) : 0;
    if (llvm::MulOverflow(trips, *once, all) || llvm::AddOverflow(total, all, total))
      return std::nullopt;
  }
  return total;
}

static int64_t slotsOf(tile::PipeOp pipe) {
  if (pipe.getSlots())
    return *pipe.getSlots();
  for (const Machine *machine : machines())
    if (machine->findRole(pipe.getPipe().getType().getTo()))
      return machine->defaultSlots;
  return defaultSlotsOf(nullptr);
}

/// Whether the members of a group can run one after the other, producers first, without anybody
/// ever waiting: no barrier, all pipes lead from one role to one other, unsplit and without lanes,
/// what is pushed fits the slots, and no more is popped than was pushed. Whatever is not certain is
/// left to the scheduler, which finds deadlocks.
static bool runsInOrder(const Program &program, ir::FuncOp group) {
  if (ir::findBarrier(group))
    return false;
  std::optional<tile::PipeType> way;
  for (auto pipe : group.getBody().getOps<tile::PipeOp>()) {
    tile::PipeType type = pipe.getPipe().getType();
    if (type.getFrom() == type.getTo() || type.getSplit() != tile::Split::None ||
        group.getLanesOf(type.getFrom()) > 1 || group.getLanesOf(type.getTo()) > 1)
      return false;
    if (way && (way->getFrom() != type.getFrom() || way->getTo() != type.getTo()))
      return false;
    way = type;
    int64_t pushed = 0, popped = 0;
    for (auto call : group.getBody().getOps<ir::CallOp>()) {
      ir::FuncOp member = program.lookup(call.getCalleeAttr());
      for (auto [parameter, argument] : llvm::zip_equal(member.getArguments(), call.getArgs())) {
        if (argument != pipe.getPipe())
          continue;
        std::optional<int64_t> count = countTransfers(member.getBody().front(), parameter);
        if (!count)
          return false;
        (*member.getRole() == type.getFrom() ? pushed : popped) += *count;
      }
    }
    bool fits = program.options.unboundedSlots || pushed <= slotsOf(pipe);
    if (!fits || popped > pushed)
      return false;
  }
  return way.has_value();
}

void planTasks(Program &program) {
  program.module.walk([&](ir::SubmitOp submit) {
    if (submit.getCallee())
      program.launched.insert(program.lookup(submit.getCalleeAttr()));
  });
  llvm::MapVector<Operation *, bool> isScheduled;
  for (auto func : program.module.getOps<ir::FuncOp>()) {
    if (func.getKind() == ir::FuncKind::Group)
      isScheduled[func] = !runsInOrder(program, func);
    // A barrier in an orchestration is one of a kernel written in place.
    if (func.getKind() == ir::FuncKind::Orchestration || !ir::findBarrier(func))
      continue;
    if (func.getKind() != ir::FuncKind::Group)
      program.generators.insert({func, ""});
    // Members of a group are among the tasks of the group.
    if (func.getKind() != ir::FuncKind::Role || program.launched.contains(func))
      program.taskMakers[func] = program.names.unique(program.nameOf(func) + "_tasks");
  }
  // A role has one Python function. If one of its groups needs a generator, all of them get one.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[op, scheduled] : isScheduled) {
      auto calls = cast<ir::FuncOp>(op).getBody().getOps<ir::CallOp>();
      for (ir::CallOp call : calls) {
        ir::FuncOp member = program.lookup(call.getCalleeAttr());
        if (scheduled && usesPipes(member))
          changed |= program.generators.insert({member, ""}).second;
        else if (!scheduled && program.generators.contains(member))
          changed = scheduled = true;
      }
    }
  }
  for (auto &[func, name] : program.generators)
    name = program.names.unique(program.nameOf(cast<ir::FuncOp>(func)) + "_g");
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void FunctionEmitter::emitPipe(tile::PipeOp pipe) {
  tile::PipeType type = pipe.getPipe().getType();
  std::string key = "'" + pipeName(pipe) + "'";
  Values[pipe.getPipe()] = {key};
  std::string options =
      "slots=" + (Prog.options.unboundedSlots ? "None" : std::to_string(slotsOf(pipe)));
  if (int64_t producers = Func.getLanesOf(type.getFrom()); producers > 1)
    options += ", producers=" + std::to_string(producers);
  if (int64_t consumers = Func.getLanesOf(type.getTo()); consumers > 1)
    options += ", consumers=" + std::to_string(consumers);
  line("_pipes[" + Twine(key) + "] = _Pipe(" + options + ")  # " + describe(type).substr(5));
}

/// What a task of a member is called: the function, with its lane where the role has lanes.
static std::string taskName(StringRef function, int64_t lane, int64_t lanes) {
  return "'" + function.str() + (lanes > 1 ? "#" + std::to_string(lane) : "") + "'";
}

/// All members at once: as tasks, one a lane, which run now or, if they meet those of other blocks,
/// are handed to the launch.
void FunctionEmitter::emitMembers() {
  SmallVector<ir::CallOp> calls(Func.getBody().getOps<ir::CallOp>());
  if (runsInOrder(Prog, Func)) {
    tile::PipeType way = (*Func.getBody().getOps<tile::PipeOp>().begin()).getPipe().getType();
    llvm::stable_sort(calls, [&](ir::CallOp a, ir::CallOp b) {
      return *Prog.lookup(a.getCalleeAttr()).getRole() == way.getFrom() &&
             *Prog.lookup(b.getCalleeAttr()).getRole() != way.getFrom();
    });
  }
  bool meetsOthers = Prog.taskMakers.contains(Func);
  line(meetsOthers ? "return [" : "_run_scheduler([");
  Out.indented([&] {
    for (ir::CallOp call : calls) {
      ir::FuncOp member = Prog.lookup(call.getCalleeAttr());
      const std::string &name = Prog.nameOf(member);
      std::string args = arguments(call.getArgs());
      std::string generator = Prog.generators.lookup(member);
      std::string task = generator.empty()
                             ? "_call_g(" + name + (args.empty() ? "" : ", ") + args + ")"
                             : generator + "(" + args + ")";
      int64_t lanes = Func.getLanesOf(*member.getRole());
      for (int64_t lane = 0; lane < lanes; ++lane)
        line("(" + Twine(taskName(name, lane, lanes)) + ", " + task + ", " + Twine(lane) + "),");
    }
  });
  line(meetsOthers ? "]" : "])");
  if (!meetsOthers)
    line("_check_drained('" + Twine(Prog.nameOf(Func)) + "')");
}

/// A launch whose blocks meet at barriers.
static std::string launchTogether(const Program &program, ir::FuncOp kernel,
                                  const std::string &grid, const std::string &args) {
  SmallVector<std::string> meeting; // the tasks of a block that come to barriers
  if (kernel.getKind() != ir::FuncKind::Group) {
    meeting.push_back(taskName(program.nameOf(kernel), 0, 1));
  } else {
    for (auto call : kernel.getBody().getOps<ir::CallOp>()) {
      ir::FuncOp member = program.lookup(call.getCalleeAttr());
      int64_t lanes = ir::findBarrier(member) ? kernel.getLanesOf(*member.getRole()) : 0;
      for (int64_t lane = 0; lane < lanes; ++lane)
        meeting.push_back(taskName(program.nameOf(member), lane, lanes));
    }
  }
  return "_launch_together(" + program.taskMakers.lookup(kernel) + ", " + tuple(meeting) + ", " +
         grid + (args.empty() ? "" : ", ") + args + ")";
}

std::string launch(const Program &program, ir::FuncOp kernel, const std::string &grid,
                   const std::string &args) {
  if (program.taskMakers.contains(kernel))
    return launchTogether(program, kernel, grid, args);
  return "_launch(" + program.nameOf(kernel) + ", " + grid + (args.empty() ? "" : ", ") + args +
         ")";
}

/// What a function of which a generator or a task maker was emitted does when it is simply called.
void FunctionEmitter::emitPlainForm(const std::string &parameters) {
  const std::string &name = Prog.nameOf(Func), generator = Prog.generators.lookup(Func);
  std::string list = "(" + parameters + ")", tasks = Prog.taskMakers.lookup(Func);
  auto define = [&](const Twine &defined, const Twine &summary, const Twine &body) {
    Out.blank(2);
    line("def " + defined + list + ":");
    emitIndented([&] {
      line("\"\"\"" + summary + "\"\"\"");
      line(body);
    });
  };
  if (Func.getKind() == ir::FuncKind::Orchestration)
    return define(name, generator + " on one rank.",
                  "_run_ranks(" + generator + ", [" +
                      (parameters.empty() ? "()" : "(" + parameters + ",)") + "])");
  if (tasks.empty())
    return define(name, generator + " without a group: what it pops must be in its pipes already.",
                  "_run_alone(" + generator + list + ")");
  if (Func.getKind() != ir::FuncKind::Group)
    define(tasks, "The one task of a block.",
           "return [(" + taskName(name, 0, 1) + ", " + generator + list + ", 0)]");
  define(name, "One block by itself.", launch(Prog, Func, "(1,)", parameters));
}

} // namespace kiln::torch
