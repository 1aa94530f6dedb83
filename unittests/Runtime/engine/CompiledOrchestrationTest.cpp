// Orchestrations as a compiler would write them, against kiln/orchestration_abi.h.
#include "TestSupport.h"

#include "kiln/runtime/compiled_orchestration.h"

using namespace kiln;
using namespace kiln::test;

namespace {
constexpr kiln_source kHere{"program.cpp", 7, 3};

struct CompiledOrchestration : ::testing::Test {
  CompiledOrchestration() {
    addBasicKernels(registry);
    kernels = {registry.find("fill2"), registry.find("copy2"), registry.find("fill1")};
  }
  KernelRegistry registry;
  std::vector<const KernelRecord *> kernels;
};

int32_t launchFill(kiln_orchestration *run, kiln_handle tensor, double value, uint64_t *task,
                   const kiln_launch_predicate *predicate = nullptr, int32_t kernel = 0) {
  kiln_launch_tensor arg{tensor, KILN_OUT, 0};
  kiln_launch_scalar scalar{ScalarBits::fromDouble(DType::F32, value).bits, KILN_F32, 0};
  kiln_launch launch{};
  launch.kernel = kernel;
  launch.num_tensors = launch.num_scalars = 1;
  launch.tensors = &arg;
  launch.scalars = &scalar;
  launch.predicate = predicate;
  launch.source = &kHere;
  return run->functions->submit(run, &launch, task);
}

int32_t launchCopy(kiln_orchestration *run, kiln_handle from, kiln_handle to, const uint64_t *dep) {
  kiln_launch_tensor args[] = {{from, KILN_IN, 0}, {to, KILN_OUT, 0}};
  kiln_launch launch{};
  launch.kernel = 1;
  launch.num_tensors = 2;
  launch.tensors = args;
  launch.num_deps = dep ? 1 : 0;
  launch.deps = dep;
  launch.source = &kHere;
  return run->functions->submit(run, &launch, nullptr);
}
} // namespace

// for i in 0 .. dim(y, 0): t = alloc(1, dim(y, 1)); fill(t, scalar); copy(t, y[i])
static int32_t fillRows(kiln_orchestration *run, const uint64_t *scalars) {
  const kiln_orchestration_functions &call = *run->functions;
  int64_t rows = call.dim(run, 0, 0), columns = call.dim(run, 0, 1);
  kiln_handle top = call.top(run);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t extents[] = {1, columns}, offsets[] = {row, 0};
    kiln_handle made, slice;
    if (int32_t failed = call.alloc(run, &kHere, KILN_F32, 2, extents, &made))
      return failed;
    EXPECT_EQ(made, top) << "handles of the last iteration are gone";
    if (int32_t failed = call.slice(run, &kHere, 0, offsets, extents, 0, &slice))
      return failed;
    double value = ScalarBits{scalars[0], DType::F32}.asDouble() + static_cast<double>(row);
    if (int32_t failed = launchFill(run, made, value, nullptr))
      return failed;
    if (int32_t failed = launchCopy(run, made, slice, nullptr))
      return failed;
    call.release(run, top);
  }
  return 0;
}

TEST_F(CompiledOrchestration, LaunchesWhatALoopOfViewsAndAllocationsSays) {
  auto engine = makeEngine(registry);
  Tensor y = zeros(DType::F32, {3, 4});
  ScalarBits scalar = ScalarBits::fromDouble(DType::F32, 10);
  EXPECT_OK(runOrchestration(*engine, fillRows, kernels, {&y, 1}, {&scalar, 1}));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(valuesOf(y), (std::vector<double>{10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12}));
  EXPECT_EQ(engine->trace().tasks.size(), 6u);
  EXPECT_TRUE(engine->trace().hasEdge(0, 1, EdgeKind::Raw));
  EXPECT_EQ(engine->trace().tasks[3].loc, (SourceLoc{"program.cpp", 7, 3}));
}

// scope manual { a = fill(t, 1); get(x[0]); copy(t, y) deps(a) }, t = y as it was before
static int32_t explicitOrder(kiln_orchestration *run, const uint64_t *) {
  const kiln_orchestration_functions &call = *run->functions;
  call.begin_scope(run, 1);
  uint64_t filled, bits;
  int64_t zeros[] = {0, 0};
  if (int32_t failed = launchFill(run, 0, 5, &filled))
    return failed;
  if (int32_t failed = call.get(run, &kHere, 0, zeros, &bits))
    return failed;
  EXPECT_EQ((ScalarBits{bits, DType::F32}.asDouble()), 5);
  kiln_launch_predicate never{zeros, 100, 0, KILN_GT};
  if (int32_t failed = launchFill(run, 1, 9, nullptr, &never))
    return failed;
  if (int32_t failed = launchCopy(run, 0, 1, &filled))
    return failed;
  return call.end_scope(run, &kHere);
}

TEST_F(CompiledOrchestration, ScopesDepsGetAndPredicates) {
  auto engine = makeEngine(registry);
  Tensor given[] = {zeros(DType::F32, {2, 2}), zeros(DType::F32, {2, 2})};
  EXPECT_OK(runOrchestration(*engine, explicitOrder, kernels, given, {}));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(valuesOf(given[1]), std::vector<double>(4, 5.0));
  EXPECT_EQ(engine->trace().tasks[1].state, TaskState::Skipped);
  EXPECT_TRUE(engine->trace().hasEdge(0, 2, EdgeKind::Explicit));
  EXPECT_FALSE(engine->trace().hasEdge(0, 2, EdgeKind::Raw)) << "manual: no order is inferred";
}

static int32_t viewsOfViews(kiln_orchestration *run, const uint64_t *) {
  const kiln_orchestration_functions &call = *run->functions;
  kiln_handle turned, row, flat;
  int64_t swapped[] = {1, 0}, offsets[] = {1, 0}, sizes[] = {1, 2}, four[] = {6};
  if (int32_t failed = call.transpose(run, &kHere, 0, swapped, &turned))
    return failed;
  if (int32_t failed = call.slice(run, &kHere, turned, offsets, sizes, 1, &row))
    return failed;
  EXPECT_EQ(call.dim(run, row, 0), 2);
  if (int32_t failed = launchFill(run, row, 3, nullptr, nullptr, 2))
    return failed;
  return call.reshape(run, &kHere, 0, 1, four, &flat);
}

TEST_F(CompiledOrchestration, ViewsAreByReference) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {2, 3});
  EXPECT_OK(runOrchestration(*engine, viewsOfViews, kernels, {&x, 1}, {}));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(valuesOf(x), (std::vector<double>{0, 3, 0, 0, 3, 0}));
}

static int32_t failsInsideAScope(kiln_orchestration *run, const uint64_t *) {
  run->functions->begin_scope(run, 0);
  if (int32_t failed = launchFill(run, 0, 1, nullptr))
    return failed;
  int64_t offsets[] = {0, 2}, sizes[] = {2, 2};
  kiln_handle slice;
  if (int32_t failed = run->functions->slice(run, &kHere, 0, offsets, sizes, 0, &slice))
    return failed;
  ADD_FAILURE() << "the slice leaves its tensor";
  return 0;
}

TEST_F(CompiledOrchestration, TheFirstFailureHasItsSourceLineAndTheEngineGoesOn) {
  auto engine = makeEngine(registry);
  Tensor x = zeros(DType::F32, {2, 3});
  Status status = runOrchestration(*engine, failsInsideAScope, kernels, {&x, 1}, {});
  EXPECT_EQ(status.location(), (SourceLoc{"program.cpp", 7, 3}));
  EXPECT_NE(status.message().find("slice"), std::string::npos) << status.str();
  EXPECT_OK(engine->finish());
  EXPECT_EQ(valuesOf(x), std::vector<double>(6, 1.0)) << "what was launched before still runs";
  EXPECT_OK(engine->run(fill(x, 2)));
}

TEST_F(CompiledOrchestration, AMessageOfItsOwn) {
  auto engine = makeEngine(registry);
  auto fails = [](kiln_orchestration *run, const uint64_t *) -> int32_t {
    return run->functions->fail(run, &kHere, "division by zero");
  };
  Status status = runOrchestration(*engine, fails, kernels, {}, {});
  EXPECT_EQ(status.str(), "program.cpp:7:3: error: division by zero");
  auto silent = [](kiln_orchestration *, const uint64_t *) -> int32_t { return 42; };
  EXPECT_EQ(runOrchestration(*engine, silent, kernels, {}, {}).code(), StatusCode::Internal);
}
