//===- PlayOffTest.cpp - the fastest of those that looked fast, on machines that are not quiet
//---===//
#include "Tune/PlayOff.h"

#include <gtest/gtest.h>

#include <random>

using namespace kiln;

namespace {

/// Candidates that take so long, on a clock of its own.
struct Machine {
  explicit Machine(std::vector<double> times) : times(std::move(times)) {
    for (size_t number = 0; number < this->times.size(); ++number) {
      all.push_back(std::make_unique<Candidate>());
      all.back()->trial.choice = {number};
      all.back()->times = {1}; // of a first look
    }
  }

  size_t winner(double seconds, std::vector<size_t> staying = {0}) {
    PlayOff playOff;
    playOff.secondsLeft = [&] { return seconds - clock; };
    playOff.visit = [&](Candidate &candidate) {
      size_t number = candidate.trial.choice.front();
      double time = times[number] * slower();
      clock += 0.002 * time;
      ++visits;
      if (fails == number)
        candidate.refusal = "it fails now";
      else
        candidate.times.push_back(time);
    };
    std::vector<Candidate *> left, stay;
    for (const std::unique_ptr<Candidate> &each : all)
      left.push_back(each.get());
    for (size_t number : staying)
      stay.push_back(left[number]);
    Candidate *found = playOff.run(left, stay);
    return found ? found->trial.choice.front() : all.size();
  }

  std::vector<double> times;
  std::vector<std::unique_ptr<Candidate>> all;
  std::function<double()> slower = [] { return 1.0; };
  double clock = 0;
  size_t visits = 0;
  std::optional<size_t> fails;
};

/// Forty choices, of which one is the best by 3 %; the default is not the slowest.
std::vector<double> forty() {
  std::vector<double> times = {1.1};
  for (int number = 1; number < 40; ++number)
    times.push_back(1 + 0.01 * number);
  times[27] = 0.98;
  return times;
}

TEST(PlayOff, FindsTheFastestOnAQuietMachineAndEndsEarly) {
  Machine machine(forty());
  EXPECT_EQ(machine.winner(100), 27U);
  EXPECT_LT(machine.clock, 3) << machine.visits << " visits";
}

TEST(PlayOff, FindsTheFastestWhereCoresAreTakenForAWhileNowAndThen) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Machine machine(forty());
    std::mt19937 random(seed);
    std::exponential_distribution<double> length(1 / 0.03);
    std::uniform_real_distribution<double> noise(1, 1.02);
    double until = 0;
    bool isTaken = false;
    machine.slower = [&] { // phases of 30 ms, longer and shorter, half of them at half the speed
      while (machine.clock >= until) {
        until += length(random);
        isTaken = !isTaken;
      }
      return (isTaken ? 2 : 1) * noise(random);
    };
    size_t winner = machine.winner(2);
    EXPECT_LE(machine.times[winner], 0.98 * 1.03) << winner << " with seed " << seed;
    EXPECT_LT(machine.clock, 2.3);
  }
}

TEST(PlayOff, FindsTheFastestWhereTheMachineGetsSlowerAllTheTime) {
  Machine machine(forty());
  machine.slower = [&] { return 1 + 0.05 * machine.clock; };
  EXPECT_EQ(machine.winner(2), 27U);
  for (const std::unique_ptr<Candidate> &each : machine.all)
    each->counts = Counts::Median;
  machine.clock = 0;
  machine.slower = [&] { return machine.clock == 0 ? 0.8 : 1; }; // the first visit: not hot yet
  EXPECT_EQ(machine.winner(2), 27U);
}

TEST(PlayOff, KeepsTheDefaultUnlessAnotherIsFasterByMoreThanNoise) {
  EXPECT_EQ(Machine({1, 0.99, 1.2}).winner(2), 0U);
  EXPECT_EQ(Machine({1, 0.97, 1.2}).winner(2), 1U);
}

TEST(PlayOff, MeasuresThoseThatStayAsOftenAsTheWinner) {
  Machine machine(forty());
  EXPECT_EQ(machine.winner(100, {0, 39}), 27U);
  EXPECT_GE(machine.all[27]->times.size(), 64U);
  EXPECT_EQ(machine.all[0]->times.size(), machine.all[27]->times.size());
  EXPECT_EQ(machine.all[39]->times.size(), machine.all[27]->times.size());
  EXPECT_LT(machine.all[38]->times.size(), 10U);
}

TEST(PlayOff, MeasuresEachOnceThoughTheTimeIsUp) {
  Machine machine(forty());
  EXPECT_EQ(machine.winner(0), 27U);
  EXPECT_EQ(machine.visits, machine.times.size());
}

TEST(PlayOff, HasNoWinnerWithoutTheDefaultAndOneWithoutAnother) {
  Machine machine({1, 0.5, 0.7});
  machine.fails = 0;
  EXPECT_EQ(machine.winner(1), machine.all.size());
  Machine other({1, 0.5, 0.7});
  other.fails = 1;
  EXPECT_EQ(other.winner(1), 2U);
}

} // namespace
