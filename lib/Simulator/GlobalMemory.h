//===- GlobalMemory.h - every access of a kernel to global memory ---------------------===//
//
// All loads, stores, reads and writes of kernels go through this class, each with the operation
// that makes it: the bounds and the read-only rule are checked here, and the Watcher, if there is
// one, is told what is accessed. The memory itself is the runtime's. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_GLOBALMEMORY_H
#define KILN_LIB_SIMULATOR_GLOBALMEMORY_H

#include "Access.h"
#include "TileValue.h"

#include "kiln/runtime/status.h"
#include "kiln/runtime/tensor.h"

#include "mlir/IR/Value.h"

#include <optional>
#include <vector>

namespace kiln::simulator {

class Watcher;

class GlobalMemory {
public:
  /// None: bounds are checked and nothing else.
  explicit GlobalMemory(Watcher *watcher) : Watch(watcher) {}

  Watcher *watcher() const { return Watch; }

  /// Elements outside the tensor or the valid extents read as `pad`.
  Expected<TilePtr> load(const Access &access, int64_t rows, int64_t cols, ScalarBits pad);
  /// Only elements inside the tensor and the valid extents are written, or added to.
  Status store(const Access &access, const Tile &tile, bool isAtomicAdd);
  Expected<ScalarBits> read(const Access &access);
  Status write(const Access &access, ScalarBits value);

private:
  Watcher *Watch;
};

/// "'x' (f32[4, 64])": the root of a view by its parameter's name, with the shape of the view.
std::string describe(mlir::Value name, const Tensor &tensor);

/// Where an element lies that is inside its tensor.
std::byte *addressOf(const Access &access);
Footprint footprintOf(const Access &access);

/// That one element lies inside its tensor.
Status checkElement(const Access &access);

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_GLOBALMEMORY_H
