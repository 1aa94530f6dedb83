// timeline.json and graph.json: read as JSON, and held against what was submitted.
#include "TestSupport.h"

#include "kiln/runtime/timeline.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace kiln;
using namespace kiln::test;
using Json = nlohmann::json;

namespace {

struct TimelineTest : ::testing::Test {
  TimelineTest() {
    addBasicKernels(registry);
    addKernel(registry, "fail", failKernel, {param("x", Direction::InOut, 1)});
    TensorParam boxed = param("x", Direction::InOut, 1);
    boxed.box = BlockBox{{{0, {8, 0, 0}, {}, 8}}};
    addKernel(registry, "boxed", rolesKernel, {boxed});
    addKernel(registry, "roles", rolesKernel, {param("x", Direction::InOut, 1)});
  }
  /// Tells what its roles did, as the simulator does: each ran, then one waited for the other.
  static int32_t rolesKernel(const kiln_args *, const kiln_blocks *, kiln_context *) {
    RoleTimeline *timeline = RoleTimeline::current();
    if (!timeline)
      return KILN_OK;
    int64_t times[4];
    for (int64_t &time : times)
      time = timeline->now();
    timeline->add({0, "aic", "cube", false, times[0], times[1]});
    timeline->add({0, "aiv#1", "vec", false, times[1], times[2]});
    timeline->add({0, "aic", "wait to pop from to_aic", true, times[1], times[3]});
    return KILN_OK;
  }
  static int32_t failKernel(const kiln_args *, const kiln_blocks *, kiln_context *) {
    return KILN_FAIL;
  }

  std::unique_ptr<Engine> begin(unsigned workers) {
    EngineOptions options;
    options.workers = workers;
    auto engine = take(Engine::create(registry, options));
    RunOptions run;
    run.recordTimeline = true;
    EXPECT_OK(engine->begin(run));
    return engine;
  }
  void write(const Engine &engine) {
    EXPECT_OK(writeTimeline(dir / "out", "prog on cpu", engine.timeline(), engine.trace()));
    events = Json::parse(readText(dir / "out/timeline.json"))["traceEvents"];
    graph = Json::parse(readText(dir / "out/graph.json"));
    dot = readText(dir / "out/graph.dot");
  }
  std::vector<Json> ofPhase(const std::string &phase) const {
    std::vector<Json> found;
    for (const Json &event : events)
      if (event["ph"] == phase)
        found.push_back(event);
    return found;
  }
  /// Slices of one track do not cross, and every arrow begins and ends inside a slice.
  void checkSchema() const {
    std::vector<Json> slices = ofPhase("X");
    auto end = [](const Json &slice) {
      return slice["ts"].get<double>() + slice["dur"].get<double>();
    };
    const double rounding = 1e-6;
    for (const Json &a : slices)
      for (const Json &b : slices) {
        if (&a == &b || a["tid"] != b["tid"] || a["ts"] > b["ts"])
          continue;
        bool apart = b["ts"].get<double>() >= end(a) - rounding;
        bool inside = end(b) <= end(a) + rounding || a["ts"] == b["ts"];
        EXPECT_TRUE(apart || inside) << a << b;
      }
    std::map<int, int> ends;
    for (const char *phase : {"s", "f"})
      for (const Json &flow : ofPhase(phase)) {
        ++ends[flow["id"].get<int>()];
        bool isTied = false;
        for (const Json &slice : slices)
          isTied |= slice["cat"] == "task" && slice["tid"] == flow["tid"] &&
                    slice["ts"] <= flow["ts"] && flow["ts"].get<double>() <= end(slice) + rounding;
        EXPECT_TRUE(isTied) << flow;
      }
    for (const auto &[id, count] : ends)
      EXPECT_EQ(count, 2) << "flow " << id;
    for (const Json &counter : ofPhase("C"))
      EXPECT_GE(counter["args"].begin().value().get<int64_t>(), 0) << counter;
  }

  TempDir dir;
  KernelRegistry registry;
  Json events, graph;
  std::string dot;
};

} // namespace

TEST_F(TimelineTest, ShowsTasksBlockRangesDependenciesAndCounters) {
  for (unsigned workers : {1u, 2u}) {
    auto engine = begin(workers);
    Tensor x = take(engine->alloc(DType::F32, {4, 4})), y = zeros(DType::F32, {4, 4});
    take(engine->submit(fill(x, 1)));
    take(engine->submit(copy(x, y).grid({8})));
    take(engine->submit(mix(x, 2)));
    TaskId last = take(engine->submit(mix(y, 3)));
    take(engine->submit(Task().after(last)));
    EXPECT_OK(engine->finish());
    write(*engine);
    checkSchema();

    std::map<int, std::string> kernels;
    int64_t blocks = 0;
    for (const Json &slice : ofPhase("X")) {
      if (slice["cat"] == "task")
        kernels[slice["args"]["task"]] = slice["name"];
      blocks += slice["cat"] == "blocks" && slice["args"]["task"] == 1;
    }
    EXPECT_EQ(kernels,
              (std::map<int, std::string>{{0, "fill2"}, {1, "copy2"}, {2, "mix2"}, {3, "mix2"}}));
    EXPECT_GE(blocks, workers == 1 ? 1 : 2); // one worker takes the grid in one call
    EXPECT_EQ(ofPhase("s").size(), 4u);      // 0->1, 0->2, 1->2, 1->3; the dummy has no slice
    std::set<std::string> counters;
    int64_t ready = -1;
    for (const Json &counter : ofPhase("C")) {
      counters.insert(counter["name"]);
      if (counter["name"] == "ready tasks")
        ready = counter["args"]["tasks"];
    }
    EXPECT_EQ(counters, (std::set<std::string>{"arena", "ready tasks"}));
    EXPECT_EQ(ready, 0) << "all were taken in the end";
  }
}

TEST_F(TimelineTest, GraphHasEachEdgeWithItsKindAndTensor) {
  auto engine = begin(1);
  Tensor x = zeros(DType::F32, {2}), y = zeros(DType::F32, {2});
  TaskId first = take(engine->submit(fill(x, 1)));
  take(engine->submit(copy(x, y)));
  take(engine->submit(fill(x, 2)));
  take(engine->submit(fill(zeros(DType::F32, {2}), 3).after(first)));
  EXPECT_OK(engine->finish());
  write(*engine);
  std::set<std::string> edges;
  for (const Json &edge : graph["edges"])
    edges.insert(std::to_string(edge["from"].get<int>()) + "-" +
                 std::to_string(edge["to"].get<int>()) + " " + edge["kind"].get<std::string>() +
                 " " + edge["tensor"].get<std::string>());
  EXPECT_EQ(edges,
            (std::set<std::string>{"0-1 raw x", "0-2 waw out", "1-2 war out", "0-3 explicit "}));
  ASSERT_EQ(graph["tasks"].size(), 4u);
  EXPECT_EQ(graph["tasks"][1]["arguments"][1]["name"], "y");
  EXPECT_EQ(graph["tasks"][0]["arguments"][1]["value"], 1.0);
  EXPECT_EQ(graph["tasks"][1]["state"], "done");
  std::vector<int> path = graph["critical_path"]["tasks"];
  ASSERT_FALSE(path.empty());
  for (const Json &task : graph["tasks"])
    EXPECT_EQ(task["critical"], std::count(path.begin(), path.end(), task["task"].get<int>()) == 1);
  EXPECT_TRUE(contains(dot, "t1 -> t2 [label=\"war out\""));
  std::string summary = summarize(engine->timeline(), engine->trace());
  EXPECT_TRUE(contains(summary, "4 tasks on 1 worker in ")) << summary;
  EXPECT_TRUE(contains(summary, "critical path: ")) << summary;
}

TEST_F(TimelineTest, GraphSaysWhatABlockTouches) {
  auto engine = begin(1);
  take(engine->submit(Task("boxed").addInout(zeros(DType::F32, {16})).grid({2})));
  take(engine->submit(fill(zeros(DType::F32, {2}), 3)));
  EXPECT_OK(engine->finish());
  write(*engine);
  EXPECT_EQ(graph["tasks"][0]["arguments"][0]["box"], "[8*b0 : 8*b0 + 8]");
  EXPECT_FALSE(graph["tasks"][1]["arguments"][0].contains("box"));
}

TEST_F(TimelineTest, RolesHaveTracksOfTheirOwnAndWaitsAreSlices) {
  for (unsigned workers : {1u, 2u}) {
    auto engine = begin(workers);
    Tensor x = zeros(DType::F32, {1});
    take(engine->submit(fill(x, 1)));
    take(engine->submit(Task("roles").addInout(x)));
    EXPECT_OK(engine->finish());
    EXPECT_EQ(RoleTimeline::current(), nullptr) << "only while a kernel runs";
    write(*engine);
    checkSchema();
    std::map<int, std::string> tracks;
    for (const Json &name : ofPhase("M"))
      if (name["name"] == "thread_name")
        tracks[name["tid"]] = name["args"]["name"];
    std::set<std::string> seen;
    for (const Json &slice : ofPhase("X"))
      if (slice["cat"] == "role" || slice["cat"] == "wait") {
        EXPECT_EQ(slice["args"]["task"], 1);
        std::string track = tracks[slice["tid"]];
        seen.insert(track.substr(track.rfind(' ') + 1) + ": " + slice["name"].get<std::string>());
      }
    EXPECT_EQ(seen,
              (std::set<std::string>{"aic: cube", "aic: wait to pop from to_aic", "aiv#1: vec"}));
  }
  // Without a timeline there is nothing to tell.
  auto engine = take(Engine::create(registry));
  take(engine->submit(Task("roles").addInout(zeros(DType::F32, {1}))));
  EXPECT_OK(engine->finish());
}

namespace {

// Two roles that hand numbers to each other: `send` runs ahead of what two slots hold, and then
// waits for the last answer, which comes after all numbers have been added.
int32_t sendNumbers(const kiln_args *, const kiln_blocks *, kiln_context *ctx) {
  for (int i = 0; i < 3; ++i) {
    void *slot = ctx->pipe_functions->begin_push(ctx, ctx->pipes[0], nullptr);
    if (!slot)
      return KILN_FAIL;
    *static_cast<float *>(slot) = 1;
    if (ctx->pipe_functions->end_push(ctx, ctx->pipes[0]))
      return KILN_FAIL;
  }
  if (!ctx->pipe_functions->pop(ctx, ctx->pipes[1], nullptr))
    return KILN_FAIL;
  return ctx->pipe_functions->free(ctx, ctx->pipes[1]);
}

/// Pops as many numbers as scalar 0 says.
int32_t addNumbers(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  for (uint64_t i = 0; i < args->scalars[0]; ++i)
    if (!ctx->pipe_functions->pop(ctx, ctx->pipes[0], nullptr) ||
        ctx->pipe_functions->free(ctx, ctx->pipes[0]))
      return KILN_FAIL;
  if (!ctx->pipe_functions->begin_push(ctx, ctx->pipes[1], nullptr))
    return KILN_FAIL;
  return ctx->pipe_functions->end_push(ctx, ctx->pipes[1]);
}

KernelRecord numbersGroup() {
  KernelRecord group;
  group.name = "numbers";
  group.group =
      GroupSpec{{{"send", sendNumbers, 2, 0, nullptr}, {"add", addNumbers, 1, 0, nullptr}},
                {{"there", 0, 1, 2, 2 * sizeof(float), PipeSplit::UpDown},
                 {"back", 1, 0, 1, 2 * sizeof(float), PipeSplit::UpDown}}};
  return group;
}

} // namespace

TEST_F(TimelineTest, RolesOnFibersHaveTracksAndTheirWaitsAtPipesAreSlices) {
  take(registry.add(numbersGroup()));
  for (unsigned workers : {1u, 2u}) {
    auto engine = begin(workers);
    take(engine->submit(Task("numbers").addIndex(3).grid({2})));
    EXPECT_OK(engine->finish());
    write(*engine);
    checkSchema();
    std::map<std::string, int> slices;
    std::map<int, std::string> tracks;
    for (const Json &name : ofPhase("M"))
      if (name["name"] == "thread_name")
        tracks[name["tid"]] = name["args"]["name"];
    for (const Json &slice : ofPhase("X"))
      if (slice["cat"] == "role" || slice["cat"] == "wait") {
        EXPECT_EQ(slice["args"]["task"], 0);
        std::string track = tracks[slice["tid"]];
        ++slices[track.substr(track.rfind(' ') + 1) + ": " + slice["name"].get<std::string>()];
      }
    // Twice all, for two blocks: lanes fill both slots, wait, and wait again for the answer.
    EXPECT_EQ(slices,
              (std::map<std::string, int>{{"send#0: send", 6},
                                          {"send#0: wait to push into there, emptied by add", 2},
                                          {"send#0: wait to pop from back, filled by add", 2},
                                          {"send#1: send", 6},
                                          {"send#1: wait to push into there, emptied by add", 2},
                                          {"send#1: wait to pop from back, filled by add", 2},
                                          {"add: add", 4},
                                          {"add: wait to pop from there, filled by send", 2}}));
  }
}

TEST_F(TimelineTest, ADeadlockedGroupEndsInWaits) {
  take(registry.add(numbersGroup()));
  auto engine = begin(1);
  take(engine->submit(Task("numbers").addIndex(4)));
  expectError(engine->finish(), StatusCode::Deadlock, {"'there'", "'back'"});
  write(*engine);
  checkSchema();
  std::map<std::string, std::string> last;
  for (const Json &slice : ofPhase("X"))
    if (slice["cat"] == "wait")
      last[std::to_string(slice["tid"].get<int>())] = slice["name"];
  std::multiset<std::string> waits;
  for (const auto &[track, what] : last)
    waits.insert(what);
  EXPECT_EQ(waits, (std::multiset<std::string>{"wait to pop from back, filled by add",
                                               "wait to pop from back, filled by add",
                                               "wait to pop from there, filled by send"}));
}

TEST_F(TimelineTest, AFailedRunIsShownUpToItsEnd) {
  auto engine = begin(2);
  Tensor x = zeros(DType::F32, {1}), y = zeros(DType::F32, {1});
  take(engine->submit(fill(x, 1)));
  take(engine->submit(Task("fail").addInout(x)));
  take(engine->submit(copy(x, y)));
  expectError(engine->finish(), StatusCode::KernelFailed, {});
  write(*engine);
  checkSchema();
  EXPECT_EQ(graph["tasks"][1]["state"], "failed");
  EXPECT_EQ(graph["tasks"][2]["state"], "cancelled");
  EXPECT_EQ(ofPhase("s").size(), 1u);
}

TEST_F(TimelineTest, IsOffByDefaultAndBelongsToOneRun) {
  auto engine = begin(1);
  take(engine->submit(fill(zeros(DType::F32, {1}), 1)));
  EXPECT_OK(engine->finish());
  EXPECT_TRUE(engine->timeline().isRecorded());
  EXPECT_OK(engine->begin({}));
  EXPECT_OK(engine->finish());
  EXPECT_FALSE(engine->timeline().isRecorded());
  expectError(writeTimeline(dir / "none", "", engine->timeline(), engine->trace()),
              StatusCode::FailedPrecondition, {"no timeline"});
  EngineOptions options;
  options.recordTrace = false;
  RunOptions run;
  run.recordTimeline = true;
  expectError(take(Engine::create(registry, options))->begin(run), StatusCode::InvalidArgument,
              {"recordTrace"});
  writeText(dir / "file", "");
  auto other = begin(1);
  EXPECT_OK(other->finish());
  expectError(writeTimeline(dir / "file/sub", "", other->timeline(), other->trace()),
              StatusCode::IoError, {"file/sub"});
}
