#include "Contraction.h"

#include "Builder/Product.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln::llvmir {

// The left sides (256 x 512 words) stay in the second cache while every right side passes. The
// sums are touched once in 512 steps and may lie further away. Tile registers multiply so fast that
// packing a right side pays only for twice as many rows.
static constexpr int64_t kRowTarget = 256, kColTarget = 2048, kDepthTarget = 512,
                         kTiledRowTarget = 512;
// Where panels of right sides are to stay in the nearest cache while all left sides pass: 16 KiB,
// or 32 where there are few rows, beside left sides and sums. They are so shallow that the second
// cache has room for twice as many rows of left sides, and right sides are packed half as often.
static constexpr int64_t kNearDepthTarget = 128, kNearRowTarget = 512;
// With so few rows of the left side, all of k of them stays in the second cache while the right
// side passes once. Where it is packed, the columns that come next are fetched in the time of few
// products: half as many words leave them room.
static constexpr int64_t kFewRows = 32, kStreamedRowTarget = 64, kStreamedDepthTarget = 5120,
                         kFewRowsDepthTarget = 256;

int64_t Contraction::rows() const { return product(0).getResult().getType().getRows(); }
int64_t Contraction::cols() const { return product(0).getResult().getType().getCols(); }
int64_t Contraction::depth() const {
  tile::TileType left = product(0).getLhs().getType();
  return product(0).getTransA() ? left.getRows() : left.getCols();
}

int64_t Contraction::usualRows() const { return rows() <= kFewRows ? 1 : maxRows; }

bool Contraction::isLeftTurned() const { return streamsRight || product(0).getTransA(); }

unsigned Contraction::leftOf(unsigned number) const {
  for (unsigned other = 0; other < number; ++other)
    if (product(other).getLhs() == product(number).getLhs())
      return other;
  return number;
}

bool Contraction::isOperand(OpOperand &use) const {
  return use.getOperandNumber() > 0 && llvm::is_contained(products, use.getOwner());
}

bool onlyReads(Operation &op) {
  auto effects = getEffectsRecursively(&op);
  return effects && llvm::all_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
           return isa<MemoryEffects::Read>(effect.getEffect());
         });
}

bool isRepeatable(Operation &op) {
  return onlyReads(op) && !isa<scf::ForOp, scf::WhileOp, tile::ProductInterface>(op);
}

bool areAlike(tile::MatmulAccOp a, tile::MatmulAccOp b) {
  return a.getLhs().getType() == b.getLhs().getType() &&
         a.getRhs().getType() == b.getRhs().getType() && a.getType() == b.getType() &&
         a.getTransA() == b.getTransA() && a.getTransB() == b.getTransB();
}

SmallVector<tile::MatmulAccOp> productsOf(scf::ForOp loop) {
  SmallVector<tile::MatmulAccOp> products;
  for (auto [carried, next] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues())) {
    auto product = next.getDefiningOp<tile::MatmulAccOp>();
    if (!product || product->getBlock() != loop.getBody() || product.getAcc() != carried ||
        !product->hasOneUse() || !carried.hasOneUse() ||
        (!products.empty() && !areAlike(product, products[0])))
      return {};
    products.push_back(product);
  }
  return products;
}

namespace {

/// Kernels that run as groups keep their scratch once an instance: too often for large panels.
bool runsAsGroup(ir::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<tile::BarrierOp, tile::PushOp, tile::PopOp, ir::AllocOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Everything that some values are computed by: in the loop's body, and before the loop.
class Slice {
public:
  explicit Slice(scf::ForOp loop) : Loop(loop) {}

  void add(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      UsesSums |= llvm::is_contained(Loop.getRegionIterArgs(), value);
      return;
    }
    if (Ops.contains(op))
      return;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          add(operand);
      if (auto index = dyn_cast<tile::BlockIdxOp>(inner))
        Dims |= 1u << index.getDim();
    });
    Ops.insert(op); // behind what it uses
  }

  Contraction::Ops ops() const { return Contraction::Ops(Ops.begin(), Ops.end()); }
  bool usesSums() const { return UsesSums; }
  unsigned dims() const { return Dims; } ///< A bit for each grid dimension it depends on.

private:
  scf::ForOp Loop;
  llvm::SetVector<Operation *> Ops;
  unsigned Dims = 0;
  bool UsesSums = false;
};

/// Whether the words of a product's right side lie one after the other along k, over all
/// iterations: it is loaded, turned, and moves on by its own width.
bool isStreamed(tile::MatmulAccOp product, const Contraction &c) {
  auto load = product.getRhs().getDefiningOp<tile::LoadOp>();
  scf::ForOp loop = c.loop;
  if (!load || !load->hasOneUse() || load->getBlock() != loop.getBody() || !product.getTransB() ||
      load.getOutside() || load.getStaticValid() ||
      elementTypeOf(load.getResult().getType()) != c.how.element ||
      getConstantIntValue(loop.getStep()) != c.depth() || load.getStaticIndices().size() < 2 ||
      !loop.isDefinedOutsideOfLoop(load.getTensor()))
    return false;
  ValueRange moving = load.getIndices();
  return ShapedType::isDynamic(load.getStaticIndices().back()) &&
         moving.back() == loop.getInductionVar() &&
         llvm::all_of(moving.drop_back(),
                      [&](Value index) { return loop.isDefinedOutsideOfLoop(index); });
}

/// The store of a loop's only result as it is, where nothing else follows.
tile::StoreOp onlyStoreBehind(scf::ForOp loop, DType sum) {
  auto store = dyn_cast<tile::StoreOp>(loop->getNextNode());
  if (!store || loop.getNumResults() != 1 || store.getTile() != loop.getResult(0) ||
      store.getAtomic() || !store->getNextNode()->hasTrait<OpTrait::IsTerminator>() ||
      elementTypeOf(store.getTile().getType()) != sum)
    return nullptr;
  return store;
}

/// The innermost of some grid dimensions; -1 if there is none.
int innermost(unsigned dims) { return dims ? 31 - llvm::countl_zero(dims) : -1; }

} // namespace

std::optional<Contraction> findContraction(ir::FuncOp kernel, const MachineTraits &machine) {
  Contraction c;
  for (Operation &op : kernel.getBody().front()) {
    if ((c.loop = dyn_cast<scf::ForOp>(op)))
      break;
    if (!isRepeatable(op) && !isa<ir::RequireOp>(op))
      return std::nullopt;
  }
  if (!c.loop || !llvm::all_of(*c.loop.getBody(), onlyReads) || runsAsGroup(kernel))
    return std::nullopt;
  c.products = productsOf(c.loop);
  if (c.products.empty())
    return std::nullopt;
  Slice left(c.loop), right(c.loop), bounds(c.loop);
  for (tile::MatmulAccOp product : c.products) {
    left.add(product.getLhs());
    right.add(product.getRhs());
  }
  for (Value bound : {c.loop.getLowerBound(), c.loop.getUpperBound(), c.loop.getStep()})
    bounds.add(bound);
  if (left.usesSums() || right.usesSums())
    return std::nullopt;
  c.left = left.ops();
  c.right = right.ops();
  c.bounds = bounds.ops();
  c.rowDim = innermost(left.dims() & ~right.dims() & ~bounds.dims());
  c.colDim = innermost(right.dims() & ~left.dims() & ~bounds.dims());
  auto share = [](int64_t target, int64_t of) { return std::max<int64_t>(1, target / of); };
  c.how = multiplierFor(machine, elementTypeOf(c.product(0).getLhs().getType()), c.depth(),
                        c.product(0).getTransA());
  c.streamsRight = c.rows() <= kFewRows && llvm::all_of(c.products, [&](tile::MatmulAccOp product) {
                     return isStreamed(product, c);
                   });
  if (c.streamsRight && !c.product(0).getTransA())
    c.wordsAcross = streamedWordsAcross(machine, c.how, c.words(), c.rows());
  // Tile registers are stored whole, and streamed sums are turned. Elsewhere nobody measured it.
  if (!c.how.byTiles && !c.streamsRight && keepsPanelsNear(machine, c.rows()))
    c.store = onlyStoreBehind(c.loop, c.how.sum);
  if (c.store) {
    Slice place(c.loop);
    for (Value operand : c.store->getOperands().drop_front()) // but for the tile
      place.add(operand);
    c.place = place.ops();
  }
  bool arePanelsNear = machine.wantsPanelsNear && !c.how.byTiles, hasManyRows = c.rows() > kFewRows;
  int64_t rowTarget = c.streamsRight                 ? kStreamedRowTarget
                      : c.how.byTiles                ? kTiledRowTarget
                      : arePanelsNear && hasManyRows ? kNearRowTarget
                                                     : kRowTarget;
  int64_t depthTarget = c.streamsRight  ? kStreamedDepthTarget
                        : arePanelsNear ? kNearDepthTarget
                        : hasManyRows   ? kDepthTarget
                                        : kFewRowsDepthTarget;
  c.maxRows = c.rowDim < 0 ? 1 : share(rowTarget, c.rows());
  c.maxCols = c.colDim < 0 ? 1 : share(kColTarget, c.cols() * int64_t(c.products.size()));
  c.maxSteps = share(depthTarget, c.words());
  return c;
}

ProductSides sidesOf(tile::ProductInterface product, const MachineTraits &machine) {
  auto left = cast<tile::TileType>(product.getLhs().getType());
  auto right = cast<tile::TileType>(product.getRhs().getType());
  int64_t depth = left.getExtent(product.getSummedAxis(0));
  int64_t cols = right.getExtent(1 - product.getSummedAxis(1));
  DType type = elementTypeOf(left);
  ProductSides sides;
  sides.how = multiplierFor(machine, type, depth, product.getSummedAxis(0) == 0);
  const Multiplier &how = sides.how;
  bool isWords = type == how.element;
  sides.depth = depth / how.group;
  sides.packsLeft = !isWords || how.shiftsLeft() || (how.group > 1 && product.getTransA());
  sides.packsRight = !isWords || how.group > 1 || product.getTransB();
  sides.rightPitch = how.wantsWholeVectors() ? llvm::alignTo(cols, kWidth) : cols;
  sides.leftWords = left.getNumElements() / how.group;
  sides.rightWords = sides.depth * sides.rightPitch;
  return sides;
}

} // namespace kiln::llvmir
