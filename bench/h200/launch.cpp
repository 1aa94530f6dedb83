// What it costs to launch a program with five tensors from C++: a bare launch of an empty kernel by
// the driver, with as large an argument block, and calls of Kiln's JIT and of a bundle, in turns in
// one process.
//
//   c++ -std=c++20 -O2 -IPREFIX/include launch.cpp -LPREFIX/lib -lkiln -lkiln_runtime -ldl -o
//   launch kiln build add4.mlir -p h200 -o add4
//   ./launch add4
//
// Prints microseconds of the calling thread; the GPU works meanwhile. Each is the least of many
// rounds of 200 launches.
#include <kiln/Jit/Jit.h>
#include <kiln/cuda_c.h>
#include <kiln/kiln.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <string>
#include <vector>

using namespace kiln;

namespace {

[[noreturn]] void fail(const std::string &why) {
  std::fprintf(stderr, "launch: error: %s\n", why.c_str());
  std::exit(1);
}
void check(const Status &status) {
  if (!status.isOk())
    fail(status.str());
}

/// The few functions of the driver that are needed.
struct Driver {
  Driver() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
      fail("there is no CUDA driver");
    auto find = [&](auto &function, const char *name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (!function)
        fail(std::string("the driver has no ") + name);
    };
    find(init, "cuInit"), find(retain, "cuDevicePrimaryCtxRetain");
    find(setCurrent, "cuCtxSetCurrent"), find(load, "cuModuleLoadData");
    find(function, "cuModuleGetFunction"), find(launch, "cuLaunchKernelEx");
    find(allocate, "cuMemAlloc_v2"), find(createStream, "cuStreamCreate");
    find(synchronize, "cuStreamSynchronize"), find(copyToHost, "cuMemcpyDtoH_v2");
    find(fill, "cuMemsetD32_v2");
  }
  int (*init)(unsigned);
  int (*retain)(void **, int);
  int (*setCurrent)(void *);
  int (*load)(void **, const void *);
  int (*function)(void **, void *, const char *);
  int (*launch)(const void *, void *, void **, void **);
  int (*allocate)(uint64_t *, size_t);
  int (*createStream)(void **, unsigned);
  int (*synchronize)(void *);
  int (*copyToHost)(void *, uint64_t, size_t);
  int (*fill)(uint64_t, unsigned, size_t);
};

void need(int result, const char *what) {
  if (result != 0)
    fail(std::string(what) + " failed: " + std::to_string(result));
}

struct LaunchConfig { // CUlaunchConfig
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned numAttributes;
};

constexpr size_t kArgumentBytes = (5 * sizeof(kiln_tensor) + size_t(3) * 8 + 63) / 64 * 64;

/// e = a + b + c + d, one tile; `times` in a row.
Program addProgram(int times) {
  Program p(times == 1 ? "add4" : "chain");
  p.orchestration("main", {"a", "b", "c", "d", "e"},
                  [&](In<f32> a, In<f32> b, In<f32> c, In<f32> d, Out<f32> e) {
                    for (int i = 0; i < times; ++i)
                      spmd("add4_" + std::to_string(i), {1}, [&](Index) {
                        Shape tile{8, 8};
                        store(load(a, {0, 0}, tile) + load(b, {0, 0}, tile) +
                                  load(c, {0, 0}, tile) + load(d, {0, 0}, tile),
                              e, {0, 0});
                      });
                  });
  return p;
}

struct Row {
  std::string what;
  std::function<void()> launch;
  double least = 1e9;
};

/// In turns, so that what slows the machine down slows all of them down.
void measure(std::vector<Row> &rows, const Driver &driver, void *stream) {
  constexpr int rounds = 600, launches = 200; // three seconds: hosts have spells of half speed
  for (int round = 0; round < rounds; ++round)
    for (Row &row : rows) {
      auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < launches; ++i)
        row.launch();
      std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
      row.least = std::min(row.least, taken.count() / launches);
      need(driver.synchronize(stream), "cuStreamSynchronize");
    }
}

/// A kernel that does nothing, with an argument block as large as the program's; the driver
/// compiles it.
void *emptyKernel(const Driver &driver) {
  std::string text = ".version 7.8\n.target sm_90\n.address_size 64\n"
                     ".visible .entry empty(.param .align 64 .b8 args[" +
                     std::to_string(kArgumentBytes) + "]) { ret; }\n";
  void *module = nullptr, *function = nullptr;
  need(driver.load(&module, text.c_str()), "cuModuleLoadData");
  need(driver.function(&function, module, "empty"), "cuModuleGetFunction");
  return function;
}

Compiled compile(Jit &jit, int times) {
  Program program = addProgram(times);
  Expected<Compiled> compiled = jit.compile(program, "h200");
  if (!compiled)
    check(compiled.status());
  return *compiled;
}

/// Each beside as many bare launches.
void print(const std::vector<Row> &rows) {
  std::printf("| what | us | over the bare launch |\n|---|---|---|\n");
  for (size_t i = 0; i < rows.size(); ++i) {
    double bare = rows[rows[i].what.find("five") == std::string::npos ? 0 : rows.size() - 2].least;
    std::printf("| %s | %.2f | %+.2f |\n", rows[i].what.c_str(), rows[i].least,
                rows[i].least - bare);
  }
}

} // namespace

int main(int argc, char **argv) {
  Driver driver;
  void *context = nullptr, *stream = nullptr;
  need(driver.init(0), "cuInit");
  need(driver.retain(&context, 0), "cuDevicePrimaryCtxRetain");
  need(driver.setCurrent(context), "cuCtxSetCurrent");
  need(driver.createStream(&stream, 1), "cuStreamCreate");
  uint64_t memory[5];
  for (uint64_t &one : memory) {
    need(driver.allocate(&one, 256), "cuMemAlloc");
    need(driver.fill(one, 0x3f800000, 64), "cuMemsetD32"); // 1.0
  }

  Jit jit;
  Compiled add = compile(jit, 1), chain = compile(jit, 5);
  std::vector<RawTensor> t;
  for (uint64_t one : memory)
    t.push_back(RawTensor(reinterpret_cast<void *>(one), DType::F32, {8, 8}).onGpu(0));
  check(add.on(stream, t[0], t[1], t[2], t[3], t[4]));
  need(driver.synchronize(stream), "cuStreamSynchronize");
  float sum = 0;
  need(driver.copyToHost(&sum, memory[4], 4), "cuMemcpyDtoH");
  if (sum != 4)
    fail("1 + 1 + 1 + 1 was " + std::to_string(sum));

  alignas(64) char block[kArgumentBytes] = {};
  void *function = emptyKernel(driver), *parameters[] = {block};
  LaunchConfig config{{1, 1, 1}, {128, 1, 1}, 0, stream, nullptr, 0};
  std::vector<Row> rows;
  rows.push_back({"bare launch by the driver, empty kernel",
                  [&] { driver.launch(&config, function, parameters, nullptr); }});
  rows.push_back(
      {"Kiln, call of the JIT", [&] { check(add.on(stream, t[0], t[1], t[2], t[3], t[4])); }});
  kiln_cuda_program *bundle = argc > 1 ? kiln_cuda_open(argv[1]) : nullptr;
  if (argc > 1 && !bundle)
    fail(kiln_cuda_error());
  kiln_tensor tensors[5];
  for (int i = 0; i < 5; ++i)
    tensors[i] = {
        reinterpret_cast<void *>(memory[i]), {8, 8, 1, 1, 1}, {8, 1, 0, 0, 0}, KILN_F32, 2, 0};
  kiln_args args{tensors, nullptr, 5, 0};
  if (bundle)
    rows.push_back({"Kiln, call of a bundle", [&] {
                      if (kiln_cuda_launch(bundle, &args, stream) != 0)
                        fail(kiln_cuda_error());
                    }});
  rows.push_back({"five bare launches by the driver", [&] {
                    for (int i = 0; i < 5; ++i)
                      driver.launch(&config, function, parameters, nullptr);
                  }});
  rows.push_back({"Kiln, call of the JIT, five kernels (a graph)",
                  [&] { check(chain.on(stream, t[0], t[1], t[2], t[3], t[4])); }});
  measure(rows, driver, stream);
  print(rows);
  JitCounters counters = jit.counters();
  std::printf("graphs made: %llu, launched: %llu\n", (unsigned long long)counters.graphs,
              (unsigned long long)counters.graphLaunches);
  if (bundle)
    kiln_cuda_close(bundle);
  return 0;
}
