//===- TileInterfaces.h - what operations say of themselves ---------------------------===//
//
// The answers to the questions of TileInterfaces.td, and what is asked of whole functions.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_TILEINTERFACES_H
#define KILN_DIALECT_TILE_TILEINTERFACES_H

#include "kiln/Machine/Machine.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"

#include "kiln/Dialect/Tile/TileEnums.h.inc"

namespace kiln::tile {

/// How the lanes of a role share tiles.
struct LaneDivision {
  unsigned axis;                                 ///< Along which tiles are divided.
  llvm::function_ref<bool(mlir::Value)> isWhole; ///< Whether each lane has all of a tile.
  /// Whether a tile of this type has something to divide: an extent along the axis that is not 1.
  llvm::function_ref<bool(mlir::Type)> spans;
};

/// What becomes of the elements of an operand that are padding.
struct Padding {
  enum Kind {
    Kept,        ///< Elements move, or nothing is made of them: each stays what it is.
    Elementwise, ///< Elements at one place are combined.
    Constant,    ///< There is no operand, and every element is known in advance.
    Filled,      ///< Elements outside some extents become the pad value of the attribute `pad`.
    Combined,    ///< The elements of a line along `axis` are made one, by `how`.
    Running,     ///< The same, for each element with those before it, in the order of the scan.
    Ordered, ///< The elements of a line along `axis` are ordered; those best by `how` come first.
    Multiplied, ///< A matrix product.
  };
  Kind kind;
  unsigned axis = 0;
  ReduceKind how = ReduceKind::Sum;
  bool exclusive = false,
       reverse = false; ///< Of Running: without the element itself; from the end.
};

/// What a result is of the tile that is the first operand.
enum class View {
  None,
  Whole, ///< The same elements in the same memory.
  Moved, ///< The same elements in another memory; the same where there is but one.
  Part,  ///< A box of them, which some machines leave where it is.
};

/// One read or write of a tensor, or both at once, which is atomic.
struct TensorAccess {
  mlir::Operation *op;
  mlir::Value tensor; ///< The view that is accessed.
  bool reads, writes;
  /// Where the access begins, one index for each axis of the tensor; empty if it may be anywhere.
  llvm::SmallVector<mlir::OpFoldResult, 4> indices = {};
  /// The tile that is read or written there; null for a single element.
  mlir::Value tile = {};

  bool isAtomic() const { return reads && writes; }
  bool hasBox() const { return !indices.empty(); }
};

/// An access at indices of which some are constants. Without a tile it is of one element.
TensorAccess accessAt(mlir::Operation *op, mlir::Value tensor, bool reads, bool writes,
                      llvm::ArrayRef<int64_t> constants, mlir::ValueRange indices,
                      mlir::Value tile = {});

/// The accesses of an op; none if it has no tensors.
llvm::SmallVector<TensorAccess, 2> tensorAccesses(mlir::Operation *op);

/// Whether an op may change global memory or let others do so. What is inside it is not looked at.
bool mayWriteMemory(mlir::Operation *op);

/// Refuses, by name, the first op in `root` that has tiles or tensors and does not say what the
/// interfaces ask: "'foo.bar' op does not say " and then `what`.
mlir::LogicalResult requireFacts(mlir::Operation *root, llvm::StringRef what);
/// That op; null if there is none.
mlir::Operation *findWithoutFacts(mlir::Operation *root);

} // namespace kiln::tile

#include "kiln/Dialect/Tile/TileInterfaces.h.inc"

#endif // KILN_DIALECT_TILE_TILEINTERFACES_H
