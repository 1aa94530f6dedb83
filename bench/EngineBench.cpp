// The task engine against libgomp's `task depend` in the same run, and against itself: many live
// regions, dumps, the fixed cost of a run. Results are checked before anything is timed.
//
//   kiln_bench_engine [rounds]    the best of that many medians counts (default 5)
#include "Measure.h"

#include "kiln/runtime/engine.h"

#include <cstring>
#include <filesystem>
#include <random>
#include <unistd.h>

using namespace kiln;
using namespace kiln::bench;

namespace {

template <typename T> T take(Expected<T> value) {
  if (value)
    return std::move(*value);
  std::fprintf(stderr, "%s\n", value.status().str().c_str());
  std::exit(1);
}
void must(const Status &status) {
  if (status.isOk())
    return;
  std::fprintf(stderr, "%s\n", status.str().c_str());
  std::exit(1);
}

/// x += 1 on the first element: as little work as a task can do.
int32_t increment(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  *static_cast<float *>(args->tensors[0].data) += 1;
  return 0;
}

/// y[0] = x[0] + 1, after ten microseconds.
int32_t tenMicroseconds(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  double end = now() + 10e-6;
  while (now() < end) {
  }
  *static_cast<float *>(args->tensors[1].data) = *static_cast<float *>(args->tensors[0].data) + 1;
  return 0;
}

const KernelRecord &addKernel(KernelRegistry &registry, const char *name, kiln_kernel_fn function,
                              std::vector<TensorParam> tensors) {
  KernelRecord record;
  record.name = name;
  record.function = function;
  record.signature = Signature{name, "cpu", std::move(tensors), {}};
  return *registry.find(take(registry.add(std::move(record))));
}

class EngineBench {
public:
  explicit EngineBench(int rounds) : Rounds(rounds) {
    Increment1 = &addKernel(Registry, "increment1", increment,
                            {TensorParam::dynamic("x", DType::F32, 1, Direction::InOut)});
    Increment2 = &addKernel(Registry, "increment2", increment,
                            {TensorParam::dynamic("x", DType::F32, 2, Direction::InOut)});
    Busy = &addKernel(Registry, "busy", tenMicroseconds,
                      {TensorParam::dynamic("x", DType::F32, 1, Direction::In),
                       TensorParam::dynamic("y", DType::F32, 1, Direction::Out)});
  }

  void run() {
    benchIndependent();
    benchChain();
    benchRegions("row slices", [](const Tensor &m, int64_t i) {
      return take(m.slice({i, 0}, {1, m.extent(1)}));
    });
    benchRegions("column slices", [](const Tensor &m, int64_t i) {
      return take(m.slice({0, i}, {m.extent(0), 1}));
    });
    benchRegions("64 x 64 tiles", [](const Tensor &m, int64_t i) {
      int64_t size = m.extent(0) / 64;
      return take(m.slice({i / 64 * size, i % 64 * size}, {size, size}));
    });
    benchFixedCost();
    benchDump();
    printTable(Rows);
  }

private:
  std::unique_ptr<Engine> makeEngine(unsigned workers, uint64_t maxPending) {
    EngineOptions options;
    options.workers = workers;
    options.maxPending = maxPending;
    options.recordTrace = false;
    return take(Engine::create(Registry, options));
  }

  /// Nanoseconds a task, submission and execution. One view: a chain.
  double runTasks(Engine &engine, const std::vector<Tensor> &views, int64_t count) {
    double start = now();
    auto size = static_cast<int64_t>(views.size());
    for (int64_t i = 0; i < count; ++i)
      (void)engine.submit(Task(*Increment1).addInout(views[static_cast<size_t>(i % size)]));
    must(engine.wait());
    return (now() - start) / static_cast<double>(count) * 1e9;
  }

  double runPeer(std::vector<float> &values, int64_t count);

  void compare(const char *what, int64_t numRegions, int64_t count, const char *bar,
               const char *goal) {
    Tensor vector = take(Tensor::empty(DType::F32, {numRegions * 16}));
    must(vector.fillZero());
    std::vector<Tensor> views;
    for (int64_t i = 0; i < numRegions; ++i)
      views.push_back(take(vector.slice({i * 16}, {1})));
    auto engine = makeEngine(0, 4096);
    runTasks(*engine, views, count);
    for (const Tensor &view : views)
      check(*view.dataAs<float>() == static_cast<float>(count / numRegions), what);
    std::vector<float> values(static_cast<size_t>(numRegions) * 16);
    Row row{what, {}, 0, "ns", bar, goal};
    Sample peer;
    bool hasPeer = runPeer(values, count) > 0;
    check(!hasPeer || values[0] == static_cast<float>(count / numRegions), "libgomp");
    // In turns, so that other load on the machine meets both alike.
    for (int round = 0; round < Rounds; ++round) {
      row.kiln = better(row.kiln, measure(7, [&] { return runTasks(*engine, views, count); }));
      if (hasPeer)
        peer = better(peer, measure(7, [&] { return runPeer(values, count); }));
    }
    row.peer = peer.median;
    Rows.push_back(row);
  }

  void benchIndependent() {
    compare("independent tasks, each its own region", 16384, 16384, ">= 1.0x libgomp", "120 ns");
    compare("independent tasks, 1024 recurring regions", 1024, 16384, ">= 1.0x libgomp", "120 ns");
  }
  void benchChain() { compare("serial chain", 1, 16384, "250 ns", "150 ns"); }

  /// Submission only: nothing runs before the end, so that all regions stay live.
  template <typename Slice> void benchRegions(const char *what, Slice slice) {
    constexpr int64_t numLive = 4096, count = 16384;
    Tensor matrix = take(Tensor::empty(DType::F32, {4096, 4096}));
    std::vector<Tensor> views;
    for (int64_t i = 0; i < numLive; ++i)
      views.push_back(slice(matrix, i));
    std::vector<size_t> order;
    std::mt19937 random(1);
    for (int64_t i = 0; i < count; ++i)
      order.push_back(random() % numLive);
    auto engine = makeEngine(1, 32768);
    auto submitAll = [&](bool many) {
      for (int64_t i = 0; i < numLive; ++i)
        (void)take(engine->submit(Task(*Increment2).addInout(views[many ? size_t(i) : 0])));
      double start = now();
      for (size_t i : order)
        (void)engine->submit(Task(*Increment2).addInout(views[many ? i : 0]));
      double time = (now() - start) / count * 1e9;
      uint64_t live = engine->usage().regions;
      check(live == (many ? numLive : 1), what);
      must(engine->wait());
      return time;
    };
    Row row{"submit, 4096 live " + std::string(what) + " vs 1", {}, 0, "ns", "<= 3x", "<= 1.5x"};
    row.kiln = bestOf(Rounds, 5, [&] { return submitAll(true); });
    row.peer = bestOf(Rounds, 5, [&] { return submitAll(false); }).median;
    Rows.push_back(row);
  }

  void benchFixedCost() {
    auto engine = makeEngine(0, 1024);
    Tensor x = take(Tensor::empty(DType::F32, {1}));
    must(x.fillZero());
    constexpr int count = 200;
    auto fixed = [&](bool isRun) {
      double start = now();
      for (int i = 0; i < count; ++i) {
        must(engine->begin({}));
        if (isRun)
          must(engine->run(Task(*Increment1).addInout(x)));
        else
          (void)take(engine->submit(Task(*Increment1).addInout(x)));
        must(engine->finish());
      }
      return (now() - start) / count * 1e6;
    };
    fixed(true);
    check(*x.dataAs<float>() == count, "runs of one task");
    Rows.push_back({"a run of one task: begin, run, finish",
                    bestOf(Rounds, 7, [&] { return fixed(true); }), 0, "us", "20 us", "20 us"});
    Rows.push_back({"a run of one task: begin, submit, finish",
                    bestOf(Rounds, 7, [&] { return fixed(false); }), 0, "us", "20 us", "20 us"});
  }

  void benchDump() {
    constexpr int count = 10000;
    auto engine = makeEngine(0, 1024);
    std::vector<Tensor> tensors;
    for (int i = 0; i < 64; ++i) {
      tensors.push_back(take(Tensor::empty(DType::F32, {256})));
      must(tensors.back().fillZero());
    }
    std::string directory =
        (std::filesystem::temp_directory_path() / ("kiln-bench-" + std::to_string(getpid())))
            .string();
    auto runAll = [&](int level) {
      RunOptions options;
      options.dump = {level, directory};
      double start = now();
      must(engine->begin(options));
      for (int i = 0; i < count; ++i)
        (void)engine->submit(Task(*Busy)
                                 .addInput(tensors[static_cast<size_t>(i % 32)])
                                 .addOutput(tensors[static_cast<size_t>(32 + i % 32)]));
      must(engine->finish());
      return (now() - start) * 1e3;
    };
    runAll(2);
    check(*tensors[32].dataAs<float>() == 1, "tasks of 10 us");
    check(take(DumpFile::open(directory)).entries().size() == 2 * count, "records of the dump");
    double plain = bestOf(Rounds, 3, [&] { return runAll(0); }).median;
    Rows.push_back({"10000 tasks of 10 us, dump off", bestOf(Rounds, 3, [&] { return runAll(0); }),
                    plain, "ms", "0.98x", "1.0x"});
    Rows.push_back({"10000 tasks of 10 us, dump level 2",
                    bestOf(Rounds, 3, [&] { return runAll(2); }), plain, "ms", "0.5x", "0.8x"});
    std::filesystem::remove_all(directory);
  }

  int Rounds;
  KernelRegistry Registry;
  const KernelRecord *Increment1, *Increment2, *Busy;
  std::vector<Row> Rows;
};

#ifdef _OPENMP
double EngineBench::runPeer(std::vector<float> &values, int64_t count) {
  double start = now();
  auto size = static_cast<int64_t>(values.size());
  float *data = values.data();
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int64_t i = 0; i < count; ++i) {
    float *x = data + i * 16 % size;
#pragma omp task depend(inout : x[0]) firstprivate(x)
    *x += 1;
  }
  return (now() - start) / static_cast<double>(count) * 1e9;
}
#else
double EngineBench::runPeer(std::vector<float> &, int64_t) { return 0; }
#endif

} // namespace

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: kiln_bench_engine [rounds]\n");
    return 2;
  }
#ifdef _OPENMP
  std::printf("peer: libgomp, OpenMP %d, 2 threads; compiler %s\n", _OPENMP, __VERSION__);
#else
  std::printf("peer: none, this compiler has no OpenMP\n");
#endif
  std::printf("The best of %d medians counts, for Kiln and peer alike.\n", rounds);
  EngineBench(rounds).run();
  return 0;
}
