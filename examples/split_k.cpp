// c = a * b with the inner extent divided over blocks. `--form atomic` adds the partial products
// into c as they come; `--form deterministic` keeps them apart and adds them in a fixed order.
#include <kiln/kiln.h>

using namespace kiln;

Program splitK(const Config &cfg) {
  constexpr int64_t B = 32, parts = 4;
  bool atomic = cfg.choice("form", {"atomic", "deterministic"}, "deterministic") == "atomic";
  Program p("split_k");
  auto product = [&](TensorRef a, TensorRef b, Index i, Index j, Index part) {
    Index steps = ceildiv(ceildiv(a.dim(1), B), parts); // inner tiles per part
    Index from = part * steps * B, to = min(from + steps * B, a.dim(1));
    return loop(from, to, B, zeros<f32>(B, B), {.stages = 2}, [&](Index k, Tile acc) {
      Tile at = load(a, {i, k}, {B, B}), bt = load(b, {k, j}, {B, B});
      return matmul_acc(acc, at, bt);
    });
  };
  auto requireShapes = [&](TensorRef a, TensorRef b, TensorRef c) {
    require(a.dim(1) == b.dim(0), "a has as many columns as b has rows");
    require(c.dim(0) == a.dim(0) && c.dim(1) == b.dim(1),
            "c has the rows of a and the columns of b");
  };
  if (atomic) {
    p.orchestration("main", {"a", "b", "c"}, [&](In<f32> a, In<f32> b, Out<f32> c) {
      requireShapes(a, b, c);
      Index rows = ceildiv(c.dim(0), B), cols = ceildiv(c.dim(1), B);
      spmd("clear", {rows, cols}, {},
           [&](Index bi, Index bj) { store(zeros<f32>(B, B), c, {bi * B, bj * B}); });
      spmd("add_part", {rows, cols, parts}, [&](Index bi, Index bj, Index part) {
        Index i = bi * B, j = bj * B;
        store(product(a, b, i, j, part), c, {i, j}, {.atomicAdd = true});
      });
    });
    return p;
  }
  p.orchestration("main", {"a", "b", "c"}, [&](In<f32> a, In<f32> b, Out<f32> c) {
    requireShapes(a, b, c);
    Index rows = ceildiv(c.dim(0), B), cols = ceildiv(c.dim(1), B);
    TensorRef partial = alloc<f32>("partial", {parts, c.dim(0), c.dim(1)});
    spmd("keep_part", {rows, cols, parts}, [&](Index bi, Index bj, Index part) {
      Index i = bi * B, j = bj * B;
      store(product(a, b, i, j, part), partial, {part, i, j});
    });
    spmd("add_parts", {rows, cols}, [&](Index bi, Index bj) {
      Index i = bi * B, j = bj * B;
      Tile sum = loop(0, parts, 1, zeros<f32>(B, B), [&](Index part, Tile acc) {
        return acc + load(partial, {part, i, j}, {B, B});
      });
      store(sum, c, {i, j});
    });
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, splitK,
                    {.args = {{"a", "40x500"}, {"b", "500x50"}, {"c", "40x50"}}, .formula = R"(
    c = a @ b
    accumulates = a.shape[1]
  )"});
}
