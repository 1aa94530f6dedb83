// Collectives of Kiln's engine against the same ones of bare MPI, in the same processes:
// mpirun -n 2 build/bin/kiln_bench_ranks. Rank 0 prints.

#include "kiln/runtime/engine.h"
#include "kiln/runtime/ranks.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
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

} // namespace

int main() {
  Expected<Transport *> transport = openMpi();
  check(transport.status());
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
