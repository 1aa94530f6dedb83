//===- KernelPrograms.h - the tile programs of the kernels' benchmarks ---------===//
//
// What: programs as a user would write them; nothing in them is made for one machine. Benchmarks
//   only.
//
//===---------------------------------------------------------------------------===//
#ifndef KILN_BENCH_KERNELPROGRAMS_H
#define KILN_BENCH_KERNELPROGRAMS_H

#include "kiln/Language/Program.h"

namespace kiln::bench {

/// c = a b; bf16 is summed in f32, i8 in i32.
Program gemmProgram(DType type);
/// c = a w^T, or a w where w is not turned, with the 16 rows of a that a step of decoding has; bf16
/// is summed in f32, i8 in i32.
Program fewRowsProgram(DType type, bool isTurned);
/// Of heads with 64 columns; f32 or bf16, with a result in f32.
Program attentionProgram(DType type);
Program softmaxProgram();
Program rmsNormProgram();
Program layerNormProgram();

} // namespace kiln::bench

#endif // KILN_BENCH_KERNELPROGRAMS_H
