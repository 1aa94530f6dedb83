//===- LanguageTest.cpp - what the front end records ------------------------------===//
#include "LanguageTesting.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

TEST(Language, OperatorsRecordAtTheUsersLine) {
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

TEST(Language, LoopCarriesSeveralTiles) {
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

TEST(Language, SubmitRecordsDepsGridAndScalars) {
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

TEST(Language, PopGivesALaneItsShare) {
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

TEST(Language, ProgramsMove) {
  Program p("first"), q("second");
  zeros<f32>(2, 2); // a mistake in q
  EXPECT_EQ(q.errors().size(), 1u);
  p.kernel("k", {}, [] {});
  p = std::move(q);
  EXPECT_EQ(p.name(), "second");
  EXPECT_EQ(p.errors().size(), 1u);
  Program r = std::move(p);
  EXPECT_EQ(r.errors().size(), 1u);
}

TEST(Language, ConfigDrawsAndRefuses) {
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

TEST(Language, BranchesScopesSlicesAndChoices) {
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

TEST(Language, EveryFunctionRecordsItsOp) {
  Program p("test");
  p.kernel("k", {"a", "n", "rows", "seed", "b"},
           [](In<f32> a, In<i32> n, In<i32, 1> rows, Scalar<i64> seed, InOut<f32> b) {
             prefetch(a, {0, 0}, {8, 8});
             Tile x = load(a, {0, 0}, {8, 8}), i = load(n, {0, 0}, {8, 8});
             Tile g = gather_rows(a, {0, 0}, rows, {4}, {8, 8}, {.pad = Pad::Min, .valid = {5, 8}});
             scatter_rows(g, b, {0, 0}, rows, {0}, {.atomicAdd = true});
             x = pow(x, 2) + fmod(x, g) + sin(x) * cos(x) + random<f32>({8, 8}, seed, 3);
             i = ((i & 3) | (i ^ 1)) + (i << 2) + (i >> 1) + ~i + iota<i32>({8, 8}, 1);
             Tile taken = gather(x, argmax(x, 1) + argmin(x, 1), 1) * reduce_prod(x, 1);
             Sorted down = sort_rows(x, Order::Descending);
             Sorted best = topk_rows(x, 2);
             Tile box = extract(x, 0, 4, {8, 4});
             x = concat({box, insert(best.values, box, 0, 2)}, 1) + down.values + taken;
             store(reshape(reshape(x, {4, 16}), {8, 8}), b, {0, 0});
             store(cast<f32>(i), b, {0, 0});
             store(cast<f32>(best.columns + extract(down.columns, 0, 0, {8, 2})), b, {0, 0});
             write<f32>(element<f32>(x, 1, 2) * 2 + read<f32>(a, {0, 0}), b, {0, 0});
           });
  expectText(p, {"tile.prefetch",
                 "tile.gather_rows %a[0, 0] rows(%rows[4]) pad(min) valid(5, 8)",
                 "tile.scatter_rows",
                 "atomic(add)",
                 "tile.pow",
                 "tile.fmod",
                 "tile.sin",
                 "tile.cos",
                 "tile.random key(%seed)",
                 "tile.and",
                 "tile.or",
                 "tile.xor",
                 "tile.shl",
                 "tile.shr",
                 "tile.not",
                 "tile.iota axis(1)",
                 "tile.reduce argmax",
                 "tile.reduce argmin",
                 "tile.reduce prod",
                 "tile.gather %",
                 "tile.sort_rows",
                 "descending",
                 "tile.topk_rows",
                 "tile.extract",
                 "tile.insert",
                 "tile.concat",
                 "tile.reshape",
                 "tile.element",
                 "kiln.read",
                 "kiln.write",
                 "arith.mulf",
                 "arith.addf"});
}

TEST(Language, ViewsAndMarks) {
  Program p("test");
  Kernel k = p.kernel("k", {{"x"}}, [](In<f32> x) {
    dump(x);
    load(x, {0, 0}, {8, 8});
  });
  p.orchestration("main", {{"x", {4, 8, 16}}}, [&](In<f32, 3> x) {
    dump(x);
    submit(k, {slice(x, {1, 0, 0}, {1, 8, 16}, {.drop = {0}})});
    submit(k, {slice(transpose(x, {2, 0, 1}), {0, 0, 0}, {16, 1, 8}, {.drop = {1}})});
    submit(k, {reshape(x, {32, 16})});
  });
  expectText(p, {"kiln.slice %x[1, 0, 0] [1, 8, 16] drop [0] : !kiln.tensor<8x16xf32>",
                 "kiln.transpose %x, [2, 0, 1] : !kiln.tensor<16x4x8xf32>",
                 "kiln.reshape %x[32, 16] : !kiln.tensor<32x16xf32>", "kiln.dump %x"});
}

TEST(Language, BranchesResultInTilesIndicesAndTuples) {
  Program p("test");
  p.kernel("k", {"x", "y", "n"}, [](In<f32> x, Out<f32> y, Index n) {
    Tile t = load(x, {0, 0}, {8, 8});
    Tile one = when(n > 3 && n != 5, [&] { return t + 1; }, [&] { return t; });
    auto [two, at] = when(
        !(n > 3), [&] { return std::tuple(exp(one), n * 2); },
        [&] { return std::tuple(one, Index(7)); });
    store(two, y, {at, 0});
  });
  expectText(p, {"-> (!tile.tile<8x8xf32>) {", "-> (!tile.tile<8x8xf32>, index) {", "arith.andi",
                 "arith.xori", "} else {", "scf.yield"});
}

TEST(Language, LoopsCarryIndicesScalarsAndTasks) {
  Program p("test");
  Kernel k = p.kernel("k", {"x"}, [](InOut<f32> x) {
    auto [i, s] = loop(0, 8, 1, std::tuple(Index(0), read<f32>(x, {0, 0})), {.unroll = true},
                       [&](Index j, Index i, Scalar<f32> s) { return std::tuple(i + j, s * 2); });
    write<f32>(s, x, {i, 0});
    Index last =
        loop_while(Index(1), [&](Index n) { return n < x.dim(0); }, [&](Index n) { return n * 2; });
    loop(0, last, 1, {.parallel = true}, [&](Index r) { write<f32>(1, x, {r, 0}); });
  });
  p.orchestration("main", {"x"}, [&](InOut<f32> x) {
    TaskRef last = loop(0, 3, 1, join({}),
                        [&](Index, TaskRef before) { return submit(k, {x}, {.deps = {before}}); });
    submit(k, {x}, {.deps = {last}});
  });
  expectText(p, {"#kiln.loop<unroll>", "#kiln.loop<parallel>", "-> (index, f32)", "scf.while",
                 "scf.condition", "iter_args(%", "-> (!kiln.task)"});
}

TEST(Language, GetPredicatesAndGridBarriers) {
  Program p("test");
  p.orchestration("main", {"flags", "x"}, [](In<i32, 1> flags, Out<f32> x) {
    Index n = toIndex(get<i32>(flags, {0}));
    spmd("maybe", {n}, {.syncStart = true, .predicate = flags[{1}] > 0}, [&](Index i) {
      store(zeros<f32>(8, 8), x, {i * 8, 0});
      barrier();
    });
  });
  expectText(p, {"kiln.get %flags[0]", "sync_start predicate(%flags[1] > 0)", "tile.barrier"});
}

TEST(Language, PipesCarrySeveralTilesAndTokens) {
  Program p("test");
  p.group("g", {}, {}, [] {
    Pipe both = pipe("both", aic, aiv, {{DType::F32, {8, 8}}, {DType::I32, {8, 1}}});
    Pipe ready = pipe("ready", aiv, aic, {});
    role("cube", aic, [&] {
      push(both, {zeros<f32>(8, 8), zeros<i32>(8, 1)});
      pop_all(ready);
    });
    role("vec", aiv, [&] {
      EXPECT_EQ(pop_all(both).size(), 2u);
      push(ready, {});
    });
  });
  expectText(p, {"(8x8xf32, 8x1xi32)", "token"});
}

TEST(Language, RequireInOrchestrationsKernelsAndGroups) {
  Program p("test");
  Kernel k = p.kernel("k", {"x", "y"}, [](In<f32> x, Out<f32> y) {
    require_same_shape(x, y, "x and y have one shape");
    store(load(x, {0, 0}, {8, 8}), y, {0, 0});
  });
  Kernel g = p.group("g", {}, {{"x", {dyn, 8}}, "n"}, [](In<f32> x, Index n) {
    require(n % 4 == 0 && n <= x.dim(0), "n rows come in fours");
    role("reads", aiv, [&] { load(x, {0, 0}, {8, 8}); });
  });
  p.orchestration("main", {{"x", {dyn, 8}}, {"y", {dyn, 8}}, "s"},
                  [&](In<f32> x, Out<f32> y, Scalar<i32> s) {
                    require(x.dim(0) % 64 == 0 || !(s > 3), "rows come in tiles of 64");
                    submit(k, {x, y});
                    submit(g, {x, x.dim(0)});
                    spmd("fill", {1}, {}, [&](Index) {
                      require(y.dim(0) >= 3, "there are three rows");
                      store(zeros<f32>(3, 8), y, {0, 0});
                    });
                  });
  expectText(p, {"arith.remsi", "arith.ori", R"("rows come in tiles of 64")",
                 R"("x and y have one shape")", R"("n rows come in fours")",
                 R"("there are three rows")"});
}

} // namespace
