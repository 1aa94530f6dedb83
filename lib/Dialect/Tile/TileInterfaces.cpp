//===- TileInterfaces.cpp - asking operations what they say of themselves ---------------===//
#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

#include "kiln/Dialect/Tile/TileInterfaces.cpp.inc"

namespace kiln::tile {

TensorAccess accessAt(Operation *op, Value tensor, bool reads, bool writes,
                      ArrayRef<int64_t> constants, ValueRange indices, Value tile) {
  SmallVector<OpFoldResult> at = getMixedValues(constants, indices, op->getContext());
  return {op, tensor, reads, writes, {at.begin(), at.end()}, tile};
}

SmallVector<TensorAccess, 2> tensorAccesses(Operation *op) {
  auto accesses = dyn_cast<TensorAccessInterface>(op);
  return accesses ? accesses.getTensorAccesses() : SmallVector<TensorAccess, 2>();
}

bool mayWriteMemory(Operation *op) {
  SmallVector<TensorAccess, 2> accesses = tensorAccesses(op);
  if (!accesses.empty())
    return llvm::any_of(accesses, [](const TensorAccess &access) { return access.writes; });
  // They have effects, so that nobody removes them, but not on memory.
  if (isa<ir::DumpOp, ir::RequireOp, PrefetchOp>(op) ||
      op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects ? effects.hasEffect<MemoryEffects::Write>()
                 : !op->hasTrait<OpTrait::IsTerminator>();
}

/// Whether control flow or a scalar operation of another dialect passes tiles and tensors on.
static bool isOfKnownDialect(Operation *op) {
  return isa_and_nonnull<scf::SCFDialect, arith::ArithDialect>(op->getDialect()) ||
         isa<ir::FuncOp>(op);
}

Operation *findWithoutFacts(Operation *root) {
  Operation *found = nullptr;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto has = [&](auto isOfType) {
      return llvm::any_of(op->getOperandTypes(), isOfType) ||
             llvm::any_of(op->getResultTypes(), isOfType);
    };
    bool isSilent = (has(llvm::IsaPred<TileType>) && !isa<TileOpInterface>(op)) ||
                    (has(llvm::IsaPred<ir::TensorType>) && !isa<TensorAccessInterface>(op));
    if (!isSilent || isOfKnownDialect(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

LogicalResult requireFacts(Operation *root, StringRef what) {
  if (Operation *op = findWithoutFacts(root))
    return op->emitOpError("does not say ") << what;
  return success();
}

std::optional<unsigned> dividedAxisOf(ProductInterface product, OpOperand &operand, unsigned axis) {
  bool dividesRows = axis == 0;
  if (&operand == &product.getLhsMutable())
    return dividesRows ? std::optional<unsigned>(product.getTransA() ? 1 : 0) : std::nullopt;
  if (&operand == &product.getRhsMutable())
    return dividesRows ? std::nullopt : std::optional<unsigned>(product.getTransB() ? 0 : 1);
  return axis;
}

} // namespace kiln::tile
