#include "abi/FileIo.h"
#include "TestSupport.h"
#include "abi/CBoundary.h"
#include "abi/Environment.h"

using namespace kiln;
using namespace kiln::test;

namespace {

std::vector<std::string> filesIn(const std::string &folder) {
  std::vector<std::string> names;
  for (const auto &item : std::filesystem::directory_iterator(folder))
    names.push_back(item.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(FileIo, AFileAppearsWholeOrNotAtAll) {
  TempDir dir;
  {
    std::unique_ptr<TemporaryFile> file = take(TemporaryFile::create(dir / "x"));
    EXPECT_OK(file->write("half"));
    EXPECT_FALSE(std::filesystem::exists(dir / "x"));
  }
  EXPECT_TRUE(filesIn(dir.str()).empty());
  EXPECT_OK(writeFileAtomically(dir / "x", "whole"));
  EXPECT_EQ(readText(dir / "x"), "whole");
  EXPECT_EQ(filesIn(dir.str()), std::vector<std::string>{"x"});
  expectError(writeFileAtomically(dir / "missing/x", ""), StatusCode::NotFound, {"missing/x"});
}

TEST(FileIo, OnlyWhatTheDeadLeftIsSwept) {
  TempDir dir;
  std::string dead = std::to_string(deadProcess());
  for (const std::string &name :
       std::vector<std::string>{"a.bin.tmp" + dead, "b.3.tmp" + dead, "c.tmp", "d.tmp12x",
                                "e.tmp" + std::to_string(getpid()), "f.tmp1", ".tmp" + dead,
                                "tmp" + dead, "g.tmp-1", "h.tmp99999999999999999999"})
    writeText(dir / name, "");
  std::filesystem::create_directory(dir / ("folder.tmp" + dead));
  writeText(dir / ("folder.tmp" + dead + "/inside"), "");
  writeText(dir / "target", "");
  std::filesystem::create_symlink(dir / "target", dir / ("link.tmp" + dead));
  std::unique_ptr<TemporaryFile> held = take(TemporaryFile::create(dir / "held"));
  sweepTemporaries(dir.str());
  std::vector<std::string> left = filesIn(dir.str());
  EXPECT_EQ(left.size(), 11u);
  for (const std::string &name : left)
    EXPECT_FALSE(name.starts_with("a.") || name.starts_with("b.") || name.starts_with("folder"))
        << name;
  sweepTemporaries(dir / "missing"); // and says nothing
}

TEST(FileIo, TemporaryFoldersGoWithTheirContents) {
  std::string path;
  {
    std::unique_ptr<TemporaryFolder> folder = take(TemporaryFolder::create("kiln-test"));
    path = folder->path();
    writeText(path + "/x", "");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(FileIo, NamesNeverBecomePaths) {
  FileNames name;
  EXPECT_EQ(name("out"), "out");
  EXPECT_EQ(name("out"), "out_2");
  EXPECT_EQ(name("../../etc/passwd"), "______etc_passwd");
  EXPECT_EQ(name(".."), "__");
  EXPECT_EQ(name("/"), "_");
  EXPECT_EQ(name(""), "__2") << "another one that would be '_'";
  EXPECT_EQ(name(std::string("a\0b", 3)), "a_b");
  EXPECT_LT(name(std::string(5000, 'x')).size(), 250u);
}

TEST(Environment, ValuesThatMeanNothingAreErrors) {
  auto set = [](const char *value) { setenv("KILN_TEST_VARIABLE", value, 1); };
  unsetenv("KILN_TEST_VARIABLE");
  EXPECT_TRUE(take(flagFromEnvironment("KILN_TEST_VARIABLE", true)));
  EXPECT_EQ(take(numberFromEnvironment("KILN_TEST_VARIABLE")), std::nullopt);
  set("");
  EXPECT_FALSE(take(flagFromEnvironment("KILN_TEST_VARIABLE", false)));
  set("1");
  EXPECT_TRUE(take(flagFromEnvironment("KILN_TEST_VARIABLE", false)));
  set("0x10");
  EXPECT_EQ(take(numberFromEnvironment("KILN_TEST_VARIABLE")), 16u);
  expectError(flagFromEnvironment("KILN_TEST_VARIABLE", true).status(), StatusCode::InvalidArgument,
              {"KILN_TEST_VARIABLE='0x10'", "0 or 1"});
  for (const char *value : {"x", "-1", "1 ", " 1", "1e3", "18446744073709551616"}) {
    set(value);
    expectError(numberFromEnvironment("KILN_TEST_VARIABLE").status(), StatusCode::InvalidArgument,
                {"KILN_TEST_VARIABLE", value, "2^64-1"});
  }
  unsetenv("KILN_TEST_VARIABLE");
}

TEST(CBoundary, WhatIsThrownBecomesAnError) {
  std::string said;
  auto report = [&](const Status &status) { said = status.str(); };
  EXPECT_EQ(withoutThrowing(-1, [] { return 7; }, report), 7);
  EXPECT_EQ(said, "");
  auto fails = [&](auto thrown) {
    return withoutThrowing(-1, [&]() -> int { throw thrown; }, report);
  };
  EXPECT_EQ(fails(std::bad_alloc()), -1);
  EXPECT_TRUE(contains(said, "memory")) << said;
  EXPECT_EQ(fails(std::logic_error("what it is")), -1);
  EXPECT_TRUE(contains(said, "what it is")) << said;
  EXPECT_EQ(fails(3), -1);
  EXPECT_TRUE(contains(said, "unknown")) << said;
  EXPECT_EQ(withoutThrowing(-1, []() -> int { throw 3; }, [](const Status &) { throw 4; }), -1);
}

} // namespace
