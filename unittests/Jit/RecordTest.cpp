//===- RecordTest.cpp - dumps and timelines of calls ---------------------------------------===//
#include "CBackend.h"

#include <filesystem>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

struct Record : ::testing::Test {
  TempDir dir;
  std::string out = dir / "not/there/yet";

  RecordOptions options(int dumpLevel, bool timeline) const {
    RecordOptions record;
    record.dumpLevel = dumpLevel;
    record.timeline = timeline;
    record.out = out;
    return record;
  }
  Compiled compile(TestJit &test) const {
    return test.jit.compile(std::make_shared<CBackend>(matmulKernel()));
  }
};

TEST_F(Record, EachCallHasAFolderOfItsOwn) {
  for (int first : {1, 3}) { // the second Jit goes on where the first has stopped
    TestJit test("", false, options(2, true));
    Compiled f = compile(test);
    for (int number : {first, first + 1}) {
      Operands o(2 + number);
      EXPECT_OK(f(o.a, o.b, o.c));
      EXPECT_TRUE(o.isRight());
      std::string folder = out + "/matmul-" + std::to_string(number);
      DumpFile dump = take(DumpFile::open(folder));
      EXPECT_EQ(dump.platform(), "c");
      ASSERT_EQ(dump.entries().size(), 3u);
      const DumpEntry &c = dump.entries().back();
      EXPECT_EQ(c.argName, "c");
      EXPECT_TRUE(isProduct(o.a, o.b, take(dump.load(c))));
      for (const char *name : {"timeline.json", "graph.json", "graph.dot"})
        EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
    }
    EXPECT_EQ(test.log, std::vector<std::string>());
  }
}

TEST_F(Record, OnlyWhatWasAskedFor) {
  TestJit dumps("", false, options(2, false)), times("", false, options(0, true)), none;
  Operands o(4);
  EXPECT_OK(compile(dumps)(o.a, o.b, o.c));
  EXPECT_OK(compile(times)(o.a, o.b, o.c));
  EXPECT_OK(compile(none)(o.a, o.b, o.c));
  EXPECT_TRUE(std::filesystem::exists(out + "/matmul-1/tensor_dump"));
  EXPECT_FALSE(std::filesystem::exists(out + "/matmul-1/timeline.json"));
  EXPECT_FALSE(std::filesystem::exists(out + "/matmul-2/tensor_dump"));
  EXPECT_TRUE(std::filesystem::exists(out + "/matmul-2/timeline.json"));
  EXPECT_FALSE(std::filesystem::exists(out + "/matmul-3"));
}

TEST_F(Record, ManyThreadsAtOnce) {
  TestJit test("", false, options(2, true));
  Compiled f = compile(test);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) {
        Operands o(1 + t + round);
        wrong += !f(o.a, o.b, o.c).isOk() || !o.isRight();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  for (int number = 1; number <= 20; ++number)
    EXPECT_OK(DumpFile::open(out + "/matmul-" + std::to_string(number)).status());
}

/// The call is right, and one line says what is missing.
TEST_F(Record, WhatCannotBeWrittenStopsNoCall) {
  writeText(dir / "file", "");
  out = dir / "file";
  TestJit test("", false, options(2, true));
  Compiled f = compile(test);
  Operands o(4);
  EXPECT_OK(f(o.a, o.b, o.c));
  EXPECT_TRUE(o.isRight());
  ASSERT_EQ(test.log.size(), 1u);
  EXPECT_TRUE(contains(test.log[0], "the call is not recorded")) << test.log[0];
  EXPECT_TRUE(contains(test.log[0], out)) << test.log[0];
}

TEST_F(Record, IsAskedForByTheEnvironment) {
  const std::pair<const char *, std::string> variables[] = {
      {"KILN_DUMP", "2"}, {"KILN_TIMELINE", "1"}, {"KILN_OUT", out}};
  for (const auto &[name, value] : variables)
    setenv(name, value.c_str(), 1);
  JitOptions asked;
  setenv("KILN_DUMP", "all", 1);
  JitOptions noLevel;
  setenv("KILN_DUMP", "", 1);
  setenv("KILN_TIMELINE", "yes", 1);
  JitOptions noFlag;
  for (const auto &[name, value] : variables)
    unsetenv(name);
  EXPECT_OK(asked.environment);
  EXPECT_EQ(asked.record.dumpLevel, 2);
  EXPECT_TRUE(asked.record.timeline);
  EXPECT_EQ(asked.record.out, out);
  expectError(noLevel.environment, StatusCode::InvalidArgument, {"KILN_DUMP='all'"});
  expectError(noFlag.environment, StatusCode::InvalidArgument, {"KILN_TIMELINE='yes'", "0 or 1"});
  JitOptions unset;
  EXPECT_FALSE(unset.record.isOn());
}

TEST_F(Record, FromC) {
  auto isMade = [](kiln_jit_options options) {
    kiln_jit *jit = kiln_jit_create_with(&options);
    kiln_jit_destroy(jit);
    return jit != nullptr;
  };
  kiln_jit_options options{};
  options.size = sizeof options;
  options.dump = 3;
  options.timeline = 1;
  options.out = out.c_str();
  EXPECT_TRUE(isMade(options));
  options.dump = 4;
  EXPECT_FALSE(isMade(options));
  EXPECT_TRUE(contains(kiln_jit_error(), "no dump level 4")) << kiln_jit_error();
  options.dump = 0;
  options.size = offsetof(kiln_jit_options, out); // of a caller that does not know the rest
  EXPECT_TRUE(isMade(options));
  options.size -= 1;
  EXPECT_FALSE(isMade(options));
}

/// A caller that was compiled with the header of a later version.
TEST_F(Record, FromCWithOptionsOfALaterVersion) {
  struct {
    kiln_jit_options known{};
    uint64_t later[2] = {0, 0};
  } given;
  given.known.size = sizeof given;
  kiln_jit *jit = kiln_jit_create_with(&given.known);
  EXPECT_NE(jit, nullptr) << kiln_jit_error();
  kiln_jit_destroy(jit);
  given.later[1] = 1;
  EXPECT_EQ(kiln_jit_create_with(&given.known), nullptr);
  EXPECT_TRUE(contains(kiln_jit_error(), "this version of Kiln does not know")) << kiln_jit_error();
  given.known.size = UINT64_MAX; // nobody reads so far
  EXPECT_EQ(kiln_jit_create_with(&given.known), nullptr);
}

} // namespace
