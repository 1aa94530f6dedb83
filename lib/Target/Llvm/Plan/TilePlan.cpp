#include "Emit/KernelEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::llvmir {

bool isPointwise(Operation *op) {
  return OpTable::get().pointwise(op->getName()) && isa<tile::TileType>(op->getResult(0).getType());
}

bool isSameTile(Operation *op) {
  auto facts = dyn_cast<tile::TileOpInterface>(op);
  return facts && (facts.getView() == tile::View::Whole || facts.getView() == tile::View::Moved);
}

Operation *soleUser(Operation *op) {
  Operation *sole = nullptr;
  for (Operation *user : op->getUsers()) {
    if (sole && user != sole)
      return nullptr;
    sole = user;
  }
  return sole;
}

/// Each op that uses a result once, however often it does.
static SmallVector<Operation *, 2> distinctUsers(Operation *op) {
  SmallVector<Operation *, 2> distinct;
  for (Operation *user : op->getUsers())
    if (!llvm::is_contained(distinct, user))
      distinct.push_back(user);
  return distinct;
}

static std::pair<int64_t, int64_t> shapeOf(Value tile) {
  auto type = cast<tile::TileType>(tile.getType());
  return {type.getRows(), type.getCols()};
}

static uint64_t bytesOf(tile::TileType type) {
  return type.getNumElements() * sizeOf(elementTypeOf(type));
}

static bool isTile(Value value) { return isa<tile::TileType>(value.getType()); }
/// Costs nothing to compute again.
static bool isFree(Operation *op) { return isa<tile::FullOp, tile::IotaOp>(op); }

/// Whether the user can compute this operand itself.
bool TilePlan::computesOperand(OpOperand &use) const {
  Operation *user = use.getOwner();
  if (isPointwise(user)) // broadcasting would compute it again and again
    return isFree(use.get().getDefiningOp()) || isa<tile::ExtractOp>(user) ||
           shapeOf(use.get()) == shapeOf(user->getResult(0));
  if (isa<tile::StoreOp, tile::ReduceOp, tile::InsertOp, tile::ConcatOp, scf::ForOp, tile::PushOp>(
          user))
    return true;
  if (isa<tile::MatmulAccOp>(user))
    return use.getOperandNumber() == 0 || (Raised && Raised->isOperand(use));
  if (isa<scf::YieldOp>(user))
    return isa<scf::IfOp>(user->getParentOp()) || isFree(use.get().getDefiningOp());
  return false;
}

/// Whether an op, or one inside it, may change global memory or let others do so.
static bool writesMemory(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return tile::mayWriteMemory(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

TilePlan::TilePlan(ir::FuncOp func, const MachineTraits &machine)
    : Machine(machine),
      Offsets([](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); }) {
  if (func.isKernel())
    Raised = findContraction(func, machine);
  number(func.getBody());
  // Users before what they use: whether an op is inline depends on its user.
  SmallVector<Operation *> ops;
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    classify(op);
  func.getBody().walk([&](scf::ForOp loop) { shareCarried(loop); });
  func.getBody().walk([&](tile::ReduceOp op) { joinReduction(op); });
  if (func.isKernel() && !Raised)
    delayStore(func);
  for (auto [tile, base] : Aliases)
    Sharing[baseOf(tile)].push_back(tile);
  func.getBody().walk([&](Operation *op) {
    for (auto [number, result] : llvm::enumerate(op->getResults()))
      if (auto pop = dyn_cast<tile::PopOp>(op); !pop || isCopied(pop, number))
        addBuffer(result); // otherwise the tile is used in the slot where it lies
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments())
          addBuffer(arg);
    addExtras(op);
  });
  if (Raised)
    addPanels();
  assignOffsets();
}

void TilePlan::number(Region &region) {
  for (Block &block : region)
    for (Operation &op : block) {
      unsigned first = ++LastPosition;
      for (Region &inner : op.getRegions())
        number(inner);
      Positions[&op] = {first, ++LastPosition};
    }
}

Value TilePlan::baseOf(Value tile) const {
  for (auto it = Aliases.find(tile); it != Aliases.end(); it = Aliases.find(tile))
    tile = it->second;
  return tile;
}

void TilePlan::addRoots(Operation *op, SmallVectorImpl<Operation *> &roots) const {
  bool isUsedInPlace = op->getNumResults() == 1 && isTile(op->getResult(0)) && !op->use_empty() &&
                       (isInline(op->getResult(0)) || isDeferred(op->getResult(0)));
  if (!isUsedInPlace) {
    if (!llvm::is_contained(roots, op))
      roots.push_back(op);
    return;
  }
  for (Operation *user : distinctUsers(op))
    addRoots(user, roots);
}

SmallVector<Operation *, 2> TilePlan::rootsOf(Operation *op) const {
  SmallVector<Operation *, 2> roots;
  addRoots(op, roots);
  return roots;
}

//===----------------------------------------------------------------------===//
// Inline, deferred, shared
//===----------------------------------------------------------------------===//

bool isCopied(tile::PopOp pop, unsigned number) {
  auto pipe = cast<tile::PipeType>(pop.getPipe().getType());
  auto part = cast<tile::TileType>(pop.getTiles()[number].getType());
  return pop.getCopy() || part.getCols() != pipe.getPayload()[number].getCols();
}

/// Whether popped tiles may be gone after an op, or one inside it.
static bool freesSlots(Operation *op) {
  return op->walk([](tile::FreeOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// An expression that is longer is computed in parts: its evaluation is recursive, and what LLVM
/// does with a block takes longer than the block is long.
static constexpr unsigned kDeepest = 128;

unsigned TilePlan::depthOf(Operation *op) const {
  unsigned depth = 0;
  for (; op->getNumResults() == 1 && isInline(op->getResult(0)) && soleUser(op); op = soleUser(op))
    ++depth;
  return depth;
}

SmallVector<Value, 3> distinctOperands(Operation *op) {
  SmallVector<Value, 3> distinct;
  for (Value operand : op->getOperands())
    if (!llvm::is_contained(distinct, operand))
      distinct.push_back(operand);
  return distinct;
}

/// Whether computing a tile again takes no longer than reading it from a buffer: one operation on a
/// tile that is loaded, which each pass may do where it lies, and on numbers of rows.
static bool isCheaperThanABuffer(Operation *op) {
  if (!isa<tile::AddOp, tile::SubOp, tile::MulOp, tile::NegOp>(op))
    return false;
  unsigned loads = 0;
  for (Value operand : op->getOperands())
    if (isTile(operand) && shapeOf(operand) == shapeOf(op->getResult(0))) {
      if (!operand.getDefiningOp<tile::LoadOp>())
        return false;
      ++loads;
    }
  return loads == 1 && cast<tile::TileType>(op->getResult(0).getType()).getCols() > 1;
}

bool TilePlan::canBeInline(Operation *op) const {
  if (op->use_empty())
    return true; // never computed
  if (!llvm::all_of(op->getUses(), [&](OpOperand &use) { return computesOperand(use); }))
    return false;
  if (isFree(op))
    return true;
  if (!soleUser(op) && !isCheaperThanABuffer(op))
    return false;
  SmallVector<Operation *> roots;
  for (Operation *user : distinctUsers(op)) {
    if (user->getBlock() != op->getBlock() || depthOf(user) >= kDeepest)
      return false;
    // An op of another kind would compute it once for each operand.
    if (llvm::count(op->getUsers(), user) > 1 && !isPointwise(user))
      return false;
    addRoots(user, roots);
  }
  return llvm::all_of(roots, [&](Operation *root) {
    for (Operation *next = op->getNextNode(); next && next != root; next = next->getNextNode())
      if (freesSlots(next))
        return false;
    return true;
  });
}

/// Whether only a part of what an op makes is used by whoever computes it.
bool TilePlan::isExtracted(Operation *op) const {
  if (isa<tile::ExtractOp>(op))
    return true;
  return op->getNumResults() == 1 && isInline(op->getResult(0)) &&
         llvm::any_of(distinctUsers(op), [&](Operation *user) { return isExtracted(user); });
}

bool TilePlan::canBeDeferred(tile::LoadOp load) const {
  if (load->use_empty())
    return false;
  SmallVector<Operation *> roots;
  for (OpOperand &use : load->getUses()) {
    Operation *user = use.getOwner();
    if (user->getBlock() != load->getBlock() || !computesOperand(use) || isExtracted(user))
      return false;
    addRoots(user, roots);
  }
  bool isOnce = load->hasOneUse() && roots.size() == 1;
  return llvm::all_of(roots, [&](Operation *root) {
    // Several passes over the same tile pay where each is one over memory that is near by then.
    if (!isOnce && !isPointwise(root) && !isa<tile::ReduceOp, tile::StoreOp>(root))
      return false;
    for (Operation *op = load->getNextNode(); op != root; op = op->getNextNode())
      if (!op || writesMemory(op))
        return false;
    return true;
  });
}

bool TilePlan::isLastReader(tile::LoadOp load, Operation *op) const {
  return llvm::none_of(load->getUsers(), [&](Operation *user) {
    return llvm::any_of(rootsOf(user), [&](Operation *root) {
      return root->getBlock() == op->getBlock() && op->isBeforeInBlock(root);
    });
  });
}

/// Whether a value is known while a tile with a buffer is computed, but for inline expressions of
/// it.
bool TilePlan::isInPass(Value value, Value tile) const {
  Operation *op = value.getDefiningOp();
  if (value == tile || !op || op->getBlock() != tile.getDefiningOp()->getBlock())
    return true;
  if (isInline(value))
    return llvm::all_of(distinctOperands(op),
                        [&](Value operand) { return isInPass(operand, tile); });
  return !isDeferred(value) && op->isBeforeInBlock(tile.getDefiningOp());
}

/// A reduction of rows whose operand is, or is computed from, a tile that was computed just before
/// need not read it again.
void TilePlan::joinReduction(tile::ReduceOp op) {
  if (op.getAxis() != 1 || op.getOperand().getType().getCols() == 1 ||
      op.getKind() == tile::ReduceKind::ArgMax || op.getKind() == tile::ReduceKind::ArgMin)
    return;
  Value tile;
  std::function<void(Value)> findTile = [&](Value value) {
    if (isInline(value))
      llvm::for_each(distinctOperands(value.getDefiningOp()), findTile);
    else if (Operation *def = value.getDefiningOp();
             def && isPointwise(def) && def->getBlock() == op->getBlock() &&
             shapeOf(value) == shapeOf(op.getOperand()) &&
             (!tile || tile.getDefiningOp()->isBeforeInBlock(def)))
      tile = value;
  };
  findTile(op.getOperand());
  if (!tile || Reductions.contains(tile) || Aliases.contains(tile) ||
      !isInPass(op.getOperand(), tile))
    return;
  Reductions[tile] = op;
  Early[op] = tile.getDefiningOp();
}

void TilePlan::classify(Operation *op) {
  if (isSameTile(op)) {
    Aliases[op->getResult(0)] = op->getOperand(0);
  } else if (isPointwise(op)) {
    if (canBeInline(op))
      Inline.insert(op->getResult(0));
  } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
    if (canBeDeferred(load))
      Deferred.insert(load.getResult());
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [result, arg] : llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
      if (isTile(result))
        Aliases[result] = arg;
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [result, arg] : llvm::zip_equal(loop.getResults(), loop.getAfterArguments()))
      if (isTile(result))
        Aliases[result] = arg;
  }
}

/// Whether an inline expression reads `leaf` only where it computes the same place.
static bool readsInPlace(Operation *root, Operation *user, const TilePlan &plan, Value leaf) {
  if (isa<tile::ExtractOp>(user) || shapeOf(leaf) != shapeOf(user->getResult(0)))
    return false;
  if (user == root)
    return true;
  Operation *next = *user->user_begin();
  if (next == root && isa<tile::MatmulAccOp>(root))
    return true;
  return readsInPlace(root, next, plan, user->getResult(0));
}

bool TilePlan::canReplace(BlockArgument carried, Value next) const {
  Operation *def = next.getDefiningOp();
  Block *body = carried.getOwner();
  if (!def || def->getBlock() != body || isInline(next) || isDeferred(next) ||
      Aliases.contains(next) || !(isPointwise(def) || isa<tile::MatmulAccOp>(def)))
    return false;
  for (OpOperand &use : carried.getUses()) {
    Operation *user = use.getOwner();
    if (Aliases.contains(user->getNumResults() == 1 ? Value(user->getResult(0)) : Value()))
      return false; // a view of it may be used later
    SmallVector<Operation *, 2> roots = rootsOf(user);
    if (roots.size() != 1)
      return false;
    Operation *inBody = body->findAncestorOpInBlock(*roots[0]);
    if (inBody == def) {
      bool isAccumulator = isa<tile::MatmulAccOp>(def) && use.getOperandNumber() == 0;
      bool isDirect = user == def && (isAccumulator || !isa<tile::MatmulAccOp>(def));
      if (user == def ? !isDirect || (!isAccumulator && !readsInPlace(def, def, *this, carried))
                      : !readsInPlace(def, user, *this, carried))
        return false;
    } else if (!inBody->isBeforeInBlock(def)) {
      return false;
    }
  }
  return true;
}

void TilePlan::shareCarried(scf::ForOp loop) {
  for (auto [arg, next] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
    if (isTile(arg) && canReplace(arg, next))
      Aliases[next] = arg;
}

//===----------------------------------------------------------------------===//
// Lives and offsets
//===----------------------------------------------------------------------===//

/// The last position at which `tile`, which lies in the buffer of `base`, is needed.
unsigned TilePlan::lastUse(Value base, Value tile) const {
  Operation *home = base.getDefiningOp();
  if (!home)
    home = base.getParentBlock()->getParentOp();
  unsigned last = Positions.lookup(home).first;
  if (isa<BlockArgument>(base))
    last = Positions.lookup(home).second;
  SmallVector<Operation *> roots;
  for (Operation *user : tile.getUsers())
    addRoots(user, roots);
  for (Operation *root : roots) {
    last = std::max(last, Positions.lookup(root).first);
    if (Raised && llvm::is_contained(Raised->products, root)) // all sides are made, then packed
      last = std::max(last, Positions.lookup(Raised->loop).second);
    for (Operation *op = root->getParentOp(); op && !op->isAncestor(home); op = op->getParentOp())
      if (isa<scf::ForOp, scf::WhileOp>(op)) // needed again in the next iteration
        last = std::max(last, Positions.lookup(op).second);
  }
  return last;
}

void TilePlan::addBuffer(Value tile) {
  if (!isTile(tile) || isInline(tile) || Aliases.contains(tile))
    return;
  auto type = cast<tile::TileType>(tile.getType());
  if (type.getCols() > 1)
    TouchedBytes += bytesOf(type);
  if (Kept.contains(tile))
    return Lives.push_back({bytesOf(type), 0, ~0u, &Offsets[tile]});
  Operation *home = tile.getDefiningOp();
  if (!home)
    home = tile.getParentBlock()->getParentOp();
  Operation *computedWith = Early.lookup(home);
  unsigned start = Positions.lookup(computedWith ? computedWith : home).first,
           end = lastUse(tile, tile);
  for (Value other : Sharing.lookup(tile))
    end = std::max(end, lastUse(tile, other));
  Lives.push_back({bytesOf(type), start, end, &Offsets[tile]});
}

void TilePlan::addExtra(Operation *op, unsigned number, uint64_t bytes, unsigned end) {
  TouchedBytes += bytes;
  Lives.push_back({bytes, Positions.lookup(op).first, end, &Extras[{op, number}]});
}

/// Alive from the first block's beginning to the last one's end: they serve many.
void TilePlan::addPanels() {
  const Contraction &c = *Raised;
  auto add = [&](unsigned number, int64_t words) {
    Lives.push_back({uint64_t(4 * words), 0, ~0u, &Extras[{c.loop, number}]});
  };
  for (unsigned product = 0; product < c.products.size(); ++product) {
    unsigned first = product * Contraction::NumBuffers;
    if (c.leftOf(product) == product)
      add(first + Contraction::Left, c.maxRows * c.leftElements() + kWidth); // the last read whole
    add(first + Contraction::Right, c.rightElements());
    add(first + Contraction::Sums, c.maxRows * c.maxCols * c.sumElements());
    if (c.how.shiftsLeft())
      add(first + Contraction::Excess, c.excessElements());
  }
}

void TilePlan::addExtras(Operation *op) {
  unsigned here = Positions.lookup(op).first;
  if (op == Delayed)
    Lives.push_back({sizeof(void *), 0, ~0u, &Extras[{op, 0}]}); // where it begins
  if (Raised && llvm::is_contained(Raised->products, op))
    return;
  if (auto product = dyn_cast<tile::ProductInterface>(op)) {
    ProductSides sides = sidesOf(product, Machine);
    if (sides.packsLeft)
      addExtra(op, 0, 4 * sides.leftWords, here);
    if (sides.packsRight)
      addExtra(op, 1, 4 * sides.rightWords, here);
    if (sides.how.shiftsLeft())
      addExtra(op, 2, 4 * sides.rightPitch, here);
  } else if (isa<tile::SortRowsOp, tile::TopkRowsOp>(op)) {
    auto type = cast<tile::TileType>(op->getOperand(0).getType());
    addExtra(op, 0, 8 * type.getCols(), here); // two lists of columns
  } else if (auto alloc = dyn_cast<ir::AllocOp>(op)) {
    ir::TensorType type = alloc.getResult().getType();
    uint64_t bytes = sizeOf(elementTypeOf(type));
    if (!type.hasStaticShape())
      return; // the runtime allocates it
    for (int64_t extent : type.getShape())
      bytes *= extent;
    Operation *around = op->getParentOp();
    addExtra(op, 0, bytes, isa<ir::FuncOp>(around) ? ~0u : Positions.lookup(around).second);
  } else if (isa<scf::YieldOp>(op) && isa<scf::ForOp>(op->getParentOp())) {
    // Carried tiles that change places go through a copy.
    auto loop = cast<scf::ForOp>(op->getParentOp());
    for (auto [number, value] : llvm::enumerate(op->getOperands())) {
      auto source = isTile(value) ? dyn_cast<BlockArgument>(baseOf(value)) : BlockArgument();
      if (source && source.getOwner() == loop.getBody() &&
          source != loop.getRegionIterArgs()[number])
        addExtra(op, number, bytesOf(cast<tile::TileType>(value.getType())), here);
    }
  }
}

void TilePlan::assignOffsets() {
  constexpr uint64_t alignment = 64;
  llvm::stable_sort(Lives, [](const Life &a, const Life &b) { return a.bytes > b.bytes; });
  Bytes = 0;
  for (auto [number, life] : llvm::enumerate(Lives)) {
    // The lowest gap between the buffers that are alive at the same time.
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (const Life &other : ArrayRef(Lives).take_front(number))
      if (other.start <= life.end && life.start <= other.end)
        taken.push_back({*other.offset, *other.offset + llvm::alignTo(other.bytes, alignment)});
    llvm::sort(taken);
    uint64_t offset = 0;
    for (auto [from, to] : taken) {
      if (from >= offset + life.bytes)
        break;
      offset = std::max(offset, to);
    }
    *life.offset = offset;
    Bytes = std::max(Bytes, offset + llvm::alignTo(life.bytes, alignment));
  }
}

} // namespace kiln::llvmir
