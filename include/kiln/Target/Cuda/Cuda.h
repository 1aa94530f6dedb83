//===- Cuda.h - kernels as CUDA C++ for Hopper --------------------------------------------===//
//
// Emits the kernels of a program that was compiled for h200 (kernels split over roles, tiles with
// memories) as readable CUDA C++ on the device library of device/cuda, and compiles them to cubins.
// See docs/hopper-backend.md.
//
// Ownership: values. Threads: emitting reads the MLIR module from one thread; compiling is free of
// MLIR and may run anywhere.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_CUDA_CUDA_H
#define KILN_TARGET_CUDA_CUDA_H

#include "kiln/runtime/cuda_kernel.h"
#include "kiln/runtime/status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace kiln {

struct Machine;

/// Emitted code, without the include, and for each of its lines the user's line that it is of;
/// unknown where it is of none.
struct CudaText {
  std::string text;
  std::vector<SourceLoc> lines;

  /// To read: behind the first line of each of the user's, a comment says which that is.
  std::string commented() const;
  /// To compile: with `#line`, so that errors, debuggers and profilers name the user's lines, and
  /// `file` where there are none.
  std::string directed(const std::string &file) const;
};

/// A kernel or group of the program as a unit of its own.
struct CudaUnit {
  CudaKernel kernel;
  CudaText text;
  SourceLoc location;
  /// It waits for memory more than it computes: several blocks at once are worth fewer registers.
  bool isMemoryBound = false;
  /// A role that copies gives registers to those that compute; how many, whoever compiles may say.
  bool movesRegisters = false;
  /// How many registers of a computing thread hold tiles at once, about.
  int64_t registersForTiles = 0;

  /// Compiled so that debuggers and profilers know the user's lines.
  bool hasLines = false;
  /// The same with fewer values alive at once, each computed where it is used; empty if there is
  /// nothing to win. For kernels that would spill otherwise.
  CudaText frugalText;
};

/// What a file with kernels begins with.
inline constexpr const char *kCudaHeader = "#include \"kiln.cuh\"\n\nusing namespace kiln;\n\n";

/// Emits what the passes of `machine` have made of a program. Unsupported, with the operation and
/// the user's line, for what this backend cannot lower.
Expected<std::vector<CudaUnit>> emitCuda(mlir::ModuleOp compiled, const Machine &machine);

/// All kernels of a program as one, and what each is in it.
struct PersistentCuda {
  CudaUnit unit;
  std::vector<CudaKernel> kernels;
};
/// The same as a kernel that does all tasks of the program (docs/persistent.md). Unsupported, with
/// the place, for programs whose tasks are not all known before the first begins.
Expected<PersistentCuda> emitPersistentCuda(mlir::ModuleOp compiled, const Machine &machine);
/// The kernels that combine what ranks exchange, of what a program asks for and NCCL does not do.
std::vector<CudaUnit> emitRankKernels(mlir::ModuleOp compiled);
/// All of it as one file to read.
std::string cudaSource(const std::vector<CudaUnit> &units);

struct CompiledCuda {
  std::string cubin;
  std::string source; ///< To read; before it, as comments, how, and what was tried.
};

/// Compiles for sm_90a, by NVRTC if the process can open it, else by nvcc; NotFound if there is
/// neither. Code that spills registers, keeps a stack frame or has its matrix instructions
/// serialized is an error: it would run at a fraction of the speed. Before, what the assembler says
/// decides how else the registers are given out.
Expected<CompiledCuda> compileCuda(const CudaUnit &unit);

/// The compiler that compileCuda uses, with its version: "nvrtc 13.0". NotFound if there is none.
Expected<std::string> cudaCompiler();

} // namespace kiln

#endif // KILN_TARGET_CUDA_CUDA_H
