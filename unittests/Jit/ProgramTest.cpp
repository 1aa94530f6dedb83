//===- ProgramTest.cpp - real programs through the JIT ------------------------------------===//
#include "kiln/Language/Program.h"
#include "kiln/Jit/Jit.h"
#include "kiln/Jit/ProgramSource.h"
#include "kiln/Language/Library.h"
#include "kiln/Language/ProgramAccess.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/mman.h>

using namespace kiln;

namespace {

template <typename T> T take(Expected<T> value, int line = __builtin_LINE()) {
  if (!value) {
    std::fprintf(stderr, "ProgramTest.cpp:%d: %s\n", line, value.status().str().c_str());
    std::abort();
  }
  return std::move(*value);
}

#define EXPECT_OK(expr)                                                                            \
  do {                                                                                             \
    Status status_ = (expr);                                                                       \
    EXPECT_TRUE(status_.isOk()) << status_.str();                                                  \
  } while (false)

/// c = a @ b; one block for each tile of c.
Program matmulProgram(int64_t block = 32) {
  Program p("matmul");
  p.orchestration("main", {"a", "b", "c"}, [&](In<f32> a, In<f32> b, Out<f32> c) {
    spmd("matmul", {ceildiv(c.dim(0), block), ceildiv(c.dim(1), block)}, {},
         [&](Index bi, Index bj) {
           Index i = bi * block, j = bj * block;
           Tile acc = zeros<f32>(block, block);
           acc = loop(0, a.dim(1), block, acc, [&](Index k, Tile acc) {
             return matmul_acc(acc, load(a, {i, k}, {block, block}),
                               load(b, {k, j}, {block, block}));
           });
           store(acc, c, {i, j});
         });
  });
  return p;
}

/// One row of x: x[i, 0:16] = s. A kernel, so calls of it run inline.
Program fillRowProgram() {
  Program p("fill_row");
  p.kernel("fill_row", {"x", "i", "s"}, [](Out<f32> x, Index i, Scalar<f32> s) {
    store(zeros<f32>(1, 16) + s, x, {i, x.dim(1) - 16});
  });
  return p;
}

Tensor randomTensor(Dims extents, unsigned seed) {
  Tensor tensor = take(Tensor::empty(DType::F32, extents));
  uint64_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    tensor.dataAs<float>()[i] = float(int64_t(state >> 60) - 8);
  }
  return tensor;
}

struct Operands {
  Tensor a, b, c;
  explicit Operands(int64_t m, int64_t k = 64, int64_t n = 32)
      : a(randomTensor({m, k}, unsigned(m))), b(randomTensor({k, n}, 7)),
        c(take(Tensor::empty(DType::F32, {m, n}))) {
    EXPECT_OK(c.fillPoison());
  }
  /// Small integers: exact in any order.
  bool isRight() const {
    auto at = [](const Tensor &t, int64_t i, int64_t j) {
      return t.dataAs<float>()[i * t.stride(0) + j * t.stride(1)];
    };
    for (int64_t i = 0; i < c.extent(0); ++i)
      for (int64_t j = 0; j < c.extent(1); ++j) {
        float sum = 0;
        for (int64_t k = 0; k < a.extent(1); ++k)
          sum += at(a, i, k) * at(b, k, j);
        if (!(at(c, i, j) == sum))
          return false;
      }
    return true;
  }
};

JitOptions optionsFor(const std::string &directory) {
  JitOptions options;
  options.cache = {};
  options.cache.directory = directory;
  return options;
}

struct JitMatmul : ::testing::Test {
  Jit jit{optionsFor("")};
  Program program = matmulProgram();
  Compiled f = take(jit.compile(program));

  void expectCounts(uint64_t compiles, uint64_t callStates, int line = __builtin_LINE()) {
    EXPECT_EQ(jit.counters().compiles, compiles) << "line " << line;
    EXPECT_EQ(jit.counters().callStates, callStates) << "line " << line;
  }
};

TEST_F(JitMatmul, test_one_artifact_for_all_shapes) {
  for (int64_t m : {1, 7, 2048, 4096, 8192}) {
    Operands o(m);
    EXPECT_OK(f(o.a, o.b, o.c));
    EXPECT_TRUE(o.isRight()) << m;
  }
  expectCounts(1, 1);
}

TEST_F(JitMatmul, test_all_forms_share_one_call_state) {
  for (int64_t m : {1, 7, 64, 200}) {
    Operands o(m);
    EXPECT_OK(f(RawTensor(o.a.data(), DType::F32, {m, 64}),
                RawTensor(o.b.data(), DType::F32, {64, 32}),
                RawTensor(o.c.data(), DType::F32, {m, 32})));
    EXPECT_TRUE(o.isRight()) << m;
  }
  Operands o(33);
  int64_t shape[] = {33, 64};
  DLTensor a{o.a.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  EXPECT_OK(f(&a, TensorAdaptor(o.b), TensorAdaptor(o.c).mark_layout_dynamic()));
  EXPECT_TRUE(o.isRight());
  expectCounts(1, 1);
}

TEST_F(JitMatmul, test_static_mark_compiles_once_per_extent) {
  for (int round = 0; round < 2; ++round)
    for (int64_t m : {8, 40}) {
      Operands o(m);
      EXPECT_OK(f(TensorAdaptor(o.a).mark_static(), o.b, TensorAdaptor(o.c).mark_static({0})));
      EXPECT_TRUE(o.isRight()) << m;
    }
  expectCounts(2, 2);
  Operands o(24);
  EXPECT_OK(f(TensorAdaptor(o.a).mark_static().mark_layout_dynamic(), o.b, o.c));
  EXPECT_TRUE(o.isRight());
  expectCounts(3, 3);
}

TEST_F(JitMatmul, test_thin_transposed_and_strided_tensors) {
  auto run = [&](Operands o, const char *what) {
    EXPECT_OK(o.c.fillPoison());
    EXPECT_OK(f(o.a, o.b, o.c));
    EXPECT_TRUE(o.isRight()) << what;
  };
  run(Operands(16, 64, 1), "(n, 1)");
  run(Operands(1, 64, 16), "(1, n)");
  run(Operands(1, 1, 1), "one element");
  run(Operands(5, 0, 3), "sums of nothing");
  run(Operands(0, 4, 3), "nothing at all");
  Operands columns(16);
  columns.a = take(randomTensor({64, 16}, 3).transpose({1, 0}));
  columns.b = take(randomTensor({32, 64}, 4).transpose({1, 0}));
  columns.c = take(take(Tensor::empty(DType::F32, {32, 16})).transpose({1, 0}));
  run(columns, "column-major");
  Tensor wide = randomTensor({16, 256}, 5);
  Operands strided(16);
  strided.a = take(Tensor::view(wide.data(), DType::F32, {16, 64}, {256, 2}));
  run(strided, "every second column");
  Operands shifted(16);
  shifted.a = take(wide.slice({0, 3}, {16, 64}));
  run(shifted, "not aligned");
}

TEST(JitProgram, test_small_then_larger_than_four_gigabytes) {
  Jit jit(optionsFor(""));
  Program program = fillRowProgram();
  Compiled fill = take(jit.compile(program));
  Tensor small = take(Tensor::empty(DType::F32, {4, 16}));
  EXPECT_OK(fill(small, 3, 1.5));
  EXPECT_EQ(small.dataAs<float>()[63], 1.5f);
  constexpr int64_t rows = int64_t(5 << 10) + 1, columns = int64_t(1) << 18; // over 5 GiB
  size_t bytes = size_t(rows) * columns * sizeof(float);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    GTEST_SKIP() << "5 GiB of address space cannot be mapped here";
  RawTensor large(memory, DType::F32, {rows, columns});
  EXPECT_OK(fill(large, rows - 1, 2.5));
  EXPECT_OK(fill(large, rows / 2, 3.5));
  auto *data = static_cast<float *>(memory);
  EXPECT_EQ(data[rows * columns - 1], 2.5f);
  EXPECT_EQ(data[(rows / 2 + 1) * columns - 16], 3.5f);
  EXPECT_EQ(jit.counters().compiles, 2u);
  munmap(memory, bytes);
}

TEST(JitProgram, test_second_process_finds_it_on_disk) {
  std::string directory =
      (std::filesystem::temp_directory_path() / ("kiln-jit-test-" + std::to_string(getpid())))
          .string();
  for (uint64_t compiles : {1, 0}) {
    Jit jit(optionsFor(directory)); // as a process would: nothing in memory
    Program program = matmulProgram();
    Operands o(40);
    EXPECT_OK(take(jit.compile(program))(o.a, o.b, o.c));
    EXPECT_TRUE(o.isRight());
    EXPECT_EQ(jit.counters().compiles, compiles);
  }
  Jit jit(optionsFor(directory));
  Program other = matmulProgram(16);
  Operands o(40);
  EXPECT_OK(take(jit.compile(other))(o.a, o.b, o.c));
  EXPECT_TRUE(o.isRight());
  EXPECT_EQ(jit.counters().compiles, 1u) << "another program";
  std::filesystem::remove_all(directory);
}

TEST(JitProgram, test_hash_knows_the_program_and_not_where_it_stands) {
  auto record = [](double number) {
    Program p("p");
    p.kernel("k", {"x"}, [&](InOut<f32> x) { store(load(x, {0, 0}, {8, 8}) * number, x, {0, 0}); });
    return p;
  };
  auto recordElsewhere = [](double number) {
    Program p("p");
    p.kernel("k", {"x"}, [&](InOut<f32> x) {
      Tile loaded = load(x, {0, 0}, {8, 8});
      store(loaded * number, x, {0, 0});
    });
    return p;
  };
  Program a = record(2), b = recordElsewhere(2), c = record(3);
  ASSERT_TRUE(a.errors().empty() && b.errors().empty() && c.errors().empty());
  EXPECT_EQ(programHash(moduleOf(a)), programHash(moduleOf(b)));
  EXPECT_NE(programHash(moduleOf(a)), programHash(moduleOf(c)));
  std::string identity = take(makeProgramSource(moduleOf(a), {}))->identity();
  EXPECT_EQ(identity, take(makeProgramSource(moduleOf(b), {}))->identity());
  for (const char *line :
       {"program p ", "entry k", "toolchain kiln-", "platform cpu", "arch ", "caches "})
    EXPECT_NE(("\n" + identity).find(std::string("\n") + line), std::string::npos) << identity;
}

TEST(JitProgram, test_errors_of_programs) {
  Jit jit(optionsFor(""));
  Program broken("broken");
  broken.kernel("k", {"x"},
                [](Out<f32> x) { store(zeros<f32>(8, 8) + zeros<f32>(8, 7), x, {0, 0}); });
  Status wrong = jit.compile(broken).status();
  EXPECT_FALSE(wrong.isOk());
  EXPECT_GT(wrong.location().line, 0);
  Program good = fillRowProgram();
  EXPECT_EQ(jit.compile(good, "h200").status().code(), StatusCode::Unsupported);
}

TEST(JitProgram, test_from_c) {
  const char text[] = R"(
    kiln.func @add(%x: !kiln.tensor<?x8xf32>, %s: f32, %y: !kiln.tensor<?x8xf32>) incore {
      %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>
      %b = tile.full %s : !tile.tile<4x8xf32>
      %c = tile.add %a, %b : !tile.tile<4x8xf32>
      tile.store %c, %y[0, 0]
    })";
  kiln_jit *jit = kiln_jit_create();
  EXPECT_EQ(kiln_jit_compile(jit, "nonsense", 8, "cpu", nullptr), nullptr);
  EXPECT_NE(std::string(kiln_jit_error()), "");
  kiln_compiled *add = kiln_jit_compile(jit, text, sizeof text - 1, "cpu", nullptr);
  ASSERT_NE(add, nullptr) << kiln_jit_error();
  Tensor x = randomTensor({4, 8}, 1), y = take(Tensor::empty(DType::F32, {4, 8}));
  kiln_call_arg args[] = {CallArg(x), CallArg(0.5), CallArg(y)};
  EXPECT_EQ(kiln_compiled_compile_only(add, args, 3), 0) << kiln_jit_error();
  EXPECT_EQ(kiln_compiled_call(add, args, 3), 0) << kiln_jit_error();
  EXPECT_EQ(y.dataAs<float>()[31], x.dataAs<float>()[31] + 0.5f);
  EXPECT_NE(kiln_compiled_call(add, args, 2), 0);
  EXPECT_NE(std::string(kiln_jit_error()).find("takes 3 arguments (x, s, y)"), std::string::npos)
      << kiln_jit_error();
  kiln_compiled_destroy(add);
  kiln_jit_destroy(jit);
}

} // namespace
