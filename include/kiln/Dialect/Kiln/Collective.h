//===- Collective.h - what several ranks do together, whichever operation says it --------===//
//
// The operations of KilnRanks.td in one form, so that whoever gives them a meaning does it once.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_KILN_COLLECTIVE_H
#define KILN_DIALECT_KILN_COLLECTIVE_H

#include "kiln/Dialect/Kiln/KilnDialect.h"

namespace kiln::ir {

/// In the order of kiln_collective_kind (kiln/orchestration_abi.h).
enum class CollectiveKind {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast,
  AllToAll,
  Send,
  Recv,
  RankBarrier
};

struct Collective {
  mlir::Operation *op = nullptr;
  CollectiveKind kind = CollectiveKind::RankBarrier;
  mlir::Value source = {},
              target = {}; ///< What is read and what is written; null if there is none.
  mlir::Value peer = {};   ///< The root, the receiver or the sender; null if there is none.
  tile::ReduceKind how = tile::ReduceKind::Sum;
  bool fixedOrder = false;
  AlongAttr along = {}; ///< Null: all ranks.
  mlir::OperandRange deps;
  mlir::Value task = {};

  bool isBetweenTwo() const { return kind == CollectiveKind::Send || kind == CollectiveKind::Recv; }
  bool reduces() const {
    return kind == CollectiveKind::AllReduce || kind == CollectiveKind::ReduceScatter;
  }
  /// The target is read too.
  bool isInPlace() const {
    return kind == CollectiveKind::AllReduce || kind == CollectiveKind::Broadcast;
  }
};

/// Nothing if the operation is no collective.
std::optional<Collective> collectiveOf(mlir::Operation *op);

/// The first operation in `root` that several ranks take part in or that asks for ranks; null if
/// there is none.
mlir::Operation *findRanks(mlir::Operation *root);

} // namespace kiln::ir

#endif // KILN_DIALECT_KILN_COLLECTIVE_H
