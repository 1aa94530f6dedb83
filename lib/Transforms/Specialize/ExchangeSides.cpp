#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Tile/TileMemory.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEEXCHANGESIDES
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// Rows of a product up to which the other side is the better one for an instruction of 64 rows.
constexpr int64_t kMostRows = 32;

/// Whether an operation takes tiles whose rows and columns have changed places in the threads: it
/// moves no element from one to another.
bool takesEitherWay(Operation *op) {
  auto isTile = llvm::IsaPred<tile::TileType>;
  if (llvm::none_of(op->getOperandTypes(), isTile) && llvm::none_of(op->getResultTypes(), isTile))
    return true;
  auto facts = dyn_cast<tile::TileOpInterface>(op);
  return isa<tile::ProductInterface, tile::LoadOp, tile::FullOp, tile::CastOp, scf::ForOp,
             scf::IfOp, scf::YieldOp>(op) ||
         (isa<tile::StoreOp>(op) && !cast<tile::StoreOp>(op).getAtomic()) ||
         (facts && facts.getPadding().kind == tile::Padding::Elementwise);
}

/// A load that the copying role can make of whole tiles, in the loop of the product.
tile::LoadOp streamedOperand(Value operand, Operation *product) {
  auto load = operand.getDefiningOp<tile::LoadOp>();
  auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
  auto kind = loop ? loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr) : ir::LoopAttr();
  bool isStreamed = load && load->getBlock() == product->getBlock() && kind &&
                    kind.getKind() == ir::LoopKind::Pipeline && !load.getStaticValid() &&
                    load.getTensor().getType().getRank() == 2;
  return isStreamed ? load : tile::LoadOp();
}

/// Whether both sides are as the matrix unit reads them in place, wherever rows end.
bool canExchange(tile::ProductInterface product) {
  tile::LoadOp left = streamedOperand(product.getLhs(), product),
               right = streamedOperand(product.getRhs(), product);
  if (!left || !right || !product.getTransB() || product.getTransA())
    return false;
  tile::TileType a = left.getType(), b = right.getType();
  Type element = b.getElementType();
  if (a.getElementType() != element || !(element.isF16() || element.isBF16()))
    return false;
  return tile::hasPanelsInPlace(b) && a.getRows() % 8 == 0 && a.getRows() <= kMostRows &&
         b.getRows() >= 64 / 2 && b.getRows() <= 256;
}

struct ExchangeSides : impl::TileExchangeSidesBase<ExchangeSides> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<ir::FuncOp>()) {
      if (func.getKind() != ir::FuncKind::Incore)
        continue;
      SmallVector<tile::ProductInterface> products;
      bool canBe = true;
      func.walk([&](Operation *op) {
        auto product = dyn_cast<tile::ProductInterface>(op);
        canBe &= op == func || isa<ir::ReturnOp>(op) || takesEitherWay(op);
        canBe &= !product || canExchange(product);
        if (product)
          products.push_back(product);
      });
      if (!canBe)
        continue;
      for (tile::ProductInterface product : products) {
        product->setAttr(tile::kExchangedAttr, UnitAttr::get(&getContext()));
        product.getRhs().getDefiningOp()->setAttr(tile::kStreamsAttr, UnitAttr::get(&getContext()));
      }
    }
  }
};
} // namespace
} // namespace kiln
