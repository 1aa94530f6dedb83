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
        if (!platform->can(Capability::Run))
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
