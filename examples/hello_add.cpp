// c = a + b, the smallest program: one kernel, one tile per block.
#include <kiln/kiln.h>

using namespace kiln;

Program helloAdd(const Config &) {
  Program p("hello_add");
  p.orchestration("main", {"a", "b", "c"}, [&](In<f32> a, In<f32> b, Out<f32> c) {
    require_same_shape(a, b, "a and b have one shape");
    require_same_shape(a, c, "c has the shape of a and b");
    spmd("add", {ceildiv(c.dim(0), 64), ceildiv(c.dim(1), 64)}, [&](Index bi, Index bj) {
      Index i = bi * 64, j = bj * 64;
      Tile x = load(a, {i, j}, {64, 64}), y = load(b, {i, j}, {64, 64});
      store(x + y, c, {i, j});
    });
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, helloAdd,
                    {.args = {{"a", "100x70"}, {"b", "100x70"}, {"c", "100x70"}}, .formula = R"(
    c = a + b
  )"});
}
