// Collectives of Kiln's engine against the same ones of bare MPI, in the same processes:
// mpirun -n 2 build/bin/kiln_bench_ranks. Rank 0 prints. With two bundles and the extents of a
// product, RING GATHER ROWS INNER COLUMNS: the one that overlaps what travels with the product
// against the one that gathers first.

#include "kiln/runtime/bundle.h"
#include "kiln/runtime/engine.h"
#include "kiln/runtime/ranks.h"
#include "kiln/runtime/workers.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

using namespace kiln;

namespace {

void check(const Status &status) {
  if (status.isOk())
    return;
  std::fprintf(stderr, "%s\n", status.str().c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Seconds of one call, the slowest rank's, the median of several rounds of `calls`.
double timeOf(int rounds, int calls, const std::function<void()> &call) {
  std::vector<double> times;
  for (int round = -1; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i)
      call();
    double mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    double slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (round >= 0)
      times.push_back(slowest / calls);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

class Bench {
public:
  Bench(Transport &transport, Engine &engine) : Ranks(transport), Tasks(engine) {}

  void row(const char *name, int rounds, int calls, const std::function<void()> &bare,
           const CollectiveTask &task) {
    // Turn by turn, so that both see the same machine.
    double mpi = timeOf(rounds, calls, bare), kiln = timeOf(rounds, calls, [&] { run(task); });
    mpi = std::min(mpi, timeOf(rounds, calls, bare));
    kiln = std::min(kiln, timeOf(rounds, calls, [&] { run(task); }));
    if (Ranks.rank() == 0)
      std::printf(
          "  %-28s %d ranks  mpi %10.1f us  kiln %10.1f us  of bare MPI %.2f, overhead %.1f us\n",
          name, Ranks.ranks(), mpi * 1e6, kiln * 1e6, mpi / kiln, (kiln - mpi) * 1e6);
  }

private:
  void run(const CollectiveTask &task) {
    check(Tasks.submit(task).status());
    check(Tasks.wait());
  }
  Transport &Ranks;
  Engine &Tasks;
};

CollectiveTask taskOf(CollectiveKind kind, Tensor source, Tensor target) {
  CollectiveTask task;
  task.kind = kind;
  task.source = std::move(source);
  task.target = std::move(target);
  return task;
}

double medianOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::shared_ptr<const NativeProgram> programIn(const char *folder) {
  Expected<Bundle> bundle = Bundle::open(folder);
  check(bundle.status());
  auto program = bundle->load();
  check(program.status());
  return *program;
}

Tensor random(int64_t rows, int64_t columns, uint32_t seed) {
  Tensor made = *Tensor::empty(DType::F32, {rows, columns});
  for (int64_t i = 0; i < made.numElements(); ++i) {
    seed = seed * 1664525 + 1013904223;
    made.dataAs<float>()[i] = static_cast<float>(seed >> 8) / (1 << 24) - 0.5f;
  }
  return made;
}

/// Both programs in turns, with memory that they had before, and each rank alone with all that it
/// multiplies: no ring can be faster than that.
void compareProducts(Transport &ranks, char **argv) {
  auto ring = programIn(argv[1]), gather = programIn(argv[2]);
  int64_t count = ranks.ranks(), rows = std::atoll(argv[3]), inner = std::atoll(argv[4]),
          columns = std::atoll(argv[5]) / count;
  check(setWorkerLimit(1));
  auto seed = static_cast<uint32_t>(ranks.rank());
  Tensor a = random(rows / count, inner, seed), whole = random(rows, inner, seed),
         b = random(inner, columns, seed + 100), c = *Tensor::empty(DType::F32, {rows, columns}),
         other = *Tensor::empty(DType::F32, {rows, columns});
  auto run = [&](const NativeProgram &program, const Tensor &from, const Tensor &into,
                 Transport *among) {
    RunOptions options;
    options.ranks = among;
    const Tensor tensors[] = {from, b, into};
    check(program.run(tensors, {}, options));
  };
  std::vector<double> ringTimes, gatherTimes, aloneTimes;
  for (int round = 0; round < 15; ++round) {
    gatherTimes.push_back(timeOf(1, 1, [&] { run(*gather, a, other, &ranks); }));
    ringTimes.push_back(timeOf(1, 1, [&] { run(*ring, a, c, &ranks); }));
    if (std::memcmp(c.data(), other.data(), c.numBytes()) != 0)
      check(Status(StatusCode::KernelFailed, "both ways make different products"));
    aloneTimes.push_back(timeOf(1, 1, [&] { run(*ring, whole, other, &aloneTransport()); }));
  }
  double alone = medianOf(aloneTimes), first = medianOf(gatherTimes), ours = medianOf(ringTimes);
  std::string name = std::string("ring_matmul ") + argv[3] + "x" + argv[4] + "x" + argv[5];
  if (ranks.rank() == 0)
    std::printf(
        "  %-28s %d ranks  gathered first %.1f ms  ring %.1f ms  %.2f times as fast; nothing "
        "to fetch %.1f ms, so at most %.2f\n",
        name.c_str(), ranks.ranks(), first * 1e3, ours * 1e3, first / ours, alone * 1e3,
        first / alone);
}

} // namespace

int main(int argc, char **argv) {
  Expected<Transport *> transport = openMpi();
  check(transport.status());
  if (argc == 6) {
    compareProducts(**transport, argv);
    closeMpi(false);
    return 0;
  }
  KernelRegistry registry;
  EngineOptions options;
  options.workers = 1;
  options.recordTrace = false;
  Expected<std::unique_ptr<Engine>> engine = Engine::create(registry, options);
  check(engine.status());
  RunOptions run;
  run.ranks = *transport;
  check((*engine)->begin(run));
  Bench bench(**transport, **engine);
  int64_t ranks = (*transport)->ranks(), large = int64_t{16} << 20; // 64 MB of f32
  Tensor x = *Tensor::empty(DType::F32, {large}), all = *Tensor::empty(DType::F32, {large * ranks});
  check(x.fillZero());
  check(all.fillZero());
  Tensor small = *x.slice({0}, {16});
  auto bareReduce = [](const Tensor &tensor) {
    return [&tensor] {
      MPI_Allreduce(MPI_IN_PLACE, tensor.data(), static_cast<int>(tensor.numElements()), MPI_FLOAT,
                    MPI_SUM, MPI_COMM_WORLD);
    };
  };
  bench.row("all_reduce 64 MB", 5, 1, bareReduce(x), taskOf(CollectiveKind::AllReduce, {}, x));
  bench.row(
      "all_gather 64 MB each", 5, 1,
      [&] {
        MPI_Allgather(x.data(), static_cast<int>(large), MPI_FLOAT, all.data(),
                      static_cast<int>(large), MPI_FLOAT, MPI_COMM_WORLD);
      },
      taskOf(CollectiveKind::AllGather, x, all));
  bench.row("all_reduce 64 bytes", 9, 200, bareReduce(small),
            taskOf(CollectiveKind::AllReduce, {}, small));
  check((*engine)->finish());
  closeMpi(false);
  return 0;
}
