// y[i] = x[0] + ... + x[i], row by row, with a delay line: a pipe from a role to itself carries the
// running sum from one step to the next. Each lane has its own half of the columns.
#include <kiln/kiln.h>

using namespace kiln;

constexpr int64_t W = 64;

Program feedback(const Config &cfg) {
  int64_t slots = cfg.param("slots", {}, 1);
  Params io{{"x", {dyn, W}}, {"y", {dyn, W}}};
  Program p("feedback");
  Kernel running = p.group("running_sum", io, [&](In<f32> x, Out<f32> y) {
    Pipe line = pipe<f32>("line", aiv, aiv, {1, W}, {.split = Split::LeftRight, .slots = slots});
    role("accumulate", aiv, [&] {
      Part mine = part(line);
      push(line, zeros<f32>(mine.shape));
      loop(0, x.dim(0), 1, [&](Index i) {
        Tile before = pop(line);
        Tile sum = before + load(x, {i, 0}, mine);
        push(line, sum);
        store(sum, y, {i, 0}, mine);
      });
      pop(line); // the line is empty when the group ends
    });
  });
  p.orchestration("main", io, [&](In<f32> x, Out<f32> y) {
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
