// out = a * b + r on one core group, with hand-written roles: the vector lanes push a, the cube
// core multiplies by b and pushes the product back, the lanes add r and store.
#include <kiln/kiln.h>

using namespace kiln;

Program matmulResidualPipes(const Config &cfg) {
  constexpr int64_t S = 64;
  Split split = cfg.split("split", Split::UpDown);
  int64_t slots = cfg.param("slots", {}, 2);
  Params io{{"a", {S, S}}, {"b", {S, S}}, {"r", {S, S}}, {"out", {S, S}}};

  Program p("matmul_residual_pipes");
  Kernel fused = p.group("fused", io, [&](In<f32> a, In<f32> b, In<f32> r, Out<f32> out) {
    Pipe up = pipe<f32>("up", aiv, aic, {S, S}, {.split = split, .slots = slots});
    Pipe down = pipe<f32>("down", aic, aiv, {S, S}, {.split = split, .slots = slots});
    role("mul_cube", aic, [&] {
      Tile bt = load(b, {0, 0}, {S, S});
      push(down, matmul(pop(up), bt));
    });
    role("add_vec", aiv, [&] {
      // Without a split one lane has it all; with one, each has half the rows or columns.
      Part mine = part(up);
      push(up, load(a, {0, 0}, mine));
      Tile rt = load(r, {0, 0}, mine);
      store(pop(down) + rt, out, {0, 0}, mine);
    });
  });
  p.orchestration("main", io, [&](In<f32> a, In<f32> b, In<f32> r, Out<f32> out) {
    submit(fused, {a, b, r, out});
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, matmulResidualPipes, {.formula = R"(
    out = a @ b + r
    accumulates = a.shape[1]
  )"});
}
