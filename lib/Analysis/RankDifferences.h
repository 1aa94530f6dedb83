//===- RankDifferences.h - what differs from rank to rank --------------------------------===//
//
// Which scalars, which extents and which blocks of orchestrations are not the same on every rank,
// because they depend on which rank it is or on data. What is carried by loops is followed until
// nothing changes; a function that is called several times is judged by all its calls together.
//
// Ownership: borrows the module and does not change it. Threads: any that may read the module.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_ANALYSIS_RANKDIFFERENCES_H
#define KILN_ANALYSIS_RANKDIFFERENCES_H

#include "kiln/Dialect/Kiln/KilnDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {

/// What makes something differ from rank to rank.
struct Difference {
  enum Kind { None, ByRank, ByData };
  Kind kind = None;
  mlir::Operation *from = nullptr; ///< The kiln.rank, or what reads data.

  explicit operator bool() const { return kind != None; }
};

class RankDifferences {
public:
  /// All ranks are given the same scalars and extents.
  explicit RankDifferences(ir::FuncOp entry);

  /// Of a scalar; of a tensor: of its extents.
  Difference of(mlir::Value value) const { return Values.lookup(value); }
  /// Of whether and how often a block is gone through.
  Difference of(mlir::Block *block) const { return Blocks.lookup(block); }
  /// The entry, and what it calls.
  mlir::ArrayRef<ir::FuncOp> orchestrations() const { return Functions.getArrayRef(); }

private:
  Difference ofAll(mlir::ValueRange values) const;
  void raise(mlir::Value value, Difference by);
  void visit(mlir::Block &block);
  void visit(mlir::Operation &op, Difference control);
  void visitRegions(mlir::Operation &op, Difference inside);
  void visitLoop(mlir::scf::ForOp loop, Difference control);
  void visitBranch(mlir::scf::IfOp branch, Difference control);
  void visitCall(ir::CallOp call, Difference control);
  Difference ofResult(mlir::Operation &op) const;

  mlir::ModuleOp Module;
  llvm::SetVector<ir::FuncOp> Functions;
  llvm::DenseMap<mlir::Value, Difference> Values;
  llvm::DenseMap<mlir::Block *, Difference> Blocks;
  bool HasChanged = false;
};

} // namespace kiln

#endif // KILN_ANALYSIS_RANKDIFFERENCES_H
