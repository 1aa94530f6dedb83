// The shadow memory against the plain definition of a race: two accesses to one element, one of
// them a write (two atomic updates do not count), neither before the other.
#include "lib/Check/ShadowMemory.h"

#include "Simulator/SimulatorTesting.h"

using namespace kiln;
using namespace kiln::simulator;
using namespace kiln::test;

namespace {

/// Everything that ever happened to each element of a tensor of 8x8.
class PlainHistory {
public:
  explicit PlainHistory(const Order &order) : Happens(order), Elements(64) {}

  bool access(int64_t top, int64_t left, int64_t rows, int64_t cols, AccessKind kind,
              const Agent &agent) {
    bool isRace = false;
    for (int64_t row = top; row < top + rows; ++row)
      for (int64_t col = left; col < left + cols; ++col) {
        auto &accesses = Elements[row * 8 + col];
        for (const auto &[earlier, moment] : accesses)
          isRace |= conflict(earlier, kind) && !Happens.isBefore(moment, agent);
        accesses.push_back({kind, {agent.number, agent.epoch(), agent.phase()}});
      }
    return isRace;
  }

private:
  static bool conflict(AccessKind a, AccessKind b) {
    return a == AccessKind::Write || b == AccessKind::Write || a != b;
  }

  const Order &Happens;
  std::vector<std::vector<std::pair<AccessKind, Moment>>> Elements;
};

/// Agents of two tasks, two blocks each, two instances each; the second task runs after the first
/// or beside it.
std::vector<Agent *> makeAgents(Order &order, bool areTasksOrdered) {
  order.taskIsSubmitted();
  order.taskIsSubmitted();
  Trace trace;
  if (areTasksOrdered)
    trace.edges.push_back({0, 1, EdgeKind::Raw, 1, 0});
  order.update(trace);
  std::vector<Agent *> agents;
  for (uint64_t task : {0, 1})
    for (int64_t block : {0, 1}) {
      order.beginBlock(task, {block, 0, 0});
      for (const char *name : {"a", "b"})
        agents.push_back(&order.addAgent(name));
    }
  return agents;
}

/// Random accesses up to the first race. The two must agree about each; returns how many there
/// were.
int runTrial(unsigned seed, mlir::Operation *op) {
  std::mt19937 random(seed);
  auto below = [&](unsigned bound) { return static_cast<int64_t>(random() % bound); };
  Order order;
  std::vector<Agent *> agents = makeAgents(order, seed % 2);
  ShadowMemory shadow(order);
  Tensor memory = poisoned(DType::F32, {8, 8});
  shadow.addArgument(memory, ShadowMemory::Content::Values);
  PlainHistory plain(order);
  for (int step = 0; step < 60; ++step) {
    // With ordered tasks the first does its work before the second.
    Agent &agent = *agents[seed % 2 ? (step < 30 ? 0 : 4) + below(4) : below(8)];
    Agent &partner = *agents[agent.number ^ 1];
    if (below(3) == 0) { // as through a pipe
      partner.acquire(agent.release());
      continue;
    }
    int64_t rows = 1 + below(3), cols = 1 + below(3), top = below(9 - rows), left = below(9 - cols);
    AccessKind kind = below(4) == 0   ? AccessKind::Write
                      : below(3) == 0 ? AccessKind::AtomicAdd
                                      : AccessKind::Read;
    Footprint at{memory.dataAs<std::byte>() + (top * 8 + left) * 4, rows, cols, 32, 4, 4};
    bool expected = plain.access(top, left, rows, cols, kind, agent);
    EXPECT_EQ(!shadow.access(at, kind, agent, op).empty(), expected)
        << "seed " << seed << ", step " << step;
    if (expected)
      return step;
  }
  return 60;
}

TEST(ShadowMemory, FindsTheFirstRaceAndNoOther) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "kiln.func @k() incore {}", mlir::ParserConfig(&context()), "test.mlir");
  int longest = 0;
  for (unsigned seed = 0; seed < 4000 && !HasFailure(); ++seed)
    longest = std::max(longest, runTrial(seed, *module));
  EXPECT_GT(longest, 20) << "every trial races at once and shows little";
}

TEST(ShadowMemory, NewMemoryAtAnOldAddressIsUnwritten) {
  Order order;
  std::vector<Agent *> agents = makeAgents(order, true);
  ShadowMemory shadow(order);
  Tensor memory = poisoned(DType::F32, {8, 8});
  Footprint all{memory.dataAs<std::byte>(), 8, 8, 32, 4, 4};
  shadow.addAllocation(memory);
  EXPECT_FALSE(shadow.isWritten(all.origin));
  EXPECT_TRUE(shadow.access(all, AccessKind::Write, *agents[0], nullptr).empty());
  EXPECT_TRUE(shadow.isWritten(all.origin));
  shadow.addAllocation(memory);
  auto problems = shadow.access(all, AccessKind::Read, *agents[7], nullptr);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_FALSE(problems[0].other);
}

TEST(ShadowMemory, ArgumentsWithGapsAndBroadcastAxes) {
  Order order;
  ShadowMemory shadow(order);
  Tensor memory = poisoned(DType::F32, {8, 8});
  Footprint at{memory.dataAs<std::byte>(), 8, 8, 32, 4, 4};
  auto isWritten = [&](int64_t row, int64_t col) {
    return shadow.isWritten(at.origin + (row * 8 + col) * 4);
  };
  shadow.addArgument(memory, ShadowMemory::Content::Nothing);
  shadow.addArgument(*memory.slice({0, 2}, {8, 2}), ShadowMemory::Content::Values);
  EXPECT_FALSE(isWritten(0, 1));
  EXPECT_TRUE(isWritten(0, 2) && isWritten(7, 3));
  EXPECT_FALSE(isWritten(0, 4));
  // As many elements as nobody can visit one by one.
  shadow.addArgument(*Tensor::view(memory.buffer(), 0, DType::F32, {int64_t(1) << 40, 2}, {0, 8}),
                     ShadowMemory::Content::Values);
  EXPECT_TRUE(isWritten(0, 0) && isWritten(1, 0));
  EXPECT_FALSE(isWritten(2, 0));
}

TEST(ShadowMemory, ArgumentsOfDifferentTypesShareMemory) {
  Order order;
  std::vector<Agent *> agents = makeAgents(order, false);
  ShadowMemory shadow(order);
  Tensor words = poisoned(DType::F32, {4, 4});
  Tensor bytes = *Tensor::view(words.data(), DType::I8, {16}); // the first row
  shadow.addArgument(words, ShadowMemory::Content::Nothing);
  shadow.addArgument(bytes, ShadowMemory::Content::Values);
  Footprint first{words.dataAs<std::byte>(), 1, 4, 0, 4, 4};
  Footprint both{words.dataAs<std::byte>(), 2, 4, 16, 4, 4};
  Footprint one{words.dataAs<std::byte>() + 3, 1, 1, 0, 0, 1};
  EXPECT_TRUE(shadow.access(first, AccessKind::Read, *agents[0], nullptr).empty());
  auto unwritten = shadow.access(both, AccessKind::Read, *agents[0], nullptr);
  ASSERT_EQ(unwritten.size(), 1u);
  EXPECT_EQ(unwritten[0].row, 1);
  EXPECT_EQ(shadow.access(one, AccessKind::Write, *agents[7], nullptr).size(), 1u);
}

} // namespace
