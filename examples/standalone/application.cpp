// An application that compiles a program once and calls it on its own memory, for two shapes.
#include <kiln/Jit/Jit.h>
#include <kiln/kiln.h>

#include <cstdio>
#include <vector>

using namespace kiln;

static Program add() {
  Program p("add");
  p.orchestration("main", {"a", "b", "c"}, [](In<f32> a, In<f32> b, Out<f32> c) {
    require_same_shape(a, c, "c has the shape of a");
    require_same_shape(b, c, "c has the shape of b");
    spmd("add", {ceildiv(c.dim(0), 16), ceildiv(c.dim(1), 64)}, {}, [&](Index bi, Index bj) {
      Index i = bi * 16, j = bj * 64;
      store(load(a, {i, j}, {16, 64}) + load(b, {i, j}, {16, 64}), c, {i, j});
    });
  });
  return p;
}

int main() {
  Program program = add();
  Jit jit;
  Expected<Compiled> compiled = jit.compile(program);
  if (!compiled) {
    std::fprintf(stderr, "%s\n", compiled.status().str().c_str());
    return 1;
  }
  for (int64_t rows : {3, 50}) {
    const int64_t cols = 100;
    std::vector<float> a(size_t(rows * cols), 1.5f), b(a.size(), 2.0f), c(a.size(), 0.0f);
    auto matrix = [&](std::vector<float> &memory) {
      return RawTensor(memory.data(), DType::F32, {rows, cols});
    };
    if (Status called = (*compiled)(matrix(a), matrix(b), matrix(c)); !called.isOk()) {
      std::fprintf(stderr, "%s\n", called.str().c_str());
      return 1;
    }
    for (float each : c)
      if (each != 3.5f) {
        std::fprintf(stderr, "3.5 expected, not %g\n", double(each));
        return 1;
      }
    std::printf("%d x %d: right\n", int(rows), int(cols));
  }
}
