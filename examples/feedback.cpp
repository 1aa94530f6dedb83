// y[i] = x[0] + ... + x[i], row by row, with a delay line: a pipe from a role to itself carries the
// running sum from one step to the next. Each lane has its own half of the columns.
#include <kiln/kiln.h>

using namespace kiln;

constexpr int64_t W = 64;

Program feedback(const Config &cfg) {
  int64_t slots = cfg.param("slots", {}, 1);
  constexpr int64_t lanes = 2, part = W / lanes;
  Program p("feedback");
  Kernel running = p.group("running_sum", {.lanes = lanes}, {{"x", {dyn, W}}, {"y", {dyn, W}}},
                           [&](In<f32> x, Out<f32> y) {
                             Pipe line = pipe<f32>("line", aiv, aiv, {1, W},
                                                   {.split = Split::LeftRight, .slots = slots});
                             role("accumulate", aiv, [&] {
                               Index col = lane() * part;
                               push(line, zeros<f32>(1, part));
                               loop(0, x.dim(0), 1, [&](Index i) {
                                 Tile before = pop(line);
                                 Tile sum = before + load(x, {i, col}, {1, part});
                                 push(line, sum);
                                 store(sum, y, {i, col});
                               });
                               pop(line); // the line is empty when the group ends
                             });
                           });
  p.orchestration("main", {{"x", {dyn, W}}, {"y", {dyn, W}}}, [&](In<f32> x, Out<f32> y) {
    require_same_shape(x, y, "y has the shape of x");
    submit(running, {x, y});
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, feedback, {.args = {{"x", "20x64"}, {"y", "20x64"}}, .formula = R"(
    y = x.cumsum(0)
    accumulates = x.shape[0]
  )"});
}
