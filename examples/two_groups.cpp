// out = relu(a * b) * c + 1: two core groups, one after the other. The first hands its product from
// the cube to the vector lanes; the second hands the activations from the lanes to the cube. Their
// order follows from `hidden`.
#include <kiln/kiln.h>

using namespace kiln;

constexpr int64_t S = 64;

Program twoGroups(const Config &cfg) {
  int64_t slots = cfg.param("slots", {}, 2);
  std::vector<int64_t> square{S, S};
  Program p("two_groups");
  Kernel first = p.group("multiply_relu", {{"a", square}, {"b", square}, {"h", square}},
                         [&](In<f32> a, In<f32> b, Out<f32> h) {
                           Pipe down = pipe<f32>("down", aic, aiv, {S, S},
                                                 {.split = Split::UpDown, .slots = slots});
                           role("multiply", aic, [&] {
                             Tile at = load(a, {0, 0}, {S, S}), bt = load(b, {0, 0}, {S, S});
                             push(down, matmul(at, bt));
                           });
                           role("relu", aiv, [&] {
                             Part mine = part(down);
                             store(maximum(pop(down), 0), h, {0, 0}, mine);
                           });
                         });
  Kernel second = p.group("add_multiply", {{"h", square}, {"c", square}, {"out", square}},
                          [&](In<f32> h, In<f32> c, Out<f32> out) {
                            PipeOptions options{.split = Split::UpDown, .slots = slots};
                            Pipe up = pipe<f32>("up", aiv, aic, {S, S}, options);
                            Pipe down = pipe<f32>("down", aic, aiv, {S, S}, options);
                            role("multiply_c", aic, [&] {
                              Tile ct = load(c, {0, 0}, {S, S});
                              push(down, matmul(pop(up), ct));
                            });
                            role("add_one", aiv, [&] {
                              Part mine = part(up);
                              push(up, load(h, {0, 0}, mine));
                              store(pop(down) + 1, out, {0, 0}, mine);
                            });
                          });
  p.orchestration("main", {{"a", square}, {"b", square}, {"c", square}, {"out", square}},
                  [&](In<f32> a, In<f32> b, In<f32> c, Out<f32> out) {
                    TensorRef hidden = alloc<f32>("hidden", {S, S});
                    submit(first, {a, b, hidden});
                    submit(second, {hidden, c, out});
                  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, twoGroups, {.formula = R"(
    out = torch.relu(a @ b) @ c + 1
    accumulates = 64 * 16  # the second product sums what are sums already
  )"});
}
