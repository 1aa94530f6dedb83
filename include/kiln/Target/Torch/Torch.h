//===- Torch.h - a program as plain PyTorch -----------------------------------------===//
//
// The reference: one readable Python file that needs only torch (1.13 and 2.x). See
// docs/reference.md.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_TORCH_TORCH_H
#define KILN_TARGET_TORCH_TORCH_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/runtime/status.h"

#include <string>
#include <vector>

namespace kiln {

struct TorchOptions {
  /// The function `run` calls; empty: an orchestration, else a group nobody launches, else a
  /// kernel.
  std::string entry;
  /// Pipes never fill up: pushes do not wait.
  bool unboundedSlots = false;
  /// Assert type, dtype and shape of what is loaded, popped and passed.
  bool checkShapes = false;
  /// Every task goes through `_run_task(kernel, grid, *args)`, so that others can watch them, and
  /// `_tasks[kernel](grid, *args)` runs one by itself; `kernel` is the name in the program.
  bool namedTasks = false;
  /// torchEntryName() is of the function that runs several ranks: it takes their number, then the
  /// arguments of each.
  bool ranks = false;
};

/// Emits the program, at any stage of its compilation. The module is not changed. `places`, if it
/// is given, gets the user's line behind each line of the text; unknown where there is none.
Expected<std::string> emitTorch(mlir::ModuleOp module, const TorchOptions &options = {},
                                std::vector<SourceLoc> *places = nullptr);

/// The Python function of the emitted file that runs the program: `run`, or the entry itself where
/// there is no wrapper. Its parameters are those of the entry, in order.
Expected<std::string> torchEntryName(mlir::ModuleOp module, const TorchOptions &options = {});

} // namespace kiln

#endif // KILN_TARGET_TORCH_TORCH_H
