//===- LanguageErrorTest.cpp - mistakes, each reported at its line ----------------===//
#include "LanguageTesting.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

TEST(LanguageErrors, test_error_shapes_do_not_broadcast) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    Tile x = load(a, {0, 0}, {8, 8}), y = load(a, {0, 0}, {4, 8});
    line = __LINE__ + 1;
    x + y;
  });
  expectError(p, line, "tiles of 8x8 and 4x8 do not broadcast");
}

TEST(LanguageErrors, test_error_element_types_differ) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    Tile x = load(a, {0, 0}, {8, 8});
    line = __LINE__ + 1;
    x *cast<bf16>(x);
  });
  expectError(p, line, "mixes f32 with bf16; cast one of them");
}

TEST(LanguageErrors, test_error_matmul_inner_extents) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    Tile x = load(a, {0, 0}, {8, 16});
    line = __LINE__ + 1;
    matmul(x, x);
  });
  expectError(p, line, "the inner extents 16 and 8 differ");
}

TEST(LanguageErrors, test_error_tile_used_outside_its_loop) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32>, Out<f32> b) {
    Tile inner = zeros<f32>(8, 8);
    loop(0, 4, 1, [&](Index) { inner = zeros<f32>(8, 8); });
    line = __LINE__ + 1;
    store(inner, b, {0, 0});
  });
  expectError(p, line, "it belongs to the loop, kernel or role that made it");
}

TEST(LanguageErrors, test_error_loop_body_returns_another_shape) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32>, Out<f32>) {
    line = __LINE__ + 1;
    loop(0, 4, 1, zeros<f32>(8, 8), [&](Index, Tile) { return zeros<f32>(4, 8); });
  });
  expectError(p, line,
              "the loop carries a tile of 8x8 of f32 but its body returns a tile of 4x8 of f32");
}

TEST(LanguageErrors, test_error_wrong_number_of_indices) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    line = __LINE__ + 1;
    load(a, {0}, {8, 8});
  });
  expectError(p, line, "a tensor of rank 2 takes one index per axis, not 1");
}

TEST(LanguageErrors, test_error_store_to_an_in_tensor_through_its_base) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    const TensorRef &base = a; // store(tile, a, ...) itself does not compile
    line = __LINE__ + 1;
    store(zeros<f32>(8, 8), base, {0, 0});
  });
  expectError(p, line, "store into an In tensor");
}

TEST(LanguageErrors, test_error_load_in_an_orchestration) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"a"}, [&](In<f32> a) {
    line = __LINE__ + 1;
    load(a, {0, 0}, {8, 8});
  });
  expectError(p, line, "load computes on a core; put it into a kernel, a role or spmd");
}

TEST(LanguageErrors, test_error_push_outside_a_role_and_at_the_wrong_end) {
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

TEST(LanguageErrors, test_error_split_none_from_lanes_names_the_split_that_works) {
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

TEST(LanguageErrors, test_error_functions_and_parameters) {
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

TEST(LanguageErrors, test_error_numbers_that_the_type_cannot_hold) {
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

TEST(LanguageErrors, test_error_lanes_and_extents) {
  Program p("test");
  uint32_t line = __LINE__ + 1;
  p.group("g", {.lanes = 0}, {}, [] {});
  expectError(p, line, "has 0 lanes");

  Program q("test");
  line = __LINE__ + 1;
  q.kernel("k", {{"x", {int64_t(1) << 40, int64_t(1) << 40}}}, [](In<f32>) {});
  expectError(q, line, "more elements than any memory holds");
}

TEST(LanguageErrors, test_error_grid_and_block_indices_do_not_cascade) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"x"}, [&](Out<f32> x) {
    line = __LINE__ + 1;
    spmd("k", {1, 2}, {}, [&](Index) { store(zeros<f32>(8, 8), x, {0, 0}); });
  });
  expectError(p, line, "has a grid of 2 dimensions but its body takes 1 block indices");
}

TEST(LanguageErrors, test_error_op_outside_any_function) {
  Program p("test");
  uint32_t line = __LINE__ + 1;
  zeros<f32>(2, 2);
  expectError(p, line, "stands outside any function");
}

TEST(LanguageErrors, test_error_submit_arguments) {
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

TEST(LanguageErrors, test_errors_are_reported_together_and_tracing_goes_on) {
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

TEST(LanguageErrors, test_tile_used_in_another_kernel) {
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

TEST(LanguageErrors, test_push_in_an_orchestration) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {}, [&] {
    line = __LINE__ + 1;
    push(Pipe::of(nullptr), std::vector<Tile>{});
  });
  expectError(p, line, "push stands outside a role");
}

TEST(LanguageErrors, test_pipe_used_by_a_third_role) {
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

TEST(LanguageErrors, test_lane_dependent_condition_around_a_pipe_op) {
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

TEST(LanguageErrors, test_lane_dependent_trip_count_around_a_pipe_op) {
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

TEST(LanguageErrors, test_branches_of_different_types) {
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

TEST(LanguageErrors, test_write_and_scatter_into_an_in_tensor) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    const TensorRef &base = a;
    line = __LINE__ + 1;
    write<f32>(1, base, {0, 0});
  });
  expectError(p, line, "write into an In tensor; make the parameter Out or InOut");
}

TEST(LanguageErrors, test_element_types_of_scalar_accesses) {
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

TEST(LanguageErrors, test_get_in_a_kernel_and_read_in_an_orchestration) {
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

TEST(LanguageErrors, test_predicates_read_integers) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"x", "y"}, [&](In<f32, 1> x, Out<f32> y) {
    line = __LINE__ + 1;
    spmd("k", {1}, {.predicate = x[{0}] > 0}, [&](Index) { store(zeros<f32>(8, 8), y, {0, 0}); });
  });
  expectError(p, line, "a predicate compares one element of an integer tensor");
}

TEST(LanguageErrors, test_barrier_needs_sync_start) {
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

TEST(LanguageErrors, test_axes_shapes_and_views) {
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

TEST(LanguageErrors, test_pop_of_several_tiles) {
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

TEST(LanguageErrors, test_poisoned_values_pass_through_loops_and_branches) {
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

TEST(LanguageErrors, test_error_pipe_that_lanes_cannot_divide) {
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

TEST(LanguageErrors, test_error_body_that_throws) {
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

TEST(LanguageErrors, test_error_body_that_throws_what_is_no_exception) {
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

TEST(LanguageErrors, test_error_loops_nested_too_deeply) {
  Program shallow = kernel([&](In<f32> a, Out<f32>) { nest(a.dim(0), 200); });
  EXPECT_TRUE(shallow.errors().empty());
  Program deep = kernel([&](In<f32> a, Out<f32>) { nest(a.dim(0), 5000); });
  ASSERT_EQ(deep.errors().size(), 1u);
  EXPECT_NE(deep.errors()[0].message().find("nested more than 256 deep here"), std::string::npos);
}

TEST(LanguageErrors, test_error_require_depends_on_the_block) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    line = __LINE__ + 1;
    require(blockIdx(0) < a.dim(0), "blocks are few");
  });
  expectError(p, line, "depends on which block or lane runs");
}

TEST(LanguageErrors, test_error_require_in_a_loop) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    loop(0, 4, 1, [&](Index) {
      line = __LINE__ + 1;
      require(a.dim(0) > 0, "there is a row");
    });
  });
  expectError(p, line, "it stands in the outermost block of an orchestration, kernel or group");
}

TEST(LanguageErrors, test_error_require_depends_on_memory) {
  uint32_t line = 0;
  Program p("test");
  p.orchestration("main", {"n"}, [&](In<i32, 1> n) {
    Index first = toIndex(get<i32>(n, {0}));
    line = __LINE__ + 1;
    require(first > 0, "the first is positive");
  });
  expectError(p, line, "depends on what memory holds");
}

TEST(LanguageErrors, test_error_require_in_a_role) {
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

TEST(LanguageErrors, test_error_require_of_what_is_known_now) {
  uint32_t line = 0;
  int64_t tile = 48;
  Program p = kernel([&](In<f32>, Out<f32>) {
    require(tile % 16 == 0, "tiles are multiples of 16");
    line = __LINE__ + 1;
    require(tile % 32 == 0, "tiles are multiples of 32");
  });
  expectError(p, line, "required, and does not hold: tiles are multiples of 32");
}

TEST(LanguageErrors, test_error_require_same_shape_of_other_ranks) {
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
