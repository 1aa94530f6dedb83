//===- KernelData.h - what the kernels' benchmarks compute with ----------------===//
//
// What: random tensors, and how near results have to be. Benchmarks only.
//
//===---------------------------------------------------------------------------===//
#ifndef KILN_BENCH_KERNELDATA_H
#define KILN_BENCH_KERNELDATA_H

#include "kiln/runtime/tensor.h"

namespace kiln::bench {

/// Normally distributed, times `scale`; whole numbers up to about 100 in an integer type.
Tensor randomTensor(DType type, Dims extents, unsigned seed, double scale = 1);
/// Memory that nobody has written: NaN, which no check takes for a result.
Tensor poisonedTensor(Dims extents, DType type = DType::F32);

/// Element `i` in memory.
double at(const Tensor &tensor, int64_t i);
/// NaN fails.
bool isNear(double have, double want, double tolerance);

} // namespace kiln::bench

#endif // KILN_BENCH_KERNELDATA_H
