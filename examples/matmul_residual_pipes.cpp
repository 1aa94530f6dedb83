// out = a * b + r on one core group, with hand-written roles: the vector lanes push a, the cube
// core multiplies by b and pushes the product back, the lanes add r and store.
#include <kiln/kiln.h>

using namespace kiln;

Program matmulResidualPipes(const Config &cfg) {
  constexpr int64_t S = 64;
  Split split = cfg.split("split", Split::UpDown);
  int64_t slots = cfg.param("slots", {}, 2);
  // Without a split one lane does all the vector work; with one, each lane owns half the rows or
  // columns.
  int64_t lanes = split == Split::None ? 1 : 2;
  Shape part{split == Split::UpDown ? S / lanes : S, split == Split::LeftRight ? S / lanes : S};

  Program p("matmul_residual_pipes");
  Kernel fused = p.group(
      "fused", {.lanes = lanes}, {{"a", {S, S}}, {"b", {S, S}}, {"r", {S, S}}, {"out", {S, S}}},
      [&](In<f32> a, In<f32> b, In<f32> r, Out<f32> out) {
        Pipe up = pipe<f32>("up", aiv, aic, {S, S}, {.split = split, .slots = slots});
        Pipe down = pipe<f32>("down", aic, aiv, {S, S}, {.split = split, .slots = slots});
        role("mul_cube", aic, [&] {
          Tile bt = load(b, {0, 0}, {S, S});
          push(down, matmul(pop(up), bt));
        });
        role("add_vec", aiv, [&] {
          Index row = split == Split::UpDown ? lane() * part.rows : 0;
          Index col = split == Split::LeftRight ? lane() * part.cols : 0;
          push(up, load(a, {row, col}, part));
          Tile rt = load(r, {row, col}, part);
          store(pop(down) + rt, out, {row, col});
        });
      });
  p.orchestration(
      "main", {{"a", {S, S}}, {"b", {S, S}}, {"r", {S, S}}, {"out", {S, S}}},
      [&](In<f32> a, In<f32> b, In<f32> r, Out<f32> out) { submit(fused, {a, b, r, out}); });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, matmulResidualPipes, {.formula = R"(
    out = a @ b + r
    accumulates = a.shape[1]
  )"});
}
