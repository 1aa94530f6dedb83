// c = a * b, where each rank has some rows of a, some columns of b and the same columns of c. The
// blocks of a travel around the ring of ranks; while one is on its way, the one before it is
// multiplied. A rank's own block is sent and multiplied where it is.
#include <kiln/kiln.h>

using namespace kiln;

Program ringMatmul(const Config &cfg) {
  int64_t BM = cfg.param("BM", {16, 32, 64, 128}, 32), BN = cfg.param("BN", {32, 64, 128}, 64),
          BK = cfg.param("BK", {32, 64, 128}, 64);
  Program p("ring_matmul");
  Kernel multiply = p.kernel("multiply", {"a", "b", "c"}, [&](In<f32> a, In<f32> b, Out<f32> c) {
    Index i = blockIdx(0) * BM, j = blockIdx(1) * BN;
    Tile sum = loop(0, a.dim(1), BK, zeros<f32>(BM, BN), {.stages = 2}, [&](Index k, Tile acc) {
      return matmul_acc(acc, load(a, {i, k}, {BM, BK}), load(b, {k, j}, {BK, BN}));
    });
    store(sum, c, {i, j});
  });

  p.orchestration("main", {"a", "b", "c"}, [&](In<f32> a, In<f32> b, Out<f32> c) {
    Index rows = a.dim(0), inner = a.dim(1), columns = b.dim(1), all = c.dim(0);
    require(inner == b.dim(0), "a has as many columns as b has rows");
    require(columns == c.dim(1), "b has as many columns as c");
    Index count = ranks(), me = rank();
    Index next = (me + 1) % count, last = (me - 1 + count) % count;
    // The blocks of the other ranks, in the order in which they come by.
    TensorRef blocks = alloc<f32>("blocks", {(count - 1) * rows, inner});
    auto block = [&](Index step) { return slice(blocks, {(step - 1) * rows, 0}, {rows, inner}); };
    auto submitProduct = [&](Index step, TensorRef part) {
      // The last rank's block may reach beyond the end of c, or begin there.
      Index first = min((me - step + count) % count * rows, all), here = min(rows, all - first);
      submit(multiply, {part, b, slice(c, {first, 0}, {here, columns})},
             {.grid = {ceildiv(here, BM), ceildiv(columns, BN)}});
    };
    when(count > 1, [&] {
      send(a, next);
      recv(block(1), last);
    });
    submitProduct(0, a);
    loop(1, count, 1, [&](Index step) {
      when(step + 1 < count, [&] {
        send(block(step), next);
        recv(block(step + 1), last);
      });
      submitProduct(step, block(step));
    });
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, ringMatmul,
      {.args = {{"a", "100x72@0"}, {"b", "72x90@1"}, {"c", "100x90@1"}}, .formula = R"(
    c = a @ b
    accumulates = a.shape[1]
  )"});
}
