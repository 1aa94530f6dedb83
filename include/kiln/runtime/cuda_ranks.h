//===- kiln/runtime/cuda_ranks.h - sums of ranks that a kernel adds up ----===//
//
// What: which reductions of several ranks NCCL does not do as the language has them, so that a
//   kernel of Kiln combines what was exchanged, and the name of that kernel. The compiler adds
//   those kernels behind the ones that a program launches, the runtime finds them by name.
//
// Ownership and threads: values.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_CUDA_RANKS_H
#define KILN_RUNTIME_CUDA_RANKS_H

#include "kiln/runtime/ranks.h"

#include <string>

namespace kiln {

/// NCCL adds in an order of its own, rounds 16-bit sums at every step, loses NaN in max and min,
/// and has no 16-bit integers.
constexpr bool needsRankKernel(DType type, Reduction how, bool fixedOrder) {
  if (isFloat(type))
    return fixedOrder || type != DType::F32 || how == Reduction::Max || how == Reduction::Min;
  return type == DType::I1 || type == DType::I16; // the order of integers changes nothing
}

/// "ranks.sum.f32": takes the parts [ranks, count] and the result [count], and combines in order.
inline std::string rankKernelName(DType type, Reduction how) {
  return std::string("ranks.") + toString(how) + "." + toString(type);
}
inline bool isRankKernel(const std::string &name) { return name.starts_with("ranks."); }

} // namespace kiln

#endif // KILN_RUNTIME_CUDA_RANKS_H
