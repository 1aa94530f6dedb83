//===- AscendFunction.h - a role as statements over PTO-ISA ---------------------------------===//
//
// Walks a role once and writes a statement for each operation. AscendFunction.cpp has control flow,
// scalars and flags, AscendTileOps.cpp the operations on tiles, AscendNames.cpp the names.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_ASCEND_ASCENDFUNCTION_H
#define KILN_LIB_TARGET_ASCEND_ASCENDFUNCTION_H

#include "kiln/Analysis/Instructions.h"
#include "kiln/Program/Unsupported.h"
#include "kiln/Target/Text/Lines.h"
#include "kiln/Target/Text/Names.h"
#include "kiln/runtime/status.h"

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace kiln::ascend {

/// The C++ type of an element or a scalar; empty if the backend has none.
std::string cppType(mlir::Type type);
/// `Vec<float, 64, 64>`: the type of a variable for a tile.
std::string tileType(tile::TileType type);
/// The same for a column that is worked on as a row.
std::string rowType(tile::TileType type);

/// How a role uses a pipe of its group.
struct PipeUse {
  std::string name;       ///< Of the variable.
  std::string split;      ///< `TileSplitAxis::TILE_UP_DOWN`
  bool isOwn = false;     ///< Both ends are this role.
  bool hasShadow = false; ///< One vector core of two moves tiles.
};

class FunctionEmitter {
public:
  /// `given` are the texts of the parameters; pipes are in `pipes` instead. All have names of
  /// `names`.
  FunctionEmitter(ir::FuncOp func, const Machine &machine,
                  llvm::DenseMap<mlir::Value, std::string> given,
                  llvm::DenseMap<mlir::Value, PipeUse> pipes, bool hasShadow,
                  text::NameScope &names)
      : Func(func), Target(machine), Values(std::move(given)), Pipes(std::move(pipes)),
        HasShadow(hasShadow), Names(names) {}

  /// The statements of the body, indented.
  Expected<std::string> emitBody();

private:
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  void emitIf(mlir::scf::IfOp branch);
  bool emitSync(mlir::Operation *op);
  bool emitScalar(mlir::Operation *op);
  std::string scalarText(mlir::Operation *op);
  void assign(llvm::ArrayRef<std::pair<std::string, mlir::Value>> moves);
  void sayWhere(mlir::Operation *op);

  // AscendTileOps.cpp
  bool emitTile(mlir::Operation *op);
  void emitLoad(tile::LoadOp op);
  void emitStore(tile::StoreOp op);
  void emitMove(tile::MoveOp op);
  void emitProduct(tile::ProductInterface op);
  void emitReduce(tile::ReduceOp op);
  void emitMask(tile::MaskOp op);
  void emitCast(tile::CastOp op);
  void emitCompare(tile::CmpOp op);
  void emitSelect(tile::SelectOp op);
  void emitConcat(tile::ConcatOp op);
  void emitPush(tile::PushOp op);
  void emitPop(tile::PopOp op);
  void emitPopOfSlot(tile::PopOp op, const PipeUse &pipe);
  bool emitBinary(mlir::Operation *op);
  bool emitUnary(mlir::Operation *op);
  /// Declares a variable for a tile at its address.
  void declare(mlir::Value tile);
  std::string declareAt(llvm::StringRef name, const std::string &type, int64_t address);
  std::string declareAt(llvm::StringRef name, const std::string &type, mlir::Value tile);
  int64_t addressOf(mlir::Value tile);
  bool checkTile(mlir::Operation *op, tile::TileType type);
  /// `window<64, 64>(a, {n0, n1}, rows, cols)`
  std::string windowText(tile::TileType type, mlir::Value tensor, llvm::ArrayRef<int64_t> indices,
                         mlir::ValueRange dynamic, std::optional<llvm::ArrayRef<int64_t>> valid,
                         mlir::ValueRange validDynamic);
  std::string padText(mlir::Attribute pad);
  std::string scratchText(mlir::Operation *op, const std::string &type);
  /// The variable that is worked on element by element.
  std::string flat(mlir::Value tile);

  const std::string &text(mlir::Value value) { return Values[value]; }
  std::string list(llvm::ArrayRef<int64_t> constants, mlir::ValueRange values,
                   const char *separator = ", ");
  void define(mlir::Value value, const std::string &expression);
  std::string freshName(llvm::StringRef hint) { return Names.unique(hint); }
  /// A name for a value after what it comes from, or else this one (AscendNames.cpp).
  std::string nameFor(mlir::Value value, llvm::StringRef otherwise);
  void line(const llvm::Twine &statement) { Out.line(statement); }
  /// The first failure counts.
  void unsupported(mlir::Operation *op, const llvm::Twine &why) {
    if (!Failure)
      Failure = cannotBeCompiled(op, Target.platform, why);
  }

  ir::FuncOp Func;
  const Machine &Target;
  llvm::DenseMap<mlir::Value, std::string> Values;
  llvm::DenseMap<mlir::Value, std::string> Rows; ///< Of columns: the same bytes as a row.
  llvm::DenseMap<mlir::Value, PipeUse> Pipes;
  bool HasShadow;
  text::Lines Out{2, 1};
  std::string LastPlace;
  text::NameScope &Names;
  std::optional<Status> Failure;
};

} // namespace kiln::ascend

#endif // KILN_LIB_TARGET_ASCEND_ASCENDFUNCTION_H
