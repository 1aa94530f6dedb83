//===- TorchHints.cpp - what variables are called, and which values need none --------===//
#include "TorchFunction.h"

#include "kiln/Program/ValueHints.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace kiln::torch {

std::string FunctionEmitter::hintFor(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::ConstantOp>(op))
    return "";
  // Like a value that has a name already, without the number that made it unique.
  StringRef name = valueOf(value).text;
  if (llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }) && !name.empty()) {
    StringRef base = name.rtrim("0123456789");
    return (base.ends_with("_") ? base : name).rtrim('_').str();
  }
  if (!op)
    return "";
  if (auto loc = dyn_cast<NameLoc>(op->getLoc()))
    return loc.getName().str();
  if (Value yielded = yieldedAs(value))
    return hintFor(yielded);
  unsigned number = cast<OpResult>(value).getResultNumber();
  return TypeSwitch<Operation *, std::string>(op)
      .Case<tile::LoadOp, tile::GatherRowsOp>(
          [&](auto load) { return hintFor(load.getTensor()) + "_tile"; })
      .Case<tile::PopOp>([&](auto pop) { return hintFor(pop.getPipe()) + "_tile"; })
      .Case<tile::ProductInterface>([](auto) { return "acc"; })
      .Case<tile::SortRowsOp, tile::TopkRowsOp>(
          [&](auto) { return number == 0 ? "values" : "columns"; })
      .Case<tile::GatherOp>([](auto) { return "taken"; })
      .Case<tile::RandomOp>([](auto) { return "random"; })
      .Case<tile::ReduceOp>([](tile::ReduceOp reduce) { return kiln::nameOf(reduce); })
      .Case<tile::CombiningInterface>([](tile::CombiningInterface op) {
        return isa<tile::ScanWithOp>(op) ? "steps" : "combined";
      })
      .Case<tile::CastOp>([&](auto cast) {
        return hintFor(cast.getOperand()) + "_" + llvm::to_string(cast.getType().getElementType());
      })
      .Case<tile::FullOp>([](auto) { return "filled"; })
      .Case<tile::ExtractOp>([&](auto extract) { return hintFor(extract.getTile()) + "_part"; })
      .Case<tile::InsertOp>([&](auto insert) { return hintFor(insert.getInto()); })
      .Case<tile::ReshapeOp>([](auto) { return "reshaped"; })
      .Case<tile::ConcatOp>([](auto) { return "joined"; })
      .Case<tile::CmpOp>([](auto) { return "mask"; })
      .Case<tile::MaskOp, tile::MaskDiagOp>([](auto) { return "masked"; })
      .Case<tile::BlockIdxOp>([](auto block) { return "block_" + std::to_string(block.getDim()); })
      .Case<tile::BlockCountOp>(
          [](auto count) { return "blocks_" + std::to_string(count.getDim()); })
      .Case<arith::CmpIOp, arith::CmpFOp>([](auto) { return "condition"; })
      .Case<ir::AllocOp>([](auto alloc) { return alloc.getName().value_or("tensor").str(); })
      .Case<ir::DimOp>([&](auto dim) {
        return hintFor(dim.getTensor()) + "_dim" + std::to_string(dim.getDim());
      })
      .Case<ir::SliceOp, ir::TransposeOp, ir::ReshapeOp>(
          [&](auto view) { return hintFor(view.getTensor()) + "_view"; })
      .Case<ir::ReadOp, ir::GetOp>([&](auto read) { return hintFor(read.getTensor()) + "_value"; })
      .Default([&](Operation *op) -> std::string {
        StringRef use = value.getType().isIndex() ? useOfIndex(value) : "";
        return (use.empty() ? tableHint(op) : use).str();
      });
}

/// Whether an op needs no variable. Constants need none. What is used once, in the same block,
/// becomes part of the statement that uses it: scalars always, tiles only where they would just be
/// handed to a loop or branch.
bool FunctionEmitter::isInlined(Operation *op, const Expr &expr) {
  constexpr size_t longest = 60;
  if (matchPattern(op, m_Constant()) || isa<tile::MoveOp>(op))
    return true;
  Value result = op->getResult(0);
  if (!isMemoryEffectFree(op) || !result.hasOneUse() || expr.text.size() > longest)
    return false;
  Operation *user = *result.getUsers().begin();
  if (user->getBlock() != op->getBlock())
    return false;
  bool isScalar = !isa<tile::TileType, ir::TensorType>(result.getType());
  return isScalar || user->hasTrait<OpTrait::IsTerminator>() || isa<scf::ForOp, scf::WhileOp>(user);
}

} // namespace kiln::torch
