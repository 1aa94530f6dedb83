//===- MatmulProgram.h - a program that several tests call -----------------------------------===//
#ifndef KILN_UNITTESTS_JIT_MATMULPROGRAM_H
#define KILN_UNITTESTS_JIT_MATMULPROGRAM_H

#include "kiln/Language/Library.h"
#include "kiln/Language/Program.h"

namespace kiln::test {

/// c = a @ b; one block for each tile of c. In stages, where a machine has a role that copies.
inline Program matmulProgram(int64_t block = 32, int stages = 0) {
  Program p("matmul");
  p.orchestration("main", {"a", "b", "c"}, [&](In<f32> a, In<f32> b, Out<f32> c) {
    spmd("matmul", {ceildiv(c.dim(0), block), ceildiv(c.dim(1), block)}, {},
         [&](Index bi, Index bj) {
           Index i = bi * block, j = bj * block;
           Tile acc = kiln::zeros<f32>(block, block);
           acc = loop(0, a.dim(1), block, acc, {.stages = stages}, [&](Index k, Tile acc) {
             return matmul_acc(acc, load(a, {i, k}, {block, block}),
                               load(b, {k, j}, {block, block}));
           });
           store(acc, c, {i, j});
         });
  });
  return p;
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_JIT_MATMULPROGRAM_H
