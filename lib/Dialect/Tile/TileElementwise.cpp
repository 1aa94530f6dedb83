#include "kiln/Dialect/Tile/TileElementwise.h"

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Dialect/Tile/TileInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

bool tile::isElementwise(Operation *op) {
  auto facts = dyn_cast<TileOpInterface>(op);
  return facts && (isa<CastOp>(op) || facts.getPadding().kind == Padding::Elementwise);
}

bool tile::isCommutative(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
#include "kiln/Dialect/Tile/Elementwise/Commutative.inc"
      .Default(false);
}

} // namespace kiln
