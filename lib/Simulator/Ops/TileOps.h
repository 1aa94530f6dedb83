//===- TileOps.h - what the operations on tiles share -----------------------------------===//
#ifndef KILN_LIB_SIMULATOR_OPS_TILEOPS_H
#define KILN_LIB_SIMULATOR_OPS_TILEOPS_H

#include "Simulator/Interpreter.h"
#include "Simulator/Watcher.h"

#include "kiln/Program/Signature.h"

namespace kiln::simulator {

/// A tile of the type of a value, to be filled.
inline NewTile makeTile(mlir::Value value) {
  auto type = llvm::cast<tile::TileType>(value.getType());
  return std::make_shared<Tile>(type.getRows(), type.getCols(), *dtypeOf(type.getElementType()));
}

/// Fills `result` with `make(row, col)`.
template <typename T, typename F> void fill(Tile &result, F make) {
  std::vector<T> &elements = result.elements<T>();
  for (int64_t row = 0; row < result.rows; ++row)
    for (int64_t col = 0; col < result.cols; ++col)
      elements[row * result.cols + col] = make(row, col);
}

inline Status setResult(Interpreter &in, mlir::Operation *op, NewTile tile) {
  if (Watcher *watcher = in.memory().watcher())
    watcher->tileIsComputed(in, op, *tile);
  in.set(op->getResult(0), TilePtr(std::move(tile)));
  return Status::ok();
}

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_OPS_TILEOPS_H
