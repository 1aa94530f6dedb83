// Random task graphs on several workers against sequential execution, bit by bit.
//
// KILN_STRESS_TASKS and KILN_STRESS_SEEDS make it longer: 100000 and 100 is the full measure. The
// defaults keep the test suite quick: many small graphs and a large one.
#include "TestSupport.h"

#include <random>

using namespace kiln;
using namespace kiln::test;

namespace {

uint64_t fromEnvironment(const char *name, uint64_t fallback) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

/// acc = acc * 3/4 + value, on the rows of the given blocks: order shows, and values stay small.
int32_t blendKernel(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  const kiln_tensor &t = args->tensors[0];
  int64_t numBlocks = ctx->grid[0] * ctx->grid[1] * ctx->grid[2];
  for (int64_t b0 = blocks->begin[0]; b0 < blocks->end[0]; ++b0)
    for (int64_t b1 = blocks->begin[1]; b1 < blocks->end[1]; ++b1)
      for (int64_t b2 = blocks->begin[2]; b2 < blocks->end[2]; ++b2)
        for (int64_t i = (b0 * ctx->grid[1] + b1) * ctx->grid[2] + b2; i < t.extents[0];
             i += numBlocks)
          for (int64_t j = 0; j < t.extents[1]; ++j)
            elementAt(t, i, j) = elementAt(t, i, j) * 0.75f + f32Scalar(args, 0);
  return 0;
}

/// out = a + b / 2
int32_t sumKernel(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  forEach(args->tensors[2], [&](float &x, int64_t i, int64_t j) {
    x = elementAt(args->tensors[0], i, j) + elementAt(args->tensors[1], i, j) * 0.5f;
  });
  return 0;
}

/// out[0] = sum of in
int32_t totalKernel(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  float total = 0;
  forEach(args->tensors[0], [&](float &x, int64_t, int64_t) { total += x; });
  elementAt(args->tensors[1], 0, 0) = total;
  return 0;
}

// A group: one role pushes rows, the other adds half of them to its rows.
int32_t pushRows(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  const kiln_tensor &in = args->tensors[0];
  for (int64_t i = 0; i < in.extents[0]; ++i) {
    auto *row = static_cast<float *>(ctx->pipe_functions->begin_push(ctx, ctx->pipes[0], nullptr));
    if (!row)
      return KILN_FAIL;
    for (int64_t j = 0; j < in.extents[1]; ++j)
      row[j] = elementAt(in, i, j);
    if (ctx->pipe_functions->end_push(ctx, ctx->pipes[0]))
      return KILN_FAIL;
  }
  return KILN_OK;
}
int32_t addRows(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  const kiln_tensor &out = args->tensors[1];
  for (int64_t i = 0; i < out.extents[0]; ++i) {
    auto *row = static_cast<const float *>(ctx->pipe_functions->pop(ctx, ctx->pipes[0], nullptr));
    if (!row)
      return KILN_FAIL;
    for (int64_t j = 0; j < out.extents[1]; ++j)
      elementAt(out, i, j) = elementAt(out, i, j) * 0.5f + row[j] * 0.5f;
    if (ctx->pipe_functions->free(ctx, ctx->pipes[0]))
      return KILN_FAIL;
  }
  return KILN_OK;
}

constexpr int64_t side = 32;

/// Submits a random program, the same for the same number.
class RandomProgram {
public:
  RandomProgram(Engine &engine, uint64_t number) : Run(engine), Random(number) {
    for (Tensor &matrix : Matrices) {
      matrix = zeros(DType::F32, {side, side});
      for (int64_t i = 0; i < side * side; ++i)
        matrix.dataAs<float>()[i] = static_cast<float>(i % 17) - 8;
    }
  }

  std::vector<double> run(uint64_t numTasks) {
    while (NumTasks < numTasks)
      step();
    while (Depth > 0)
      closeScope();
    EXPECT_OK(Run.wait());
    std::vector<double> values;
    for (const Tensor &tensor : {Matrices[0], Matrices[1], Matrices[2], Totals}) {
      std::vector<double> some = valuesOf(tensor);
      values.insert(values.end(), some.begin(), some.end());
    }
    return values;
  }

private:
  int64_t pick(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(Random() % static_cast<uint64_t>(hi - lo + 1));
  }
  bool oneIn(int64_t n) { return pick(1, n) == 1; }

  const Tensor &matrix() { return Matrices[static_cast<size_t>(pick(0, numMatrices - 1))]; }

  Tensor region(const Tensor &from) {
    int64_t n = pick(1, 4), i = pick(0, side - n);
    switch (pick(0, 6)) {
    case 0:
      return take(from.slice({i, 0}, {n, side})); // rows
    case 1:
      return take(from.slice({0, i}, {side, n})); // columns
    case 2: {
      Tensor box = take(from.slice({i, pick(0, side - 8)}, {n, 8}));
      return oneIn(2) ? box : take(box.transpose({1, 0}));
    }
    case 3: // every other column
      return take(Tensor::view(from.buffer(), static_cast<uint64_t>(pick(0, 1) * 4), DType::F32,
                               {side, side / 2}, {side, 2}));
    case 4:
      return oneIn(4) ? from : take(from.slice({i, i}, {n, n}));
    default: // a grid of tiles
      return take(from.slice({8 * pick(0, side / 8 - 1), 8 * pick(0, side / 8 - 1)}, {8, 8}));
    }
  }
  /// A place of the same shape in another matrix.
  Tensor like(const Tensor &shape, const Tensor &from) {
    int64_t h = shape.extent(0), w = shape.extent(1);
    return take(from.slice({pick(0, side - h), pick(0, side - w)}, {h, w}));
  }

  Task work() {
    auto value = static_cast<float>(pick(-9, 9));
    if (IsReading) { // many readers of one whole matrix, then whatever comes
      Tensor cell = take(Totals.slice({0, pick(0, numTotals - 1)}, {1, 1}));
      return Task("total").addInput(Matrices[2]).addOutput(cell);
    }
    switch (pick(0, 5)) {
    case 0:
      return Task("fill2").addOutput(region(matrix())).addF32(value);
    case 1: {
      Tensor in = region(Matrices[0]);
      return Task("copy2").addInput(in).addOutput(like(in, Matrices[1]));
    }
    case 2: {
      Tensor a = region(Matrices[1]);
      return Task("sum").addInput(a).addInput(like(a, Matrices[2])).addOutput(like(a, Matrices[0]));
    }
    case 3: {
      if (oneIn(2))
        return Task(); // a dummy
      Tensor in = region(Matrices[1]);
      return Task("relay").addInput(in).addInout(like(in, Matrices[2]));
    }
    default: {
      Task task = Task("blend").addInout(region(matrix())).addF32(value);
      if (oneIn(3))
        task.grid({pick(0, 3), pick(1, 5), pick(1, 9)});
      return task;
    }
    }
  }

  void closeScope() {
    EXPECT_OK(Run.endScope());
    if (--Depth == 0)
      IsManual = false;
  }

  void step() {
    if (oneIn(40) && Depth < 3) {
      // In a manual scope nothing is inferred; a chain of deps makes its result well defined.
      bool isManual = Depth == 0 && oneIn(2);
      if (isManual) {
        IsManual = true;
        ManualTail.reset();
      }
      Run.beginScope(isManual);
      ++Depth;
      return;
    }
    if (oneIn(20) && Depth > 0)
      return closeScope();
    if (oneIn(IsReading ? 20 : 60))
      IsReading = !IsReading;
    Task task = work();
    if (IsManual && ManualTail)
      task.after(*ManualTail);
    if (!Tasks.empty() && oneIn(8))
      task.after(Tasks[static_cast<size_t>(pick(0, static_cast<int64_t>(Tasks.size()) - 1))]);
    if (oneIn(15))
      task.when({matrix(),
                 {pick(0, side - 1), pick(0, side - 1)},
                 Compare::Gt,
                 ScalarBits::fromDouble(DType::F32, 0)});
    TaskId id = take(Run.submit(std::move(task)));
    Tasks.push_back(id);
    ManualTail = id;
    ++NumTasks;
    if (oneIn(200))
      (void)take(Run.get(matrix(), {pick(0, side - 1), pick(0, side - 1)}));
  }

  static constexpr int64_t numMatrices = 3, numTotals = 40;
  Engine &Run;
  std::mt19937_64 Random;
  Tensor Matrices[numMatrices];
  Tensor Totals = zeros(DType::F32, {1, numTotals});
  std::vector<TaskId> Tasks;
  std::optional<TaskId> ManualTail;
  uint64_t NumTasks = 0;
  int Depth = 0;
  bool IsManual = false, IsReading = false;
};

struct EngineStressTest : ::testing::Test {
  EngineStressTest() {
    addBasicKernels(registry);
    addKernel(registry, "blend", blendKernel, {param("acc", Direction::InOut)},
              {{"value", DType::F32}});
    addKernel(registry, "sum", sumKernel,
              {param("a", Direction::In), param("b", Direction::In), param("out", Direction::Out)});
    addKernel(registry, "total", totalKernel,
              {param("in", Direction::In), param("out", Direction::Out)});
    KernelRecord relay;
    relay.name = "relay";
    relay.group = GroupSpec{{{"push", pushRows, 1, 0, nullptr}, {"add", addRows, 1, 0, nullptr}},
                            {{"rows", 0, 1, 2, side * sizeof(float), PipeSplit::None}}};
    take(registry.add(std::move(relay)));
  }
  std::unique_ptr<Engine> concurrent(unsigned workers, bool withTrace = false,
                                     uint64_t maxPending = 1024, uint32_t handOverNs = 0) {
    EngineOptions options;
    options.handOverNs = handOverNs;
    options.workers = workers;
    options.recordTrace = withTrace;
    options.maxPending = maxPending;
    return take(Engine::create(registry, options));
  }
  void expectSequentialResults(uint64_t numTasks, uint64_t numSeeds) {
    // The last runs whatever it can on the submitter, between what it has handed over.
    std::unique_ptr<Engine> engines[] = {concurrent(1), concurrent(2), concurrent(3, true),
                                         concurrent(4, false, 64),
                                         concurrent(2, false, 1024, UINT32_MAX)};
    std::unique_ptr<Engine> keeping = concurrent(2); // leaves what is submitted last to who waits
    for (uint64_t seed = 0; seed < numSeeds; ++seed) {
      EngineOptions sequential;
      sequential.recordTrace = false;
      std::vector<double> expected =
          RandomProgram(*makeEngine(registry, 0, sequential), seed).run(numTasks);
      RunOptions keepsLast;
      keepsLast.keepsLast = true;
      EXPECT_OK(keeping->begin(keepsLast));
      ASSERT_EQ(RandomProgram(*keeping, seed).run(numTasks), expected) << "seed " << seed;
      EXPECT_OK(keeping->finish());
      for (auto &engine : engines) {
        ASSERT_EQ(RandomProgram(*engine, seed).run(numTasks), expected)
            << "seed " << seed << ", " << engine->workers() << " workers";
        EngineUsage usage = engine->usage();
        EXPECT_EQ(usage.tasks, 0u);
        EXPECT_EQ(usage.regions, 0u);
        EXPECT_OK(engine->finish());
      }
    }
  }
  KernelRegistry registry;
};

#ifdef __SANITIZE_THREAD__
constexpr uint64_t slowdown = 10;
#else
constexpr uint64_t slowdown = 1;
#endif

} // namespace

TEST_F(EngineStressTest, RandomGraphsGiveTheSequentialResultOnAnyNumberOfWorkers) {
  expectSequentialResults(fromEnvironment("KILN_STRESS_TASKS", 1000 / slowdown),
                          fromEnvironment("KILN_STRESS_SEEDS", 100));
}

TEST_F(EngineStressTest, ALargeRandomGraphGivesTheSequentialResult) {
  expectSequentialResults(100000 / slowdown, 1);
}
