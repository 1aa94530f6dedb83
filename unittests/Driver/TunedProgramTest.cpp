//===- TunedProgramTest.cpp - programs of C++ with the values that tuning found -------------===//
#include "ExampleTesting.h"
#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Jit/Compiler/TuneStore.h"
#include "kiln/Language/ProgramAccess.h"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

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

  static TuneStore theStore() {
    Expected<TuneStore> store = TuneStore::fromEnvironment();
    EXPECT_TRUE(store);
    return *store;
  }
  /// Of tensors with so many rows.
  static std::string keyOf(int64_t rows) {
    Config config;
    Program program = which(config);
    TuneSubject subject{moduleOf(program.recorder()), &defaultPlatform(Capability::Jit)};
    subject.extents = {{rows, 8}, {rows, 8}};
    return *tuneKey(subject);
  }
  /// As tuning would.
  static Status tryToKeep(int64_t rows, const ConfigValues &values) {
    return theStore().put(keyOf(rows), values, Json::object());
  }
  static void keep(int64_t rows, const ConfigValues &values) {
    Status kept = tryToKeep(rows, values);
    EXPECT_TRUE(kept.isOk()) << kept.str();
  }
  size_t numFiles() const {
    size_t count = 0;
    for (const auto &each : std::filesystem::directory_iterator(folder + "/tuned"))
      count += each.exists() ? 1 : 0;
    return count;
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

/// As it is with the cache, in which the folder lies.
TEST_F(TunedProgram, TakesNothingFromFoldersThatOthersOwnOrMayWrite) {
  for (const std::string &path : {folder, folder + "/tuned"}) {
    keep(100, {{"B", "32"}});
    EXPECT_EQ(compiledWith(100), 32);
    for (unsigned mode : {0720U, 0702U, 01777U}) {
      ASSERT_EQ(::chmod(path.c_str(), mode), 0);
      EXPECT_EQ(compiledWith(100), 8) << path << " " << mode;
      Status kept = tryToKeep(100, {{"B", "16"}});
      EXPECT_NE(kept.message().find("'" + path + "' is not used: others may write to it"),
                std::string::npos)
          << kept.str();
      EXPECT_NE(kept.message().find("chmod go-w"), std::string::npos) << kept.str();
    }
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    EXPECT_EQ(compiledWith(100), 32) << "the same as before";
  }
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder to another user";
  ASSERT_EQ(::chown((folder + "/tuned").c_str(), 65534, 65534), 0);
  EXPECT_EQ(compiledWith(100), 8);
  EXPECT_NE(tryToKeep(100, {{"B", "16"}}).message().find("it belongs to another user"),
            std::string::npos);
}

TEST_F(TunedProgram, TakesNothingFromFilesThatAreNotWhatWasKept) {
  keep(100, {{"B", "32"}});
  std::string path = theStore().pathOf(keyOf(100)), elsewhere = folder + "/elsewhere.json";
  std::stringstream whole;
  whole << std::ifstream(path).rdbuf();
  auto write = [&](const std::string &text) { std::ofstream(path, std::ios::trunc) << text; };
  auto with = [&](const std::string &values) {
    std::string text = whole.str(), was = R"({
    "B": "32"
  })";
    size_t at = text.find(was);
    EXPECT_NE(at, std::string::npos) << text;
    return text.replace(at, was.size(), values);
  };
  for (size_t length = 0; length + 2 < whole.str().size(); length += 7) {
    write(whole.str().substr(0, length));
    EXPECT_EQ(theStore().find(keyOf(100)), std::nullopt) << length;
  }
  for (const char *values :
       {"32", "[\"B\", \"32\"]", "{\"B\": 32}", "{\"B\": \"16\", \"C\": null}", "null",
        "{\"B\": {\"B\": \"32\"}}", "{\"B\": \"\\u0000\"}", "{\"B\": \"\"}", "{\"B\": \"64\"}",
        "{\"B\": \"-32\"}", "{\"B\": \"32; rm\"}", "{\"\": \"32\"}",
        "{\"compiler.slots\": \"-1\"}"}) {
    write(with(values));
    EXPECT_EQ(compiledWith(100), 8) << values;
  }
  write(std::string(1 << 20, '['));
  EXPECT_EQ(compiledWith(100), 8);
  write(with("{\"B\": " + std::string(1 << 20, '[')));
  EXPECT_EQ(compiledWith(100), 8);
  write(whole.str() + std::string(17 << 20, ' '));
  EXPECT_EQ(compiledWith(100), 8) << "larger than anything that is kept";
  write(with("{\"B\": \"16\"}"));
  EXPECT_EQ(compiledWith(100), 16);
  std::filesystem::rename(path, elsewhere);
  std::filesystem::create_symlink(elsewhere, path);
  EXPECT_EQ(compiledWith(100), 8) << "a link";
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(compiledWith(100), 8);
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(compiledWith(100), 8) << "nobody writes to it";
  std::filesystem::remove(path);
  std::filesystem::rename(elsewhere, path);
  ASSERT_EQ(::chmod(path.c_str(), 0620), 0);
  EXPECT_EQ(compiledWith(100), 8) << "others may write to it";
}

TEST_F(TunedProgram, KeepsNothingHalfAndSweepsWhatDeadWritersLeft) {
  keep(100, {{"B", "32"}});
  std::ofstream(folder + "/tuned/0123.json.0.tmp2147483646") << "{";
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit full = before;
  full.rlim_cur = 10;
  auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  Status kept = tryToKeep(100, {{"B", "16"}});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_NE(kept.message().find("in " + folder + "/tuned: cannot write"), std::string::npos)
      << kept.str();
  EXPECT_EQ(compiledWith(100), 32) << "the same as before";
  EXPECT_EQ(numFiles(), 1U);
}

TEST_F(TunedProgram, FilesOfWritersAtTheSameTimeAreWhole) {
  std::vector<std::jthread> threads;
  std::atomic<bool> isDone = false;
  std::atomic<size_t> wrong = 0;
  std::string key = keyOf(100);
  keep(100, {{"B", "32"}});
  TuneStore kept = theStore();
  for (const char *value : {"16", "32"})
    threads.emplace_back([&, value] {
      for (int i = 0; i < 200; ++i)
        wrong += !kept.put(key, {{"B", value}}, Json::object()).isOk();
      isDone = true;
    });
  threads.emplace_back([&] {
    while (!isDone)
      wrong += !kept.find(key).has_value();
  });
  threads.clear();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(numFiles(), 1U);
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
