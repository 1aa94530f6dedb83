// Order between tasks: each kind of edge is needed, none is invented, any schedule gives the same
// result.
#include "TestSupport.h"

#include <functional>
#include <random>

using namespace kiln;
using namespace kiln::test;

namespace {

struct EngineHazardTest : ::testing::Test {
  EngineHazardTest() { addBasicKernels(registry); }
  KernelRegistry registry;

  using Program = std::function<double(Engine &)>;
  /// How many of 40 seeds give another result than submission order does.
  int wrongResults(const Program &program, EngineOptions options = {}) {
    double expected = program(*makeEngine(registry, 0));
    int wrong = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed)
      wrong += program(*makeEngine(registry, seed, options)) != expected;
    return wrong;
  }
  /// The edges of a program in which nothing has run yet, as "0>1 raw, ...".
  std::string edgesOf(const std::function<void(Engine &)> &program) {
    auto engine = makeEngine(registry);
    program(*engine);
    std::string text;
    for (const TraceEdge &edge : engine->trace().edges)
      text += (text.empty() ? "" : ", ") + std::to_string(edge.from) + ">" +
              std::to_string(edge.to) + " " + toString(edge.kind);
    return text;
  }
};

EngineOptions without(bool EngineOptions::TestOnly::*kind) {
  EngineOptions options;
  options.testOnly.*kind = true;
  return options;
}

} // namespace

TEST_F(EngineHazardTest, ReadAfterWriteIsNeeded) {
  Program program = [](Engine &engine) {
    Tensor x = zeros(DType::F32, {1}), y = zeros(DType::F32, {1});
    take(engine.submit(fill(x, 1)));
    take(engine.submit(copy(x, y)));
    EXPECT_OK(engine.wait());
    return valuesOf(y)[0];
  };
  EXPECT_EQ(wrongResults(program), 0);
  EXPECT_GT(wrongResults(program, without(&EngineOptions::TestOnly::noRaw)), 0);
  EXPECT_EQ(wrongResults(program, without(&EngineOptions::TestOnly::noWar)), 0);
  EXPECT_EQ(wrongResults(program, without(&EngineOptions::TestOnly::noWaw)), 0);
}

TEST_F(EngineHazardTest, WriteAfterReadIsNeeded) {
  Program program = [](Engine &engine) {
    Tensor x = tensorOf(DType::F32, {1}, {5}), y = zeros(DType::F32, {1});
    take(engine.submit(copy(x, y)));
    take(engine.submit(fill(x, 1)));
    EXPECT_OK(engine.wait());
    return valuesOf(y)[0];
  };
  EXPECT_EQ(wrongResults(program), 0);
  EXPECT_GT(wrongResults(program, without(&EngineOptions::TestOnly::noWar)), 0);
  EXPECT_EQ(wrongResults(program, without(&EngineOptions::TestOnly::noRaw)), 0);
  EXPECT_EQ(wrongResults(program, without(&EngineOptions::TestOnly::noWaw)), 0);
}

TEST_F(EngineHazardTest, WriteAfterWriteIsNeeded) {
  Program program = [](Engine &engine) {
    Tensor x = zeros(DType::F32, {1});
    take(engine.submit(fill(x, 1)));
    take(engine.submit(fill(x, 2)));
    EXPECT_OK(engine.wait());
    return valuesOf(x)[0];
  };
  EXPECT_EQ(wrongResults(program), 0);
  EXPECT_GT(wrongResults(program, without(&EngineOptions::TestOnly::noWaw)), 0);
  EXPECT_EQ(wrongResults(program, without(&EngineOptions::TestOnly::noRaw)), 0);
  EXPECT_EQ(wrongResults(program, without(&EngineOptions::TestOnly::noWar)), 0);
}

TEST_F(EngineHazardTest, ExplicitDependencyIsNeeded) {
  for (bool dep : {true, false}) {
    Program program = [&](Engine &engine) {
      Tensor x = zeros(DType::F32, {1});
      engine.beginScope(/*manual=*/true);
      TaskId first = take(engine.submit(fill(x, 1)));
      Task second = fill(x, 2);
      if (dep)
        second.after(first);
      take(engine.submit(second));
      EXPECT_OK(engine.endScope());
      EXPECT_OK(engine.wait());
      return valuesOf(x)[0];
    };
    EXPECT_EQ(wrongResults(program) == 0, dep);
  }
}

TEST_F(EngineHazardTest, EdgesAreExactlyTheNeededOnes) {
  Tensor x = zeros(DType::F32, {4}), y = zeros(DType::F32, {4}), z = zeros(DType::F32, {4});
  EXPECT_EQ(edgesOf([&](Engine &e) {
              take(e.submit(fill(x, 1)));              // 0
              take(e.submit(copy(x, y)));              // 1
              TaskId two = take(e.submit(copy(x, z))); // 2: readers do not wait for each other
              take(e.submit(fill(x, 2)));              // 3
              take(e.submit(mix(x, 1)));               // 4
              take(e.submit(mix(x, 1)));               // 5
              take(e.submit(Task().after(two)));       // 6
            }),
            "0>1 raw, 0>2 raw, 0>3 waw, 1>3 war, 2>3 war, 3>4 raw, 4>5 raw, 2>6 explicit");
}

TEST_F(EngineHazardTest, PartialWritesKeepTheEarlierWriter) {
  Tensor x = zeros(DType::F32, {4}), y = zeros(DType::F32, {4});
  Tensor half = take(x.slice({0}, {2}));
  EXPECT_EQ(edgesOf([&](Engine &e) {
              take(e.submit(fill(x, 1)));
              take(e.submit(fill(half, 2)));
              take(e.submit(copy(x, y)));
            }),
            "0>1 waw, 0>2 raw, 1>2 raw");
}

TEST_F(EngineHazardTest, DisjointTilesColumnsAndStridedViewsAreIndependent) {
  Tensor m = zeros(DType::F32, {8, 8});
  Tensor even = take(Tensor::view(m.buffer(), 0, DType::F32, {8, 4}, {8, 2}));
  Tensor odd = take(Tensor::view(m.buffer(), 4, DType::F32, {8, 4}, {8, 2}));
  auto tile = [&](int64_t i, int64_t j) { return take(m.slice({i, j}, {4, 4})); };
  EXPECT_EQ(edgesOf([&](Engine &e) {
              for (int64_t i : {0, 4})
                for (int64_t j : {0, 4})
                  take(e.submit(fill(tile(i, j), 1))); // 0..3
            }),
            "");
  EXPECT_EQ(edgesOf([&](Engine &e) {
              take(e.submit(fill(even, 1)));
              take(e.submit(fill(odd, 1)));
            }),
            "");
  EXPECT_EQ(edgesOf([&](Engine &e) {
              take(e.submit(fill(tile(0, 0), 1)));                   // 0
              take(e.submit(fill(tile(4, 4), 1)));                   // 1
              take(e.submit(mix(take(m.slice({0, 4}, {8, 4})), 1))); // 2: the right columns
              take(e.submit(mix(take(m.transpose({1, 0})), 1)));     // 3: everything
            }),
            "1>2 raw, 0>3 raw, 1>3 raw, 2>3 raw");
}

TEST_F(EngineHazardTest, TwoBuffersOverTheSameMemoryConflict) {
  float memory[16] = {};
  Tensor all = take(Tensor::view(memory, DType::F32, {16}));
  Tensor tail = take(Tensor::view(memory + 8, DType::F32, {8}));
  Tensor head = take(Tensor::view(memory, DType::F32, {8}));
  Tensor again = take(Tensor::view(all.data(), DType::F32, {16}));
  ASSERT_NE(all.buffer()->id(), tail.buffer()->id());
  EXPECT_EQ(edgesOf([&](Engine &e) {
              take(e.submit(fill(head, 1)));
              take(e.submit(fill(tail, 1)));
              take(e.submit(mix(all, 1)));
              take(e.submit(mix(again, 1)));
            }),
            "0>2 raw, 1>2 raw, 2>3 raw");
}

TEST_F(EngineHazardTest, ManualScopeOrdersOnlyAgainstTheRest) {
  Tensor x = zeros(DType::F32, {4}), y = zeros(DType::F32, {4});
  EXPECT_EQ(edgesOf([&](Engine &e) {
              take(e.submit(fill(x, 1))); // 0
              e.beginScope(true);
              take(e.submit(fill(x, 2))); // 1
              take(e.submit(fill(x, 3))); // 2: not after 1, but after 0 although 1 overwrote it
              EXPECT_OK(e.endScope());
              take(e.submit(copy(x, y))); // 3: after both
              take(e.submit(fill(x, 4))); // 4: covers all of them
              take(e.submit(copy(x, y))); // 5
            }),
            "0>1 waw, 0>2 waw, 0>3 raw, 1>3 raw, 2>3 raw, 0>4 waw, 1>4 waw, 2>4 waw, 3>4 war, 4>5 "
            "raw, 3>5 waw");
}

TEST_F(EngineHazardTest, ScopesNestedInAManualOneOrderTheirOwnTasks) {
  Tensor x = zeros(DType::F32, {4});
  EXPECT_EQ(
      edgesOf([&](Engine &e) {
        e.beginScope(true);
        take(e.submit(fill(x, 0))); // 0
        e.beginScope();
        take(e.submit(fill(x, 1))); // 1
        take(e.submit(fill(x, 2))); // 2: ordered after 1, whose innermost common scope is automatic
        EXPECT_OK(e.endScope());
        e.beginScope();
        take(e.submit(fill(x, 3))); // 3: only the manual scope in common with the others
        EXPECT_OK(e.endScope());
        EXPECT_OK(e.endScope());
        e.beginScope(true);
        take(e.submit(fill(x, 4))); // 4: another manual scope
        EXPECT_OK(e.endScope());
      }),
      "1>2 waw, 0>4 waw, 1>4 waw, 2>4 waw, 3>4 waw");
}

TEST_F(EngineHazardTest, SameSeedSameOrderOtherSeedsOtherOrders) {
  auto orderOf = [&](uint64_t seed) {
    auto engine = makeEngine(registry, seed);
    std::vector<uint64_t> first;
    for (int run = 0; run < 2; ++run) {
      for (int i = 0; i < 10; ++i)
        take(engine->submit(fill(zeros(DType::F32, {1}), 1)));
      EXPECT_OK(engine->finish());
      if (run == 0)
        first = engine->trace().order;
      else
        EXPECT_EQ(engine->trace().order, first); // nor does it depend on earlier runs
    }
    return first;
  };
  EXPECT_EQ(orderOf(0), (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(orderOf(5), orderOf(5));
  EXPECT_NE(orderOf(5), orderOf(6));
  EXPECT_NE(orderOf(5), orderOf(0));
}

namespace {

/// A reproducible random program on one matrix and one vector: tiles, rows, columns, strided views,
/// nested scopes.
std::vector<double> runRandomProgram(Engine &engine, unsigned program) {
  std::mt19937 random(program);
  auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  Tensor m = zeros(DType::F32, {6, 6}), other = zeros(DType::F32, {6, 6});
  auto region = [&](const Tensor &base) {
    int64_t i = pick(0, 4), j = pick(0, 4), h = pick(1, 6 - i), w = pick(1, 6 - j);
    Tensor t = take(base.slice({i, j}, {h, w}));
    if (pick(0, 3) == 0)
      t = take(t.transpose({1, 0}));
    return t;
  };
  std::vector<TaskId> tasks;
  for (int n = 0; n < 40; ++n) {
    Task task;
    switch (pick(0, 3)) {
    case 0:
      task = fill(region(pick(0, 1) ? m : other), static_cast<float>(pick(0, 50)));
      break;
    case 1:
      task = mix(region(pick(0, 1) ? m : other), static_cast<float>(pick(0, 5)));
      break;
    default: {
      bool forward = pick(0, 1);
      Tensor x = region(forward ? m : other);
      int64_t h = x.extent(0), w = x.extent(1), i = pick(0, 6 - h), j = pick(0, 6 - w);
      task = copy(x, take((forward ? other : m).slice({i, j}, {h, w})));
    }
    }
    if (!tasks.empty() && pick(0, 9) == 0)
      task.after(tasks[static_cast<size_t>(pick(0, static_cast<int64_t>(tasks.size()) - 1))]);
    if (pick(0, 9) == 0)
      task.when({m, {pick(0, 5), pick(0, 5)}, Compare::Gt, ScalarBits::fromDouble(DType::F32, 3)});
    tasks.push_back(take(engine.submit(std::move(task))));
    if (pick(0, 14) == 0)
      (void)take(engine.get(m, {pick(0, 5), pick(0, 5)}));
  }
  EXPECT_OK(engine.wait());
  std::vector<double> values = valuesOf(m), more = valuesOf(other);
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

} // namespace

TEST_F(EngineHazardTest, RandomProgramsGiveTheSequentialResultUnderEverySeed) {
  int reordered = 0;
  for (unsigned program = 0; program < 60; ++program) {
    auto sequential = makeEngine(registry, 0);
    std::vector<double> expected = runRandomProgram(*sequential, program);
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      EngineOptions options;
      if (seed % 2)
        options.maxPending = 8;
      auto engine = makeEngine(registry, seed, options);
      ASSERT_EQ(runRandomProgram(*engine, program), expected)
          << "program " << program << " seed " << seed;
      reordered += engine->trace().order != sequential->trace().order;
    }
  }
  EXPECT_GT(reordered, 500);
}

TEST_F(EngineHazardTest, RandomProgramsNoticeEachMissingKindOfEdge) {
  for (auto kind : {&EngineOptions::TestOnly::noRaw, &EngineOptions::TestOnly::noWar,
                    &EngineOptions::TestOnly::noWaw}) {
    int wrong = 0;
    for (unsigned program = 0; program < 20; ++program) {
      std::vector<double> expected = runRandomProgram(*makeEngine(registry, 0), program);
      for (uint64_t seed = 1; seed <= 5; ++seed)
        wrong += runRandomProgram(*makeEngine(registry, seed, without(kind)), program) != expected;
    }
    EXPECT_GT(wrong, 0);
  }
}
