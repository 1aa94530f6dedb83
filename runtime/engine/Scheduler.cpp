// Queues, threads, and what happens when a task has finished.
#include "engine/Scheduler.h"
#include "kiln/runtime/ranks.h"

using namespace kiln;

/// Ready tasks a worker takes over from another at a time: a cache miss on the queue each.
static constexpr unsigned maxBatch = 16;
/// Ready tasks for each worker that are plenty: two batches.
static constexpr uint64_t plentyPerWorker = uint64_t(2) * maxBatch;
/// Rounds without work before a worker sleeps; a round is one look at all queues and
/// `pausesPerRound` pauses, a bit more than a microsecond.
static constexpr unsigned roundsBeforeSleep = 60;
static constexpr unsigned roundsBeforeYield = 20;
static constexpr unsigned pausesPerRound = 32;
/// The submitter has nothing better to do than to look for what it waits for.
static constexpr unsigned pausesOfSubmitter = 4;
static constexpr unsigned submitterRoundsBeforeSleep = 400;

static void pause(unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

Scheduler::Scheduler(RunContext &run, unsigned numWorkers, uint64_t seed, uint64_t capacity)
    : Run(run) {
  if (numWorkers == 1) {
    Order.emplace(seed);
    capacity = 1; // its queue is not used
  }
  for (unsigned i = 0; i < numWorkers; ++i)
    Workers.emplace_back(i, capacity);
  for (unsigned i = 1; i < numWorkers; ++i)
    Threads.emplace_back([this, i] { work(Workers[i]); });
}

Scheduler::~Scheduler() {
  IsStopping.store(true, std::memory_order_seq_cst);
  Beds.wakeAll();
  for (std::thread &thread : Threads)
    thread.join();
}

void Scheduler::startRun() {
  NumFinished = 0;
  if (Order)
    Order->startRun();
}

void Scheduler::publishFrom(Worker &worker, Node &node) {
  if (Order)
    return Order->push(node);
  worker.ready.push(&node);
  Beds.notifyWork();
}

void Scheduler::noteReady(const Worker &worker, const Node &node) {
  if (Run.timeline)
    Run.timeline->recordNow(worker.number, TimelineEvent::Kind::Ready, node.index);
}

void Scheduler::publish(Node &node) {
  noteReady(Workers.front(), node);
  publishFrom(Workers.front(), node);
}

void Scheduler::keep(Node &node) {
  if (Order)
    return publish(node);
  offerKept();
  noteReady(Workers.front(), node);
  Kept = &node;
}

void Scheduler::offerKept() {
  if (Kept)
    publishFrom(Workers.front(), *std::exchange(Kept, nullptr));
}

bool Scheduler::hasPlenty() const {
  return Workers.front().ready.size() >= plentyPerWorker * numWorkers();
}

bool Scheduler::hasWork() const {
  if (NumEnded.load(std::memory_order_seq_cst) != 0)
    return true;
  for (const Worker &worker : Workers)
    if (!worker.ready.isEmpty())
      return true;
  return false;
}

bool Scheduler::isIdle() const {
  if (!SubmitterWaits.load(std::memory_order_relaxed) || Order || hasWork())
    return false;
  for (const Worker &worker : Workers)
    if (worker.running.load(std::memory_order_relaxed))
      return false;
  return InFlight.load(std::memory_order_relaxed) != 0;
}

Node *Scheduler::findWork(Worker &worker) {
  Node *taken[maxBatch];
  if (worker.ready.take(taken, 1, 1)) {
    taken[0]->prefetchHeader(); // it may have been lost since it was fetched with others
    return taken[0];
  }
  if (std::exchange(worker.letsQueuesFill, false))
    pause(pausesPerRound);
  for (unsigned i = 0; i < numWorkers(); ++i) {
    Worker &other = Workers[i];
    if (&other == &worker)
      continue;
    unsigned count = other.ready.take(taken, maxBatch, numWorkers());
    for (unsigned k = 0; k < count; ++k) // their lines are another core's: fetch all at once
      taken[k]->prefetch();
    for (unsigned k = 0; k < count; ++k)
      taken[k]->prefetchData();
    for (unsigned k = 1; k < count; ++k)
      worker.ready.push(taken[k]); // where others can still take them, should the first be long
    if (count > 1)
      Beds.notifyWork();
    // The submitter is waiting for something and has no time to lose.
    worker.letsQueuesFill = count < maxBatch && worker.number != 0;
    if (count != 0)
      return taken[0];
  }
  return nullptr;
}

void Scheduler::work(Worker &worker) {
  unsigned idleRounds = 0;
  while (!IsStopping.load(std::memory_order_relaxed)) {
    if (finishEnded(worker)) {
      idleRounds = 0;
    } else if (Node *node = findWork(worker)) {
      runChain(worker, node);
      idleRounds = 0;
    } else if (++idleRounds < roundsBeforeSleep) {
      pause(pausesPerRound);
      if (idleRounds > roundsBeforeYield)
        std::this_thread::yield();
    } else {
      Beds.sleep([&] { return hasWork() || IsStopping.load(std::memory_order_seq_cst); });
      idleRounds = 0;
    }
  }
}

bool Scheduler::runOne() {
  Worker &worker = Workers.front();
  if (finishEnded(worker))
    return true;
  Node *node = Order ? Order->pop() : Kept ? std::exchange(Kept, nullptr) : findWork(worker);
  if (!node && Order && InFlight.load(std::memory_order_relaxed) != 0) {
    Run.ranks->wait([this] { return NumEnded.load(std::memory_order_seq_cst) != 0; });
    return true;
  }
  if (!node)
    return false;
  runChain(worker, node);
  return true;
}

std::string Scheduler::running() const {
  std::string text;
  for (const Worker &worker : Workers)
    if (const KernelRecord *kernel = worker.running.load(std::memory_order_relaxed)) {
      std::string what = "kernel '" + kernel->name + "' (task " +
                         std::to_string(worker.runningTask.load(std::memory_order_relaxed)) + ")";
      if (text.find(what) == std::string::npos) // several workers may run blocks of one task
        text += (text.empty() ? "" : ", ") + what;
    }
  return text;
}

void Scheduler::pauseABit() { pause(pausesOfSubmitter); }

void Scheduler::rest(const Node &node, unsigned idleRounds) {
  if (idleRounds < submitterRoundsBeforeSleep) {
    pause(pausesOfSubmitter);
    if (idleRounds > roundsBeforeYield)
      std::this_thread::yield();
    return;
  }
  Beds.sleepUntil(node.index, [&] { return node.isSealed() || hasWork(); });
}

void Scheduler::runChain(Worker &worker, Node *node) {
  while (node && execute(worker, *node))
    node = finish(worker, *node);
}

Node *Scheduler::finish(Worker &worker, Node &node) {
  bool isBad = node.isBad();
  uint64_t index = node.index;
  if (Run.recordsOrder)
    node.detail->ticket = Run.nextTicket.fetch_add(1, std::memory_order_relaxed);
  if (Order)
    ++NumFinished;
  Edge *edge = node.successors.exchange(Node::sealed(), std::memory_order_seq_cst);
  // From here on the node may be gone.
  Node *next = nullptr;
  release(worker, edge, isBad, next);
  if (!Order)
    Beds.notifyFinished(index);
  return next;
}

void Scheduler::release(Worker &worker, Edge *edge, bool isBad, Node *&next) {
  while (edge) { // once it has been released a consumer may be gone, and with it its edges
    Node &consumer = *edge->consumer;
    edge = edge->next;
    if (isBad)
      consumer.isDoomed.store(true, std::memory_order_relaxed);
    if (consumer.unmet.fetch_sub(1, std::memory_order_acq_rel) != 1)
      continue;
    if (consumer.isEpoch) { // goes no deeper: epochs do not wait for epochs
      bool isDoomed = consumer.isDoomed.load(std::memory_order_relaxed);
      release(worker, consumer.sealEpoch(), isDoomed, next);
      continue;
    }
    noteReady(worker, consumer);
    // The list runs from the last submitted to the first: the first is kept.
    if (next || Order)
      publishFrom(worker, next ? *std::exchange(next, &consumer) : consumer);
    else
      next = &consumer;
  }
}

//===----------------------------------------------------------------------===//
// The failure latch
//===----------------------------------------------------------------------===//

void FailureLatch::latch(TaskFailure failure, Status status) {
  std::lock_guard lock(Mutex);
  if (First.isOk())
    First = status;
  if (!Current.isOk())
    return;
  Current = std::move(status);
  Parts = std::move(failure);
}

void FailureLatch::startRun() {
  std::lock_guard lock(Mutex);
  Current = First = Status::ok();
  Parts.reset();
}

Status FailureLatch::current() const {
  std::lock_guard lock(Mutex);
  return Current;
}

std::optional<TaskFailure> FailureLatch::parts() const {
  std::lock_guard lock(Mutex);
  return Parts;
}

void FailureLatch::clear() {
  std::lock_guard lock(Mutex);
  Current = Status::ok();
  Parts.reset();
}

Status FailureLatch::ofRun() const {
  std::lock_guard lock(Mutex);
  return First;
}

void FailureLatch::setOfRun(Status status) {
  std::lock_guard lock(Mutex);
  if (First.isOk())
    First = std::move(status);
}
