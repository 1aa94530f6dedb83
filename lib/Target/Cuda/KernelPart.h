//===- KernelPart.h - a kernel as a part of one that does all tasks ------------------------===//
#ifndef KILN_LIB_TARGET_CUDA_KERNELPART_H
#define KILN_LIB_TARGET_CUDA_KERNELPART_H

#include "kiln/Target/Cuda/Cuda.h"

namespace kiln::cuda {

/// Registers of a copying and of a computing thread, by the number of lanes: together no more than
/// a multiprocessor has. One lane needs no redistribution.
struct RegisterShares {
  int dma, compute;
};
inline constexpr RegisterShares kShares[] = {{0, 0}, {0, 0}, {24, 240}, {32, 160}};

/// Its text has no entry but a function for each role: `copies` and `computes`, of a task.
struct KernelPart {
  CudaUnit unit;
  std::string space; ///< The namespace of its text.
  int64_t lanes;
  int64_t tileBytes;        ///< Of shared memory: rings, and the tiles behind them.
  int64_t bytesBehind;      ///< That the matrix unit looks at behind them.
  int64_t slots = 0;        ///< Of its pipes.
  bool copies = false;      ///< A role of it copies.
  bool lendsMemory = false; ///< It has tiles in shared memory beside its pipes.
};

/// All that the program launches. `computesLater`: with fewer values alive at once.
Expected<std::vector<KernelPart>> emitParts(mlir::ModuleOp compiled, const Machine &machine,
                                            bool computesLater);

} // namespace kiln::cuda

#endif // KILN_LIB_TARGET_CUDA_KERNELPART_H
