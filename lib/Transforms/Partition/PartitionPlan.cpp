#include "PartitionLanes.h"
#include "kiln/Analysis/TensorBox.h"

using namespace mlir;

namespace kiln {

const Role *roleFor(const Machine &machine, OpClass work) {
  for (const Role &role : machine.roles)
    if (role.executes & work)
      return &role;
  return nullptr;
}

SmallVector<Value, 2> sourcesOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument == loop.getInductionVar())
      return {};
    value = loop.getTiedLoopResult(argument);
  }
  auto result = cast<OpResult>(value);
  unsigned index = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
    return {loop.getYieldedValues()[index], loop.getInitArgs()[index]};
  if (auto branch = dyn_cast<scf::IfOp>(result.getOwner()))
    return {branch.thenYield().getOperand(index), branch.elseYield().getOperand(index)};
  return {};
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

static bool comesFromMatrixUnit(Value accumulator) {
  SmallVector<Value> work{accumulator};
  llvm::SmallPtrSet<void *, 8> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value.getAsOpaquePointer()).second)
      continue;
    SmallVector<Value, 2> sources = sourcesOf(value);
    Operation *op = value.getDefiningOp();
    if (sources.empty() && !isa_and_nonnull<tile::FullOp, tile::ProductInterface>(op))
      return false;
    llvm::append_range(work, sources);
  }
  return true;
}

void splitForeignAccumulators(ir::FuncOp kernel) {
  // Each sum is made by the vector role, so the products accumulated on it follow.
  for (bool changed = true; changed;) {
    changed = false;
    kernel.walk([&](tile::MatmulAccOp op) {
      if (comesFromMatrixUnit(op.getAcc()))
        return;
      OpBuilder builder(op);
      auto product = tile::MatmulOp::create(builder, op.getLoc(), op.getType(), op.getLhs(),
                                            op.getRhs(), op.getTransA(), op.getTransB());
      auto sum = tile::AddOp::create(builder, op.getLoc(), op.getType(), op.getAcc(), product);
      op.replaceAllUsesWith(sum.getResult());
      op.erase();
      changed = true;
    });
  }
}

//===----------------------------------------------------------------------===//
// Where values are made
//===----------------------------------------------------------------------===//

/// Whether a memory is one that the matrix unit works in.
static bool isOfMatrixUnit(tile::Space space) {
  return space != tile::Space::Vec && space != tile::Space::Unassigned;
}

const Role *PartitionPlan::homeOf(Value value) const {
  llvm::SmallPtrSet<void *, 8> visited;
  return homeOf(value, visited);
}

const Role *PartitionPlan::homeOf(Value value, llvm::SmallPtrSetImpl<void *> &visited) const {
  if (!visited.insert(value.getAsOpaquePointer()).second)
    return nullptr;
  // A carried value stays with the role that updates it; one that only copies has no place for it.
  for (Value source : sourcesOf(value))
    if (const Role *home = homeOf(source, visited); home && home != Copy)
      return home;
  Operation *op = value.getDefiningOp();
  auto facts = dyn_cast_if_present<tile::TileOpInterface>(op);
  if (!facts)
    return nullptr;
  if (facts.getWork() == MatrixWork)
    return Matrix;
  if (auto element = dyn_cast<tile::ElementOp>(op))
    return homeOf(element.getTile(), visited);
  if (auto move = dyn_cast<tile::MoveOp>(op))
    return isOfMatrixUnit(move.getType().getSpace()) ? Matrix : Vector;
  if (Copies.contains(op))
    return Copy;
  // What is no work, or loaded, is cheaper made again than sent.
  return facts.getWork() == VectorWork ? Vector : nullptr;
}

/// The role that has a side effect. It happens once.
const Role *PartitionPlan::homeOfEffect(Operation *op) const {
  auto tile = llvm::find_if(op->getOperands(),
                            [](Value operand) { return isa<tile::TileType>(operand.getType()); });
  const Role *home = tile == op->operand_end() ? nullptr : homeOf(*tile);
  return home && home != Copy ? home : Vector;
}

//===----------------------------------------------------------------------===//
// What each role needs
//===----------------------------------------------------------------------===//

void PartitionPlan::need(Value value, const Role *role) {
  if (!Needed.insert({value, role}).second)
    return;
  const Role *home = homeOf(value);
  if (!home || home == role)
    return make(value, role);
  Crossings.push_back({{value}, home, role});
  need(value, home);
  // Sender and receiver meet where the value is made, equally often.
  Operation *owner = value.getParentBlock()->getParentOp();
  for (const Role *end : {home, role})
    if (!isa<ir::FuncOp>(owner))
      run(owner, end);
}

void PartitionPlan::make(Value value, const Role *role) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument != loop.getInductionVar())
      carry(loop.getTiedLoopResult(argument), role);
    else if (loop)
      run(loop, role);
    return;
  }
  if (isa<scf::ForOp, scf::IfOp>(value.getDefiningOp()))
    carry(cast<OpResult>(value), role);
  else
    run(value.getDefiningOp(), role);
}

void PartitionPlan::carry(OpResult result, const Role *role) {
  if (!Carried.insert({result, role}).second)
    return;
  run(result.getOwner(), role);
  for (Value source : sourcesOf(result))
    need(source, role);
}

void PartitionPlan::run(Operation *op, const Role *role) {
  if (!Running.insert({op, role}).second)
    return;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // What it carries is needed only where it is used.
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      need(bound, role);
  } else {
    for (Value operand : op->getOperands())
      need(operand, role);
  }
  runAround(op, role);
}

void PartitionPlan::runAround(Operation *op, const Role *role) {
  if (Operation *around = op->getParentOp(); !isa<ir::FuncOp>(around))
    run(around, role);
}

//===----------------------------------------------------------------------===//
// Order of memory accesses
//===----------------------------------------------------------------------===//

void PartitionPlan::addToken(const Token &token) {
  bool isKnown = llvm::any_of(Tokens, [&](const Token &other) {
    return other.from == token.from && other.to == token.to && other.after == token.after &&
           other.before == token.before;
  });
  if (isKnown)
    return;
  Tokens.push_back(token);
  runAround(token.after, token.from);
  runAround(token.before, token.to);
}

/// Keeps the order of two accesses of one tensor, the first of which comes first in the kernel.
void PartitionPlan::order(const tile::TensorAccess &first, const Role *firstRole,
                          const tile::TensorAccess &second, const Role *secondRole) {
  Block *block = first.op->getBlock();
  while (!block->findAncestorOpInBlock(*second.op))
    block = block->getParentOp()->getBlock();
  Operation *before = block->findAncestorOpInBlock(*first.op);
  Operation *after = block->findAncestorOpInBlock(*second.op);
  if (before != after) // they are not the two sides of a branch
    addToken({firstRole, secondRole, before, after});
  // In a loop the next iteration's first access comes after this one's second. An outer loop needs
  // no token of its own: its next iteration starts after the last of this loop.
  auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
  if (!loop)
    loop = block->getParentOp()->getParentOfType<scf::ForOp>();
  if (loop) {
    Operation *end = loop.getBody()->getTerminator();
    addToken({secondRole, firstRole, end->getPrevNode(), end});
  }
}

void PartitionPlan::orderMemory() {
  SmallVector<tile::TensorAccess> accesses;
  Kernel.walk([&](Operation *op) { llvm::append_range(accesses, tile::tensorAccesses(op)); });
  // A token may make a role execute more, and so access more.
  for (size_t known = ~size_t(0); known != Tokens.size();) {
    known = Tokens.size();
    for (size_t i = 0; i < accesses.size(); ++i)
      for (size_t j = i + 1; j < accesses.size(); ++j) {
        const tile::TensorAccess &first = accesses[i], &second = accesses[j];
        if ((!first.writes && !second.writes) ||
            ir::rootOf(first.tensor) != ir::rootOf(second.tensor))
          continue;
        std::optional<TensorBox> box = boxOf(first), other = boxOf(second);
        if (box && other && areDisjoint(*box, *other))
          continue;
        for (const Role *a : Roles)
          for (const Role *b : Roles)
            if (a != b && runs(first.op, a) && runs(second.op, b))
              order(first, a, second, b);
      }
  }
}

//===----------------------------------------------------------------------===//
// What cannot be split
//===----------------------------------------------------------------------===//

/// Finds an operation that this pass does not know how to split.
bool PartitionPlan::findObstacle() {
  Kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef reason =
        isa<ir::CallOp>(op)     ? "it calls a function, which has to be inlined first"
        : isa<ir::AllocOp>(op)  ? "it allocates a tensor; allocate it in the orchestration"
        : isa<scf::WhileOp>(op) ? "it has a while loop"
        : isa<tile::LaneOp>(op) ? "it asks for its lane, which only a role has"
        : isa<ir::FuncOp, ir::ReturnOp, scf::ForOp, scf::IfOp, scf::YieldOp>(op) ||
                isa_and_nonnull<arith::ArithDialect, ir::KilnDialect, tile::TileDialect>(
                    op->getDialect())
            ? ""
            : "it contains an operation that is not of the language";
    if (reason.empty() || Obstacle)
      return;
    Obstacle = op;
    Reason = reason.str();
  });
  return Obstacle;
}

//===----------------------------------------------------------------------===//
// A role that copies
//===----------------------------------------------------------------------===//

static bool isInPipelinedLoop(Operation *op) {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (auto kind = loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr);
        kind && kind.getKind() == ir::LoopKind::Pipeline)
      return true;
  return false;
}

/// Whether what is loaded before a pipelined loop is an operand of products in it alone, which the
/// matrix unit reads where it was copied to: in registers it would be prepared for each of them.
static bool isForProductsInLoop(Operation *op, const Machine &machine) {
  auto load = dyn_cast<tile::LoadOp>(op);
  if (!load || load->use_empty() || isInPipelinedLoop(load))
    return false;
  tile::TileType type = load.getType();
  return type.getElementType().getIntOrFloatBitWidth() == 16 &&
         type.getRows() % machine.matrixRows == 0 &&
         llvm::all_of(load->getUsers(), [](Operation *user) {
           return isa<tile::ProductInterface>(user) && isInPipelinedLoop(user);
         });
}

/// Whether a scalar is computed from a tile, so that only who has the tile knows it.
static bool comesFromTile(Value scalar) {
  SmallVector<Value> work{scalar};
  llvm::SmallPtrSet<void *, 8> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (isa<tile::TileType>(value.getType()))
      return true;
    if (isa<ir::TensorType>(value.getType()) || !seen.insert(value.getAsOpaquePointer()).second)
      continue;
    llvm::append_range(work, sourcesOf(value));
    if (Operation *op = value.getDefiningOp(); op && op->getNumRegions() == 0)
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Finds the loads that run ahead of what uses them: those in pipelined loops, and operands of
/// products there, of tensors that the kernel does not write.
void PartitionPlan::findCopies(const Machine &machine) {
  llvm::SmallPtrSet<Value, 4> written;
  Kernel.walk([&](Operation *op) {
    for (const tile::TensorAccess &access : tile::tensorAccesses(op))
      if (access.writes)
        written.insert(ir::rootOf(access.tensor));
  });
  Kernel.walk([&](Operation *op) {
    auto facts = dyn_cast<tile::TileOpInterface>(op);
    bool loads = facts && facts.getWork() == CopyWork && op->getNumResults() > 0;
    if (!loads || (!isInPipelinedLoop(op) && !isForProductsInLoop(op, machine)))
      return;
    bool isFixed = llvm::none_of(tile::tensorAccesses(op), [&](const tile::TensorAccess &access) {
      return written.contains(ir::rootOf(access.tensor));
    });
    bool isKnown = llvm::none_of(op->getOperands(), comesFromTile);
    // An element that decides control flow would have to come back.
    bool isScalarSource =
        llvm::any_of(op->getUsers(), [](Operation *user) { return isa<tile::ElementOp>(user); });
    if (isFixed && isKnown && !isScalarSource)
      Copies.insert(op);
  });
}

/// Whether two tiles are operands of one operation.
static bool areUsedTogether(Value a, Value b) {
  return llvm::any_of(a.getUsers(),
                      [&](Operation *user) { return llvm::is_contained(b.getUsers(), user); });
}

/// Whether everything that uses `value` comes after `op`, which stands in the same block.
static bool isUsedAfter(Value value, Operation *op) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return op->isBeforeInBlock(op->getBlock()->findAncestorOpInBlock(*user));
  });
}

/// Copied tiles that are consumed together travel together: one slot, one wait.
void PartitionPlan::shareSlots() {
  SmallVector<Crossing> shared;
  for (Crossing &crossing : Crossings) {
    Operation *op = crossing.values.front().getDefiningOp();
    auto fits = [&](Crossing &other) {
      return other.from == Copy && other.to == crossing.to &&
             other.values.front().getParentBlock() == op->getBlock() &&
             llvm::any_of(other.values,
                          [&](Value v) { return areUsedTogether(v, crossing.values.front()); }) &&
             llvm::all_of(other.values, [&](Value v) { return isUsedAfter(v, op); });
    };
    Crossing *home = crossing.from == Copy ? llvm::find_if(shared, fits) : shared.end();
    if (home == shared.end())
      shared.push_back(crossing);
    else
      home->values.push_back(crossing.values.front());
  }
  Crossings = std::move(shared);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Puts crossings into the order in which the kernel makes the values.
static void sortCrossings(ir::FuncOp kernel, MutableArrayRef<Crossing> crossings) {
  llvm::DenseMap<Operation *, unsigned> positions;
  kernel.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { positions.try_emplace(op, positions.size()); });
  auto positionOf = [&](const Crossing &crossing) {
    Value value = crossing.values.back();
    Operation *op = value.getDefiningOp();
    return positions.at(op ? op : value.getParentBlock()->getParentOp());
  };
  llvm::stable_sort(crossings, [&](const Crossing &a, const Crossing &b) {
    return positionOf(a) < positionOf(b);
  });
}

PartitionPlan::PartitionPlan(ir::FuncOp kernel, const Machine &machine)
    : Kernel(kernel), Matrix(roleFor(machine, MatrixWork)), Vector(roleFor(machine, VectorWork)) {
  if (findObstacle())
    return;
  if (const Role *copy = roleFor(machine, CopyWork); copy != Matrix && copy != Vector)
    Copy = copy;
  if (Copy)
    findCopies(machine);
  SmallVector<Operation *> barriers;
  kernel.walk([&](Operation *op) {
    if (isa<tile::BarrierOp>(op))
      barriers.push_back(op);
    else if (isa<ir::DumpOp, tile::PrefetchOp>(op) ||
             llvm::any_of(tile::tensorAccesses(op),
                          [](const tile::TensorAccess &access) { return access.writes; }))
      run(op, homeOfEffect(op));
  });
  for (const Role &role : machine.roles)
    if (llvm::any_of(Running, [&](const auto &entry) { return entry.second == &role; }))
      Roles.push_back(&role);
  // All blocks meet with all their roles, or memory would not be in order.
  for (const Role *role : Roles)
    for (Operation *barrier : barriers)
      run(barrier, role);
  orderMemory();
  sortCrossings(kernel, Crossings);
  shareSlots();
}

void PartitionPlan::divide(tile::Split split, int64_t lanes) {
  Lanes = {split, lanes};
  Lanes.needed = findNeededTiles(Kernel, *this);
}

} // namespace kiln
