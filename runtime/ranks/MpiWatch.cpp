// Whether the processes of a run wait for each other for ever: each tells the first one what it
// waits for once it has done nothing else for a while, and that one looks at all of them.
#include "ranks/MpiOperation.h"

#include <cstdio>

using namespace kiln;

/// So long a rank does nothing but wait before it says so.
static constexpr auto patience = std::chrono::milliseconds(500);
/// Longer reports are not sent: then nothing is found.
static constexpr size_t reportBytes = 16384;

Status MpiTransport::openWatch() {
  if (int error = Mpi.make_line(0, 1, Ranks, &Control))
    return errorOf(error, {});
  Reports.resize(static_cast<size_t>(Ranks));
  return Rank == 0 && Ranks > 1 ? listen() : Status::ok();
}

Status MpiTransport::listen() {
  Heard.assign(reportBytes, '\0');
  int error = Mpi.receive(Heard.data(), Heard.size(), KILN_MPI_ANY_RANK, 0, Control, &Hearing);
  return error ? errorOf(error, {}) : Status::ok();
}

void MpiTransport::watch(std::function<bool()> isIdle) {
  std::lock_guard lock(Mutex);
  IsIdle = std::move(isIdle);
  if (!IsIdle)
    return;
  ++State.run;
  State.messages.clear();
}

void MpiTransport::noteStarted(Operation &op) {
  ++Events;
  const Collective &what = op.collective;
  RankReport::Pending &watched = op.watched;
  if (!isBetweenTwo(what.kind)) {
    watched = {what.line, -1, false, State.collectives[what.line]++, what.str()};
    return;
  }
  bool sends = what.kind == CollectiveKind::Send;
  watched = {{}, what.line.at(what.peer), sends, what.number, what.str()};
  State.messages[{watched.peer, sends}].add(what.number);
}

RankReport MpiTransport::reportNow(bool hasLeft) {
  RankReport report = State;
  report.rank = Rank;
  report.hasLeft = hasLeft;
  for (const Operation &op : Running)
    report.pending.push_back(op.watched);
  return report;
}

void MpiTransport::tell(RankReport report) {
  if (Rank == 0) {
    Reports[0] = std::move(report);
    return findDeadlock();
  }
  auto &[text, request] = Told.emplace_back(report.str(), kiln_mpi_request{});
  if (text.size() > reportBytes)
    Told.pop_back();
  else
    (void)Mpi.send(text.data(), text.size(), 0, 0, Control, &request);
}

void MpiTransport::lookAround() {
  if (!Failure.isOk())
    return; // whoever drives MPI now lets it write what has failed, whose memory may be gone
  int hasEnded = 0;
  uint64_t bytes = 0;
  if (!Told.empty() && Mpi.test(&Told.front().second, &hasEnded, &bytes) == 0 && hasEnded)
    Told.pop_front();
  if (Rank == 0 && Ranks > 1 && Mpi.test(&Hearing, &hasEnded, &bytes) == 0 && hasEnded) {
    std::optional<RankReport> report = RankReport::parse(std::string(Heard.data(), bytes));
    if (report && report->rank > 0 && report->rank < Ranks)
      Reports[static_cast<size_t>(report->rank)] = std::move(report);
    (void)listen();
    findDeadlock();
  }
  auto now = std::chrono::steady_clock::now();
  bool isIdle = !Running.empty() && (Waiting.load() > 0 || (IsIdle && IsIdle()));
  if (!isIdle || Events != EventsSeen) {
    EventsSeen = Events;
    IdleSince = now;
    HasTold = false;
  } else if (!HasTold && now - IdleSince > patience) {
    HasTold = true;
    tell(reportNow(false));
  }
}

void MpiTransport::findDeadlock() {
  std::optional<std::string> found = kiln::findDeadlock(Reports);
  if (!found || !Failure.isOk())
    return;
  SourceLoc loc = Running.empty() ? SourceLoc() : Running.front().collective.loc;
  Failure = Status(StatusCode::Deadlock, "the ranks wait for each other for ever: " + *found, loc);
}

/// Ranks that have ended wait here for the others, so that the first one can look at them.
void MpiTransport::awaitOthers() {
  std::unique_lock lock(Mutex);
  if (!Failure.isOk() || Ranks == 1)
    return;
  tell(reportNow(true));
  kiln_mpi_request barrier;
  int hasEnded = 0, error = Mpi.barrier(Control, &barrier);
  uint64_t bytes = 0;
  while (error == 0 && !hasEnded) {
    error = Mpi.test(&barrier, &hasEnded, &bytes);
    lookAround();
    if (Failure.code() == StatusCode::Deadlock) {
      std::fprintf(stderr, "kiln: error: %s\n", Failure.message().c_str());
      return Mpi.abort(1);
    }
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    lock.lock();
  }
}
