//===- TunedProgramTest.cpp - programs of C++ with the values that tuning found -------------===//
#include "ExampleTesting.h"
#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Jit/Compiler/TuneStore.h"
#include "kiln/Language/ProgramAccess.h"

#include <filesystem>

using namespace kiln;
using namespace kiln::testing;

namespace {

/// y = the value of B, so that a result says which it was compiled with.
Program which(const Config &cfg) {
  int64_t B = cfg.param("B", {8, 16, 32}, 8);
  Program p("which");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    spmd("which", {ceildiv(y.dim(0), B)},
         [&](Index i) { store(load(x, {i * B, 0}, {B, 8}) * 0.0 + double(B), y, {i * B, 0}); });
  });
  return p;
}

struct TunedProgram : ::testing::Test {
  TunedProgram() : folder(std::filesystem::temp_directory_path() / "kiln-tuned-XXXXXX") {
    folder = ::mkdtemp(folder.data());
    ::setenv("KILN_CACHE", "1", 1);
    ::setenv("KILN_CACHE_DIR", folder.c_str(), 1);
  }
  ~TunedProgram() override {
    ::unsetenv("KILN_CACHE");
    ::unsetenv("KILN_CACHE_DIR");
    ::unsetenv("KILN_UNTUNED");
    std::filesystem::remove_all(folder);
  }

  /// As tuning would, for tensors with so many rows.
  void keep(int64_t rows, const ConfigValues &values) {
    Config config;
    Program program = which(config);
    TuneSubject subject{moduleOf(program.recorder()), &defaultPlatform(Capability::Jit)};
    subject.extents = {{rows, 8}, {rows, 8}};
    Expected<TuneStore> store = TuneStore::fromEnvironment();
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->put(*tuneKey(subject), values, Json::object()).isOk());
  }

  /// The value of B that a program compiled for so many rows has; 0, with the error, if it failed.
  float compiledWith(int64_t rows, const TunedOptions &options = {}) {
    Expected<Tensor> x = Tensor::empty(DType::F32, {rows, 8}),
                     y = Tensor::empty(DType::F32, {rows, 8});
    EXPECT_TRUE(x && y && x->fillZero().isOk());
    Jit jit;
    Expected<Compiled> compiled = jit.compileTuned(which, options, *x, *y);
    Status done = compiled ? (*compiled)(*x, *y) : compiled.status();
    if (!done.isOk())
      error = done.str();
    return done.isOk() ? y->dataAs<float>()[0] : 0;
  }

  std::string folder, error;
};

TEST_F(TunedProgram, TakesWhatWasKeptForArgumentsOfThisSize) {
  EXPECT_EQ(compiledWith(100), 8) << "nothing was tuned yet";
  keep(120, {{"B", "32"}});
  EXPECT_EQ(compiledWith(100), 32) << "up to the same power of two";
  EXPECT_EQ(compiledWith(1000), 8);
  EXPECT_EQ(compiledWith(100, {.platform = "cpu"}), 32);
  EXPECT_EQ(compiledWith(100, {.values = {{"B", "16"}}}), 16) << "what the caller says wins";
  EXPECT_EQ(compiledWith(100, {.values = {{"B", "8"}}}), 8) << "also where it is the default";
  ::setenv("KILN_UNTUNED", "1", 1);
  EXPECT_EQ(compiledWith(100), 8);
  ::setenv("KILN_UNTUNED", "2", 1);
  EXPECT_EQ(compiledWith(100), 0);
  EXPECT_NE(error.find("KILN_UNTUNED='2' is not 0 or 1"), std::string::npos) << error;
}

TEST_F(TunedProgram, LeavesOutWhatDoesNotFitAnyMore) {
  keep(100, {{"B", "7"}});
  EXPECT_EQ(compiledWith(100), 8);
  keep(100, {{"C", "8"}});
  EXPECT_EQ(compiledWith(100), 8);
  EXPECT_EQ(compiledWith(100, {.values = {{"C", "8"}}}), 0);
  EXPECT_NE(error.find("unknown option --C"), std::string::npos) << error;
}

TEST_F(TunedProgram, TakesWhatTheCompilerIsToldToo) {
  keep(100, {{"B", "32"}, {"compiler.slots", "3"}});
  EXPECT_EQ(compiledWith(100), 32);
  keep(100, {{"B", "32"}, {"compiler.slots", "0"}});
  EXPECT_EQ(compiledWith(100), 8) << "it does not fit";
  EXPECT_EQ(compiledWith(1000, {.values = {{"B", "16"}, {"compiler.walk", "in_turn"}}}), 16);
  EXPECT_EQ(compiledWith(1000, {.values = {{"compiler.walk", "backwards"}}}), 0);
  EXPECT_NE(error.find("--compiler.walk backwards does not fit"), std::string::npos) << error;
}

/// Code for other choices of the compiler is other code.
TEST_F(TunedProgram, IsAnotherProgramWithOtherChoicesOfTheCompiler) {
  Config config;
  Program one = which(config), other = which(config);
  EXPECT_EQ(programHash(moduleOf(one.recorder())), programHash(moduleOf(other.recorder())));
  ASSERT_EQ(kiln_recorder_choose(other.recorder(), "compiler.slots", "3"), 0);
  EXPECT_NE(programHash(moduleOf(one.recorder())), programHash(moduleOf(other.recorder())));
}

/// The keys of the command line and of calls are the same.
TEST_F(TunedProgram, FindsWhatTheCommandLineKept) {
  auto fill = [](const Config &cfg) {
    int64_t B = cfg.param("B", {8, 16}, 8);
    Program p("fill");
    p.orchestration("main", {"y"}, [&](Out<f32> y) {
      spmd("fill", {ceildiv(y.dim(0), B)},
           [&](Index i) { store(zeros<f32>(B, 8), y, {i * B, 0}); });
    });
    return p;
  };
  Ran tuned = run(fill, {}, {"tune", "--seconds", "0.1", "--arg", "y=64x8"});
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  Config config;
  Program program = fill(config);
  Expected<Tensor> y = Tensor::empty(DType::F32, {64, 8});
  std::vector<CallArg> like{*y};
  Expected<ParameterValues> values = Jit().tunedValues(program.recorder(), like);
  ASSERT_TRUE(values) << values.status().str();
  EXPECT_TRUE(values->contains("B")) << tuned.out;
}

} // namespace
