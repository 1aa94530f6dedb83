#include "Decisions.h"

#include "kiln/Program/Signature.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace kiln {

/// A function that is called from very many places is looked at in the first of them.
static constexpr size_t kMostPaths = 8;

bool Decisions::isBranch(Operation *op) {
  auto submit = dyn_cast<ir::SubmitOp>(op);
  return isa<scf::IfOp, arith::SelectOp>(op) || (submit && submit.getPredicate());
}

static bool isDecision(Operation *op) {
  return Decisions::isBranch(op) || isa<scf::ForOp>(op) || isMinOrMax(op);
}

Decisions::Decisions(ir::FuncOp entry) {
  CallPath path;
  findPaths(entry, path);
  for (ir::FuncOp func : Reached)
    collect(func);
}

void Decisions::findPaths(ir::FuncOp func, CallPath &path) {
  std::vector<CallPath> &known = Paths[func];
  if (known.empty())
    Reached.push_back(func);
  if (known.size() >= kMostPaths)
    return;
  known.push_back(path);
  func.walk([&](Operation *op) {
    StringAttr callee = calleeOf(op);
    auto called =
        callee ? SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(func, callee) : ir::FuncOp();
    if (!called || llvm::is_contained(path, op))
      return;
    path.push_back(op);
    findPaths(called, path);
    path.pop_back();
  });
}

const std::vector<CallPath> &Decisions::pathsTo(Operation *op) const {
  return Paths.find(op->getParentOfType<ir::FuncOp>())->second;
}

namespace {
/// What a value depends on, blocks and iterations included.
struct Dependence {
  std::set<Leaf> leaves;
  bool usesMemory = false, usesRanks = false;
};
} // namespace

static void addLeaves(const ArgumentWalk &walk, At at, Dependence &to,
                      std::set<std::pair<void *, unsigned>> &seen);

/// Whether the arguments have a say in what tasks put into a tensor that the program allocates.
static bool dependsOnArguments(const ArgumentWalk &walk, At tensor,
                               std::set<std::pair<void *, unsigned>> &seen) {
  At root = walk.rootOf(tensor);
  if (!root.value.getDefiningOp<ir::AllocOp>())
    return true;
  if (!seen.insert({root.value.getAsOpaquePointer(), root.depth}).second)
    return false;
  Dependence found;
  auto follow = [&](Value value) { addLeaves(walk, At{value, root.depth}, found, seen); };
  root.value.getDefiningOp()->getParentOfType<ir::FuncOp>().walk([&](Operation *op) {
    StringAttr callee = calleeOf(op);
    if (!callee || llvm::none_of(argsOf(op), [&](Value arg) {
          return isa<ir::TensorType>(arg.getType()) && ir::rootOf(arg) == root.value;
        }))
      return;
    auto kernel = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(op, callee);
    for (auto [number, arg] : llvm::enumerate(argsOf(op))) {
      if (!isa<ir::TensorType>(arg.getType()))
        follow(arg);
      else if (kernel.getArgDirection(number) != ir::Direction::Out)
        found.usesMemory |= dependsOnArguments(walk, At{arg, root.depth}, seen);
    }
    if (auto submit = dyn_cast<ir::SubmitOp>(op))
      llvm::for_each(submit.getGrid(), follow);
  });
  return found.usesMemory || !found.leaves.empty();
}

/// Goes through everything that a value is made of.
static void addLeaves(const ArgumentWalk &walk, At at, Dependence &to,
                      std::set<std::pair<void *, unsigned>> &seen) {
  if (!at.value || !seen.insert({at.value.getAsOpaquePointer(), at.depth}).second)
    return;
  auto follow = [&](Value value) { addLeaves(walk, At{value, at.depth}, to, seen); };
  auto followGrid = [&](unsigned dim) {
    if (auto grid = walk.grid(at.depth, dim); auto *made = std::get_if<At>(&grid))
      addLeaves(walk, *made, to, seen);
  };
  if (auto parameter = dyn_cast<BlockArgument>(at.value)) {
    Operation *owner = parameter.getOwner()->getParentOp();
    if (isa<ir::FuncOp>(owner)) {
      if (auto passed = walk.argument(parameter, at.depth))
        addLeaves(walk, *passed, to, seen);
      else if (!isa<ir::TensorType>(parameter.getType()))
        to.leaves.insert({parameter.getArgNumber(), Leaf::kNumber});
      return;
    }
    llvm::for_each(owner->getOperands(), follow);
    for (Block &block : *parameter.getOwner()->getParent())
      llvm::for_each(block.getTerminator()->getOperands(), follow);
    return;
  }
  Operation *op = at.value.getDefiningOp();
  if (isa<tile::TileType, ir::TensorType>(at.value.getType()))
    return; // data, which decide nothing
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    auto extent = walk.extent({dim.getTensor(), at.depth}, dim.getDim());
    if (auto *leaf = std::get_if<Leaf>(&extent))
      to.leaves.insert(*leaf);
    else if (auto *made = std::get_if<At>(&extent))
      addLeaves(walk, *made, to, seen);
    else if (std::holds_alternative<std::monostate>(extent) && dim.getTensor().getDefiningOp())
      llvm::for_each(dim.getTensor().getDefiningOp()->getOperands(), follow);
    return;
  }
  if (auto block = dyn_cast<tile::BlockIdxOp>(op))
    return followGrid(block.getDim());
  if (auto count = dyn_cast<tile::BlockCountOp>(op))
    return followGrid(count.getDim());
  if (isa<ir::GetOp, ir::ReadOp>(op)) {
    if (auto data = walk.dataOf({op->getOperand(0), at.depth}))
      to.leaves.insert(*data);
    else
      to.usesMemory |= dependsOnArguments(walk, At{op->getOperand(0), at.depth}, seen);
    return;
  }
  if (isa<tile::ElementOp>(op))
    to.usesMemory = true;
  if (isa<ir::RankIdOp, ir::RankCountOp>(op))
    to.usesRanks = true;
  llvm::for_each(op->getOperands(), follow);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        llvm::for_each(block.getTerminator()->getOperands(), follow);
}

void Decisions::collect(ir::FuncOp func) {
  auto nobody = [](Leaf) { return std::optional<int64_t>(); };
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isDecision(op))
      return;
    Dependence found;
    for (const CallPath &path : pathsTo(op)) {
      ArgumentWalk walk(path, nobody);
      std::set<std::pair<void *, unsigned>> seen;
      for (const Goal &goal : goalsOf(op, 1, path)) {
        for (Value value : {goal.holds, goal.less, goal.greater})
          if (goal.depth == path.size())
            addLeaves(walk, At{value, goal.depth}, found, seen);
        if (!goal.predicate || goal.depth != path.size())
          continue;
        ir::SubmitOp submit = goal.predicate;
        if (auto data = walk.dataOf({submit.getPredicate(), goal.depth}))
          found.leaves.insert(*data);
        else
          found.usesMemory |= dependsOnArguments(walk, At{submit.getPredicate(), goal.depth}, seen);
      }
    }
    // What ranks decide is for the simulation of several of them: the plan is that of one.
    if (!found.usesRanks && (!found.leaves.empty() || found.usesMemory))
      All.push_back({op, std::move(found.leaves), found.usesMemory});
  });
}

/// The goal of the operation itself comes first, then what leads to it.
std::vector<Goal> Decisions::goalsOf(Operation *op, unsigned side, const CallPath &path) const {
  std::vector<Goal> goals;
  unsigned depth = path.size();
  Goal own{depth};
  own.truth = side == 1;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    own.holds = branch.getCondition();
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    own.holds = select.getCondition();
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    own.less = loop.getLowerBound();
    own.greater = loop.getUpperBound();
    if (side == 2)
      own.distance = loop.getStep();
  } else if (isMinOrMax(op)) {
    own.less = op->getOperand(side - 1);
    own.greater = op->getOperand(2 - side);
  } else {
    own.predicate = cast<ir::SubmitOp>(op);
  }
  goals.push_back(own);
  for (Operation *at = op;;) {
    for (Operation *inner = at, *outer = at->getParentOp(); outer && !isa<ir::FuncOp>(outer);
         inner = outer, outer = outer->getParentOp())
      if (auto branch = dyn_cast<scf::IfOp>(outer)) {
        Goal around{depth};
        around.holds = branch.getCondition();
        around.truth = inner->getParentRegion() == &branch.getThenRegion();
        goals.push_back(around);
      } else if (auto loop = dyn_cast<scf::ForOp>(outer)) {
        Goal around{depth};
        around.less = loop.getLowerBound();
        around.greater = loop.getUpperBound();
        goals.push_back(around);
      }
    if (depth == 0)
      return goals;
    at = path[--depth];
  }
}

/// Whether a goal is reached; none if that is not known.
static std::optional<bool> isReached(const ArgumentWalk &walk, const Goal &goal) {
  if (goal.predicate)
    return std::nullopt;
  if (goal.holds) {
    std::optional<int64_t> holds = walk.number({goal.holds, goal.depth});
    return holds ? std::optional((*holds != 0) == goal.truth) : std::nullopt;
  }
  std::optional<int64_t> low = walk.number({goal.less, goal.depth});
  std::optional<int64_t> high = walk.number({goal.greater, goal.depth});
  std::optional<int64_t> distance =
      goal.distance ? walk.number({goal.distance, goal.depth}) : std::optional<int64_t>(0);
  if (!low || !high || !distance)
    return std::nullopt;
  return *low + *distance < *high;
}

bool Decisions::mayTake(Operation *op, unsigned side, LeafValues values) const {
  return llvm::any_of(pathsTo(op), [&](const CallPath &path) {
    ArgumentWalk walk(path, values);
    return llvm::all_of(goalsOf(op, side, path),
                        [&](const Goal &goal) { return isReached(walk, goal).value_or(true); });
  });
}

std::vector<Choice> Decisions::choicesFor(Operation *op, unsigned side, LeafValues values) const {
  std::vector<Choice> all;
  for (const CallPath &path : pathsTo(op)) {
    ArgumentWalk walk(path, values);
    Wishes wishes(walk);
    std::vector<Choice> together{{}};
    for (auto [number, goal] : llvm::enumerate(goalsOf(op, side, path))) {
      // What leads there may be reached anyway; loops over blocks and iterations usually are.
      if (number > 0 && isReached(walk, goal).value_or(!goal.holds))
        continue;
      std::vector<Choice> next, wished = wishes.reach(goal);
      for (const Choice &one : together)
        for (const Choice &other : wished)
          if (std::optional<Choice> both = join(one, other);
              both && next.size() < Wishes::kMostChoices)
            next.push_back(*both);
      together = std::move(next);
    }
    for (Choice &choice : together)
      if (!choice.empty() && !llvm::is_contained(all, choice))
        all.push_back(std::move(choice));
  }
  return all;
}

bool Decisions::canTake(Operation *op, unsigned side, LeafRanges ranges) const {
  auto nobody = [](Leaf) { return std::optional<int64_t>(); };
  return llvm::any_of(pathsTo(op), [&](const CallPath &path) {
    ArgumentWalk walk(path, nobody);
    auto range = [&](Value value, unsigned depth) { return walk.range({value, depth}, ranges); };
    return llvm::all_of(goalsOf(op, side, path), [&](const Goal &goal) {
      if (goal.predicate)
        return true;
      if (goal.holds) {
        NumberRange holds = range(goal.holds, goal.depth);
        return goal.truth ? holds.most != 0 : holds.least == 0;
      }
      NumberRange less = range(goal.less, goal.depth), greater = range(goal.greater, goal.depth);
      int64_t distance = goal.distance ? range(goal.distance, goal.depth).least : 0;
      bool areSame = less.leaf && less.leaf == greater.leaf;
      return !areSame && !greater.isBelow(less) &&
             less.least + std::max<int64_t>(distance, 0) < greater.most;
    });
  });
}

namespace {

/// Collects arguments with which values of one function are what they are seldom.
class LimitWishes {
public:
  LimitWishes(const ArgumentWalk &walk, unsigned depth, std::vector<Choice> &all)
      : Walk(walk), Depth(depth), Reach(walk), All(all) {}

  void visit(Operation *op);

private:
  void wish(At at, int64_t wanted) {
    for (Choice &choice : Reach.equal(at, wanted))
      add(std::move(choice));
  }
  void wish(Value value, int64_t wanted) { wish(At{value, Depth}, wanted); }
  void add(Choice choice) {
    if (!choice.empty() && !llvm::is_contained(All, choice))
      All.push_back(std::move(choice));
  }
  void visitLaunch(ir::SubmitOp submit);
  void visitAccess(const tile::TensorAccess &access);
  void shareAmongBlocks(Value index, int64_t places);
  void goBeyond(Leaf extent, const tile::TensorAccess &access, Value index);

  const ArgumentWalk &Walk;
  unsigned Depth;
  Wishes Reach;
  std::vector<Choice> &All;
};

} // namespace

/// Blocks beside the first, and one between two others.
void LimitWishes::visitLaunch(ir::SubmitOp submit) {
  for (Value extent : submit.getGrid())
    for (int64_t blocks : {2, 3})
      if (Walk.number({extent, Depth}).value_or(0) < blocks)
        wish(extent, blocks);
}

/// Finds the blocks that a value is made of.
static void findBlocks(Value value, llvm::SmallSetVector<tile::BlockIdxOp, 2> &blocks,
                       llvm::SmallPtrSetImpl<void *> &seen) {
  if (!seen.insert(value.getAsOpaquePointer()).second)
    return;
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
    op = loop && value == loop.getInductionVar() ? loop.getOperation() : nullptr;
  }
  if (auto block = dyn_cast_or_null<tile::BlockIdxOp>(op))
    blocks.insert(block);
  for (Value operand : op ? ValueRange(op->getOperands()) : ValueRange())
    findBlocks(operand, blocks, seen);
}

/// Where more blocks than places choose one each, two of them have the same, whatever the
/// arithmetic is.
void LimitWishes::shareAmongBlocks(Value index, int64_t places) {
  constexpr int64_t mostPlaces = 64;
  llvm::SmallSetVector<tile::BlockIdxOp, 2> blocks;
  llvm::SmallPtrSet<void *, 16> seen;
  if (places <= mostPlaces)
    findBlocks(index, blocks, seen);
  for (tile::BlockIdxOp block : blocks)
    if (auto grid = Walk.grid(Depth, block.getDim()); auto *made = std::get_if<At>(&grid))
      wish(*made, places + 1);
}

/// An index that constants bound, such as those of a grid or a loop, does not reach all of an axis
/// that is longer.
void LimitWishes::goBeyond(Leaf extent, const tile::TensorAccess &access, Value index) {
  NumberRange range = Walk.range({index, Depth}, [](Leaf) { return NumberRange(); });
  constexpr int64_t mostReached = 1 << 14;
  if (range.most <= 0 || range.least == range.most || range.most > mostReached)
    return;
  auto type = access.tile ? cast<tile::TileType>(access.tile.getType()) : tile::TileType();
  int64_t tile = type ? std::max(type.getRows(), type.getCols()) : 1;
  add({{extent, range.most + tile + 1}});
}

void LimitWishes::visitAccess(const tile::TensorAccess &access) {
  for (auto [axis, index] : llvm::enumerate(access.indices)) {
    auto value = dyn_cast<Value>(index);
    if (!value)
      continue;
    auto extent = Walk.extent({access.tensor, Depth}, axis);
    if (auto *fixed = std::get_if<int64_t>(&extent)) {
      wish(value, *fixed);
      shareAmongBlocks(value, *fixed);
    } else if (auto *leaf = std::get_if<Leaf>(&extent)) {
      goBeyond(*leaf, access, value);
    }
  }
}

void LimitWishes::visit(Operation *op) {
  if (auto submit = dyn_cast<ir::SubmitOp>(op))
    visitLaunch(submit);
  for (const tile::TensorAccess &access : tile::tensorAccesses(op))
    visitAccess(access);
  if (isa<arith::CmpIOp>(op) || isMinOrMax(op))
    for (unsigned number : {0u, 1u})
      if (std::optional<int64_t> constant = getConstantIntValue(op->getOperand(number)))
        for (int64_t distance : {-1, 0, 1})
          wish(op->getOperand(1 - number), *constant + distance);
  // Where parts take turns, such as slots of a workspace, the first is used again; and a quotient
  // of so many parts is the same for all that round to it.
  if (isa<arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    if (std::optional<int64_t> parts = getConstantIntValue(op->getOperand(1)); parts && *parts > 1)
      wish(op->getOperand(0), *parts);
  // Beyond what a float of 16 or 8 bits counts exactly, two numbers are one.
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    if (auto type = cast<FloatType>(op->getResult(0).getType()); type.getWidth() <= 16)
      wish(op->getOperand(0),
           (int64_t(1) << llvm::APFloat::semanticsPrecision(type.getFloatSemantics())) + 1);
  auto type =
      op->getNumResults() == 1 ? dyn_cast<IntegerType>(op->getResult(0).getType()) : IntegerType();
  if (type && type.getWidth() > 1 && type.getWidth() <= 16 &&
      isa<arith::AddIOp, arith::MulIOp, arith::IndexCastOp, arith::TruncIOp>(op))
    wish(op->getResult(0), int64_t(1) << (type.getWidth() - 1));
}

std::vector<Choice> Decisions::choicesForLimits(LeafValues values) const {
  std::vector<Choice> all;
  for (ir::FuncOp func : Reached)
    for (const CallPath &path : Paths.find(func)->second) {
      ArgumentWalk walk(path, values);
      LimitWishes wishes(walk, path.size(), all);
      func.walk([&](Operation *op) { wishes.visit(op); });
    }
  return all;
}

bool Decisions::mustTake(Operation *op, unsigned side) { return !isa<scf::ForOp>(op) || side == 1; }

std::string Decisions::describeUntaken(Operation *op, unsigned side) {
  if (isa<scf::ForOp>(op))
    return "the loop did not run in any case that was tried";
  if (isa<ir::SubmitOp>(op))
    return std::string("the predicate was ") + (side == 1 ? "false" : "true") +
           " in every case that was tried";
  if (isMinOrMax(op))
    return std::string("the ") + (side == 1 ? "first" : "second") + " of the two was never the " +
           "lesser in the cases that were tried";
  return std::string("the condition was ") + (side == 1 ? "false" : "true") +
         " in every case that was tried";
}

} // namespace kiln
