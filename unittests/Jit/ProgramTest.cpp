//===- ProgramTest.cpp - real programs through the JIT ------------------------------------===//
#include "kiln/Language/Program.h"
#include "JitTestSupport.h"
#include "MatmulProgram.h"
#include "kiln/Dialect/Kiln/ParameterFacts.h"
#include "kiln/Dialect/ProgramText.h"
#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Language/ProgramAccess.h"
#include "kiln/Platform/Platform.h"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace kiln;
using namespace kiln::test;

namespace {

/// One row of x: x[i, 0:16] = s. A kernel, so calls of it run inline.
Program fillRowProgram() {
  Program p("fill_row");
  p.kernel("fill_row", {"x", "i", "s"}, [](Out<f32> x, Index i, Scalar<f32> s) {
    store(zeros<f32>(1, 16) + s, x, {i, x.dim(1) - 16});
  });
  return p;
}

struct JitMatmul : ::testing::Test {
  TestJit test;
  Program program = matmulProgram();
  Compiled f = take(test.jit.compile(program));
};

TEST_F(JitMatmul, OneArtifactForAllShapes) {
  for (int64_t m : {1, 7, 2048, 4096, 8192}) {
    Operands o(m);
    EXPECT_OK(f(o.a, o.b, o.c));
    EXPECT_TRUE(o.isRight()) << m;
  }
  test.expectCounts(1, 1);
}

TEST_F(JitMatmul, OneArtifactForRaggedShapes) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    Operands o(1 + random() % 70, 1 + random() % 70, 1 + random() % 70);
    EXPECT_OK(f(o.a, o.b, o.c));
    EXPECT_TRUE(o.isRight()) << o.a.str() << " " << o.b.str();
  }
  test.expectCounts(1, 1);
}

/// A kernel by itself, although an orchestration of the same program launches it.
TEST(JitProgram, ALaunchedKernelCanBeCalled) {
  Program p("both");
  Kernel twice = p.kernel("twice", {"x", "y"}, [](In<f32> x, Out<f32> y) {
    store(load(x, {0, 0}, {8, 8}) * 2.0, y, {0, 0});
  });
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    TensorRef half = alloc<f32>("half", {x.dim(0), x.dim(1)});
    submit(twice, {x, half});
    spmd("once_more", {1}, {}, [&](Index) { store(load(half, {0, 0}, {8, 8}) * 3.0, y, {0, 0}); });
  });
  TestJit test;
  Tensor x = randomTensor({8, 8}, 1), y = take(Tensor::empty(DType::F32, {8, 8}));
  for (auto [entry, factor] : {std::pair{"main", 6}, {"twice", 2}, {"once_more", 3}}) {
    ProgramSourceOptions options;
    options.entry = entry;
    Compiled f = test.jit.compile(take(makeProgramSource(moduleOf(p.recorder()), options)));
    EXPECT_OK(y.fillPoison());
    EXPECT_OK(f(x, y));
    for (int64_t i = 0; i < 64; ++i)
      ASSERT_EQ(y.dataAs<float>()[i], x.dataAs<float>()[i] * float(factor)) << entry;
  }
}

TEST_F(JitMatmul, AllFormsShareOneCallState) {
  for (int64_t m : {1, 7, 64, 200}) {
    Operands o(m);
    EXPECT_OK(f(RawTensor(o.a.data(), DType::F32, {m, 64}),
                RawTensor(o.b.data(), DType::F32, {64, 32}),
                RawTensor(o.c.data(), DType::F32, {m, 32})));
    EXPECT_TRUE(o.isRight()) << m;
  }
  Operands o(33);
  int64_t shape[2], strides[2];
  DLTensor a = dlOf(o.a, shape, strides);
  EXPECT_OK(f(&a, TensorAdaptor(o.b), TensorAdaptor(o.c).mark_layout_dynamic()));
  EXPECT_TRUE(o.isRight());
  test.expectCounts(1, 1);
}

TEST_F(JitMatmul, StaticMarkCompilesOncePerExtent) {
  for (int round = 0; round < 2; ++round)
    for (int64_t m : {8, 40}) {
      Operands o(m);
      EXPECT_OK(f(TensorAdaptor(o.a).mark_static(), o.b, TensorAdaptor(o.c).mark_static({0})));
      EXPECT_TRUE(o.isRight()) << m;
    }
  test.expectCounts(2, 2);
  Operands o(24);
  EXPECT_OK(f(TensorAdaptor(o.a).mark_static().mark_layout_dynamic(), o.b, o.c));
  EXPECT_TRUE(o.isRight());
  test.expectCounts(3, 3);
}

TEST_F(JitMatmul, ThinTransposedAndStridedTensors) {
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

TEST(JitProgram, SmallThenLargerThanFourGigabytes) {
  TestJit test;
  Program program = fillRowProgram();
  Compiled fill = take(test.jit.compile(program));
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
  test.expectCounts(1, 2); // the CPU's code computes offsets with 64 bits anyway
  munmap(memory, bytes);
}

/// Compiles as the default platform does, after reading a fact itself, and declares other facts.
struct OtherFacts final : JitBackend {
  FactSet declared;
  llvm::StringRef alsoRead;
  std::unique_ptr<JitBackend> real = defaultPlatform(Capability::Jit).makeJitBackend("", "");

  OtherFacts(FactSet facts, llvm::StringRef fact) : declared(facts), alsoRead(fact) {}
  const std::string &arch() const override { return real->arch(); }
  FactSet reads() const override { return declared; }
  Expected<Artifact> compile(mlir::ModuleOp compiled, const std::string &entry,
                             size_t places) const override {
    if (!alsoRead.empty())
      (void)ir::readFact(compiled.lookupSymbol<ir::FuncOp>(entry), 0, alsoRead);
    return real->compile(compiled, entry, places);
  }
};

struct OtherFactsPlatform final : Platform {
  FactSet declared;
  llvm::StringRef alsoRead;
  OtherFactsPlatform(std::string name, FactSet facts, llvm::StringRef fact = "")
      : Platform({.name = std::move(name),
                  .machine = defaultPlatform(Capability::Jit).machine(),
                  .can = {Capability::Jit}}),
        declared(facts), alsoRead(fact) {}
  std::unique_ptr<JitBackend> makeJitBackend(const std::string &,
                                             const std::string &) const override {
    return std::make_unique<OtherFacts>(declared, alsoRead);
  }
};

/// What is declared decides how many artifacts there are; what is read must be declared.
TEST(JitProgram, PlatformsDeclareTheFactsTheyRead) {
  auto call = [](const std::string &name, FactSet facts, llvm::StringRef alsoRead, TestJit &test) {
    EXPECT_OK(registerPlatform(std::make_unique<OtherFactsPlatform>(name, facts, alsoRead)));
    Program program = fillRowProgram();
    Compiled fill = take(test.jit.compile(program, name));
    Status done;
    for (int64_t rows : {4, 5, 6}) {
      Tensor x = take(Tensor::empty(DType::F32, {rows, 16}));
      if (done = fill(TensorAdaptor(x).mark_static(), 3, 1.5); !done.isOk())
        return done;
      EXPECT_EQ(x.dataAs<float>()[63], 1.5f);
    }
    return done;
  };
  TestJit with, without, peels, reads;
  EXPECT_OK(call("all", FactSet::all(), ir::kOffsets32Attr, with));
  with.expectCounts(3, 3);
  EXPECT_OK(call("nothing static", FactSet::all().without(Fact::Static), "", without));
  without.expectCounts(1, 3);
  // The passes and the code generator of the CPU ask what divides extents.
  expectError(call("nothing divisible", {Fact::Leading, Fact::Static}, "", peels),
              StatusCode::Internal, {"internal error", "'divisible'", "'x'", "does not declare"});
  expectError(call("no offsets", {Fact::Divisible}, ir::kOffsets32Attr, reads),
              StatusCode::Internal, {"internal error", "'offsets32'", "'x'", "does not declare"});
  reads.expectCounts(0, 0);
}

TEST(JitProgram, SecondProcessFindsItOnDisk) {
  TempDir dir;
  for (uint64_t compiles : {1, 0}) {
    TestJit test(dir.str()); // as a process would: nothing in memory
    Program program = matmulProgram();
    Operands o(40);
    EXPECT_OK(take(test.jit.compile(program))(o.a, o.b, o.c));
    EXPECT_TRUE(o.isRight());
    EXPECT_EQ(test.jit.counters().compiles, compiles);
  }
  TestJit test(dir.str());
  Program other = matmulProgram(16);
  Operands o(40);
  EXPECT_OK(take(test.jit.compile(other))(o.a, o.b, o.c));
  EXPECT_TRUE(o.isRight());
  EXPECT_EQ(test.jit.counters().compiles, 1u) << "another program";
}

TEST(JitProgram, HashKnowsTheProgramAndNotWhereItStands) {
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
  EXPECT_EQ(programHash(moduleOf(a.recorder())), programHash(moduleOf(b.recorder())));
  EXPECT_NE(programHash(moduleOf(a.recorder())), programHash(moduleOf(c.recorder())));
  std::string identity = take(makeProgramSource(moduleOf(a.recorder()), {}))->identity();
  EXPECT_EQ(identity, take(makeProgramSource(moduleOf(b.recorder()), {}))->identity());
  for (const char *line :
       {"program p ", "entry k", "toolchain kiln-", "platform cpu", "arch ", "caches "})
    EXPECT_NE(("\n" + identity).find(std::string("\n") + line), std::string::npos) << identity;
}

/// Several programs, each an orchestration, called by many threads at once.
TEST(JitProgram, ManyCallersOfSeveralPrograms) {
  TestJit test;
  std::vector<Compiled> programs;
  for (int64_t block : {16, 32, 48}) {
    Program program = matmulProgram(block);
    programs.push_back(take(test.jit.compile(program)));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 16; ++number)
    threads.emplace_back([&, number] {
      for (int round = 0; round < 12; ++round) {
        Operands o(1 + (7 * number + round) % 50);
        wrong += !programs[size_t(number + round) % 3](o.a, o.b, o.c).isOk() || !o.isRight();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  test.expectCounts(3, 3);
}

/// The linker inside removes its files when a signal comes, with handlers that must not outlast it.
TEST(JitProgram, SignalsAreHandledAsBefore) {
  TempDir dir; // what is kept on disk is linked
  auto handlers = [] {
    std::vector<void (*)(int)> list;
    for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGUSR1, SIGSEGV,
                       SIGUSR2, SIGTERM}) {
      struct sigaction action{};
      EXPECT_EQ(sigaction(signal, nullptr, &action), 0);
      list.push_back(action.sa_handler);
    }
    return list;
  };
  auto before = handlers();
  std::thread([&] {
    stack_t mine{}, after{};
    EXPECT_EQ(sigaltstack(nullptr, &mine), 0);
    TestJit test(dir.str());
    Program program = matmulProgram(16);
    Operands o(40);
    EXPECT_OK(take(test.jit.compile(program))(o.a, o.b, o.c));
    EXPECT_EQ(test.jit.counters().compiles, 1u);
    EXPECT_EQ(sigaltstack(nullptr, &after), 0);
    EXPECT_EQ(after.ss_sp, mine.ss_sp);
    EXPECT_EQ(after.ss_flags, mine.ss_flags);
  }).join();
  EXPECT_EQ(handlers(), before);
}

/// A kernel is called through an engine where calls are recorded; what it marked is known there.
TEST(JitProgram, DumpsOfMarkedTensors) {
  Program p("twice");
  p.kernel("twice", {"x", "y"}, [](In<f32> x, Out<f32> y) {
    dump(y);
    Tile loaded = load(x, {0, 0}, {4, 8});
    store(loaded + loaded, y, {0, 0});
  });
  TempDir dir;
  RecordOptions record;
  record.out = dir / "out";
  record.dumpLevel = 1;
  TestJit test("", false, record);
  Compiled twice = take(test.jit.compile(p));
  Tensor x = randomTensor({4, 8}, 1), y = take(Tensor::empty(DType::F32, {4, 8}));
  EXPECT_OK(twice(x, y));
  EXPECT_EQ(y.dataAs<float>()[31], 2 * x.dataAs<float>()[31]);
  DumpFile file = take(DumpFile::open(record.out + "/twice-1"));
  EXPECT_EQ(file.platform(), "cpu");
  ASSERT_EQ(file.entries().size(), 1u);
  EXPECT_EQ(file.entries()[0].argName, "y");
  EXPECT_EQ(take(file.load(file.entries()[0])).dataAs<float>()[31], y.dataAs<float>()[31]);
}

TEST(JitProgram, ErrorsOfPrograms) {
  TestJit test;
  Program broken("broken");
  broken.kernel("k", {"x"},
                [](Out<f32> x) { store(zeros<f32>(8, 8) + zeros<f32>(8, 7), x, {0, 0}); });
  Status wrong = test.jit.compile(broken).status();
  EXPECT_FALSE(wrong.isOk());
  EXPECT_GT(wrong.location().line, 0);
  Program good = fillRowProgram();
  EXPECT_EQ(test.jit.compile(good, "a2a3sim").status().code(), StatusCode::Unsupported);
}

/// What a program says of a call that fails, where the program begins `above` lines further down.
struct Fault {
  explicit Fault(TestJit &jit) : test(jit) {}

  Compiled programOf(const char *text, unsigned above, const char *entry) {
    mlir::DialectRegistry registry;
    registerKilnDialects(registry);
    mlir::MLIRContext context(registry);
    mlir::OwningOpRef<mlir::ModuleOp> module =
        parseProgram(std::string(above, '\n') + text, "far.mlir", &context);
    ProgramSourceOptions options;
    options.entry = entry;
    return test.jit.compile(take(makeProgramSource(*module, options)));
  }
  Status of(Compiled program) { return program(x, 64, y); }
  Status of(const char *text, unsigned above, const char *entry = "") {
    return of(programOf(text, above, entry));
  }

  TestJit &test;
  Tensor x = randomTensor({8, 8}, 1), y = take(Tensor::empty(DType::F32, {8, 8}));
};

/// A kernel that can be called by itself, and an orchestration that launches it.
constexpr const char *kFar = R"(
kiln.func @far(%x: !kiln.tensor<?x?xf32> in, %n: index, %y: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%n, %c0] : !tile.tile<8x8xf32>
  tile.store %t, %y[%c0, %c0]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %n: index, %y: !kiln.tensor<?x?xf32> out) orchestration {
  kiln.submit @far(%x, %n, %y)
})";

TEST(JitProgram, FaultsAreAtTheLinesOfTheProgramThatIsCalled) {
  TempDir dir;
  TestJit first(dir / "cache");
  Fault fault(first);
  for (const char *entry : {"main", "far"})
    for (unsigned above : {0, 5, 0}) {
      Status wrong = fault.of(kFar, above, entry);
      EXPECT_TRUE(contains(wrong.message(), "outside")) << wrong.str();
      EXPECT_EQ(wrong.location(), (SourceLoc{"far.mlir", int32_t(4 + above), 8})) << wrong.str();
    }
  first.expectCounts(2, 6);
  TestJit second(dir / "cache"); // as another process
  EXPECT_EQ(Fault(second).of(kFar, 2, "main").location().line, 6);
  EXPECT_EQ(second.jit.counters().compiles, 0u);
  EXPECT_EQ(second.jit.counters().diskHits, 1u);
}

/// How many objects of code this process has mapped.
size_t objectsMapped() {
  size_t found = 0;
  for (const auto &file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    found += contains(std::filesystem::read_symlink(file, gone).string(), "memfd:kiln-");
  }
  return found;
}

/// A notebook runs a cell again and again, and each time its program stands elsewhere.
TEST(JitProgram, CodeIsLoadedForProgramsThatAreThere) {
  TestJit test;
  Fault fault(test);
  size_t before = objectsMapped();
  for (unsigned above = 0; above < 20; ++above)
    EXPECT_EQ(fault.of(kFar, above, "main").location().line, int32_t(4 + above));
  EXPECT_EQ(objectsMapped(), before + 1);
  std::vector<Compiled> living;
  for (unsigned above : {0, 1, 2, 1, 0})
    living.push_back(fault.programOf(kFar, above, "main"));
  for (int round = 0; round < 2; ++round)
    for (int32_t i = 0; i < 5; ++i)
      EXPECT_EQ(fault.of(living[size_t(i)]).location().line, 4 + (i < 3 ? i : 4 - i));
  EXPECT_EQ(objectsMapped(), before + 3) << "equal programs in one place share the code";
  EXPECT_EQ(test.jit.counters().compiles, 1u);
}

/// How a forked process ends that loads a program by itself, if other threads were at it; it has a
/// minute.
int endOfForked(const std::string &cache) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    TestJit own(cache);
    _exit(Fault(own).of(kFar, 1000, "far").location().line == 1004 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(JitProgram, AForkedProcessLoadsCodeWhateverOtherThreadsWereAt) {
  TempDir dir;
  TestJit test(dir / "cache");
  EXPECT_FALSE(Fault(test).of(kFar, 0, "far").isOk());
  std::atomic<bool> isOver{false};
  std::vector<std::thread> others;
  for (unsigned thread = 0; thread < 6; ++thread)
    others.emplace_back([&, thread] {
      Fault fault(test);
      for (unsigned above = thread; !isOver; above += 6)
        EXPECT_FALSE(fault.of(kFar, above, "far").isOk());
    });
  int end = 0;
  for (int round = 0; round < 60 && end == 0; ++round)
    end = endOfForked(dir / "cache");
  EXPECT_EQ(end, 0);
  isOver = true;
  for (std::thread &each : others)
    each.join();
}

/// Recorded calls name the launches of the text that was recorded now.
TEST(JitProgram, RecordsAreAtTheLinesOfTheProgramThatIsCalled) {
  TempDir dir;
  RecordOptions record;
  record.out = dir / "out";
  record.dumpLevel = 1;
  record.timeline = true;
  TestJit test("", false, record);
  Fault fault(test);
  for (unsigned above : {0, 7})
    EXPECT_FALSE(fault.of(kFar, above, "main").isOk());
  test.expectCounts(1, 2);
  for (auto [call, line] : {std::pair{"main-1", 8}, {"main-2", 15}}) {
    std::string graph = readText(record.out + "/" + call + "/graph.json");
    EXPECT_TRUE(contains(graph, "far.mlir:" + std::to_string(line))) << graph;
  }
}

TEST(JitProgram, TensorsOfTheHostAreNotGivenToAGpu) {
  EXPECT_STREQ(kiln_jit_platform(0), "cpu");
  TestJit test;
  Program good = fillRowProgram();
  Compiled compiled = take(test.jit.compile(good, kiln_jit_platform(1)));
  float memory[64] = {};
  expectError(compiled.call(std::vector<CallArg>(compiled.parameters().size(),
                                                 CallArg(RawTensor(memory, DType::F32, {8, 8})))),
              StatusCode::InvalidArgument, {"host's memory", "runs on a GPU"});
}

TEST(JitProgram, FromC) {
  const char text[] = R"(
    kiln.func @add(%x: !kiln.tensor<?x8xf32>, %s: f32, %y: !kiln.tensor<?x8xf32>) incore {
      %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>
      %b = tile.full %s : !tile.tile<4x8xf32>
      %c = tile.add %a, %b : !tile.tile<4x8xf32>
      tile.store %c, %y[0, 0]
    })";
  TempDir dir;
  setenv("KILN_CACHE_DIR", dir.str().c_str(), 1);
  kiln_jit *jit = kiln_jit_create();
  unsetenv("KILN_CACHE_DIR");
  auto refuses = [&](kiln_jit *with, const char *program, const char *platform, const char *entry,
                     const char *why) {
    EXPECT_EQ(kiln_jit_compile(with, program, program ? strlen(program) : 0, platform, entry),
              nullptr);
    EXPECT_TRUE(contains(kiln_jit_error(), why)) << kiln_jit_error();
  };
  refuses(jit, "nonsense", "cpu", nullptr, "error");
  refuses(jit, "", "cpu", nullptr, "");
  refuses(jit, text, "abacus", nullptr, "'abacus'");
  refuses(jit, text, "cpu", "nobody", "nobody");
  std::string deep = "kiln.func @f(%a: ";
  for (int level = 0; level < 100000; ++level)
    deep += "tuple<\n";
  refuses(jit, deep.c_str(), "cpu", nullptr, "nested more than 256 deep here");
  refuses(jit, nullptr, "cpu", nullptr, "text is NULL");
  refuses(nullptr, text, "cpu", nullptr, "JIT is NULL");
  kiln_compiled *add = kiln_jit_compile(jit, text, sizeof text - 1, "cpu", nullptr);
  ASSERT_NE(add, nullptr) << kiln_jit_error();
  Tensor x = randomTensor({4, 8}, 1), y = take(Tensor::empty(DType::F32, {4, 8}));
  kiln_call_arg args[] = {CallArg(x), CallArg(0.5), CallArg(y)};
  EXPECT_EQ(kiln_compiled_compile_only(add, args, 3), 0) << kiln_jit_error();
  EXPECT_EQ(kiln_compiled_call(add, args, 3), 0) << kiln_jit_error();
  EXPECT_EQ(y.dataAs<float>()[31], x.dataAs<float>()[31] + 0.5f);
  kiln_jit_counters counters;
  kiln_jit_get_counters(jit, &counters);
  EXPECT_EQ(counters.call_states, 1u);
  EXPECT_EQ(counters.compiles, 1u);
  EXPECT_EQ(counters.disk_hits, 0u);
  EXPECT_NE(kiln_compiled_call(add, nullptr, 3), 0);
  EXPECT_TRUE(contains(kiln_jit_error(), "arguments is NULL")) << kiln_jit_error();
  EXPECT_NE(kiln_compiled_call(add, args, 2), 0);
  EXPECT_NE(std::string(kiln_jit_error()).find("takes 3 arguments (x, s, y)"), std::string::npos)
      << kiln_jit_error();
  kiln_compiled_destroy(add);
  kiln_jit_destroy(jit);
}

TEST(JitProgram, OptionsAndParametersFromC) {
  const char text[] = R"(
    kiln.func @add(%x: !kiln.tensor<?x8xf32> in, %s: f32, %y: !kiln.tensor<?x8xf32> out) incore {
      %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>
      tile.store %a, %y[0, 0]
    })";
  TempDir dir;
  std::vector<std::string> lines;
  kiln_jit_options options = {};
  EXPECT_EQ(kiln_jit_create_with(nullptr), nullptr);
  EXPECT_EQ(kiln_jit_create_with(&options), nullptr); // its size is 0
  EXPECT_TRUE(contains(kiln_jit_error(), "size")) << kiln_jit_error();
  options.size = sizeof options;
  std::string file = dir.str() + "/taken";
  std::ofstream(file) << "not a directory";
  options.cache_dir = file.c_str();
  options.log = [](void *data, const char *line) {
    static_cast<std::vector<std::string> *>(data)->push_back(line);
  };
  options.log_data = &lines;
  kiln_jit *jit = kiln_jit_create_with(&options);
  ASSERT_NE(jit, nullptr) << kiln_jit_error();
  kiln_compiled *add = kiln_jit_compile(jit, text, sizeof text - 1, "cpu", nullptr);
  ASSERT_NE(add, nullptr) << kiln_jit_error();

  ASSERT_EQ(kiln_compiled_num_parameters(add), 3u);
  kiln_parameter parameter;
  ASSERT_EQ(kiln_compiled_parameter(add, 1, &parameter), 0);
  EXPECT_STREQ(parameter.name, "s");
  EXPECT_EQ(parameter.is_scalar, 1);
  EXPECT_EQ(parameter.dtype, KILN_F32);
  ASSERT_EQ(kiln_compiled_parameter(add, 2, &parameter), 0);
  EXPECT_STREQ(parameter.name, "y");
  EXPECT_EQ(parameter.is_scalar, 0);
  EXPECT_EQ(parameter.direction, KILN_OUT);
  EXPECT_EQ(parameter.rank, 2u);
  EXPECT_EQ(parameter.extents[0], -1);
  EXPECT_EQ(parameter.extents[1], 8);
  EXPECT_NE(kiln_compiled_parameter(add, 3, &parameter), 0);
  EXPECT_TRUE(contains(kiln_jit_error(), "no number 3")) << kiln_jit_error();
  EXPECT_NE(kiln_compiled_parameter(add, 0, nullptr), 0);
  EXPECT_EQ(kiln_compiled_num_parameters(nullptr), 0u);
  EXPECT_TRUE(contains(kiln_version(), ".")) << kiln_version();

  // A cache that cannot be written stops nothing, but is told of.
  Tensor x = randomTensor({4, 8}, 1), y = take(Tensor::empty(DType::F32, {4, 8}));
  kiln_call_arg args[] = {CallArg(x), CallArg(0.5), CallArg(y)};
  EXPECT_EQ(kiln_compiled_call(add, args, 3), 0) << kiln_jit_error();
  EXPECT_FALSE(lines.empty());
  kiln_compiled_destroy(add);
  kiln_jit_destroy(jit);
}

/// y = 2 * x, in whole tiles.
Program wholeTilesProgram() {
  Program p("whole_tiles");
  p.orchestration("main", {"x", "y", "n"}, [&](In<f32> x, Out<f32> y, Index n) {
    require(x.dim(0) % 8 == 0 && x.dim(1) % 16 == 0, "x comes in tiles of 8x16");
    require_same_shape(x, y, "y has the shape of x");
    require(n >= 3, "n is at least 3");
    spmd("twice", {x.dim(0) / 8, x.dim(1) / 16}, {}, [&](Index bi, Index bj) {
      store(load(x, {bi * 8, bj * 16}, {8, 16}) * 2, y, {bi * 8, bj * 16});
    });
  });
  return p;
}

TEST(JitProgram, EveryCallSatisfiesWhatIsRequired) {
  TestJit test;
  Program program = wholeTilesProgram();
  Compiled twice = take(test.jit.compile(program));
  auto call = [&](int64_t rows, int64_t cols, int n) {
    Tensor x = randomTensor({rows, cols}, 7), y = take(Tensor::empty(DType::F32, {rows, cols}));
    Status done = twice(x, y, n);
    for (int64_t i = 0; done.isOk() && i < x.numElements(); ++i)
      EXPECT_EQ(y.dataAs<float>()[i], 2 * x.dataAs<float>()[i]);
    return done;
  };
  // Before anything is compiled.
  expectError(call(8, 17, 3), StatusCode::InvalidArgument,
              {"'main' requires x.dim(0) % 8 == 0 && x.dim(1) % 16 == 0",
               "x.dim(0) is 8 and x.dim(1) is 17", "x comes in tiles of 8x16"});
  EXPECT_EQ(test.jit.counters().compiles, 0u);
  EXPECT_OK(call(8, 32, 3));
  EXPECT_OK(call(0, 16, 3));
  EXPECT_OK(call(64, 48, 4));
  expectError(call(12, 16, 3), StatusCode::InvalidArgument, {"x.dim(0) is 12"});
  Status bad = call(8, 16, 2);
  expectError(bad, StatusCode::InvalidArgument, {"n >= 3", "n is 2", "n is at least 3"});
  EXPECT_NE(bad.location().file.find("ProgramTest.cpp"), std::string::npos);
  EXPECT_EQ(test.jit.counters().compiles, 1u);
  // Extents that are facts of the call are no other matter.
  Tensor x = randomTensor({9, 16}, 1), y = take(Tensor::empty(DType::F32, {9, 16}));
  expectError(twice(TensorAdaptor(x).mark_static(), y, 3), StatusCode::InvalidArgument,
              {"x.dim(0) is 9"});
}

TEST(JitProgram, AForkedProcessRunsOnThreadsOfItsOwn) {
  TestJit test;
  Program program = wholeTilesProgram();
  Compiled twice = take(test.jit.compile(program));
  Tensor x = randomTensor({512, 512}, 3), y = take(Tensor::empty(DType::F32, {512, 512}));
  auto isRight = [&] {
    for (int round = 0; round < 20; ++round) {
      std::fill_n(y.dataAs<float>(), y.numElements(), 0.0f);
      if (!twice(x, y, 3).isOk())
        return false;
      for (int64_t i = 0; i < x.numElements(); ++i)
        if (y.dataAs<float>()[i] != 2 * x.dataAs<float>()[i])
          return false;
    }
    return true;
  };
  ASSERT_TRUE(isRight()); // the threads of this process are there, and perhaps awake
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(isRight() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(isRight());
}

TEST(JitProgram, RequirementsFromC) {
  const char text[] = R"(
    kiln.func @fill(%x: !kiln.tensor<?x8xf32>, %n: i32) incore {
      %c3 = arith.constant 3 : i32
      %b = arith.cmpi sge, %n, %c3 : i32
      kiln.require %b, "n is at least 3"
      %z = arith.constant 1.0 : f32
      %t = tile.full %z : !tile.tile<4x8xf32>
      tile.store %t, %x[0, 0]
    })";
  TempDir dir;
  setenv("KILN_CACHE_DIR", dir.str().c_str(), 1);
  kiln_jit *jit = kiln_jit_create();
  unsetenv("KILN_CACHE_DIR");
  kiln_compiled *fill = kiln_jit_compile(jit, text, sizeof text - 1, "cpu", nullptr);
  ASSERT_NE(fill, nullptr) << kiln_jit_error();
  Tensor x = take(Tensor::empty(DType::F32, {4, 8}));
  kiln_call_arg good[] = {CallArg(x), CallArg(3)}, bad[] = {CallArg(x), CallArg(-1)};
  EXPECT_EQ(kiln_compiled_call(fill, good, 2), 0) << kiln_jit_error();
  EXPECT_NE(kiln_compiled_call(fill, bad, 2), 0);
  EXPECT_TRUE(contains(kiln_jit_error(), "'fill' requires n >= 3, but n is -1: n is at least 3"))
      << kiln_jit_error();
  kiln_compiled_destroy(fill);
  kiln_jit_destroy(jit);
}

} // namespace
