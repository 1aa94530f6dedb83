//===- Ascend.h - kernels as C++ over PTO-ISA ----------------------------------------------===//
//
// Emits the roles of a program that was compiled for a machine with instructions (memories planned,
// units kept in order) as readable C++ on the device library of device/ascend: one file for each
// role, with the entry that the `simpler` runtime calls. See docs/ascend.md.
//
// Ownership: values. Threads: reads the MLIR module from one thread.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_ASCEND_ASCEND_H
#define KILN_TARGET_ASCEND_ASCEND_H

#include "kiln/runtime/status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace kiln {

struct Machine;

/// A role of a kernel or group, as a file of its own.
struct AscendKernel {
  std::string name; ///< Of the role.
  std::string task; ///< Of the kernel or group that is launched.
  std::string role; ///< "aic" or "aiv".
  std::string file; ///< "kernels/aiv/add.cpp"
  std::string source;
  /// Vector cores that a block of it uses, its shadow included; 0 for a matrix core.
  int vectorCores = 0;
};

/// Emits what the passes of `machine` have made of a program, in the order of the module.
/// Unsupported, with the operation and the user's line, for what this backend cannot lower.
Expected<std::vector<AscendKernel>> emitAscend(mlir::ModuleOp compiled, const Machine &machine);

} // namespace kiln

#endif // KILN_TARGET_ASCEND_ASCEND_H
