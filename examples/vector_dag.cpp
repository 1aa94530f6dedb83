// out = (a + b + 1) * (a + b + 2) + (a + b) as a graph of five tasks. Nobody writes the order down:
// it follows from what the tasks read and write.
#include <kiln/kiln.h>

using namespace kiln;

Program vectorDag(const Config &cfg) {
  int64_t BM = cfg.param("BM", {32, 64, 128}, 64), BN = cfg.param("BN", {32, 64, 128}, 64);
  Program p("vector_dag");
  // Each kernel handles one tile per block, at the same place in all its tensors.
  auto at = [&] { return std::vector<Index>{blockIdx(0) * BM, blockIdx(1) * BN}; };
  Shape tile{BM, BN};
  Kernel add = p.kernel("add", {"x", "y", "z"}, [&](In<f32> x, In<f32> y, Out<f32> z) {
    auto here = at();
    Tile xt = load(x, here, tile), yt = load(y, here, tile);
    store(xt + yt, z, here);
  });
  Kernel addScalar =
      p.kernel("add_scalar", {"x", "s", "z"}, [&](In<f32> x, Scalar<f32> s, Out<f32> z) {
        auto here = at();
        store(load(x, here, tile) + s, z, here);
      });
  Kernel mul = p.kernel("mul", {"x", "y", "z"}, [&](In<f32> x, In<f32> y, Out<f32> z) {
    auto here = at();
    Tile xt = load(x, here, tile), yt = load(y, here, tile);
    store(xt * yt, z, here);
  });

  p.orchestration("main", {"a", "b", "out"}, [&](In<f32> a, In<f32> b, Out<f32> out) {
    require_same_shape(a, b, "a and b have one shape");
    require_same_shape(a, out, "out has the shape of a and b");
    Index m = a.dim(0), n = a.dim(1);
    SubmitOptions grid{.grid = {ceildiv(m, BM), ceildiv(n, BN)}};
    TensorRef sum = alloc<f32>("sum", {m, n}), plus1 = alloc<f32>("plus1", {m, n});
    TensorRef plus2 = alloc<f32>("plus2", {m, n}), product = alloc<f32>("product", {m, n});
    submit(add, {a, b, sum}, grid);
    submit(addScalar, {sum, 1.0, plus1}, grid);
    submit(addScalar, {sum, 2.0, plus2}, grid);
    submit(mul, {plus1, plus2, product}, grid);
    submit(add, {product, sum, out}, grid);
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, vectorDag,
                    {.args = {{"a", "150x90"}, {"b", "150x90"}, {"out", "150x90"}}, .formula = R"(
    total = a + b
    out = (total + 1) * (total + 2) + total
    accumulates = 8
  )"});
}
