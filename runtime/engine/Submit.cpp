// Submission: from a Task to a published node. What must run before it?
#include "engine/EngineImpl.h"
#include "engine/Verify.h"
#include "kiln/runtime/interrupt.h"

#include <algorithm>
#include <new>

using namespace kiln;

/// Finished tasks are retired at least this often: their buffers return, and the submitter reads
/// the cache lines that workers wrote in one go.
static constexpr uint64_t retireInterval = 32;
/// How often a full window is looked at in vain before any room there is will do.
static constexpr unsigned maxIdleRounds = 256;
/// So many readers of a region stay on their own; more become an epoch.
static constexpr uint32_t maxSingleReaders = 8;

Status Engine::Impl::verifyDeps(const Task &task) const {
  for (TaskId dep : task.deps())
    if (!RunOpen || dep.run != Run.id || dep.index >= Window.end())
      return Status(StatusCode::InvalidArgument,
                    describeTask(task) + ": a dependency names no earlier task of this run");
  return Status::ok();
}

static TraceTask describe(const Node &node, const Task &task, uint32_t scope) {
  TraceTask entry;
  entry.scope = scope;
  entry.index = node.index;
  entry.kernel = task.kernel();
  std::copy(task.gridDims().begin(), task.gridDims().end(), entry.grid.begin());
  for (const TaskTensor &arg : task.tensors()) {
    const Tensor &tensor = arg.tensor;
    entry.tensors.push_back({arg.direction,
                             tensor.dtype(),
                             {tensor.extents().begin(), tensor.extents().end()},
                             {tensor.strides().begin(), tensor.strides().end()},
                             tensor.buffer()->id(),
                             tensor.byteOffset()});
  }
  entry.scalars.assign(task.scalars().begin(), task.scalars().end());
  entry.loc = task.location();
  return entry;
}

const KernelRecord *Engine::Impl::kernelOf(const Task &task) {
  const KernelRecord *kernel = task.kernelRecord();
  if (!kernel)
    return task.isDummy() ? nullptr : Registry->find(task.kernel());
  if (kernel->isCollective)
    return kernel;
  const KernelRecord *&known =
      KnownKernels[reinterpret_cast<uintptr_t>(kernel) / sizeof(*kernel) % KnownKernels.size()];
  if (known != kernel) {
    if (Registry->find(kernel->funcId) != kernel)
      return nullptr; // of another registry
    known = kernel;
  }
  return kernel;
}

/// One call of a kernel, and no question whether.
static bool isPlain(const Task &task, const KernelRecord *kernel) {
  return kernel && !task.predicate() && !task.hasSeveralBlocks();
}

Expected<TaskId> Engine::Impl::submit(const Task &task, Task *expendable) {
  Sched.offerKept();
  // What the map knows of the tensors may be far away: it is fetched while the task is verified.
  bool isAlone = Window.isEmpty(); // then it may not be needed
  if (!isAlone)
    noteAccesses(task);
  const KernelRecord *kernel = kernelOf(task);
  Status bad = verifyTask(task, kernel);
  if (bad.isOk() && !task.deps().empty())
    bad = verifyDeps(task);
  if (!bad.isOk())
    return bad.withLocation(task.location());
  if (!RunOpen)
    if (Status failed = startRun({}); !failed.isOk())
      return failed;
  if (isInterrupted()) {
    Status why = interruptedAt(Window.end(), kernel);
    Run.failures.setOfRun(why);
    return why;
  }

  if (!makeRoom(task))
    return Status(StatusCode::Internal, "the window is full and no task is ready");
  bool isWatched = RunsBriefTasks && isPlain(task, kernel) && !kernel->isCollective;
  KernelTimes::Slot slot = isWatched ? Times.slotOf(*kernel, task.tensors()) : 0;
  if (isWatched && isForSubmitter(task, slot))
    return runHere(task, *kernel, slot);
  TimelineSpan span(Run.timeline, /*worker=*/0, TimelineEvent::Kind::Submit, Window.end());
  if (isAlone)
    noteAccesses(task);
  findProducers(task);
  Node &node = makeNode(task, kernel);
  if (Options.recordTrace)
    History.tasks.push_back(describe(node, task, CurrentScope));
  holdBuffers(node, task, expendable);
  node.timesSlot = isWatched ? Times.wantsTime(slot) : 0;
  recordAccesses();
  TaskId id{node.index, Run.id};
  linkAndPublish(node);
  // Only now: an epoch this task waits for must not become another one before it is linked.
  for (const PendingAccess &access : accesses())
    if (!Options.recordTrace && access.live->readers.size() > maxSingleReaders)
      joinReaders(*access.live);
  return id;
}

//===----------------------------------------------------------------------===//
// Dependencies
//===----------------------------------------------------------------------===//

/// The reason why a task that does `reads` and `writes` must follow `earlier`, if any. Where
/// several apply the strongest is given.
static std::optional<EdgeKind> hazard(const Use &earlier, bool reads, bool writes,
                                      const EngineOptions::TestOnly &off) {
  if (earlier.writes && reads && !off.noRaw)
    return EdgeKind::Raw;
  if (earlier.writes && writes && !off.noWaw)
    return EdgeKind::Waw;
  if (earlier.reads && writes && !off.noWar)
    return EdgeKind::War;
  return std::nullopt;
}

void Engine::Impl::noteAccess(const Tensor &tensor, Direction direction, int32_t arg) {
  if (Noted.size() == NumNoted)
    Noted.emplace_back();
  PendingAccess &access = Noted[NumNoted];
  access.region.set(tensor);
  if (access.region.isEmpty())
    return;
  ++NumNoted;
  access.hash = TensorMap::hashOf(access.region);
  Map.prefetch(access.hash);
  access.direction = direction;
  access.arg = arg;
}

void Engine::Impl::noteAccesses(const Task &task) {
  NumNoted = 0;
  std::span<const TaskTensor> args = task.tensors();
  for (size_t i = 0; i < args.size(); ++i)
    noteAccess(args[i].tensor, args[i].direction, static_cast<int32_t>(i));
  if (const auto &predicate = task.predicate()) {
    std::vector<int64_t> ones(predicate->indices.size(), 1);
    if (Expected<Tensor> element = predicate->tensor.slice(predicate->indices, ones))
      noteAccess(*element, Direction::In, -1);
  }
}

void Engine::Impl::findProducers(const Task &task) {
  Producers.clear();
  IsDoomed = false;
  for (PendingAccess &access : accesses()) {
    const Tensor &tensor = access.arg < 0 ? task.predicate()->tensor
                                          : task.tensors()[static_cast<size_t>(access.arg)].tensor;
    access.live = &Map.acquire(tensor.buffer(), access.region, access.hash);
    addConflicts(access, tensor.buffer()->id());
  }
  for (TaskId dep : task.deps())
    addProducer(dep.index, dep.index < Window.begin() ? nullptr : &Window[dep.index],
                EdgeKind::Explicit, 0, -1);
}

void Engine::Impl::addConflicts(const PendingAccess &access, uint64_t bufferId) {
  Conflicts.clear();
  bool doesRead = reads(access.direction), doesWrite = writes(access.direction);
  Map.forEachUse(*access.live, doesWrite, [&](const Use &earlier) {
    if (isManualBetween(earlier.scope, CurrentScope))
      return;
    std::optional<EdgeKind> kind = hazard(earlier, doesRead, doesWrite, Options.testOnly);
    if (!kind)
      return;
    if (Options.recordTrace)
      Conflicts.push_back({earlier.task, earlier.node, *kind});
    else
      addProducer(earlier.task, earlier.node, *kind, bufferId, access.arg);
  });
  if (Conflicts.empty())
    return;
  // The graph should not depend on how the map happens to be laid out.
  std::stable_sort(Conflicts.begin(), Conflicts.end(),
                   [](const Conflict &a, const Conflict &b) { return a.task < b.task; });
  for (const Conflict &conflict : Conflicts)
    addProducer(conflict.task, conflict.node, conflict.kind, bufferId, access.arg);
}

/// Several reasons make one edge. A few producers are compared with each other, which leaves the
/// new one's block alone until it is linked: it may have to be fetched from far away.
static bool isAmong(std::vector<Node *> &producers, Node &node, uint64_t self) {
  constexpr size_t few = NodeLayout::maxInlineEdges;
  if (producers.size() < few)
    return std::find(producers.begin(), producers.end(), &node) != producers.end();
  if (producers.size() == few)
    for (Node *producer : producers)
      producer->lastSuccessor = self;
  return std::exchange(node.lastSuccessor, self) == self;
}

void Engine::Impl::addProducer(uint64_t task, Node *node, EdgeKind kind, uint64_t bufferId,
                               int32_t arg) {
  uint64_t self = Window.end();
  // A finished producer orders nothing any more but belongs into the graph.
  if (Options.recordTrace)
    History.edges.push_back({task, self, kind, bufferId, arg});
  if (ReaderEpochs::isEpoch(task)) {
    node = Settled.epochs.close(task);
    if (!node)
      return;
  } else if (task < Window.begin()) {
    IsDoomed |= task >= Waited && Settled.bad.count(task) != 0;
    return;
  }
  if (isAmong(Producers, *node, self))
    return;
  node->prefetchHeader();
  Producers.push_back(node);
}

void Engine::Impl::recordAccesses() {
  uint64_t self = Window.end() - 1;
  Node *node = &Window[self];
  // A later task of an enclosing manual scope would be ordered after the old one but not after this
  // one, so inside manual scopes nothing is forgotten.
  bool mayForget = !Scopes[CurrentScope].isInsideManual;
  for (const PendingAccess &access : accesses()) {
    bool doesRead = reads(access.direction), doesWrite = writes(access.direction);
    auto isSuperseded = [&](const Use &old) {
      return mayForget && hazard(old, doesRead, doesWrite, Options.testOnly).has_value();
    };
    Map.record(*access.live, {self, node, CurrentScope, doesRead, doesWrite}, isSuperseded);
  }
}

void Engine::Impl::joinReaders(LiveRegion &region) {
  // Only among readers of this scope: what a manual scope leaves out is decided by pairs of scopes.
  // A trace lists every pair of tasks, so then all remain.
  auto canJoin = [&](const Use &use) {
    return use.scope == CurrentScope && !ReaderEpochs::isEpoch(use.task) &&
           !Settled.bad.count(use.task);
  };
  uint32_t count = 0;
  uint64_t epoch = 0;
  for (const Use &use : region.readers) {
    count += canJoin(use);
    if (use.scope == CurrentScope && ReaderEpochs::isEpoch(use.task) &&
        Settled.epochs.isOpen(use.task))
      epoch = use.task;
  }
  if (count < maxSingleReaders / 2)
    return;
  bool isNew = epoch == 0;
  if (isNew)
    epoch = Settled.epochs.open(Window.begin());
  region.readers.eraseIf([&](const Use &use) {
    if (!canJoin(use))
      return false;
    Settled.epochs.join(epoch, use.task, use.task < Window.begin() ? nullptr : &Window[use.task]);
    return true;
  });
  if (isNew)
    region.readers.push({epoch, nullptr, CurrentScope, true, false});
}

//===----------------------------------------------------------------------===//
// The node
//===----------------------------------------------------------------------===//

bool Engine::Impl::makeRoom(const Task &task) {
  if (Window.isEmpty())
    return true;
  uint32_t bytes = NodeLayout::bound(static_cast<uint32_t>(task.tensors().size()),
                                     static_cast<uint32_t>(task.scalars().size()));
  auto hasRoom = [&] { return numPending() < Options.maxPending && Window.hasRoom(bytes); };
  if (Window.end() % retireInterval != 0 && hasRoom())
    return true;
  retire();
  // The workers have plenty to do. Making room for many tasks at once, and looking seldom, leaves
  // them the cache lines they work with; but a little room is better than falling asleep.
  uint64_t enough = Sched.isInline() ? Options.maxPending : Options.maxPending / 4 * 3;
  unsigned idleRounds = 0;
  while (!hasRoom() || (numPending() > enough && idleRounds < maxIdleRounds)) {
    if (!workOnce(Window.begin(), idleRounds))
      return false;
    if (idleRounds % 16 == 0)
      retire();
  }
  return true;
}

NodeLoc Engine::Impl::internLoc(const SourceLoc &loc) {
  if (!loc.isKnown())
    return {};
  if (!LastFile || *LastFile != loc.file)
    LastFile = &*Files.insert(loc.file).first;
  return {LastFile->c_str(), loc.line, loc.col};
}

static GridLaunch *fillGrid(std::byte *memory, const Task &task) {
  auto *grid = new (memory) GridLaunch{};
  grid->extent = {1, 1, 1};
  std::copy(task.gridDims().begin(), task.gridDims().end(), grid->extent.begin());
  grid->isWhole = task.isSyncStart();
  grid->participants.store(1, std::memory_order_relaxed);
  return grid;
}

void Engine::Impl::fillArguments(Node &node, const Task &task) {
  kiln_tensor *tensor = node.tensors();
  for (const TaskTensor &arg : task.tensors()) {
    *tensor = arg.tensor.toAbi();
    if (arg.direction == Direction::In)
      tensor->flags |= KILN_TENSOR_READ_ONLY;
    ++tensor;
  }
  uint64_t *bits = node.scalars;
  for (const ScalarBits &scalar : task.scalars())
    *bits++ = scalar.bits;
}

void Engine::Impl::fillDetail(Node &node, const Task &task) {
  NodeDetail &detail = *node.detail;
  for (size_t i = 0; i < task.tensors().size(); ++i) {
    detail.directions[i] = task.tensors()[i].direction;
    detail.marks[i] = task.tensors()[i].marked;
  }
  for (size_t i = 0; i < task.scalars().size(); ++i)
    detail.scalarTypes[i] = task.scalars()[i].type;
  if (const auto &predicate = task.predicate()) {
    Expected<void *> element = predicate->tensor.elementAddress(predicate->indices);
    *detail.predicate = {element ? *element : nullptr, predicate->constant,
                         predicate->tensor.dtype(), predicate->compare};
  }
}

void Engine::Impl::holdBuffers(Node &node, const Task &task, Task *expendable) {
  NodeDetail &detail = *node.detail;
  auto hold = [&](std::shared_ptr<Buffer> buffer) {
    new (&detail.buffers[detail.numBuffers++]) std::shared_ptr<Buffer>(std::move(buffer));
  };
  for (size_t i = 0; i < task.tensors().size(); ++i)
    hold(expendable ? expendable->releaseBuffer(i) : task.tensors()[i].tensor.buffer());
  if (const auto &predicate = task.predicate())
    hold(predicate->tensor.buffer());
}

Node &Engine::Impl::makeNode(const Task &task, const KernelRecord *kernel) {
  auto numEdges = static_cast<uint32_t>(Producers.size());
  auto numTensors = static_cast<uint8_t>(task.tensors().size());
  auto numScalars = static_cast<uint8_t>(task.scalars().size());
  bool hasGrid = task.hasSeveralBlocks(), hasPredicate = task.predicate().has_value();
  NodeLayout layout(numTensors, numScalars, numEdges, hasGrid, hasPredicate);
  uint64_t index = Window.end();
  auto *bytes = reinterpret_cast<std::byte *>(Window.push(layout.size));
  auto *node = new (bytes) Node;
  auto *detail = new (bytes + layout.detail) NodeDetail;
  node->isDoomed.store(IsDoomed, std::memory_order_relaxed);
  node->state = TaskState::Pending;
  node->numTensors = numTensors;
  node->numScalars = numScalars;
  node->index = index;
  node->kernel = kernel;
  node->scalars = reinterpret_cast<uint64_t *>(bytes + layout.scalars);
  node->detail = detail;
  node->isPlain = isPlain(task, kernel);
  node->isEpoch = false;
  node->lastSuccessor = UINT64_MAX;
  detail->grid = hasGrid ? fillGrid(bytes + layout.grid, task) : nullptr;
  detail->predicate = hasPredicate ? new (bytes + layout.predicate) NodePredicate : nullptr;
  detail->buffers = reinterpret_cast<std::shared_ptr<Buffer> *>(bytes + layout.buffers);
  detail->numBuffers = 0;
  detail->directions = reinterpret_cast<Direction *>(bytes + layout.directions);
  detail->marks = reinterpret_cast<bool *>(bytes + layout.marks);
  detail->scalarTypes = reinterpret_cast<DType *>(bytes + layout.scalarTypes);
  detail->loc = internLoc(task.location());
  detail->hasHeapEdges = numEdges > NodeLayout::maxInlineEdges;
  detail->edges =
      detail->hasHeapEdges ? new Edge[numEdges] : reinterpret_cast<Edge *>(bytes + layout.edges);
  fillArguments(*node, task);
  fillDetail(*node, task);
  Window.fetchAhead(layout.size);
  return *node;
}

void Engine::Impl::publish(Node &node) {
  if (RunsOne || RunAs.keepsLast)
    Sched.keep(node);
  else
    Sched.publish(node);
}

void Engine::Impl::linkAndPublish(Node &node) {
  if (Producers.empty())
    return publish(node);
  auto numProducers = static_cast<uint32_t>(Producers.size());
  // One more than there are, so that it cannot start before all are known.
  node.unmet.store(numProducers + 1, std::memory_order_relaxed);
  uint32_t met = 1;
  for (uint32_t i = 0; i < numProducers; ++i) {
    Node &producer = *Producers[i];
    Edge &edge = node.detail->edges[i];
    edge.consumer = &node;
    if (producer.addSuccessor(edge))
      continue;
    ++met;
    if (producer.isBad())
      node.isDoomed.store(true, std::memory_order_relaxed);
  }
  if (node.unmet.fetch_sub(met, std::memory_order_acq_rel) == met)
    publish(node);
}
