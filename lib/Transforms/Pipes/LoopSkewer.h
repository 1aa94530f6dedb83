//===- LoopSkewer.h - lets the pushes of a loop run an iteration ahead --------------------===//
//
// A loop that pushes and pops waits for its partner in every iteration. What its pushes need, and
// does not come from a pop, is its *ahead* part; everything else is the *rest*. Skewing turns
//
//   for i in 0..n { ahead(i); rest(i) }
//
// into prologue, steady state and epilogue
//
//   if n > 0 { ahead(0); for i in 0..n-1 { ahead(i+1); rest(i) }; rest(n-1) }
//
// The result is a loop of the same form, so skewing it again runs two iterations ahead.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_PIPES_LOOPSKEWER_H
#define KILN_LIB_TRANSFORMS_PIPES_LOOPSKEWER_H

#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {

class LoopSkewer {
public:
  /// Whether a loop has anything to gain.
  static bool pushesAndPops(mlir::scf::ForOp loop);

  explicit LoopSkewer(mlir::scf::ForOp loop);

  bool canSkew() const { return Reason.empty(); }
  llvm::StringRef reason() const { return Reason; }
  /// Those that run ahead.
  llvm::ArrayRef<tile::PushOp> pushes() const { return Pushes; }

  /// Replaces the loop; the loop of the steady state is returned.
  mlir::scf::ForOp skew();

private:
  /// Collects what `value` needs in this iteration; false if it cannot be had ahead.
  bool collect(mlir::Value value, llvm::SetVector<mlir::Operation *> &ops,
               llvm::SetVector<unsigned> &args);
  bool isReadable(mlir::Operation *op);
  void choosePushes();
  void divideBody();
  bool isRecomputed(mlir::Operation *op);

  void cloneAhead(mlir::OpBuilder &builder, mlir::IRMapping &values);
  void cloneRest(mlir::OpBuilder &builder, mlir::IRMapping &values);
  mlir::scf::ForOp build(mlir::OpBuilder &builder, mlir::Value trips,
                         llvm::SmallVector<mlir::Value> &results);

  mlir::scf::ForOp Loop;
  std::string Reason;
  llvm::SmallVector<tile::PushOp> Pushes;
  llvm::SetVector<mlir::Operation *> Ahead; ///< Includes the pushes.
  llvm::SetVector<unsigned> AheadArgs;      ///< Carried values that belong to the ahead part.
  /// What the rest uses of the ahead part of its own iteration, and cannot compute again.
  llvm::SetVector<mlir::Value> Handed;
  llvm::SetVector<mlir::Operation *> Recomputed; ///< What it can.
};

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_PIPES_LOOPSKEWER_H
