// `kiln dump`: what it prints, what it exports, and what it makes of bad input.
#include "TestSupport.h"

#include "kiln/runtime/npy.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <random>

using namespace kiln;
using namespace kiln::test;
using Json = nlohmann::json;

namespace {

struct Result {
  int code;
  std::string out, err;
};

Result dump(std::vector<std::string> args) {
  args.insert(args.begin(), "kiln dump");
  std::vector<const char *> argv;
  for (const std::string &arg : args)
    argv.push_back(arg.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  int code = dumpCommand(static_cast<int>(argv.size()), argv.data());
  std::string out = ::testing::internal::GetCapturedStdout();
  return {code, out, ::testing::internal::GetCapturedStderr()};
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// A dump of two tasks: 0 copies a strided bf16 input, 1 mixes f32 in place.
struct DumpCommandTest : ::testing::Test {
  DumpCommandTest() {
    addBasicKernels(registry);
    KernelRecord record;
    record.name = "odd/na me";
    record.function = [](const kiln_args *, const kiln_blocks *, kiln_context *) -> int32_t {
      return 0;
    };
    record.signature = Signature{
        record.name,
        "aiv",
        {param("a.b", Direction::In, 2, DType::BF16), param("a b", Direction::In, 1, DType::I1)},
        {{"eps", DType::F32}}};
    take(registry.add(record));
    auto engine = makeEngine(registry);
    RunOptions options;
    options.program = "prog";
    options.dump = {2, dir.str()};
    EXPECT_OK(engine->begin(options));
    Tensor m = tensorOf(DType::BF16, {2, 3}, {1, 2, 3, 4, 5, 6.5});
    Tensor b = tensorOf(DType::I1, {2}, {1, 0}), x = tensorOf(DType::F32, {2}, {1, -0.1});
    take(engine->submit(
        Task("odd/na me").addInput(take(m.transpose({1, 0}))).addInput(b).addF32(0.5f)));
    take(engine->submit(mix(x, 3)));
    EXPECT_OK(engine->finish());
  }
  std::string manifestPath() { return dir / "tensor_dump/tensor_dump.json"; }
  Json manifest() { return Json::parse(readText(manifestPath())); }

  TempDir dir;
  KernelRegistry registry;
};

} // namespace

TEST_F(DumpCommandTest, ListsAnAlignedTable) {
  Result r = dump({dir.str()});
  EXPECT_EQ(r.code, 0) << r.err;
  std::vector<std::string> lines = linesOf(r.out);
  ASSERT_EQ(lines.size(), 1 + 6 + 2u) << r.out; // head, records, blank, summary
  for (const char *column : {"kernel", "stage", "arg", "name", "role", "type", "value"})
    EXPECT_TRUE(contains(lines[0], column));
  size_t stage = lines[0].find("stage"), value = lines[0].find("value");
  EXPECT_EQ(lines[1].find("before_dispatch"), stage);
  EXPECT_EQ(lines[6].find("after_completion"), stage);
  EXPECT_TRUE(contains(lines[1], "bf16[3, 2]"));
  EXPECT_EQ(lines[1].substr(value), "12 bytes, strides [1, 3]");
  EXPECT_EQ(lines[3].substr(value), "= 0.5");
  EXPECT_TRUE(contains(lines[8], "6 of 6 records"));
  EXPECT_TRUE(contains(lines[8], "'prog'"));
  EXPECT_TRUE(contains(lines[8], "run ok"));
}

TEST_F(DumpCommandTest, FiltersByTaskStageAndArgument) {
  auto records = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {dir.str(), "--json"});
    Result r = dump(args);
    EXPECT_EQ(r.code, 0) << r.err;
    return Json::parse(r.out)["entries"];
  };
  EXPECT_EQ(records({}).size(), 6u);
  EXPECT_EQ(records({}), manifest()["entries"]); // one rendering for both
  EXPECT_EQ(records({"--task", "1"}).size(), 3u);
  EXPECT_EQ(records({"--stage", "after"}).size(), 1u);
  EXPECT_EQ(records({"--stage", "after_completion"})[0]["arg_name"], "acc");
  EXPECT_EQ(records({"--arg", "a.b"}).size(), 1u);
  EXPECT_EQ(records({"--arg", "0"}).size(), 3u);
  EXPECT_EQ(records({"--task", "0", "--arg", "2"})[0]["value"], 0.5);
  Result none = dump({dir.str(), "--task", "9"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "none of the 6 records"));
}

TEST_F(DumpCommandTest, AcceptsTheDirectoryInsideAndTheManifestItself) {
  EXPECT_EQ(dump({dir / "tensor_dump"}).out, dump({dir.str()}).out);
  EXPECT_EQ(dump({manifestPath()}).out, dump({dir.str()}).out);
}

TEST_F(DumpCommandTest, ExportsNpyWithSafeUniqueNames) {
  Result r = dump({dir.str(), "--export", "npy", "-o", dir / "out/sub"});
  EXPECT_EQ(r.code, 0) << r.err;
  std::vector<std::string> paths = linesOf(r.out);
  ASSERT_EQ(paths.size(), 4u);
  EXPECT_EQ(paths[0], dir / "out/sub/task0_odd_na_me_before_dispatch_a_b.npy");
  EXPECT_EQ(paths[1], dir / "out/sub/task0_odd_na_me_before_dispatch_a_b_2.npy");
  EXPECT_EQ(paths[2], dir / "out/sub/task1_mix1_before_dispatch_acc.npy");
  Tensor m = take(readNpy(paths[0]));
  EXPECT_EQ(m.str(), "f32[3, 2]"); // bf16 has no numpy type
  EXPECT_EQ(valuesOf(m), (std::vector<double>{1, 4, 2, 5, 3, 6.5}));
  EXPECT_EQ(take(readNpy(paths[1])).dtype(), DType::I1);
  EXPECT_EQ(valuesOf(take(readNpy(paths[3])))[0], 5);
}

TEST_F(DumpCommandTest, ExportsText) {
  Result r =
      dump({dir.str(), "--task", "0", "--arg", "0", "--export", "txt", "-o", dir / "t", "--json"});
  EXPECT_EQ(r.code, 0) << r.err;
  std::string path = Json::parse(r.out)["exported"][0];
  EXPECT_EQ(readText(path),
            "# task 0, odd/na me, before_dispatch, a.b: bf16[3, 2]\n1 4\n2 5\n3 6.5\n");
  Result nothing = dump({dir.str(), "--arg", "eps", "--export", "npy", "-o", dir / "t"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(contains(nothing.err, "nothing to export"));
}

TEST_F(DumpCommandTest, BadUsageIsExitCode2WithAMessage) {
  for (std::vector<std::string> args :
       std::vector<std::vector<std::string>>{{},
                                             {dir.str(), "--task", "-1"},
                                             {dir.str(), "--task", "x"},
                                             {dir.str(), "--task", "99999999999999999999999"},
                                             {dir.str(), "--stage", "during"},
                                             {dir.str(), "--export", "pdf"},
                                             {dir.str(), "-o", "x"},
                                             {dir.str(), "--diff", dir / "missing"},
                                             {dir.str(), "--diff", dir.str(), "--export", "npy"},
                                             {dir.str(), "extra"},
                                             {dir / "missing"},
                                             {dir.str(), "--export", "npy", "-o", "/dev/null/x"}}) {
    Result r = dump(args);
    EXPECT_EQ(r.code, 2) << (args.empty() ? "" : args.back());
    EXPECT_FALSE(r.err.empty());
  }
  EXPECT_TRUE(contains(dump({dir / "missing"}).err, "missing' does not exist"));
  TempDir empty;
  EXPECT_TRUE(contains(dump({empty.str()}).err, "--dump-args"));
  Result help = dump({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_TRUE(contains(help.out, "--export"));
}

TEST_F(DumpCommandTest, EveryTruncationOfTheManifestIsRefused) {
  std::string good = readText(manifestPath());
  size_t step = 37;
  for (size_t n = 0; n + 3 < good.size(); n += step) {
    writeText(manifestPath(), good.substr(0, n));
    Result r = dump({dir.str()});
    ASSERT_EQ(r.code, 2) << n;
    ASSERT_TRUE(contains(r.err, "not valid JSON")) << r.err;
  }
}

TEST_F(DumpCommandTest, EveryWrongFieldIsRefusedByName) {
  struct Case {
    const char *what;
    std::function<void(Json &)> break_;
  };
  auto entry = [](const char *key, Json value) {
    return [=](Json &m) { m["entries"][0][key] = value; };
  };
  std::vector<Case> cases{
      {"not a manifest", [](Json &m) { m["format"] = "zip"; }},
      {"version", [](Json &m) { m["version"] = 3; }},
      {"version", [](Json &m) { m["version"] = "1"; }},
      {"level", [](Json &m) { m["level"] = 9; }},
      {"manifest says", [](Json &m) { m["bin_bytes"] = 5; }},
      {"'run' is missing", [](Json &m) { m.erase("run"); }},
      {"run: is not an object", [](Json &m) { m["run"] = 3; }},
      {"'entries' is not a list", [](Json &m) { m["entries"] = "many"; }},
      {"records are announced", [](Json &m) { m["entries"].erase(m["entries"].begin()); }},
      {"entry 0: is not an object", [](Json &m) { m["entries"][0] = 1; }},
      {"'task'", entry("task", -1)},
      {"'task'", entry("task", 1.5)},
      {"'kernel'", entry("kernel", 7)},
      {"'kernels'", entry("kernels", Json::array({1}))},
      {"'arg_index'", entry("arg_index", 100000)},
      {"'kind'", entry("kind", "blob")},
      {"'role'", entry("role", Json())},
      {"'stage'", entry("stage", "during")},
      {"'dtype'", entry("dtype", "f64")},
      {"'dtype'", entry("dtype", "index")},
      {"'shape'", entry("shape", Json::array({1, 1, 1, 1, 1, 1}))},
      {"'shape'", entry("shape", Json::array())},
      {"'shape'", entry("shape", Json::array({-3, 2}))},
      {"'shape' overflows", entry("shape", Json::array({INT64_MAX, INT64_MAX}))},
      {"'shape'", entry("shape", Json::array({1e300, 2}))},
      {"'bin_size' is 12", entry("shape", Json::array({3, 3}))},
      {"'strides'", entry("strides", Json::array({-1, 1}))},
      {"'strides'", entry("strides", "none")},
      {"'contiguous'", entry("contiguous", 1)},
      {"'address'", entry("address", 1)},
      {"'bin_offset'", entry("bin_offset", -1)},
      {"reach beyond", entry("bin_offset", UINT64_MAX)},
      {"reach beyond", entry("bin_offset", 25)},
      {"'bin_size'", entry("bin_size", UINT64_MAX)},
      {"'truncated'", entry("truncated", "no")},
      {"'internal'", entry("internal", Json())},
      {"'marked'", entry("marked", 1)},
      {"not marked", [](Json &m) { m["level"] = 3; }},
      {"'bin_size' is not 0", [](Json &m) { m["entries"][2]["bin_size"] = 4; }},
      {"'scalar_value'", [](Json &m) { m["entries"][2]["scalar_value"] = "0.5"; }},
      {"'scalar_value'", [](Json &m) { m["entries"][2].erase("scalar_value"); }},
  };
  Json good = manifest();
  for (const Case &c : cases) {
    Json broken = good;
    c.break_(broken);
    writeText(manifestPath(), broken.dump());
    Result r = dump({dir.str(), "--export", "npy", "-o", dir / "never"});
    EXPECT_EQ(r.code, 2) << c.what;
    EXPECT_TRUE(contains(r.err, c.what)) << c.what << " not in: " << r.err;
    EXPECT_TRUE(contains(r.err, "tensor_dump")) << r.err;
  }
  EXPECT_FALSE(std::filesystem::exists(dir / "never"));
}

TEST_F(DumpCommandTest, APayloadThatDoesNotFitTheManifestIsRefused) {
  writeText(dir / "tensor_dump/tensor_dump.bin", "short");
  Result r = dump({dir.str()});
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(contains(r.err, "has 5 bytes")) << r.err;
  std::filesystem::remove(dir / "tensor_dump/tensor_dump.bin");
  EXPECT_EQ(dump({dir.str()}).code, 2);
  std::filesystem::create_directory(dir / "tensor_dump/tensor_dump.bin");
  EXPECT_TRUE(contains(dump({dir.str()}).err, "not a regular file"));
}

TEST_F(DumpCommandTest, RandomDamageNeverCrashes) {
  std::string good = readText(manifestPath());
  std::mt19937 random(7);
  int refused = 0;
  for (int n = 0; n < 400; ++n) {
    std::string text = good;
    for (int k = 0; k < 3; ++k)
      text[random() % text.size()] = static_cast<char>(random() % 256);
    writeText(manifestPath(), text);
    Result r = dump({dir.str(), "--export", "txt", "-o", dir / "x"});
    ASSERT_TRUE(r.code == 0 || (r.code == 2 && !r.err.empty()));
    refused += r.code == 2;
  }
  EXPECT_GT(refused, 200);
}

TEST_F(DumpCommandTest, ControlCharactersDoNotReachTheTerminal) {
  Json m = manifest();
  m["entries"][0]["arg_name"] = "\x1b[2Jx";
  m["run"]["program"] = "a\nb";
  writeText(manifestPath(), m.dump());
  Result r = dump({dir.str()});
  EXPECT_EQ(r.code, 0);
  EXPECT_FALSE(contains(r.out, "\x1b"));
  EXPECT_TRUE(contains(r.out, "?[2Jx"));
}

TEST_F(DumpCommandTest, DeepNestingIsNotAStackOverflow) {
  writeText(manifestPath(), std::string(2000000, '['));
  EXPECT_EQ(dump({dir.str()}).code, 2);
  writeText(manifestPath(), std::string(200000, '[') + std::string(200000, ']'));
  EXPECT_EQ(dump({dir.str()}).code, 2);
}

TEST_F(DumpCommandTest, PrintsValuesAndLeavesOutTheMiddleOfLargeOnes) {
  EXPECT_TRUE(contains(dump({dir.str(), "--task", "0", "--arg", "0", "--print"}).out,
                       "a.b: bf16[3, 2]\n1 4\n2 5\n3 6.5\n"));
  TempDir large;
  auto engine = makeEngine(registry);
  RunOptions options;
  options.dump = {2, large.str()};
  EXPECT_OK(engine->begin(options));
  Tensor x = tensorOf(DType::F32, {9, 20}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  take(engine->submit(mix(x, 0)));
  EXPECT_OK(engine->finish());
  Result r = dump({large.str(), "--stage", "before", "--kernel", "mix2", "--print"});
  EXPECT_TRUE(contains(r.out, "acc: f32[9, 20]\n0 1 2 3 ... 5 6 7 8\n")) << r.out;
  EXPECT_TRUE(contains(r.out, "\n...\n"));
  EXPECT_EQ(linesOf(r.out).size(), 5 + 2 + 9u) << r.out; // table, blank and title, rows
}

namespace {

/// x = 1, y = x, y = 2 y + `addend`; the dump of it in `dir`.
void runChain(const KernelRegistry &registry, const TempDir &dir, float addend, float first = 1,
              int tasks = 3, int level = 2) {
  auto engine = makeEngine(registry);
  RunOptions options;
  options.dump = {level, dir.str()};
  EXPECT_OK(engine->begin(options));
  Tensor x = zeros(DType::F32, {2, 3}), y = zeros(DType::F32, {2, 3});
  Task chain[] = {fill(x, first), copy(x, y), mix(y, addend)};
  chain[1].markWhere([&](const Tensor &tensor) { return tensor.data() == y.data(); });
  for (int i = 0; i < tasks; ++i)
    take(engine->submit(chain[i]));
  EXPECT_OK(engine->finish());
}

} // namespace

TEST_F(DumpCommandTest, DiffSaysNothingOfWhatADumpAtLevel1DoesNotRecord) {
  TempDir all, marked, wrong;
  runChain(registry, all, 3);
  runChain(registry, marked, 4, 1, 3, /*level=*/1); // its last task differs, and is not recorded
  runChain(registry, wrong, 3, 7, 3, /*level=*/1);
  for (const auto &[a, b] : {std::pair(all.str(), marked.str()), {marked.str(), all.str()}}) {
    Result equal = dump({a, "--diff", b});
    EXPECT_EQ(equal.code, 0) << equal.out << equal.err;
    EXPECT_TRUE(contains(equal.out, "equal: 1 outputs of 1 tasks")) << equal.out;
    EXPECT_TRUE(contains(equal.out, "2 that one dump did not record")) << equal.out;
  }
  Result r = dump({wrong.str(), "--diff", all.str()});
  EXPECT_EQ(r.code, 1);
  EXPECT_TRUE(contains(r.out, "task 1, kernel 'copy2', argument 'y'")) << r.out;
  EXPECT_FALSE(contains(r.out, "did not run")) << r.out;
  Result none = dump({all.str(), "--diff", marked.str(), "--kernel", "mix2"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "level 1 records only what the program marked")) << none.err;
}

TEST_F(DumpCommandTest, DiffNamesTheFirstTaskWhoseOutputsDiffer) {
  TempDir a, same, late, early, shorter;
  runChain(registry, a, 3);
  runChain(registry, same, 3.000001f);
  runChain(registry, late, 4);
  runChain(registry, early, 3, 7);
  runChain(registry, shorter, 3, 1, 2);

  Result equal = dump({a.str(), "--diff", same.str()});
  EXPECT_EQ(equal.code, 0) << equal.err;
  EXPECT_TRUE(contains(equal.out, "equal: 3 outputs of 3 tasks")) << equal.out;

  Result r = dump({a.str(), "--diff", late.str()});
  EXPECT_EQ(r.code, 1);
  EXPECT_TRUE(contains(r.out, "task 2, kernel 'mix2', argument 'acc', element [0, 0]\n")) << r.out;
  EXPECT_TRUE(contains(r.out, a.str() + ": 5\n"));
  EXPECT_TRUE(contains(r.out, late.str() + ": 6\n"));
  EXPECT_TRUE(contains(r.out, "its inputs differ already: value\n"));

  EXPECT_TRUE(contains(dump({a.str(), "--diff", early.str()}).out, "task 0, kernel 'fill2'"));
  Result second = dump({a.str(), "--diff", early.str(), "--task", "1", "--json"});
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(Json::parse(second.out)["difference"]["kernel"], "copy2");
  EXPECT_EQ(Json::parse(second.out)["difference"]["different_inputs"][0], "x");

  Result half = dump({a.str(), "--diff", shorter.str()});
  EXPECT_EQ(half.code, 1);
  EXPECT_TRUE(contains(half.out, "task 2, kernel 'mix2'\n")) << half.out;
  EXPECT_TRUE(contains(half.out, shorter.str() + ": did not run\n"));

  Result nothing = dump({a.str(), "--diff", same.str(), "--arg", "value"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(contains(nothing.err, "nothing to compare"));
}
