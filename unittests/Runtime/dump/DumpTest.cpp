// What the engine writes. Expectations are on the files themselves, read as JSON and bytes.
#include "TestSupport.h"

#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

using namespace kiln;
using namespace kiln::test;
using Json = nlohmann::json;

namespace {

int32_t failKernel(const kiln_args *, const kiln_blocks *, kiln_context *ctx) {
  ctx->report(ctx, "no luck", nullptr);
  return KILN_FAIL;
}
/// y = x * s; touches its internal tensor
int32_t scaleKernel(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  forEach(args->tensors[1], [&](float &y, int64_t i, int64_t j) {
    y = elementAt(args->tensors[0], i, j) * f32Scalar(args, 0);
  });
  return 0;
}

struct DumpTest : ::testing::Test {
  DumpTest() {
    addBasicKernels(registry);
    KernelRecord mixed;
    mixed.name = "mixed";
    mixed.function = scaleKernel;
    mixed.members = {"mixed_aic", "mixed_aiv"};
    TensorParam ring = param("__gm_pipe", Direction::InOut, 1, DType::I8);
    ring.internal = true;
    mixed.signature = Signature{"mixed",
                                "mix",
                                {param("x", Direction::In), param("y", Direction::Out), ring},
                                {{"s", DType::F32}, {"n", DType::Index}, {"on", DType::I1}}};
    mixed.signature->tensors[0].box = BlockBox{{{0, {2, 0, 0}, {{1, 1}}, 2}, {}}};
    take(registry.add(mixed));
    addKernel(registry, "fail", failKernel, {param("x", Direction::InOut, 1)}, {{"k", DType::I32}});
    take(registry.add({"bare", scaleKernel, std::nullopt, nullptr, 0, {}, -1}));
  }

  RunOptions runOptions(int level = 2) {
    RunOptions options;
    options.program = "prog";
    options.dump = {level, dir.str()};
    return options;
  }
  Json manifest() { return Json::parse(readText(dir / "tensor_dump/tensor_dump.json")); }
  std::string payload() { return readText(dir / "tensor_dump/tensor_dump.bin"); }
  bool exists(const std::string &name) {
    return std::filesystem::exists(dir / ("tensor_dump/" + name));
  }
  size_t filesInDump() {
    size_t count = 0;
    for ([[maybe_unused]] auto &entry : std::filesystem::directory_iterator(dir / "tensor_dump"))
      ++count;
    return count;
  }
  std::vector<float> floatsOf(const Json &entry) {
    std::string bytes = payload().substr(entry["bin_offset"], entry["bin_size"]);
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  TempDir dir;
  KernelRegistry registry;
};

} // namespace

TEST_F(DumpTest, CapturesEveryArgumentOfAMixedTask) {
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(runOptions()));
  Tensor x = tensorOf(DType::F32, {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}), y = zeros(DType::F32, {2, 2});
  Tensor right = take(x.slice({0, 2}, {2, 2})), ring = zeros(DType::I8, {64});
  take(engine->submit(Task("mixed")
                          .addInput(right)
                          .addOutput(y)
                          .addInout(ring)
                          .addF32(10)
                          .addIndex(-7)
                          .addScalar(1, DType::I1)
                          .grid({3})));
  EXPECT_OK(engine->finish());

  Json m = manifest();
  EXPECT_EQ(m["format"], "kiln-tensor-dump");
  EXPECT_EQ(m["version"], 2);
  EXPECT_EQ(m["level"], 2);
  EXPECT_EQ(m["run"]["program"], "prog");
  EXPECT_EQ(m["run"]["platform"], "cpu");
  EXPECT_EQ(m["run"]["status"], "ok");
  EXPECT_EQ(m["run"]["tasks"], 1);
  EXPECT_EQ(m["totals"]["records"],
            7); // x, ring, 3 scalars before; y, ring after: once per task, not per block
  EXPECT_EQ(m["totals"]["scalars"], 3);
  EXPECT_EQ(m["totals"]["by_stage"]["before_dispatch"], 5);
  EXPECT_EQ(m["totals"]["by_stage"]["after_completion"], 2);
  EXPECT_EQ(m["totals"]["dropped"], 0);
  EXPECT_EQ(m["totals"]["truncated"], 0);
  EXPECT_EQ(m["totals"]["unsigned"], 0);
  ASSERT_EQ(m["entries"].size(), 7u);

  const Json &ex = m["entries"][0];
  EXPECT_EQ(ex["task"], 0);
  EXPECT_EQ(ex["kernel"], "mixed");
  EXPECT_EQ(ex["kernels"], (std::vector<std::string>{"mixed_aic", "mixed_aiv"}));
  EXPECT_EQ(ex["arg_index"], 0);
  EXPECT_EQ(ex["arg_name"], "x");
  EXPECT_EQ(ex["kind"], "tensor");
  EXPECT_EQ(ex["role"], "in");
  EXPECT_EQ(ex["stage"], "before_dispatch");
  EXPECT_EQ(ex["dtype"], "f32");
  EXPECT_EQ(ex["shape"], (std::vector<int>{2, 2}));
  EXPECT_EQ(ex["strides"], (std::vector<int>{4, 1}));
  EXPECT_EQ(ex["box"], "[2*b0 + n : 2*b0 + n + 2, :]");
  EXPECT_EQ(take(DumpFile::open(dir.str())).entries()[0].box, ex["box"].get<std::string>());
  EXPECT_EQ(ex["offset"], 2);
  EXPECT_EQ(ex["contiguous"], false);
  char address[32];
  std::snprintf(address, sizeof(address), "%p", right.data());
  EXPECT_EQ(ex["address"], address);
  EXPECT_EQ(ex["buffer_id"], x.buffer()->id());
  EXPECT_EQ(ex["internal"], false);
  EXPECT_EQ(ex["truncated"], false);
  EXPECT_EQ(floatsOf(ex), (std::vector<float>{2, 3, 6, 7})); // gathered

  const Json &ering = m["entries"][1];
  EXPECT_EQ(ering["arg_name"], "__gm_pipe");
  EXPECT_EQ(ering["internal"], true);
  EXPECT_EQ(ering["bin_size"], 0);
  EXPECT_EQ(ering["role"], "inout");

  const Json &es = m["entries"][2], &en = m["entries"][3], &eon = m["entries"][4];
  EXPECT_EQ(es["kind"], "scalar");
  EXPECT_EQ(es["arg_index"], 3);
  EXPECT_EQ(es["arg_name"], "s");
  EXPECT_EQ(es["dtype"], "f32");
  EXPECT_EQ(es["value"], 10.0);
  EXPECT_EQ(es["scalar_value"], 0x41200000u);
  EXPECT_EQ(es["bin_size"], 0);
  EXPECT_EQ(en["value"], -7);
  EXPECT_EQ(en["scalar_value"], static_cast<uint64_t>(-7));
  EXPECT_EQ(en["arg_index"], 4);
  EXPECT_EQ(eon["value"], true);

  const Json &ey = m["entries"][5];
  EXPECT_EQ(ey["arg_name"], "y");
  EXPECT_EQ(ey["stage"], "after_completion");
  EXPECT_EQ(ey["role"], "out");
  EXPECT_EQ(floatsOf(ey), (std::vector<float>{20, 30, 60, 70}));
  EXPECT_EQ(m["bin_bytes"], payload().size());
  EXPECT_EQ(payload().size(), 32u);
  EXPECT_EQ(filesInDump(), 2u);
}

TEST_F(DumpTest, InoutIsSeenBeforeAndAfterAndSuccessorsDoNotDisturbIt) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    auto engine = makeEngine(registry, seed);
    EXPECT_OK(engine->begin(runOptions()));
    Tensor x = tensorOf(DType::F32, {1}, {1});
    for (int i = 0; i < 3; ++i)
      take(engine->submit(mix(x, 1)));
    EXPECT_OK(engine->finish());
    std::vector<float> values;
    Json m = manifest();
    for (const Json &entry : m["entries"])
      if (entry["kind"] == "tensor")
        values.push_back(floatsOf(entry)[0]);
    EXPECT_EQ(values, (std::vector<float>{1, 3, 3, 7, 7, 15}));
  }
}

TEST_F(DumpTest, UnsignedKernelsAreDumpedAndCounted) {
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(runOptions()));
  Tensor x = tensorOf(DType::F32, {2}, {3, 4}), y = zeros(DType::F32, {2});
  take(engine->submit(fill(x, 3)));
  take(engine->submit(Task("bare").addInput(x).addOutput(y).addF32(2)));
  EXPECT_OK(engine->finish());
  Json m = manifest();
  EXPECT_EQ(m["totals"]["unsigned"], 1);
  EXPECT_EQ(m["unsigned_tasks"], (std::vector<int>{1}));
  const Json &last = m["entries"].back();
  EXPECT_EQ(last["unsigned"], true);
  EXPECT_EQ(last["arg_name"], "arg1");
  EXPECT_EQ(last["kernels"], (std::vector<std::string>{"bare"}));
  EXPECT_EQ(floatsOf(last), (std::vector<float>{6, 6}));
  EXPECT_EQ(m["entries"][0]["unsigned"], false);
}

TEST_F(DumpTest, WhatDoesNotRunIsNotDumped) {
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(runOptions()));
  Tensor x = zeros(DType::F32, {1});
  take(engine->submit(Task().addInout(x)));
  take(engine->submit(fill(x, 1).grid({0})));
  take(engine->submit(
      fill(x, 1).when({x, {0}, Compare::Gt, ScalarBits::fromDouble(DType::F32, 0)})));
  EXPECT_OK(engine->finish());
  EXPECT_EQ(manifest()["totals"]["records"], 0);
  EXPECT_EQ(manifest()["entries"].size(), 0u);
  EXPECT_EQ(manifest()["run"]["tasks"], 3);
}

TEST_F(DumpTest, ARunThatFailsHalfWayStillHasItsManifest) {
  for (bool explicitFinish : {true, false}) {
    {
      auto engine = makeEngine(registry);
      EXPECT_OK(engine->begin(runOptions()));
      Tensor x = zeros(DType::F32, {1}), y = zeros(DType::F32, {1});
      take(engine->submit(fill(x, 5)));
      take(engine->submit(Task("fail").addInout(x).addScalar(4, DType::I32)));
      take(engine->submit(copy(x, y)));
      expectError(explicitFinish ? engine->finish() : engine->wait(), StatusCode::KernelFailed,
                  {"no luck"});
    } // the destructor flushes what nobody finished
    Json m = manifest();
    EXPECT_EQ(m["run"]["status"], "failed");
    EXPECT_TRUE(contains(m["run"]["error"], "no luck"));
    // fill: scalar, out; fail: x before, scalar, and nothing after; copy never ran.
    ASSERT_EQ(m["entries"].size(), 4u);
    EXPECT_EQ(floatsOf(m["entries"][2]), std::vector<float>{5});
    EXPECT_EQ(m["entries"][3]["value"], 4);
    EXPECT_EQ(m["totals"]["by_stage"]["after_completion"], 1);
  }
}

TEST_F(DumpTest, AnEngineDroppedEarlyRunsNothingMoreButWritesWhatItHas) {
  Tensor x = zeros(DType::F32, {1}), y = zeros(DType::F32, {1});
  {
    auto engine = makeEngine(registry);
    EXPECT_OK(engine->begin(runOptions()));
    take(engine->submit(fill(x, 5)));
    (void)take(engine->get(x, {0}));
    take(engine->submit(copy(x, y)));
  }
  EXPECT_EQ(valuesOf(y)[0], 0);
  Json m = manifest();
  EXPECT_EQ(m["entries"].size(), 2u);
  EXPECT_EQ(m["run"]["status"], "failed");
  EXPECT_TRUE(contains(m["run"]["error"], "1 tasks still to run"));
}

TEST_F(DumpTest, RunsDoNotLeakIntoEachOther) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {1});
  EXPECT_OK(engine->begin(runOptions()));
  take(engine->submit(Task("fail").addInout(x).addScalar(4, DType::I32)));
  expectError(engine->wait(), StatusCode::KernelFailed, {});
  EXPECT_OK(engine->finish()); // reported already
  EXPECT_EQ(manifest()["run"]["status"], "failed");

  EXPECT_OK(engine->begin(runOptions()));
  take(engine->submit(fill(x, 1)));
  EXPECT_OK(engine->finish());
  Json m = manifest();
  EXPECT_EQ(m["run"]["status"], "ok");
  EXPECT_EQ(m["entries"].size(), 2u);
  EXPECT_EQ(m["entries"][0]["task"], 0);
  EXPECT_EQ(payload().size(), 4u);

  std::string before = readText(dir / "tensor_dump/tensor_dump.json");
  take(engine->submit(fill(x, 1))); // a run without a dump touches nothing
  EXPECT_OK(engine->finish());
  EXPECT_EQ(readText(dir / "tensor_dump/tensor_dump.json"), before);
}

TEST_F(DumpTest, NoManifestExistsWhileTheRunIsOpen) {
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(runOptions()));
  EXPECT_OK(engine->finish());
  EXPECT_TRUE(exists("tensor_dump.json"));
  EXPECT_OK(engine->begin(runOptions())); // the old one would not match the new payload
  EXPECT_FALSE(exists("tensor_dump.json"));
  EXPECT_FALSE(exists("tensor_dump.bin"));
  EXPECT_OK(engine->finish());
  EXPECT_TRUE(exists("tensor_dump.json"));
  EXPECT_TRUE(exists("tensor_dump.bin"));
}

/// Two tasks, one with a marked view as input and one with a marked inout.
static void submitMarked(Engine &engine) {
  Tensor x = tensorOf(DType::F32, {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}), y = zeros(DType::F32, {2, 2});
  Tensor left = take(x.slice({0, 0}, {2, 2}));
  take(engine.submit(Task("copy2").addTensor(left, Direction::In, /*marked=*/true).addOutput(y)));
  take(engine.submit(Task("mix2").addTensor(y, Direction::InOut, /*marked=*/true).addF32(1)));
}

TEST_F(DumpTest, Level1HasMarkedTensorsOnlyWithPayload) {
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(runOptions(1)));
  submitMarked(*engine);
  EXPECT_OK(engine->finish());
  Json m = manifest();
  EXPECT_EQ(m["level"], 1);
  ASSERT_EQ(m["entries"].size(), 3u); // the view before; acc before and after; no scalar
  EXPECT_EQ(floatsOf(m["entries"][0]), (std::vector<float>{0, 1, 4, 5}));
  EXPECT_EQ(floatsOf(m["entries"][1]), (std::vector<float>{0, 1, 4, 5}));
  EXPECT_EQ(floatsOf(m["entries"][2]), (std::vector<float>{1, 3, 9, 11}));
  for (const Json &entry : m["entries"])
    EXPECT_EQ(entry["marked"], true);
  EXPECT_EQ(m["totals"]["scalars"], 0);
  EXPECT_EQ(m["bin_bytes"], 48);
}

TEST_F(DumpTest, Level3HasMetadataOfEverythingAndPayloadOfWhatIsMarked) {
  std::string everything;
  for (int level : {2, 3}) {
    auto engine = makeEngine(registry);
    EXPECT_OK(engine->begin(runOptions(level)));
    submitMarked(*engine);
    EXPECT_OK(engine->finish());
    Json m = manifest();
    std::string fields;
    for (const Json &entry : m["entries"])
      fields += entry["arg_name"].get<std::string>() + entry["stage"].get<std::string>() + " ";
    if (level == 2) {
      everything = fields;
      continue;
    }
    EXPECT_EQ(fields, everything);
    for (const Json &entry : m["entries"])
      EXPECT_EQ(entry["bin_size"].get<int>() > 0, entry.value("marked", false)) << entry;
  }
  DumpFile file = take(DumpFile::open(dir.str()));
  for (const DumpEntry &entry : file.entries())
    EXPECT_EQ(file.load(entry).hasValue(), entry.marked) << entry.argName;
}

TEST_F(DumpTest, Level0WritesNothingAndThereAreFourLevels) {
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(runOptions(0)));
  take(engine->submit(fill(zeros(DType::F32, {1}), 1)));
  EXPECT_OK(engine->finish());
  EXPECT_FALSE(std::filesystem::exists(dir / "tensor_dump"));
  expectError(engine->begin(runOptions(4)), StatusCode::InvalidArgument, {"level 4"});
  expectError(engine->begin(runOptions(-1)), StatusCode::InvalidArgument, {"level -1"});
  RunOptions nowhere = runOptions();
  nowhere.dump.directory.clear();
  expectError(engine->begin(nowhere), StatusCode::InvalidArgument, {"directory"});
}

TEST_F(DumpTest, AnUnwritableDirectoryStopsTheDumpNotTheRun) {
  writeText(dir / "file", "");
  RunOptions options = runOptions();
  options.dump.directory = dir / "file/sub";
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(options));
  Tensor x = zeros(DType::F32, {1});
  take(engine->submit(fill(x, 3)));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(valuesOf(x)[0], 3);
  expectError(engine->finish(), StatusCode::IoError, {"tensor dump stopped", "file/sub"});
  EXPECT_OK(engine->begin(runOptions())); // the next run is not affected
  EXPECT_OK(engine->finish());
}

TEST_F(DumpTest, AFullDiskStopsTheDumpNotTheRunAndLeavesNothingHalfWritten) {
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(runOptions()));
  Tensor x = zeros(DType::F32, {100000}), y = zeros(DType::F32, {100000});
  take(engine->submit(fill(x, 3)));
  take(engine->submit(copy(x, y)));
  rlimit small = {100000, old.rlim_max}; // write() then fails with EFBIG as it would with ENOSPC
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status waited = engine->wait(), finished = engine->finish();
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, oldHandler);
  EXPECT_OK(std::move(waited));
  EXPECT_EQ(valuesOf(y)[99999], 3);
  expectError(finished, StatusCode::IoError, {"tensor dump stopped", "tensor_dump.bin"});
  EXPECT_EQ(filesInDump(), 0u);
}

TEST_F(DumpTest, AFullDiskThatShowsOnlyAtTheEndIsReported) {
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(runOptions()));
  take(engine->submit(
      fill(zeros(DType::F32, {4}), 3))); // 16 bytes: buffered until the file is closed
  rlimit small = {8, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status finished = engine->finish();
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, oldHandler);
  expectError(finished, StatusCode::IoError, {"tensor dump stopped"});
  EXPECT_EQ(filesInDump(), 0u);
}

TEST_F(DumpTest, SpecialScalarsAreValidJson) {
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(runOptions()));
  Tensor x = zeros(DType::F32, {1});
  take(engine->submit(fill(x, __builtin_nanf(""))));
  take(engine->submit(fill(x, -__builtin_inff())));
  EXPECT_OK(engine->finish());
  Json m = manifest();
  EXPECT_EQ(m["entries"][0]["value"], "nan");
  EXPECT_EQ(m["entries"][0]["scalar_value"], 0x7fc00000u);
  EXPECT_EQ(m["entries"][2]["value"], "-inf");
}

TEST_F(DumpTest, ManyArgumentsAndEveryType) {
  // More than 16 tensors: a fixed small array somewhere would show here.
  KernelRecord record;
  record.name = "wide";
  record.function = [](const kiln_args *, const kiln_blocks *, kiln_context *) -> int32_t {
    return 0;
  };
  Signature signature{"wide", "aiv", {}, {}};
  Task task("wide");
  for (int i = 0; i < 255; ++i) {
    DType type = static_cast<DType>(i % 10);
    signature.tensors.push_back(
        param(("t" + std::to_string(i)).c_str(), Direction::In, 1 + i % 5, type));
    std::vector<int64_t> extents(1 + i % 5, 1);
    extents[0] = 2;
    task.addInput(tensorOf(type, extents, {1, 0}));
    signature.scalars.push_back({"s" + std::to_string(i), DType::I64});
    task.addScalar(ScalarBits::fromInt(DType::I64, i * int64_t{1000000007}));
  }
  record.signature = signature;
  take(registry.add(record));
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin(runOptions()));
  take(engine->submit(task));
  EXPECT_OK(engine->finish());
  DumpFile file = take(DumpFile::open(dir.str()));
  ASSERT_EQ(file.entries().size(), 510u);
  for (int i = 0; i < 255; ++i) {
    const DumpEntry &tensor = file.entries()[i], &scalar = file.entries()[255 + i];
    EXPECT_EQ(tensor.argIndex, static_cast<uint32_t>(i));
    EXPECT_EQ(tensor.shape.size(), static_cast<size_t>(1 + i % 5));
    EXPECT_EQ(valuesOf(take(file.load(tensor))), (std::vector<double>{1, 0}))
        << toString(tensor.dtype);
    EXPECT_EQ(scalar.argName, "s" + std::to_string(i));
    EXPECT_EQ(scalar.scalar.asInt(), i * int64_t{1000000007});
  }
}

TEST(DumpLevel, IsParsedStrictly) {
  EXPECT_EQ(take(parseDumpLevel("2", "--dump-args")), 2);
  for (const char *bad : {"", "4", "-1", "2x", "22", "two"})
    expectError(parseDumpLevel(bad, "--dump-args").status(), StatusCode::InvalidArgument,
                {"--dump-args", bad});
  unsetenv("KILN_DUMP");
  EXPECT_EQ(take(dumpLevelFromEnvironment(2)), 2);
  setenv("KILN_DUMP", "0", 1);
  EXPECT_EQ(take(dumpLevelFromEnvironment(2)), 0);
  setenv("KILN_DUMP", "yes", 1);
  expectError(dumpLevelFromEnvironment(2).status(), StatusCode::InvalidArgument,
              {"KILN_DUMP", "yes"});
  unsetenv("KILN_DUMP");
}
