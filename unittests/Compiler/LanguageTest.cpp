//===- LanguageTest.cpp - the front end: what it records and what it refuses --------===//
#include "kiln/kiln.h"

#include <gtest/gtest.h>

using namespace kiln;

namespace {

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Exactly one mistake, at this line, saying this.
void expectError(Program &p, uint32_t line, const std::string &part) {
  ASSERT_EQ(p.errors().size(), 1u)
      << (p.errors().size() > 1 ? p.errors()[1].str() : "no mistake was reported");
  const Status &error = p.errors()[0];
  EXPECT_TRUE(has(error.message(), part)) << error.message();
  EXPECT_EQ(error.location().line, int32_t(line)) << error.str();
  EXPECT_TRUE(has(error.location().file, "LanguageTest.cpp"));
}

/// Records one kernel over `a` (In) and `b` (Out).
template <typename Body> Program kernel(Body body) {
  Program p("test");
  p.kernel("k", {"a", "b"}, [&](In<f32> a, Out<f32> b) {
    body(a, b);
    store(zeros<f32>(8, 8), b, {0, 0});
    load(a, {0, 0}, {8, 8});
  });
  return p;
}

TEST(Language, test_operators_record_at_the_users_line) {
  Program p = kernel([](In<f32> a, Out<f32> b) {
    Tile x = load(a, {0, 0}, {8, 8}), m = reduce_max(x, 1);
    store(exp(x - m) * 0.5, b, {0, 0});
  });
  ASSERT_TRUE(p.errors().empty()) << p.errors()[0].str();
  std::string text = p.str();
  EXPECT_TRUE(has(text, "tile.reduce max %0 axis(1) : !tile.tile<8x1xf32>")) << text;
  EXPECT_TRUE(has(text, "tile.sub %0, %1 : !tile.tile<8x8xf32>")) << text;
  EXPECT_TRUE(has(text, "arith.constant 5.000000e-01 : f32")) << text;
}

TEST(Language, test_loop_carries_several_tiles) {
  Program p = kernel([](In<f32> a, Out<f32> b) {
    auto [x, y] = loop(0, a.dim(0), 8, std::tuple(zeros<f32>(8, 8), zeros<f32>(8, 1)),
                       {.stages = 2}, [&](Index i, Tile x, Tile y) {
                         Tile next = load(a, {i, 0}, {8, 8});
                         return std::tuple(x + next, y + reduce_sum(next, 1));
                       });
    store(x * y, b, {0, 0});
  });
  ASSERT_TRUE(p.errors().empty()) << p.errors()[0].str();
  EXPECT_TRUE(has(p.str(), "-> (!tile.tile<8x8xf32>, !tile.tile<8x1xf32>)")) << p.str();
  EXPECT_TRUE(has(p.str(), "#kiln.loop<pipeline, stages = 2>")) << p.str();
}

TEST(Language, test_submit_records_deps_grid_and_scalars) {
  Program p("test");
  Kernel k = p.kernel("k", {"x", "n", "s"}, [](Out<f32> x, Index n, Scalar<f32> s) {
    store(zeros<f32>(8, 8) + s, x, {n, 0});
  });
  p.orchestration("main", {"x"}, [&](Out<f32> x) {
    TaskRef first = submit(k, {x, 0, 1.5}, {.grid = {x.dim(0), 2}});
    submit(k, {x, 1, 2.5}, {.deps = {first}, .syncStart = true});
  });
  ASSERT_TRUE(p.errors().empty()) << p.errors()[0].str();
  EXPECT_TRUE(has(p.str(), "grid(%0, 2)")) << p.str();
  EXPECT_TRUE(has(p.str(), "sync_start deps(%1)")) << p.str();
}

TEST(Language, test_pop_gives_a_lane_its_share) {
  Program p("test");
  p.group("g", {.lanes = 2}, {{"o", {8, 8}}}, [](Out<f32> o) {
    Pipe down = pipe<f32>("down", aic, aiv, {8, 8}, {.split = Split::LeftRight, .slots = 3});
    role("cube", aic, [&] { push(down, zeros<f32>(8, 8)); });
    role("vec", aiv, [&] {
      Tile t = pop(down);
      EXPECT_EQ(t.rows(), 8);
      EXPECT_EQ(t.cols(), 4);
      store(t, o, {0, lane() * 4});
      kiln::free(down);
    });
  });
  ASSERT_TRUE(p.errors().empty()) << p.errors()[0].str();
  EXPECT_TRUE(
      has(p.str(), "kiln.func @vec(%down: !tile.pipe<aic -> aiv, 8x8xf32, left_right>, %o: "))
      << p.str();
  EXPECT_TRUE(has(p.str(), "%down = tile.pipe slots(3)")) << p.str();
}

TEST(Language, test_config_draws_and_refuses) {
  Config cfg({{"BM", "128"}, {"split", "left_right"}, {"slots", "x"}, {"typo", "1"}});
  EXPECT_EQ(cfg.param("BM", {64, 128}, 64), 128);
  EXPECT_EQ(cfg.param("BN", {64, 128}, 64), 64);
  EXPECT_EQ(cfg.split("split", Split::None), Split::LeftRight);
  EXPECT_EQ(cfg.param("slots", {}, 2), 2);
  ASSERT_EQ(cfg.errors().size(), 2u);
  EXPECT_TRUE(has(cfg.errors()[0], "--slots x does not fit; it is an integer of at least 1"));
  EXPECT_TRUE(has(cfg.errors()[1],
                  "unknown option --typo; this program also takes --BM, --BN, --split, --slots"));
}

TEST(Language, test_branches_scopes_slices_and_choices) {
  Program p("test");
  Kernel k = p.kernel("k", {"x", "y", "n"}, [](In<f32> x, Out<f32> y, Index n) {
    Tile t = load(x, {0, 0}, {8, 8});
    when(
        n > 3, [&] { store(where(t > 0, t, 0), y, {0, 0}); },
        [&] { store(mask_diag(mask(t, n, 8), 0, Pad::Min), y, {0, 0}); });
  });
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    manual_scope([&] { submit(k, {slice(x, {0, 0}, {8, x.dim(1)}), y, 4}); });
  });
  ASSERT_TRUE(p.errors().empty()) << p.errors()[0].str();
  std::string text = p.str();
  for (const char *part : {"arith.cmpi sgt, %n, %c3", "tile.cmp gt", "tile.select", "} else {",
                           "tile.mask %0 valid(%n, 8)", "tile.mask_diag", "pad(min)",
                           "kiln.scope manual {", "kiln.slice %x[0, 0] [8, %"})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
}

// Mistakes, each at its line.

TEST(Language, test_error_shapes_do_not_broadcast) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    Tile x = load(a, {0, 0}, {8, 8}), y = load(a, {0, 0}, {4, 8});
    line = __LINE__ + 1;
    x + y;
  });
  expectError(p, line, "tiles of 8x8 and 4x8 do not broadcast");
}

TEST(Language, test_error_element_types_differ) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    Tile x = load(a, {0, 0}, {8, 8});
    line = __LINE__ + 1;
    x *cast<bf16>(x);
  });
  expectError(p, line, "mixes f32 with bf16; cast one of them");
}

TEST(Language, test_error_matmul_inner_extents) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    Tile x = load(a, {0, 0}, {8, 16});
    line = __LINE__ + 1;
    matmul(x, x);
  });
  expectError(p, line, "the inner extents 16 and 8 differ");
}

TEST(Language, test_error_tile_used_outside_its_loop) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32>, Out<f32> b) {
    Tile inner = zeros<f32>(8, 8);
    loop(0, 4, 1, [&](Index) { inner = zeros<f32>(8, 8); });
    line = __LINE__ + 1;
    store(inner, b, {0, 0});
  });
  expectError(p, line, "it belongs to the loop, kernel or role that made it");
}

TEST(Language, test_error_loop_body_returns_another_shape) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32>, Out<f32>) {
    line = __LINE__ + 1;
    loop(0, 4, 1, zeros<f32>(8, 8), [&](Index, Tile) { return zeros<f32>(4, 8); });
  });
  expectError(p, line, "the loop carries a tile of 8x8 but its body returns one of 4x8");
}

TEST(Language, test_error_wrong_number_of_indices) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    line = __LINE__ + 1;
    load(a, {0}, {8, 8});
  });
  expectError(p, line, "a tensor of rank 2 takes one index per axis, not 1");
}

TEST(Language, test_error_store_to_an_in_tensor_through_its_base) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    const TensorRef &base = a; // store(tile, a, ...) itself does not compile
    line = __LINE__ + 1;
    store(zeros<f32>(8, 8), base, {0, 0});
  });
  expectError(p, line, "store into an In tensor");
}

TEST(Language, test_error_load_in_an_orchestration) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"a"}, [&](In<f32> a) {
    line = __LINE__ + 1;
    load(a, {0, 0}, {8, 8});
  });
  expectError(p, line, "load computes on a core; put it into a kernel, a role or spmd");
}

TEST(Language, test_error_push_outside_a_role_and_at_the_wrong_end) {
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

TEST(Language, test_error_split_none_from_lanes_names_the_split_that_works) {
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

TEST(Language, test_error_functions_and_parameters) {
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

TEST(Language, test_error_numbers_that_the_type_cannot_hold) {
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

TEST(Language, test_error_lanes_and_extents) {
  Program p("test");
  uint32_t line = __LINE__ + 1;
  p.group("g", {.lanes = 0}, {}, [] {});
  expectError(p, line, "has 0 lanes");

  Program q("test");
  line = __LINE__ + 1;
  q.kernel("k", {{"x", {int64_t(1) << 40, int64_t(1) << 40}}}, [](In<f32>) {});
  expectError(q, line, "more elements than any memory holds");
}

TEST(Language, test_error_arithmetic_of_scalars) {
  uint32_t line = 0;
  Program p("test");
  p.kernel("k", {"s"}, [&](Scalar<f32> s) {
    line = __LINE__ + 1;
    s * 2;
  });
  expectError(p, line, "'*' of two scalars; one of the operands must be a tile");
}

TEST(Language, test_error_grid_and_block_indices_do_not_cascade) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"x"}, [&](Out<f32> x) {
    line = __LINE__ + 1;
    spmd("k", {1, 2}, {}, [&](Index) { store(zeros<f32>(8, 8), x, {0, 0}); });
  });
  expectError(p, line, "has a grid of 2 dimensions but its body takes 1 block indices");
}

TEST(Language, test_error_op_outside_any_function) {
  Program p("test");
  uint32_t line = __LINE__ + 1;
  zeros<f32>(2, 2);
  expectError(p, line, "stands outside any function");
}

TEST(Language, test_error_submit_arguments) {
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

TEST(Language, test_errors_are_reported_together_and_tracing_goes_on) {
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

} // namespace
