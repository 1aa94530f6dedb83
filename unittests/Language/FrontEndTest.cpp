//===- FrontEndTest.cpp - control flow and task graphs, from C++ to results -----------===//
//
// What is recorded is one thing, what it computes another: each program runs on every platform and
// is right by a formula.
//
//===----------------------------------------------------------------------------===//
#include "Driver/ExampleTesting.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

class FrontEnd : public ExampleTest {
protected:
  void expectRight(const ProgramBuilder &program, const Example &example) {
    for (const auto &platform : platforms())
      for (std::string seed : {"0", "7"}) {
        if (!platform->can(Capability::Run) || !platform->usableHere().isOk())
          continue;
        Ran ran = run(program, example, {"-p", platform->name(), "--seed", seed});
        EXPECT_EQ(ran.code, 0) << platform->name() << ", seed " << seed << "\n"
                               << ran.out << ran.err;
      }
  }
};

TEST_F(FrontEnd, WhileAndBranchesWithResults) {
  // How many steps until 1: halve what is even, else 3 n + 1.
  auto program = [](const Config &) {
    Program p("collatz");
    p.orchestration("main", {"x", "y"}, [](In<i32, 1> x, Out<i32, 1> y) {
      spmd("collatz", {x.dim(0)}, {}, [&](Index i) {
        auto [n, steps] = loop_while(
            std::tuple(toIndex(read<i32>(x, {i})), Index(0)), [](Index n, Index) { return n > 1; },
            [](Index n, Index steps) {
              Index next = when(n % 2 == 0, [&] { return n / 2; }, [&] { return n * 3 + 1; });
              return std::tuple(next, steps + 1);
            });
        write<i32>(toI32(steps), y, {i});
      });
    });
    return p;
  };
  expectRight(program, {.args = {{"x", "9:1,2,3,6,7,9,12,27,97"}, {"y", "9"}}, .formula = R"(
y = torch.zeros_like(x)
for i, n in enumerate(x.tolist()):
    while n > 1:
        n, y[i] = n // 2 if n % 2 == 0 else 3 * n + 1, y[i] + 1
)"});
}

TEST_F(FrontEnd, TasksCarriedByALoopInAManualScope) {
  auto program = [](const Config &) {
    Program p("chain");
    Kernel step = p.kernel("step", {"x", "i"}, [](InOut<f32> x, Scalar<f32> i) {
      store(load(x, {0, 0}, {8, 8}) * 2 + i, x, {0, 0});
    });
    p.orchestration("main", {"x"}, [&](InOut<f32> x) {
      manual_scope([&] {
        TaskRef last = loop(0, 5, 1, join({}), [&](Index i, TaskRef before) {
          return submit(step, {x, toF32(i)}, {.deps = {before}});
        });
        submit(step, {x, 100}, {.deps = {last}});
      });
    });
    return p;
  };
  expectRight(program, {.args = {{"x", "8x8"}}, .formula = R"(
for i in [0, 1, 2, 3, 4, 100]:
    x = 2 * x + i
accumulates = 64
)"});
}

TEST_F(FrontEnd, PredicatesAndGet) {
  auto program = [](const Config &) {
    Program p("maybe");
    Kernel add = p.kernel("add", {"x", "s"}, [](InOut<f32> x, Scalar<f32> s) {
      store(load(x, {0, 0}, {8, 8}) + s, x, {0, 0});
    });
    p.orchestration("main", {"flags", "x"}, [&](InOut<i32, 1> flags, InOut<f32> x) {
      spmd("set", {1}, {}, [&](Index) { write<i32>(3, flags, {2}); });
      submit(add, {x, 1.0}, {.predicate = flags[{0}] > 0});
      submit(add, {x, 10.0}, {.predicate = flags[{1}] == 0});
      loop(0, toIndex(get<i32>(flags, {2})), 1, [&](Index) { submit(add, {x, 100.0}); });
    });
    return p;
  };
  expectRight(program, {.args = {{"flags", "3:0,0,9"}, {"x", "8x8"}}, .formula = R"(
flags[2] = 3
x = x + (flags[0] > 0) + 10 * (flags[1] == 0) + 300
accumulates = 64
)"});
  expectRight(program, {.args = {{"flags", "3:5,1,9"}, {"x", "8x8"}}, .formula = R"(
flags[2] = 3
x = x + 301
accumulates = 64
)"});
}

TEST_F(FrontEnd, BlocksMeetAtABarrier) {
  // Each block squares its part, then adds the part of its neighbour.
  auto program = [](const Config &) {
    Program p("neighbours");
    p.orchestration("main", {"x", "y"}, [](In<f32> x, Out<f32> y) {
      TensorRef squares = alloc<f32>("squares", {x.dim(0), x.dim(1)});
      Index blocks = x.dim(0) / 4;
      spmd("neighbours", {blocks}, {.syncStart = true}, [&](Index b) {
        Tile t = load(x, {b * 4, 0}, {4, 8});
        store(t * t, squares, {b * 4, 0});
        barrier();
        store(t + load(squares, {(b + 1) % blocks * 4, 0}, {4, 8}), y, {b * 4, 0});
      });
    });
    return p;
  };
  expectRight(program, {.args = {{"x", "24x8"}, {"y", "24x8"}},
                        .formula = "y = x + torch.roll(x * x, -4, 0)"});
}

TEST_F(FrontEnd, ViewsScalarsAndLibrary) {
  auto program = [](const Config &) {
    Program p("views");
    p.orchestration("main", {{"x", {2, 16, 8}}, {"w", {8}}, {"b", {8}}, {"y", {8, 16}}},
                    [](In<f32, 3> x, In<f32, 1> w, In<f32, 1> b, Out<f32> y) {
                      TensorRef second = slice(x, {1, 0, 0}, {1, 16, 8}, {.drop = {0}});
                      spmd("norm", {2}, {}, [&](Index i) {
                        Tile t = load(second, {i * 8, 0}, {8, 8});
                        Tile n = layer_norm(t, load(w, {0}, {1, 8}), load(b, {0}, {1, 8}), 1e-5);
                        Tile turned =
                            rope(n, cos(extract(t, 0, 0, {8, 4})), sin(extract(t, 0, 0, {8, 4})));
                        store(turned * element<f32>(t, 0, 0), transpose(y, {1, 0}), {i * 8, 0});
                      });
                    });
    return p;
  };
  expectRight(program, {.formula = R"(
t = x[1]
n = torch.nn.functional.layer_norm(t, (8,), w, b, 1e-5)
low, high = n.chunk(2, 1)
c, s = torch.cos(t[:, :4]), torch.sin(t[:, :4])
turned = torch.cat([low * c - high * s, high * c + low * s], 1)
y = (turned * t[:, 0].view(2, 8)[:, :1].repeat_interleave(8, 0)).T
accumulates = 16
)"});
}

constexpr Split splits[] = {Split::None, Split::UpDown, Split::LeftRight};

TEST_F(FrontEnd, LoadsOutsideGiveThePad) {
  // Rows moved down by n: those that come from outside are the pad, however far that is.
  auto program = [](Split split) {
    return [split](const Config &) {
      Program p("shift");
      p.orchestration("main", {"x", "n", "y"}, [&](In<f32> x, Index n, Out<f32> y) {
        spmd("shift", {ceildiv(y.dim(0), 8), ceildiv(y.dim(1), 16)}, {.split = split},
             [&](Index i, Index j) {
               LoadOptions options{.pad = Pad::Max, .outside = true};
               Tile moved = load(x, {i * 8 - n, j * 16}, {8, 16}, options);
               store(moved + moved, y, {i * 8, j * 16});
             });
      });
      return p;
    };
  };
  std::string distances[] = {"5", "8", "1000", "-3", "-1000", "4611686018427387904"};
  for (size_t i = 0; i < std::size(distances); ++i)
    expectRight(program(splits[i % 3]),
                {.args = {{"x", "20x30"}, {"n", distances[i]}, {"y", "40x40"}}, .formula = R"(
y = torch.full((40, 40), math.inf)
for i in range(40):
    if 0 <= i - n < 20:
        y[i, :30] = 2 * x[i - n]
)"});
}

TEST_F(FrontEnd, ScalarsOfEveryType) {
  auto program = [](const Config &) {
    Program p("casts");
    p.orchestration(
        "main", {"x", "a", "b", "c", "d", "e"},
        [](In<f32, 1> x, Out<i32, 1> a, Out<f16, 1> b, Out<i1, 1> c, Out<f32, 1> d, Out<i64, 1> e) {
          spmd("casts", {x.dim(0)}, [&](Index i) {
            Scalar<f32> s = read<f32>(x, {i});
            write<i32>(cast<i32>(s), a, {i});
            write<f16>(cast<f16>(cast<i8>(s)), b, {i});
            write<i1>(cast<i1>(s), c, {i});
            write<f32>(cast<f32>(cast<bf16>(i * 257)), d, {i});
            Scalar<i64> sum = cast<i64>(cast<i1>(s));
            sum += cast<i64>(i);
            write<i64>(sum, e, {i});
          });
        });
    return p;
  };
  expectRight(program, {.args = {{"x", "8:0,1.5,-2.75,100.25,-3,0.5,7,-64"},
                                 {"a", "8"},
                                 {"b", "8"},
                                 {"c", "8"},
                                 {"d", "8"},
                                 {"e", "8"}},
                        .formula = R"(
i = torch.arange(8, dtype=torch.int64)
a = torch.trunc(x).long()
b = torch.trunc(x)
c = x != 0
d = (i * 257).to(torch.bfloat16).double()
e = (x != 0).long() + i
)"});
}

TEST_F(FrontEnd, PartsOfTilesThatHangOver) {
  for (Split split : splits) {
    auto program = [&](const Config &) {
      Params io{"x", "w", "y"};
      Program p("parts");
      Kernel k = p.group("k", io, [&](In<f32> x, In<f32> w, Out<f32> y) {
        Pipe up = pipe<f32>("up", aiv, aic, {8, 16}, {.split = split});
        Pipe down = pipe<f32>("down", aic, aiv, {8, 16}, {.split = split});
        role("cube", aic, [&] {
          Tile wt = load(w, {0, 0}, {16, 16});
          push(down, matmul(pop(up), wt));
        });
        role("vec", aiv, [&] {
          Part mine = part(up);
          Index i = blockIdx(0) * 8;
          Tile t = load(x, {i, 0}, mine);
          push(up, t * 2);
          store(pop(down) + 1, y, {i, 0}, mine);
        });
      });
      p.orchestration("main", io, [&](In<f32> x, In<f32> w, Out<f32> y) {
        submit(k, {x, w, y}, {.grid = {ceildiv(x.dim(0), 8)}});
      });
      return p;
    };
    for (std::string rows : {"3", "8", "10", "13"})
      expectRight(program,
                  {.args = {{"x", rows + "x5"}, {"w", "5x7"}, {"y", rows + "x7"}}, .formula = R"(
y = 2 * x @ w + 1
accumulates = 16
)"});
  }
}

TEST_F(FrontEnd, WhatAKernelAsksForChangesNoResult) {
  auto mixed = [](SpmdOptions options) {
    return [options](const Config &) {
      Program p("mixed");
      p.orchestration("main", {"a", "b", "y"}, [&](In<f32> a, In<f32> b, Out<f32> y) {
        spmd("mixed", {ceildiv(y.dim(0), 16)}, options, [&](Index i) {
          Tile sum = zeros<f32>(16, 32);
          sum = loop(0, a.dim(1), 16, sum, [&](Index k, Tile acc) {
            Tile at = load(a, {i * 16, k}, {16, 16}), bt = load(b, {k, 0}, {16, 32});
            acc += exp(matmul(at, bt) * 0.01);
            return acc;
          });
          store(sum, y, {i * 16, 0});
        });
      });
      return p;
    };
  };
  Example example{.args = {{"a", "40x64"}, {"b", "64x32"}, {"y", "40x32"}}, .formula = R"(
y = sum(torch.exp(0.01 * a[:, k:k + 16] @ b[k:k + 16]) for k in range(0, 64, 16))
accumulates = 64
)"};
  expectRight(mixed({.split = Split::UpDown, .lanes = 2, .slots = 1, .stages = 3}), example);
  expectRight(mixed({.split = Split::LeftRight, .slots = 4, .stages = 2}), example);
  expectRight(mixed({.split = Split::None, .lanes = 1, .slots = 3}), example);
}

TEST(FrontEndErrors, WhatAProgramThrowsIsBadInput) {
  Ran ran = run([](const Config &) -> Program { throw std::runtime_error("no such shape"); }, {});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "kiln: error: the program threw an exception while it was built: no such "
                     "shape\n");
  int32_t line = 0;
  auto inBody = [&](const Config &) {
    Program p("throws");
    p.orchestration("main", {"x"}, [&](In<f32>) {
      line = __LINE__ + 1;
      spmd("k", {1}, {}, [&](Index) { throw std::runtime_error("no such tile"); });
    });
    return p;
  };
  ran = run(inBody, {});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(has(ran.err, "FrontEndTest.cpp:" + std::to_string(line))) << ran.err;
  EXPECT_TRUE(has(ran.err, "error: function 'main': its body threw an exception while it was "
                           "recorded: no such tile"))
      << ran.err;
}

} // namespace
