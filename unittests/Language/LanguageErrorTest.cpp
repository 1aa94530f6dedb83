//===- LanguageErrorTest.cpp - mistakes, each reported at its line ----------------===//
#include "LanguageTesting.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

TEST(LanguageErrors, ErrorShapesDoNotBroadcast) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    Tile x = load(a, {0, 0}, {8, 8}), y = load(a, {0, 0}, {4, 8});
    line = __LINE__ + 1;
    x + y;
  });
  expectError(p, line, "tiles of 8x8 and 4x8 do not broadcast");
}

TEST(LanguageErrors, ErrorElementTypesDiffer) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    Tile x = load(a, {0, 0}, {8, 8});
    line = __LINE__ + 1;
    x *cast<bf16>(x);
  });
  expectError(p, line, "mixes f32 with bf16; cast one of them");
}

TEST(LanguageErrors, ErrorMatmulInnerExtents) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    Tile x = load(a, {0, 0}, {8, 16});
    line = __LINE__ + 1;
    matmul(x, x);
  });
  expectError(p, line, "the inner extents 16 and 8 differ");
}

TEST(LanguageErrors, ErrorTileUsedOutsideItsLoop) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32>, Out<f32> b) {
    Tile inner = zeros<f32>(8, 8);
    loop(0, 4, 1, [&](Index) { inner = zeros<f32>(8, 8); });
    line = __LINE__ + 1;
    store(inner, b, {0, 0});
  });
  expectError(p, line, "it belongs to the loop, kernel or role that made it");
}

TEST(LanguageErrors, ErrorLoopBodyReturnsAnotherShape) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32>, Out<f32>) {
    line = __LINE__ + 1;
    loop(0, 4, 1, zeros<f32>(8, 8), [&](Index, Tile) { return zeros<f32>(4, 8); });
  });
  expectError(p, line,
              "the loop carries a tile of 8x8 of f32 but its body returns a tile of 4x8 of f32");
}

TEST(LanguageErrors, ErrorParallelLoopThatCarries) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32>, Out<f32>) {
    line = __LINE__ + 1;
    loop(0, 4, 1, zeros<f32>(8, 8), {.parallel = true}, [&](Index, Tile acc) { return acc; });
  });
  expectError(p, line, "a parallel loop carries no values: its iterations are independent");
}

TEST(LanguageErrors, ErrorWrongNumberOfIndices) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    line = __LINE__ + 1;
    load(a, {0}, {8, 8});
  });
  expectError(p, line, "a tensor of rank 2 takes one index per axis, not 1");
}

TEST(LanguageErrors, ErrorStoreToAnInTensorThroughItsBase) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    const TensorRef &base = a; // store(tile, a, ...) itself does not compile
    line = __LINE__ + 1;
    store(zeros<f32>(8, 8), base, {0, 0});
  });
  expectError(p, line, "store into an In tensor");
}

TEST(LanguageErrors, ErrorLoadInAnOrchestration) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"a"}, [&](In<f32> a) {
    line = __LINE__ + 1;
    load(a, {0, 0}, {8, 8});
  });
  expectError(p, line, "load computes on a core; put it into a kernel, a role or spmd");
}

TEST(LanguageErrors, ErrorPushOutsideARoleAndAtTheWrongEnd) {
  uint32_t line = 0;
  Program p("test");
  p.group("g", {}, {}, [&] {
    Pipe down = pipe<f32>("down", aic, aiv, {8, 8});
    role("vec", aiv, [&] {
      line = __LINE__ + 1;
      push(down, zeros<f32>(8, 8));
    });
  });
  expectError(p, line, "push by role aiv, but 'down' is a pipe from aic to aiv");
}

TEST(LanguageErrors, ErrorSplitNoneFromLanesNamesTheSplitThatWorks) {
  uint32_t line = 0;
  Program p("test");
  p.group("g", {.lanes = 2}, {}, [&] {
    line = __LINE__ + 1;
    Pipe up = pipe<f32>("up", aiv, aic, {8, 8});
    role("vec", aiv, [&] { push(up, zeros<f32>(8, 8)); });
    role("cube", aic, [&] { pop(up); });
  });
  expectError(p, line, "split up_down would work");
}

TEST(LanguageErrors, ErrorFunctionsAndParameters) {
  Program p("test");
  p.kernel("k", {}, [] {});
  uint32_t line = __LINE__ + 1;
  p.kernel("k", {}, [] {});
  expectError(p, line, "the program has a function of this name already");

  Program q("test");
  line = __LINE__ + 1;
  q.kernel("k", {"x", "x"}, [](In<f32>, In<f32>) {});
  expectError(q, line, "parameter name 'x' is used twice");

  Program r("test");
  line = __LINE__ + 1;
  r.kernel("k", {"x"}, [](In<f32>, In<f32>) {});
  expectError(r, line, "has 1 parameter names for 2 parameters");
}

TEST(LanguageErrors, ErrorNumbersThatTheTypeCannotHold) {
  uint32_t line = 0;
  Program p("test");
  p.kernel("k", {"x"}, [&](InOut<i32> x) {
    Tile t = load(x, {0, 0}, {8, 8});
    line = __LINE__ + 1;
    t * 0.5;
    store(t, x, {0, 0});
  });
  expectError(p, line, "0.5 is no value of type i32");

  Program q("test");
  q.kernel("k", {}, [&] {
    line = __LINE__ + 1;
    full(DType::I8, {8, 8}, 300);
    full(DType::I8, {8, 8}, -128);
  });
  expectError(q, line, "is no value of type i8");
}

TEST(LanguageErrors, ErrorLanesAndExtents) {
  Program p("test");
  uint32_t line = __LINE__ + 1;
  p.group("g", {.lanes = -1}, {}, [] {});
  expectError(p, line, "has -1 lanes; there is at least one, or 0 for what the compiler chooses");

  Program q("test");
  line = __LINE__ + 1;
  q.kernel("k", {{"x", {int64_t(1) << 40, int64_t(1) << 40}}}, [](In<f32>) {});
  expectError(q, line, "more elements than any memory holds");
}

TEST(LanguageErrors, ErrorGridAndBlockIndicesDoNotCascade) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"x"}, [&](Out<f32> x) {
    line = __LINE__ + 1;
    spmd("k", {1, 2}, {}, [&](Index) { store(zeros<f32>(8, 8), x, {0, 0}); });
  });
  expectError(p, line, "has a grid of 2 dimensions but its body takes 1 block indices");
}

TEST(LanguageErrors, ErrorOpOutsideAnyFunction) {
  Program p("test");
  uint32_t line = __LINE__ + 1;
  zeros<f32>(2, 2);
  expectError(p, line, "stands outside any function");
}

TEST(LanguageErrors, ErrorSubmitArguments) {
  uint32_t line = 0;
  Program p("test");
  Kernel k = p.kernel("k", {"x"}, [](Out<f32> x) { store(zeros<f32>(8, 8), x, {0, 0}); });
  p.orchestration("main", {"x"}, [&](Out<f32> x) {
    submit(k, {x});
    line = __LINE__ + 1;
    submit(k, {x, 3});
  });
  expectError(p, line, "'k' takes 1 arguments, not 2");
}

TEST(LanguageErrors, ErrorsAreReportedTogetherAndTracingGoesOn) {
  Program p = kernel([&](In<f32> a, Out<f32> b) {
    Tile bad = matmul(load(a, {0, 0}, {8, 16}), load(a, {0, 0}, {8, 16}));
    Tile alsoBad = bad + bad; // nothing new is wrong here
    store(alsoBad, b, {0, 0});
    load(a, {0, 0}, {0, 8});
  });
  ASSERT_EQ(p.errors().size(), 2u);
  EXPECT_TRUE(has(p.errors()[0].message(), "the inner extents 16 and 8 differ"));
  EXPECT_TRUE(has(p.errors()[1].message(), "the extents of a tile are at least 1"));
}

TEST(LanguageErrors, TileUsedInAnotherKernel) {
  uint32_t line = 0;
  Program p("test");
  std::optional<Tile> kept;
  p.kernel("first", {}, [&] { kept = zeros<f32>(8, 8); });
  p.kernel("second", {"x"}, [&](Out<f32> x) {
    store(zeros<f32>(8, 8), x, {0, 0});
    line = __LINE__ + 1;
    store(*kept, x, {0, 0});
  });
  expectError(p, line, "it belongs to the loop, kernel or role that made it");
}

TEST(LanguageErrors, TileUsedInAnotherProgram) {
  uint32_t line = 0;
  Program first("first"), p("test");
  std::optional<Tile> kept;
  first.kernel("k", {}, [&] { kept = zeros<f32>(8, 8); });
  p.kernel("k", {"x"}, [&](Out<f32> x) {
    line = __LINE__ + 1;
    Tile twice = *kept + *kept;
    store(twice, x, {0, 0}); // nothing new is wrong here
    loop(0, 4, 1, twice, [&](Index, Tile t) { return t + t; });
    when(x.dim(0) > 4, [&] { return twice; }, [&] { return zeros<f32>(8, 8); });
    store(zeros<f32>(8, 8), x, {0, 0});
  });
  expectError(p, line, "takes values of this program, and one belongs to another");
  EXPECT_TRUE(first.errors().empty());
}

TEST(LanguageErrors, PushInAnOrchestration) {
  uint32_t line = 0;
  Program p("test");
  std::optional<Pipe> kept;
  p.group("g", {}, {}, [&] {
    kept = pipe("ready", aiv, aic, {});
    role("vec", aiv, [&] { push(*kept, {}); });
    role("cube", aic, [&] { pop_all(*kept); });
  });
  p.orchestration("main", {}, [&] {
    line = __LINE__ + 1;
    push(*kept, std::vector<Tile>{});
  });
  expectError(p, line, "push stands outside a role");
}

TEST(LanguageErrors, PipeUsedByAThirdRole) {
  uint32_t line = 0;
  Program p("test");
  p.group("g", {}, {}, [&] {
    Pipe down = pipe<f32>("down", dma, compute, {8, 8});
    role("loader", dma, [&] { push(down, zeros<f32>(8, 8)); });
    role("user", compute, [&] { pop(down); });
    role("other", aiv, [&] {
      line = __LINE__ + 1;
      pop(down);
    });
  });
  expectError(p, line, "pop by role aiv, but 'down' is a pipe from dma to compute");
}

TEST(LanguageErrors, LaneDependentConditionAroundAPipeOp) {
  uint32_t line = 0;
  Program p("test");
  p.group("g", {.lanes = 2}, {}, [&] {
    Pipe up = pipe<f32>("up", aiv, aic, {8, 8}, {.split = Split::UpDown});
    role("vec", aiv, [&] {
      Index n = lane() * 2 + 1;
      when(n > 1, [&] {
        line = __LINE__ + 1;
        push(up, zeros<f32>(4, 8));
      });
    });
    role("cube", aic, [&] { pop(up); });
  });
  expectError(p, line, "depends on the lane; move it out, so that every lane does it");
}

TEST(LanguageErrors, LaneDependentTripCountAroundAPipeOp) {
  uint32_t line = 0;
  Program p("test");
  p.group("g", {.lanes = 2}, {}, [&] {
    Pipe up = pipe<f32>("up", aiv, aic, {8, 8}, {.split = Split::UpDown});
    role("vec", aiv, [&] {
      loop(0, lane() + 1, 1, [&](Index) {
        line = __LINE__ + 1;
        push(up, zeros<f32>(4, 8));
      });
    });
    role("cube", aic, [&] { pop(up); });
  });
  expectError(p, line, "depends on the lane");
}

TEST(LanguageErrors, BranchesOfDifferentTypes) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32> b) {
    line = __LINE__ + 1;
    Tile t = when(a.dim(0) > 4, [&] { return zeros<f32>(8, 8); }, [&] { return zeros<f32>(4, 8); });
    store(t, b, {0, 0});
  });
  expectError(
      p, line,
      "one side of the branch returns a tile of 8x8 of f32, the other a tile of 4x8 of f32");
}

TEST(LanguageErrors, WriteAndScatterIntoAnInTensor) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    const TensorRef &base = a;
    line = __LINE__ + 1;
    write<f32>(1, base, {0, 0});
  });
  expectError(p, line, "write into an In tensor; make the parameter Out or InOut");
}

TEST(LanguageErrors, ElementTypesOfScalarAccesses) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    line = __LINE__ + 1;
    read<i32>(a, {0, 0});
  });
  expectError(p, line, "read<i32> of a tensor of f32");

  Program q = kernel([&](In<f32>, Out<f32>) {
    line = __LINE__ + 1;
    element<bf16>(zeros<f32>(8, 8), 0, 0);
  });
  expectError(q, line, "element<bf16> of a tile of f32");
}

TEST(LanguageErrors, GetInAKernelAndReadInAnOrchestration) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    line = __LINE__ + 1;
    get<f32>(a, {0, 0});
  });
  expectError(p, line, "get belongs to an orchestration");

  Program q("test");
  q.orchestration("main", {"a"}, [&](In<f32> a) {
    line = __LINE__ + 1;
    read<f32>(a, {0, 0});
  });
  expectError(q, line, "read computes on a core");
}

TEST(LanguageErrors, PredicatesReadIntegers) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"x", "y"}, [&](In<f32, 1> x, Out<f32> y) {
    line = __LINE__ + 1;
    spmd("k", {1}, {.predicate = x[{0}] > 0}, [&](Index) { store(zeros<f32>(8, 8), y, {0, 0}); });
  });
  expectError(p, line, "a predicate compares one element of an integer tensor");
}

TEST(LanguageErrors, ExtentsAreAsManyAsTheTypeSays) {
  Program p("test");
  uint32_t line = __LINE__ + 1;
  p.orchestration("main", {{"cache", {dyn, 2, dyn, 64}}}, [&](In<bf16, 3>) {});
  expectError(p, line, "parameter 'cache' has 4 extents, but its type says rank 3");
}

TEST(LanguageErrors, BarrierNeedsSyncStart) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"y"}, [&](Out<f32> y) {
    spmd("k", {2}, {}, [&](Index i) {
      store(zeros<f32>(8, 8), y, {i * 8, 0});
      line = __LINE__ + 1;
      barrier();
    });
  });
  expectError(p, line, "give the launch sync_start");
}

TEST(LanguageErrors, AxesShapesAndViews) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    line = __LINE__ + 1;
    argmax(load(a, {0, 0}, {8, 8}), 2);
  });
  expectError(p, line, "reduce along axis 2; it is 0 (rows) or 1 (columns)");

  Program q = kernel([&](In<f32> a, Out<f32>) {
    line = __LINE__ + 1;
    extract(load(a, {0, 0}, {8, 8}), 0, 6, {8, 4});
  });
  expectError(q, line, "overruns 8x8");

  Program r("test");
  r.orchestration("main", {"x"}, [&](In<f32> x) {
    line = __LINE__ + 1;
    transpose(x, {0, 0});
  });
  expectError(r, line, "takes each of its axes once");

  Program s = kernel([&](In<f32> a, Out<f32>) {
    line = __LINE__ + 1;
    topk_rows(load(a, {0, 0}, {8, 8}), 9);
  });
  expectError(s, line, "takes 9 of only 8 elements a row");
}

TEST(LanguageErrors, PopOfSeveralTiles) {
  uint32_t line = 0;
  Program p("test");
  p.group("g", {}, {}, [&] {
    Pipe ready = pipe("ready", aiv, aic, {});
    role("vec", aiv, [&] { push(ready, {}); });
    role("cube", aic, [&] {
      line = __LINE__ + 1;
      pop(ready);
    });
  });
  expectError(p, line, "this pipe carries 0 at a time; use pop_all");
}

TEST(LanguageErrors, PoisonedValuesPassThroughLoopsAndBranches) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32> b) {
    line = __LINE__ + 1;
    Tile bad = load(a, {0}, {8, 8});
    auto [t, i] = loop(0, 4, 1, std::tuple(bad, Index(0)),
                       [&](Index, Tile t, Index i) { return std::tuple(t + bad, i + 1); });
    Tile u = when(i > 3, [&] { return t; }, [&] { return bad; });
    store(u, b, {0, 0});
  });
  expectError(p, line, "takes one index per axis, not 1");
}

TEST(LanguageErrors, ErrorPipeThatLanesCannotDivide) {
  uint32_t line = 0;
  Program p("one_row");
  p.group("g", {.lanes = 2}, {{"x", {1, 16}}, {"y", {1, 16}}}, [&](In<f32> x, Out<f32> y) {
    line = __LINE__ + 1;
    Pipe down = pipe<f32>("down", aic, aiv, {1, 16}, {.split = Split::UpDown});
    role("cube", aic, [&] { push(down, load(x, {0, 0}, {1, 16})); });
    role("vec", aiv, [&] { store(pop(down), y, {0, 0}); });
  });
  expectError(p, line, "split up_down cannot divide the extent 1 evenly over 2 lanes");
}

TEST(LanguageErrors, ErrorBodyThatThrows) {
  uint32_t line = 0;
  std::optional<Tile> kept;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    kept = load(a, {0, 0}, {8, 8});
    line = __LINE__ + 1;
    loop(0, 4, 1, zeros<f32>(8, 8), [&](Index, Tile) -> Tile { throw std::runtime_error("no"); });
  });
  expectError(p, line, "function 'k': its body threw an exception while it was recorded: no");
  // The program is still one that can be recorded into, but not with what is left of the body.
  uint32_t use = 0;
  p.kernel("other", {"b"}, [&](Out<f32> b) {
    use = __LINE__ + 1;
    store(*kept, b, {0, 0});
  });
  ASSERT_EQ(p.errors().size(), 2u);
  EXPECT_EQ(p.errors()[1].location().line, int32_t(use));
}

TEST(LanguageErrors, ErrorBodyThatThrowsWhatIsNoException) {
  Program p("test");
  uint32_t line = __LINE__ + 1;
  p.kernel("k", {"a"}, [&](In<f32>) { throw 1; });
  expectError(p, line,
              "its body threw an exception while it was recorded: what is no std::exception");
}

static void nest(Index n, int depth) {
  if (depth > 0)
    loop(0, n, 1, [&](Index) { nest(n, depth - 1); });
}

TEST(LanguageErrors, ErrorLoopsNestedTooDeeply) {
  Program shallow = kernel([&](In<f32> a, Out<f32>) { nest(a.dim(0), 200); });
  EXPECT_TRUE(shallow.errors().empty());
  Program deep = kernel([&](In<f32> a, Out<f32>) { nest(a.dim(0), 5000); });
  ASSERT_EQ(deep.errors().size(), 1u);
  EXPECT_NE(deep.errors()[0].message().find("nested more than 256 deep here"), std::string::npos);
}

TEST(LanguageErrors, ErrorRequireDependsOnTheBlock) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    line = __LINE__ + 1;
    require(blockIdx(0) < a.dim(0), "blocks are few");
  });
  expectError(p, line, "depends on which block or lane runs");
}

TEST(LanguageErrors, ErrorRequireInALoop) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    loop(0, 4, 1, [&](Index) {
      line = __LINE__ + 1;
      require(a.dim(0) > 0, "there is a row");
    });
  });
  expectError(p, line, "it stands in the outermost block of an orchestration, kernel or group");
}

TEST(LanguageErrors, ErrorRequireDependsOnMemory) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"n"}, [&](In<i32, 1> n) {
    Index first = toIndex(get<i32>(n, {0}));
    line = __LINE__ + 1;
    require(first > 0, "the first is positive");
  });
  expectError(p, line, "depends on what memory holds");
}

TEST(LanguageErrors, ErrorRequireInARole) {
  uint32_t line = 0;
  Program p("test");
  p.group("g", {}, {"n"}, [&](Index n) {
    role("one", aiv, [&] {
      line = __LINE__ + 1;
      require(n > 0, "n is positive");
    });
  });
  expectError(p, line, "require belongs to the group, of which this role is a part");
}

TEST(LanguageErrors, ErrorRequireOfWhatIsKnownNow) {
  uint32_t line = 0;
  int64_t tile = 48;
  Program p = kernel([&](In<f32>, Out<f32>) {
    require(tile % 16 == 0, "tiles are multiples of 16");
    line = __LINE__ + 1;
    require(tile % 32 == 0, "tiles are multiples of 32");
  });
  expectError(p, line, "required, and does not hold: tiles are multiples of 32");
}

TEST(LanguageErrors, ErrorRequireSameShapeOfOtherRanks) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, In<f32, 1> y) {
    line = __LINE__ + 1;
    require_same_shape(x, slice(y, {0}, {4}), "x and y have one shape");
  });
  ASSERT_FALSE(p.errors().empty());
  EXPECT_EQ(p.errors()[0].location().line, int32_t(line));
}

} // namespace
