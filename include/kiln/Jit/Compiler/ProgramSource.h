//===- ProgramSource.h - a Kiln program as the JIT sees it -------------------------------===//
//
// What: `JitSource` for programs in IR: hashes what was recorded, and compiles it with the facts of
// a
//   call for a platform. Links the compiler; the rest of the JIT does not.
//
// Ownership: keeps a copy of the program of its own. Threads: as JitSource.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_JIT_COMPILER_PROGRAMSOURCE_H
#define KILN_JIT_COMPILER_PROGRAMSOURCE_H

#include "kiln/Jit/Backend.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace kiln {

struct ProgramSourceOptions {
  /// Empty: the first platform that the JIT can compile for.
  std::string platform;
  /// The function to start with; the program's entry if empty.
  std::string entry;
  /// CPU and features in LLVM's spelling; empty: the ones of this machine.
  std::string cpu, features;
};

/// Prepares the program and finds its signature; errors of the program are reported here. Nothing
/// is lowered before compile().
Expected<std::shared_ptr<const JitSource>> makeProgramSource(mlir::ModuleOp module,
                                                             const ProgramSourceOptions &options);

/// A hash of the program without source locations: the same wherever and whenever it is recorded.
std::string programHash(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_JIT_COMPILER_PROGRAMSOURCE_H
