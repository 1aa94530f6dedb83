// What a call through the JIT costs beyond a direct call of the same code, what a compile costs,
// and what a process pays that finds the code on disk. Results are checked before anything is
// timed.
//
//   kiln_bench_jit [--json FILE] [rounds]    how many times each is measured in turn (default 5)
#include "Measure.h"

#include "kiln/Jit/Jit.h"
#include "kiln/Language/Library.h"
#include "kiln/Language/Program.h"

#include <filesystem>
#include <string_view>
#include <thread>
#include <unistd.h>

using namespace kiln;
using namespace kiln::bench;

namespace {

/// out = a + b + c + d on one small tile: as little work as five tensors can be.
Program sumProgram() {
  Program p("sum");
  p.kernel("sum", {"a", "b", "c", "d", "out"},
           [&](In<f32> a, In<f32> b, In<f32> c, In<f32> d, Out<f32> out) {
             Shape tile{1, 16};
             store(load(a, {0, 0}, tile) + load(b, {0, 0}, tile) + load(c, {0, 0}, tile) +
                       load(d, {0, 0}, tile),
                   out, {0, 0});
           });
  return p;
}

/// The same as an orchestration that launches one task.
Program launchedSumProgram() {
  Program p("launched_sum");
  p.orchestration("main", {"a", "b", "c", "d", "out"},
                  [&](In<f32> a, In<f32> b, In<f32> c, In<f32> d, Out<f32> out) {
                    spmd("sum", {1}, {}, [&](Index) {
                      Shape tile{1, 16};
                      store(load(a, {0, 0}, tile) + load(b, {0, 0}, tile) + load(c, {0, 0}, tile) +
                                load(d, {0, 0}, tile),
                            out, {0, 0});
                    });
                  });
  return p;
}

/// c = a @ b, all of it in one kernel.
Program gemmProgram() {
  Program p("gemm");
  p.kernel("gemm", {"a", "b", "c"}, [&](In<f32> a, In<f32> b, Out<f32> c) {
    constexpr int64_t M = 64, N = 64, K = 64;
    loop(0, c.dim(0), M, [&](Index i) {
      loop(0, c.dim(1), N, [&](Index j) {
        Tile acc = zeros<f32>(M, N);
        acc = loop(0, a.dim(1), K, acc, [&](Index k, Tile acc) {
          return matmul_acc(acc, load(a, {i, k}, {M, K}), load(b, {k, j}, {K, N}));
        });
        store(acc, c, {i, j});
      });
    });
  });
  return p;
}

Tensor filled(Dims extents, float value) {
  Tensor tensor = take(Tensor::empty(DType::F32, extents));
  std::fill_n(tensor.dataAs<float>(), tensor.numElements(), value);
  return tensor;
}

JitOptions optionsFor(const std::string &directory) {
  JitOptions options;
  options.cache = {};
  options.cache.directory = directory;
  options.check = false;
  return options;
}

class JitBench {
public:
  explicit JitBench(int rounds)
      : Rounds(rounds), Directory((std::filesystem::temp_directory_path() /
                                   ("kiln-bench-jit-" + std::to_string(getpid())))
                                      .string()) {}
  ~JitBench() {
    std::error_code ignored;
    std::filesystem::remove_all(Directory, ignored);
  }

  Report run() {
    benchCall();
    benchThreads("a kernel", sumProgram(), 200000);
    benchThreads("an orchestration", launchedSumProgram(), 20000);
    benchCompile();
    return std::move(Rows);
  }

private:
  /// The code that a Jit has left in the cache, to be called directly.
  std::shared_ptr<const NativeProgram> codeFromCache(const DiskCache &cache) {
    std::string key;
    must(cache.verify(cache.list().at(0), &key));
    CacheEntry entry = take(cache.load(key));
    auto object = take(SharedObject::fromBytes(entry.object, entry.info.entry.name));
    return take(NativeProgram::load(std::move(object), entry.info));
  }

  void benchCall() {
    Jit jit(optionsFor(Directory + "/call"));
    Program program = sumProgram();
    Compiled f = take(jit.compile(program));
    Tensor a = filled({1, 16}, 1), b = filled({1, 16}, 2), c = filled({1, 16}, 3),
           d = filled({1, 16}, 4), out = filled({1, 16}, 0);
    must(f(a, b, c, d, out));
    check(out.dataAs<float>()[15] == 10, "sum through the JIT");

    auto code = codeFromCache(jit.diskCache());
    kiln_tensor tensors[] = {a.toAbi(), b.toAbi(), c.toAbi(), d.toAbi(), out.toAbi()};
    kiln_args args{tensors, nullptr, 5, 0};
    kiln_blocks range{{0, 0, 0}, {1, 1, 1}};
    kiln_context context{};
    std::vector<std::byte> scratch(code->info().entry.workspaceBytes + 64);
    context.abi_version = KILN_ABI_VERSION;
    context.lanes = 1;
    context.grid[0] = context.grid[1] = context.grid[2] = 1;
    auto address = reinterpret_cast<uintptr_t>(scratch.data());
    context.scratch = scratch.data() + (64 - address % 64) % 64;
    context.scratch_bytes = code->info().entry.workspaceBytes;
    kiln_kernel_fn kernel = code->kernel();

    constexpr int calls = 100000;
    auto perCall = [&](auto call) {
      double start = now();
      for (int i = 0; i < calls; ++i)
        call();
      return (now() - start) / calls * 1e9;
    };
    // The same with shapes that differ from call to call, and with pointers and numbers.
    Tensor wide[] = {filled({3, 48}, 1), filled({3, 48}, 2), filled({3, 48}, 3), filled({3, 48}, 4),
                     filled({3, 48}, 0)};
    Tensor narrow[] = {a, b, c, d, out};
    bool isWide = false;
    auto callAnother = [&] {
      Tensor *now = (isWide = !isWide) ? wide : narrow;
      (void)f(now[0], now[1], now[2], now[3], now[4]);
    };
    auto raw = [](const Tensor &tensor) { return RawTensor(tensor.data(), DType::F32, {1, 16}); };
    callAnother();
    check(wide[4].dataAs<float>()[15] == 10 && jit.counters().callStates == 1, "another shape");
    std::vector<Sample> samples = measureInTurns(
        Rounds, 7, [&] { return perCall([&] { (void)f(a, b, c, d, out); }); },
        [&] { return perCall([&] { kernel(&args, &range, &context); }); },
        [&] { return perCall(callAnother); },
        [&] { return perCall([&] { (void)f(raw(a), raw(b), raw(c), raw(d), raw(out)); }); });
    Rows.add({"JIT call of a one-block kernel, 5 tensors",
              samples[0],
              "ns",
              "direct call",
              samples[1].median,
              {},
              {}});
    double direct = samples[1].median;
    auto addOver = [&](const char *name, const Sample &sample) {
      Sample over{sample.median - direct, sample.low - direct, sample.high - direct};
      Rows.add({name, over, "ns", "", 0, Target::atMost(100), Target::atMost(50)});
    };
    addOver("JIT call, over a direct call", samples[0]);
    addOver("JIT call, other shapes each time, over it", samples[2]);
    addOver("JIT call of raw pointers, over it", samples[3]);
  }

  /// What a call costs while another thread calls the same program as fast as it can: nobody waits
  /// for anybody, so on two cores it is what a call costs alone.
  void benchThreads(const std::string &what, Program program, int calls) {
    Jit jit(optionsFor(""));
    Compiled f = take(jit.compile(program));
    Tensor in = filled({1, 16}, 2);
    auto callAll = [&] {
      Tensor out = filled({1, 16}, 0);
      double start = now();
      for (int i = 0; i < calls; ++i)
        (void)f(in, in, in, in, out);
      double time = (now() - start) / calls * 1e9;
      check(out.dataAs<float>()[15] == 8, "sum by several threads");
      return time;
    };
    callAll();
    auto callTwice = [&] {
      double other = 0;
      std::thread second([&] { other = callAll(); });
      double own = callAll();
      second.join();
      return std::max(own, other);
    };
    std::vector<Sample> samples = measureMakingThreads(Rounds, 5, callTwice, callAll);
    Rows.add({"JIT call of " + what + " by two threads at once",
              samples[0],
              "ns",
              "one thread",
              samples[1].median,
              {},
              {}});
  }

  void benchCompile() {
    Tensor a = filled({96, 64}, 1), b = filled({64, 80}, 2), c = filled({96, 80}, 0);
    /// From the program in C++ to a call that is ready, in milliseconds.
    auto ready = [&](const std::string &directory, uint64_t compiles) {
      double start = now();
      Jit jit(optionsFor(directory));
      Program program = gemmProgram();
      Compiled f = take(jit.compile(program));
      must(f.compile_only(a, b, c));
      double time = (now() - start) * 1e3;
      check(jit.counters().compiles == compiles, "number of compiles");
      must(f(a, b, c));
      check(c.dataAs<float>()[5] == 128, "gemm");
      return time;
    };
    std::string directory = Directory + "/warm";
    ready(directory, 1);
    std::vector<Sample> samples = measureMakingThreads(
        Rounds, 5, [&] { return ready("", 1); }, [&] { return ready(directory, 0); });
    Rows.add({"cold compile of a GEMM kernel", samples[0], "ms", "", 0, Target::atMost(250),
              Target::atMost(80)});
    Rows.add({"warm start of a GEMM kernel from disk", samples[1], "ms", "", 0, Target::atMost(5),
              Target::atMost(1)});
  }

  int Rounds;
  std::string Directory;
  Report Rows;
};

} // namespace

int main(int argc, char **argv) {
  std::string json;
  int rounds = 5;
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--json" && i + 1 < argc)
      json = argv[++i];
    else
      rounds = countFrom(argv[i]);
  if (rounds < 1) {
    std::fprintf(stderr, "usage: kiln_bench_jit [--json FILE] [rounds]\n");
    return 2;
  }
  Report report = JitBench(rounds).run();
  report.print();
  if (!json.empty())
    report.write(json);
  return 0;
}
