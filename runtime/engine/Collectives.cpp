// What several ranks do together, as tasks: from a CollectiveTask to a node whose work others do,
// and back when they have done it.
#include "engine/EngineImpl.h"
#include "engine/Region.h"
#include "engine/Verify.h"
#include "kiln/runtime/ranks.h"

#include <map>
#include <mutex>

using namespace kiln;

//===----------------------------------------------------------------------===//
// What such tasks look like to dumps, traces and messages
//===----------------------------------------------------------------------===//

/// The scalars of the task, in order: what its Collective is made of besides the tensors.
static constexpr const char *scalarNames[] = {"peer",  "number", "first",      "stride",
                                              "count", "how",    "fixed_order"};

static KernelRecord makeRecord(CollectiveKind kind, DType type, int rank) {
  KernelRecord record;
  record.name = toString(kind);
  record.isCollective = true;
  record.funcId = (1 << 24) +
                  (static_cast<int32_t>(kind) * KILN_NUM_DTYPES + static_cast<int32_t>(type)) *
                      (KILN_MAX_RANK + 1) +
                  rank;
  Signature &signature = record.signature.emplace();
  signature.name = record.name;
  signature.coreType = "ranks";
  auto add = [&](const char *name, Direction direction) {
    signature.tensors.push_back(TensorParam::dynamic(name, type, rank, direction));
  };
  switch (kind) {
  case CollectiveKind::AllReduce:
  case CollectiveKind::Broadcast:
    add("target", Direction::InOut);
    break;
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllToAll:
    add("source", Direction::In);
    add("target", Direction::Out);
    break;
  case CollectiveKind::Send:
    add("source", Direction::In);
    break;
  case CollectiveKind::Recv:
    add("target", Direction::Out);
    break;
  case CollectiveKind::RankBarrier:
    break;
  }
  for (const char *name : scalarNames)
    signature.scalars.push_back({name, DType::Index});
  return record;
}

/// Kernel records of no registry, made when they are first needed and never gone.
static const KernelRecord &recordOf(const CollectiveTask &task) {
  const Tensor &shaped = task.source.isNull() ? task.target : task.source;
  DType type = shaped.isNull() ? DType::F32 : shaped.dtype();
  auto key = std::make_tuple(task.kind, type, shaped.isNull() ? 0 : shaped.rank());
  static std::mutex mutex;
  static std::map<decltype(key), KernelRecord> records;
  std::lock_guard lock(mutex);
  auto [it, isNew] = records.try_emplace(key);
  if (isNew)
    it->second = makeRecord(task.kind, type, std::get<2>(key));
  return it->second;
}

static Collective collectiveOf(const Node &node) {
  Collective made;
  const Signature &signature = *node.kernel->signature;
  for (uint8_t i = 0; i < node.numTensors; ++i)
    (signature.tensors[i].direction == Direction::In ? made.source : made.target) =
        node.tensors()[i];
  auto number = [&](int i) { return static_cast<int64_t>(node.scalars[i]); };
  made.kind = static_cast<CollectiveKind>((node.kernel->funcId - (1 << 24)) /
                                          (KILN_NUM_DTYPES * (KILN_MAX_RANK + 1)));
  made.peer = static_cast<int32_t>(number(0));
  made.number = node.scalars[1];
  made.line = {static_cast<int32_t>(number(2)), static_cast<int32_t>(number(3)),
               static_cast<int32_t>(number(4))};
  made.how = static_cast<Reduction>(number(5));
  made.fixedOrder = number(6) != 0;
  made.loc = node.detail->loc.toSourceLoc();
  if (made.kind == CollectiveKind::Send)
    made.memory = node.detail->buffers[0];
  return made;
}

//===----------------------------------------------------------------------===//
// Submission
//===----------------------------------------------------------------------===//

Transport &Engine::Impl::ranks() const { return RunAs.ranks ? *RunAs.ranks : aloneTransport(); }

Expected<RankLine> Engine::Impl::lineOf(const CollectiveTask &task) {
  Transport &all = ranks();
  Expected<RankLine> line = resolve(task, all.rank(), all.ranks());
  if (!line)
    return line;
  if (!task.source.isNull() && !task.target.isNull() &&
      task.source.buffer() == task.target.buffer() &&
      mayOverlap(Region::of(task.source), Region::of(task.target)))
    return Status(StatusCode::InvalidArgument,
                  std::string(toString(task.kind)) + ": source and target overlap in memory",
                  task.loc);
  if (Lines.count(*line) == 0)
    if (Status bad = line->count > 1 ? all.prepare(*line) : Status::ok(); !bad.isOk())
      return bad.withLocation(task.loc);
  return line;
}

Expected<TaskId> Engine::Impl::submit(const CollectiveTask &collective) {
  Sched.offerKept();
  if (!RunOpen)
    if (Status failed = startRun({}); !failed.isOk())
      return failed;
  Expected<RankLine> line = lineOf(collective);
  if (!line)
    return line.status();
  if (collective.kind == CollectiveKind::RankBarrier && !awaitAll())
    return Status(StatusCode::Internal, "tasks wait and none is ready");
  LineState &state = Lines[*line];
  bool isMessage = isBetweenTwo(collective.kind);
  uint64_t &next = isMessage ? Messages[{line->at(static_cast<int32_t>(collective.peer)),
                                         collective.kind == CollectiveKind::Send}]
                             : state.next;
  Task task(recordOf(collective));
  for (const auto &[tensor, param] : {std::pair(&collective.source, 0), {&collective.target, 1}}) {
    if (tensor->isNull())
      continue;
    size_t number = task.tensors().size();
    task.addTensor(*tensor, task.kernelRecord()->signature->tensors[number].direction,
                   collective.isMarked);
  }
  for (int64_t scalar :
       {collective.peer, static_cast<int64_t>(next), int64_t{line->first}, int64_t{line->stride},
        int64_t{line->count}, static_cast<int64_t>(collective.how), int64_t{collective.fixedOrder}})
    task.addIndex(scalar);
  for (TaskId dep : collective.deps)
    task.after(dep);
  if (!isMessage && state.last && state.last->run == Run.id)
    task.after(*state.last);
  task.at(collective.loc);
  Expected<TaskId> id = submit(task, nullptr);
  if (!id)
    return id;
  ++next;
  if (!isMessage)
    state.last = *id;
  if (collective.kind != CollectiveKind::RankBarrier)
    return id;
  if (!await(id->index))
    return Status(StatusCode::Internal, "the barrier of ranks waits and nothing is ready");
  return isBad(id->index) ? Expected<TaskId>(Run.failures.ofRun()) : id;
}

Expected<TaskId> Engine::submit(const CollectiveTask &collective) { return P->submit(collective); }
Transport &Engine::ranks() const { return P->ranks(); }

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

bool Scheduler::startCollective(Worker &worker, Node &node) {
  if (!mayRun(node)) {
    if (node.state == TaskState::Cancelled) // others would wait for this rank for ever
      Run.ranks->fail(Run.failures.ofRun());
    return true;
  }
  if (Run.dump)
    Run.dump->beforeDispatch(worker.number, dumpTask(node));
  int64_t begin = Run.timeline ? Run.timeline->now() : 0;
  InFlight.fetch_add(1, std::memory_order_relaxed);
  // Called by any thread. Whoever finishes the task may let the engine go: that takes the lock.
  auto done = [this, &node, begin](Status status) {
    std::lock_guard lock(EndedMutex);
    Ended.push_back({&node, std::move(status), begin, Run.timeline ? Run.timeline->now() : 0});
    NumEnded.fetch_add(1, std::memory_order_seq_cst);
    if (!Order)
      Beds.notifyWork();
  };
  Run.ranks->start(collectiveOf(node), done);
  return false; // finishEnded() goes on
}

void Scheduler::latchCollective(const Node &node, const Status &why) {
  TaskFailure failure{
      {node.index, Run.id}, node.kernel->name, "", why.message(), node.detail->loc.toSourceLoc()};
  Status status = why.location().isKnown() ? why : why.withLocation(failure.loc);
  Run.failures.latch(std::move(failure), status);
  Run.ranks->fail(status);
}

bool Scheduler::finishEnded(Worker &worker) {
  if (NumEnded.load(std::memory_order_seq_cst) == 0)
    return false;
  EndedCollective ended;
  {
    std::lock_guard lock(EndedMutex);
    if (Ended.empty())
      return false;
    ended = std::move(Ended.front());
    Ended.pop_front();
    NumEnded.fetch_sub(1, std::memory_order_seq_cst);
  }
  InFlight.fetch_sub(1, std::memory_order_relaxed);
  Node &node = *ended.node;
  node.state = ended.status.isOk() ? TaskState::Done : TaskState::Failed;
  if (!ended.status.isOk())
    latchCollective(node, ended.status);
  else if (Run.dump)
    Run.dump->afterCompletion(worker.number, dumpTask(node));
  if (Run.timeline)
    Run.timeline->recordCollective(
        {TimelineEvent::Kind::Call, node.index, ended.begin, ended.end, {}});
  if (Node *next = finish(worker, node))
    runChain(worker, next);
  return true;
}
