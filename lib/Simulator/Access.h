//===- Access.h - what an operation touches in global memory ----------------------------===//
//
// Values that describe one access, for whoever makes it and whoever watches it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_ACCESS_H
#define KILN_LIB_SIMULATOR_ACCESS_H

#include "Order.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace kiln::simulator {

enum class AccessKind : uint8_t { Read, Write, AtomicAdd };

/// The elements an access touches: rows and columns with their distances in bytes.
struct Footprint {
  const std::byte *origin = nullptr;
  int64_t rows = 0, cols = 0;
  int64_t rowStride = 0, colStride = 0;
  int64_t elementSize = 0;
  /// For reports: the axes of the tensor that are rows and columns, -1 if there is none, and where
  /// the first of them lies from the indices of the access.
  int rowAxis = -1, colAxis = -1;
  int64_t top = 0, left = 0;
};

/// One access: what is accessed, where, and which operation does it.
struct Access {
  mlir::Operation *op;
  mlir::Value name; ///< The tensor in the source, for messages.
  const Tensor &tensor;
  std::vector<int64_t> indices;    ///< One per axis.
  std::vector<int64_t> valid = {}; ///< Of a tile: rows and columns that count; empty: all.
  Agent *agent = nullptr;          ///< Who makes it, if that is checked.
  bool mayMiss = false;            ///< Of a tile: it may lie wholly outside the tensor.
};

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_ACCESS_H
