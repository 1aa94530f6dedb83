// The task engine against its peers in the same run, and against itself: many live regions, dumps,
// the fixed cost of a run, hand-overs between the roles of a group. Results are checked before
// anything is timed.
#include "Measure.h"
#include "Peers.h"

#include "kiln/runtime/engine.h"

#include <cstring>
#include <filesystem>
#include <random>
#include <unistd.h>

using namespace kiln;
using namespace kiln::bench;

namespace {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// x += 1 on the first element: as little work as a task can do.
int32_t increment(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  *static_cast<float *>(args->tensors[0].data) += 1;
  return 0;
}

/// x += 1 on the first element, after a microsecond.
int32_t slowIncrement(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  spin(1e-6);
  *static_cast<float *>(args->tensors[0].data) += 1;
  return 0;
}

/// y[0] = x[0] + 1, after ten microseconds.
int32_t tenMicroseconds(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  spin(10e-6);
  *static_cast<float *>(args->tensors[1].data) = *static_cast<float *>(args->tensors[0].data) + 1;
  return 0;
}

// Roles that hand over as many numbers as scalar 0 says.
int32_t push(kiln_context *ctx, int pipe, float value) {
  void *slot = ctx->pipe_functions->begin_push(ctx, ctx->pipes[pipe], nullptr);
  if (!slot)
    return KILN_FAIL;
  *static_cast<float *>(slot) = value;
  return ctx->pipe_functions->end_push(ctx, ctx->pipes[pipe]);
}
int32_t pop(kiln_context *ctx, int pipe, float &value) {
  const void *slot = ctx->pipe_functions->pop(ctx, ctx->pipes[pipe], nullptr);
  if (!slot)
    return KILN_FAIL;
  value = *static_cast<const float *>(slot);
  return ctx->pipe_functions->free(ctx, ctx->pipes[pipe]);
}
int32_t sendOnes(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  float answer;
  for (uint64_t i = 0; i < args->scalars[0]; ++i)
    if (push(ctx, 0, 1) || (ctx->num_pipes > 1 && pop(ctx, 1, answer)))
      return KILN_FAIL;
  return KILN_OK;
}
int32_t addUp(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  float sum = 0, value;
  for (uint64_t i = 0; i < args->scalars[0]; ++i) {
    if (pop(ctx, 0, value))
      return KILN_FAIL;
    sum += value;
    if (ctx->num_pipes > 1 && push(ctx, 1, sum))
      return KILN_FAIL;
  }
  *static_cast<float *>(args->tensors[0].data) = sum;
  return KILN_OK;
}

const KernelRecord &addKernel(KernelRegistry &registry, const char *name, kiln_kernel_fn function,
                              std::vector<TensorParam> tensors) {
  KernelRecord record;
  record.name = name;
  record.function = function;
  record.signature = Signature{name, "cpu", std::move(tensors), {}};
  return *registry.find(take(registry.add(std::move(record))));
}

const KernelRecord &addGroup(KernelRegistry &registry, const char *name,
                             std::vector<PipeSpec> pipes) {
  KernelRecord record;
  record.name = name;
  record.group = GroupSpec{{{"send", sendOnes, 1, 0, nullptr}, {"add", addUp, 1, 0, nullptr}},
                           std::move(pipes)};
  return *registry.find(take(registry.add(std::move(record))));
}

//===----------------------------------------------------------------------===//
// Benchmarks
//===----------------------------------------------------------------------===//

class EngineBench {
public:
  /// `only` names one family; empty: all.
  EngineBench(int rounds, std::string_view only) : Rounds(rounds), Only(only) {
    Increment1 = &addKernel(Registry, "increment1", increment,
                            {TensorParam::dynamic("x", DType::F32, 1, Direction::InOut)});
    SlowIncrement = &addKernel(Registry, "slow_increment", slowIncrement,
                               {TensorParam::dynamic("x", DType::F32, 1, Direction::InOut)});
    Increment2 = &addKernel(Registry, "increment2", increment,
                            {TensorParam::dynamic("x", DType::F32, 2, Direction::InOut)});
    Busy = &addKernel(Registry, "busy", tenMicroseconds,
                      {TensorParam::dynamic("x", DType::F32, 1, Direction::In),
                       TensorParam::dynamic("y", DType::F32, 1, Direction::Out)});
    OneWay = &addGroup(Registry, "one_way", {{"p", 0, 1, 2, sizeof(float), PipeSplit::None}});
    BothWays = &addGroup(Registry, "both_ways",
                         {{"there", 0, 1, 1, sizeof(float), PipeSplit::None},
                          {"back", 1, 0, 1, sizeof(float), PipeSplit::None}});
  }

  const Report &run() {
    auto isWanted = [&](std::string_view name) { return Only.empty() || Only == name; };
    if (isWanted("tasks"))
      benchTasks();
    if (isWanted("slow"))
      benchSlowTasks();
    if (isWanted("regions"))
      benchAllRegions();
    if (isWanted("runs"))
      benchFixedCost();
    if (isWanted("pipes"))
      benchHandOver();
    if (isWanted("dump"))
      benchDump();
    return Results;
  }

private:
  void benchAllRegions() {
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
    benchReaders();
  }

  static constexpr uint32_t always = 0; // tasks are handed over
  std::unique_ptr<Engine> makeEngine(unsigned workers, uint64_t maxPending,
                                     uint32_t handOverNs = EngineOptions().handOverNs) {
    EngineOptions options;
    options.handOverNs = handOverNs;
    options.workers = workers;
    options.maxPending = maxPending;
    options.recordTrace = false;
    return take(Engine::create(Registry, options));
  }

  /// Nanoseconds a task, submission and execution. One view: a chain.
  double runTasks(Engine &engine, const KernelRecord &kernel, const std::vector<Tensor> &views,
                  int64_t count) {
    double start = now();
    size_t next = 0;
    for (int64_t i = 0; i < count; ++i) {
      (void)engine.submit(std::move(Task(kernel).addInout(views[next])));
      next = next + 1 == views.size() ? 0 : next + 1;
    }
    must(engine.wait());
    return (now() - start) / static_cast<double>(count) * 1e9;
  }

  struct TaskPeer {
    std::string name;
    double (*run)(std::vector<float> &, int64_t);
  };

  struct TaskRow {
    std::string what;
    const KernelRecord *kernel;
    int64_t numRegions;
    uint32_t handOverNs;
    Target bar, goal;
  };

  void compareTasks(const TaskRow &row, const std::vector<TaskPeer> &peers) {
    constexpr int64_t count = 16384;
    int64_t numRegions = row.numRegions;
    auto expected = static_cast<float>(count) / static_cast<float>(numRegions);
    Tensor vector = take(Tensor::empty(DType::F32, {numRegions * 16}));
    must(vector.fillZero());
    std::vector<Tensor> views;
    for (int64_t i = 0; i < numRegions; ++i)
      views.push_back(take(vector.slice({i * 16}, {1})));
    auto engine = makeEngine(2, 4096, row.handOverNs);
    auto run = [&] { return runTasks(*engine, *row.kernel, views, count); };
    run();
    for (const Tensor &view : views)
      check(*view.dataAs<float>() == expected, row.what.c_str());
    bool hasPeer = false;
    for (const TaskPeer &peer : peers) {
      if (peer.name.empty())
        continue;
      std::vector<float> values(static_cast<size_t>(numRegions) * 16);
      peer.run(values, count);
      for (size_t i = 0; i < values.size(); i += 16)
        check(values[i] == expected, peer.name.c_str());
      std::vector<Sample> samples =
          measureInTurns(Rounds, 9, run, [&] { return peer.run(values, count); });
      // What is asked of Kiln is asked against the peer that does the same: the first.
      Results.add({row.what, samples[0], "ns", peer.name, samples[1].median,
                   hasPeer ? Target() : row.bar, hasPeer ? Target() : row.goal});
      hasPeer = true;
    }
    if (!hasPeer)
      Results.add({row.what, measureInTurns(Rounds, 9, run)[0], "ns", "", 0,
                   Target::atMost(row.bar.number), row.goal});
  }

  void benchTasks() {
    TaskPeer gomp{libgompName(), runLibgomp}, tbb{tbbName(), runTbb};
    Target same = Target::ratio(1), tasks = Target::atMost(70), handed = Target::atMost(110);
    uint32_t usual = EngineOptions().handOverNs;
    compareTasks({"independent tasks, each its own region", Increment1, 16384, usual, same, tasks},
                 {gomp, tbb});
    // No peer without dependencies: the rounds over the regions depend on each other.
    compareTasks(
        {"independent tasks, 1024 recurring regions", Increment1, 1024, usual, same, tasks},
        {gomp});
    compareTasks({"serial chain", Increment1, 1, usual, Target::atMost(250), tasks}, {gomp});
    // The same when no task is brief enough to be run by the submitter on the spot.
    compareTasks({"handed over: own regions", Increment1, 16384, always, {}, handed}, {gomp});
    compareTasks({"handed over: 1024 regions", Increment1, 1024, always, {}, handed}, {gomp});
    compareTasks({"handed over: serial chain", Increment1, 1, always, {}, handed}, {gomp});
  }

  void benchSlowTasks() {
    TaskPeer slowGomp{libgompName(), runLibgompSlow};
    uint32_t usual = EngineOptions().handOverNs;
    compareTasks({"independent tasks of 1 us", SlowIncrement, 16384, usual, Target::ratio(1.1), {}},
                 {slowGomp});
    compareTasks({"serial chain of tasks of 1 us", SlowIncrement, 1, usual, {}, {}}, {slowGomp});
  }

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
        (void)take(
            engine->submit(std::move(Task(*Increment2).addInout(views[many ? size_t(i) : 0]))));
      double start = now();
      for (size_t i : order)
        (void)engine->submit(std::move(Task(*Increment2).addInout(views[many ? i : 0])));
      double time = (now() - start) / count * 1e9;
      uint64_t live = engine->usage().regions;
      check(live == (many ? numLive : 1), what);
      must(engine->wait());
      return time;
    };
    std::vector<Sample> samples = measureInTurns(
        Rounds, 5, [&] { return submitAll(true); }, [&] { return submitAll(false); });
    Results.add({"submit, 4096 live " + std::string(what), samples[0], "ns", "1 live region",
                 samples[1].median, Target::ratio(1 / 3.0), Target::ratio(1 / 1.3)});
  }

  /// Many tasks read a matrix, then each of its rows is written: m + n edges, not m * n.
  void benchReaders() {
    constexpr int64_t numReaders = 2048, numRows = 2048;
    Tensor matrix = take(Tensor::empty(DType::F32, {numRows, 16}));
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < numRows; ++i)
      rows.push_back(take(matrix.slice({i, 0}, {1, 16})));
    auto engine = makeEngine(1, 32768);
    auto submitAll = [&](int64_t readers) {
      double start = now();
      for (int64_t i = 0; i < readers; ++i)
        (void)take(engine->submit(std::move(Task().addInput(matrix))));
      for (const Tensor &row : rows)
        (void)take(engine->submit(std::move(Task(*Increment2).addInout(row))));
      double time = (now() - start) / static_cast<double>(readers + numRows) * 1e9;
      must(engine->wait());
      return time;
    };
    std::vector<Sample> samples = measureInTurns(
        Rounds, 5, [&] { return submitAll(numReaders); }, [&] { return submitAll(1); });
    Results.add({"submit, 2048 readers, then 2048 row writers",
                 samples[0],
                 "ns",
                 "1 reader",
                 samples[1].median,
                 {},
                 {}});
  }

  void benchFixedCost() {
    auto engine = makeEngine(2, 1024);
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
    std::vector<Sample> samples =
        measureInTurns(Rounds, 7, [&] { return fixed(true); }, [&] { return fixed(false); });
    Target limit = Target::atMost(20);
    Results.add({"a run of one task: begin, run, finish", samples[0], "us", "", 0, limit, limit});
    Results.add(
        {"a run of one task: begin, submit, finish", samples[1], "us", "", 0, limit, limit});
  }

  void benchHandOver() {
    constexpr int64_t count = 20000;
    auto engine = makeEngine(1, 1024);
    Tensor sum = take(Tensor::empty(DType::F32, {1}));
    auto handOver = [&](const KernelRecord &group, bool answers) {
      must(sum.fillPoison());
      double start = now();
      must(engine->run(Task(group).addOutput(sum).addIndex(count)));
      double time = now() - start;
      check(*sum.dataAs<float>() == static_cast<float>(count), "hand-over between roles");
      return time / static_cast<double>(answers ? 2 * count : count) * 1e9;
    };
    for (bool answers : {false, true}) {
      std::vector<Sample> samples = measureInTurns(
          Rounds, 5, [&] { return handOver(answers ? *BothWays : *OneWay, answers); },
          [&] { return runThreads(count, answers ? 1 : 2, answers); });
      Results.add({answers ? "pipe hand-over, both ways, 1 slot" : "pipe hand-over, 2 slots",
                   samples[0],
                   "ns",
                   "threads, condvar",
                   samples[1].median,
                   {},
                   {}});
    }
  }

  void benchDump() {
    constexpr int count = 10000;
    auto engine = makeEngine(2, 1024);
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
        (void)engine->submit(std::move(Task(*Busy)
                                           .addInput(tensors[static_cast<size_t>(i % 32)])
                                           .addOutput(tensors[static_cast<size_t>(32 + i % 32)])));
      must(engine->finish());
      return (now() - start) * 1e3;
    };
    runAll(2);
    check(*tensors[32].dataAs<float>() == 1, "tasks of 10 us");
    check(take(DumpFile::open(directory)).entries().size() == size_t(2) * count,
          "records of the dump");
    std::vector<Sample> samples = measureInTurns(
        Rounds, 3, [&] { return runAll(0); }, [&] { return runAll(0); }, [&] { return runAll(2); });
    double plain = samples[0].median;
    Results.add({"10000 tasks of 10 us, dump off", samples[1], "ms", "no dump", plain,
                 Target::ratio(0.98), Target::ratio(1.0)});
    Results.add({"10000 tasks of 10 us, dump level 2", samples[2], "ms", "no dump", plain,
                 Target::ratio(0.5), Target::ratio(0.8)});
    std::filesystem::remove_all(directory);
  }

  int Rounds;
  std::string_view Only;
  KernelRegistry Registry;
  const KernelRecord *Increment1, *SlowIncrement, *Increment2, *Busy, *OneWay, *BothWays;
  Report Results;
};

int usage() {
  std::fprintf(stderr, "usage: kiln_bench_engine [rounds] [--only FAMILY] [--json FILE]\n"
                       "  rounds       how many times each is measured in turn with its peer; the\n"
                       "               median of each counts (default 5)\n"
                       "  --only FAMILY  tasks, slow, regions, runs, pipes or dump\n"
                       "  --json FILE  adds the results to the list in FILE\n");
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  int rounds = 5;
  std::string json;
  std::string_view only;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc)
      json = argv[++i];
    else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc)
      only = argv[++i];
    else if ((rounds = countFrom(argv[i])) == 0)
      return usage();
  }
  std::printf("compiler %s; peers: %s, %s; 2 threads\n", __VERSION__,
              libgompName().empty() ? "no libgomp" : libgompName().c_str(),
              tbbName().empty() ? "no oneTBB" : tbbName().c_str());
  EngineBench bench(rounds, only);
  const Report &results = bench.run();
  results.print();
  if (!json.empty())
    results.write(json);
  return 0;
}
