// Ranks that are threads of this process: who waits for whom, and what to do when nobody can go on.
#include "kiln/runtime/ranks.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>

using namespace kiln;

namespace {

/// What ranks meet at: a collective of a line, or a message from one rank to another.
struct Place {
  RankLine line;
  int32_t from = -1, to = -1; ///< Of a message.
  uint64_t number = 0;
  friend auto operator<=>(const Place &, const Place &) = default;
};

struct Arrival {
  int32_t rank;
  Collective collective;
  Transport::Done done;
};

} // namespace

struct RankHub::State {
  enum class Doing : uint8_t { Runs, Waits, HasLeft };
  struct OfRank {
    Doing doing = Doing::Runs;
    const std::function<bool()> *isOver = nullptr; ///< While it waits.
    std::condition_variable changed; ///< Each has its own: of a thousand ranks one is woken.
    bool canGoOn() const { return doing == Doing::Runs || (doing == Doing::Waits && (*isOver)()); }
  };

  explicit State(Options options)
      : About(options), Ranks(static_cast<size_t>(options.ranks)), Choices(options.seed) {}

  void start(int32_t rank, const Collective &collective, Transport::Done done);
  void wait(int32_t rank, const std::function<bool()> &isOver);
  void fail(int32_t rank, const Status &why);
  void leave(int32_t rank);
  void awaitTurn(std::unique_lock<std::mutex> &lock, int32_t rank,
                 const std::function<bool()> *isOver);
  /// Hands the turn to a rank that can go on, if there is one.
  void passTurn(int32_t from);
  /// Lets all ranks fail if nobody can go on. Keeps the lock but for callbacks.
  void findDeadlock(std::unique_lock<std::mutex> &lock);
  void failAll(std::unique_lock<std::mutex> &lock, int32_t rank, const Status &why);
  std::string describeWaiting() const;
  /// What a rank is told that another one has failed.
  Status failureFor(int32_t rank) const;

  const Options About;
  mutable std::mutex Mutex;
  std::vector<OfRank> Ranks;
  std::map<Place, std::vector<Arrival>> Meetings;
  int32_t Turn = 0;
  std::mt19937_64 Choices;
  Status Failure;
  int32_t Failed = -1; ///< The rank that did; -1: all of them together.
  uint64_t Ended = 0;
};

Status RankHub::State::failureFor(int32_t rank) const {
  if (Failed < 0 || Failed == rank)
    return Failure;
  return Status(Failure.code(), "rank " + std::to_string(Failed) + " failed: " + Failure.message(),
                Failure.location());
}

static Place placeOf(int32_t rank, const Collective &collective) {
  Place place{collective.line, -1, -1, collective.number};
  if (!isBetweenTwo(collective.kind))
    return place;
  int32_t peer = collective.line.at(collective.peer);
  bool sends = collective.kind == CollectiveKind::Send;
  return {{}, sends ? rank : peer, sends ? peer : rank, collective.number};
}

void RankHub::State::start(int32_t rank, const Collective &collective, Transport::Done done) {
  std::unique_lock lock(Mutex);
  if (!Failure.isOk()) {
    Status why = failureFor(rank);
    lock.unlock();
    return done(why);
  }
  Place place = placeOf(rank, collective);
  std::vector<Arrival> &here = Meetings[place];
  Status agree = here.empty()
                     ? Status::ok()
                     : verifyAgree(here.front().collective, here.front().rank, collective, rank);
  here.push_back({rank, collective, std::move(done)});
  if (!agree.isOk())
    return failAll(lock, -1, agree);
  size_t wanted = isBetweenTwo(collective.kind) ? 2 : static_cast<size_t>(collective.line.count);
  if (here.size() < wanted)
    return;
  std::vector<Arrival> all = std::move(here);
  Meetings.erase(place);
  ++Ended;
  lock.unlock();
  bool isMessage = isBetweenTwo(collective.kind);
  std::sort(all.begin(), all.end(), [&](const Arrival &a, const Arrival &b) {
    return isMessage ? a.collective.kind < b.collective.kind : a.rank < b.rank;
  });
  std::vector<const Collective *> together;
  for (const Arrival &each : all)
    together.push_back(&each.collective);
  Status status = performTogether(together);
  for (const Arrival &each : all)
    each.done(status);
  lock.lock();
  for (const Arrival &each : all)
    if (each.rank != rank && !About.takesTurns) // else they wait for their turn as well
      Ranks[static_cast<size_t>(each.rank)].changed.notify_one();
}

void RankHub::State::awaitTurn(std::unique_lock<std::mutex> &lock, int32_t rank,
                               const std::function<bool()> *isOver) {
  Ranks[static_cast<size_t>(rank)].changed.wait(lock, [&] {
    return (!isOver || (*isOver)()) && (!About.takesTurns || Turn == rank || !Failure.isOk());
  });
}

void RankHub::State::wait(int32_t rank, const std::function<bool()> &isOver) {
  std::unique_lock lock(Mutex);
  OfRank &me = Ranks[static_cast<size_t>(rank)];
  me.doing = Doing::Waits;
  me.isOver = &isOver;
  passTurn(rank);
  findDeadlock(lock);
  awaitTurn(lock, rank, &isOver);
  me.doing = Doing::Runs;
  me.isOver = nullptr;
}

void RankHub::State::passTurn(int32_t from) {
  if (!About.takesTurns)
    return;
  std::vector<int32_t> able;
  for (int32_t i = 1; i <= About.ranks && (About.seed != 0 || able.empty()); ++i) {
    int32_t rank = (from + i) % About.ranks;
    if (Ranks[static_cast<size_t>(rank)].canGoOn())
      able.push_back(rank);
  }
  if (able.empty())
    return;
  Turn = About.seed == 0 ? able.front() : able[Choices() % able.size()];
  Ranks[static_cast<size_t>(Turn)].changed.notify_one();
}

std::string RankHub::State::describeWaiting() const {
  std::map<int32_t, std::string> text;
  for (const auto &[place, arrivals] : Meetings)
    for (const Arrival &each : arrivals)
      text.try_emplace(each.rank,
                       "rank " + std::to_string(each.rank) + " waits in " + each.collective.str());
  constexpr int32_t most = 8;
  std::string all;
  int32_t named = 0;
  for (int32_t rank = 0; rank < About.ranks && named < most; ++rank) {
    bool hasLeft = Ranks[static_cast<size_t>(rank)].doing == Doing::HasLeft;
    if (!hasLeft && !text.count(rank))
      continue;
    ++named;
    all += (all.empty() ? "" : "; ") +
           (text.count(rank) ? text[rank] : "rank " + std::to_string(rank) + " has ended");
  }
  return About.ranks > most ? all + "; and so on" : all;
}

void RankHub::State::findDeadlock(std::unique_lock<std::mutex> &lock) {
  bool isAnyWaiting = false;
  for (const OfRank &rank : Ranks) {
    if (rank.canGoOn())
      return;
    isAnyWaiting |= rank.doing == Doing::Waits;
  }
  if (!isAnyWaiting || !Failure.isOk())
    return;
  SourceLoc loc = Meetings.empty() ? SourceLoc() : Meetings.begin()->second.front().collective.loc;
  failAll(lock, -1,
          Status(StatusCode::Deadlock,
                 "the ranks wait for each other for ever: " + describeWaiting(), loc));
}

void RankHub::State::failAll(std::unique_lock<std::mutex> &lock, int32_t rank, const Status &why) {
  if (!Failure.isOk())
    return;
  Failure = why;
  Failed = rank;
  std::map<Place, std::vector<Arrival>> meetings = std::move(Meetings);
  Meetings.clear();
  std::vector<std::pair<Transport::Done, Status>> calls;
  for (auto &[place, arrivals] : meetings)
    for (Arrival &each : arrivals)
      calls.emplace_back(std::move(each.done), failureFor(each.rank));
  lock.unlock();
  for (auto &[done, status] : calls)
    done(status);
  lock.lock();
  for (OfRank &each : Ranks)
    each.changed.notify_one();
}

void RankHub::State::fail(int32_t rank, const Status &why) {
  std::unique_lock lock(Mutex);
  failAll(lock, rank, why);
}

void RankHub::State::leave(int32_t rank) {
  std::unique_lock lock(Mutex);
  Ranks[static_cast<size_t>(rank)].doing = Doing::HasLeft;
  passTurn(rank);
  findDeadlock(lock);
}

//===----------------------------------------------------------------------===//
// The hub
//===----------------------------------------------------------------------===//

class RankHub::Rank final : public Transport {
public:
  Rank(State &state, int32_t number) : S(state), Number(number) {}
  int32_t rank() const override { return Number; }
  int32_t ranks() const override { return S.About.ranks; }
  void start(const Collective &collective, Done done) override {
    S.start(Number, collective, std::move(done));
  }
  void wait(const std::function<bool()> &isOver) override { S.wait(Number, isOver); }
  void fail(const Status &why) override { S.fail(Number, why); }

private:
  State &S;
  const int32_t Number;
};

std::string kiln::rankDirectory(const std::string &directory, int32_t rank) {
  return directory.empty() ? directory : directory + "/rank" + std::to_string(rank);
}

RankHub::RankHub(Options options) : S(std::make_unique<State>(options)) {}
RankHub::~RankHub() = default;

uint64_t RankHub::collectives() const {
  std::lock_guard lock(S->Mutex);
  return S->Ended;
}

Status RankHub::runAll(const std::function<Status(int32_t, Transport &)> &run) {
  std::vector<Status> ended(static_cast<size_t>(S->About.ranks));
  std::vector<std::thread> threads;
  for (int32_t number = 0; number < S->About.ranks; ++number)
    threads.emplace_back([&, number] {
      {
        std::unique_lock lock(S->Mutex);
        S->awaitTurn(lock, number, nullptr);
      }
      Rank transport(*S, number);
      Status &mine = ended[static_cast<size_t>(number)] = run(number, transport);
      if (!mine.isOk())
        transport.fail(mine);
      S->leave(number);
    });
  for (std::thread &thread : threads)
    thread.join();
  if (S->Failure.isOk() || S->Failed < 0)
    return S->Failure;
  const Status &first = ended[static_cast<size_t>(S->Failed)];
  const Status &why = first.isOk() ? S->Failure : first;
  return S->About.ranks == 1 ? why : why.withPrefix("rank " + std::to_string(S->Failed));
}
