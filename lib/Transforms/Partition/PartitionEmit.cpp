#include "PartitionEmit.h"

#include "PartitionLanes.h"

#include "kiln/Dialect/Kiln/Contracts.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

/// What a value travels as: a scalar is a tile of one element.
static tile::TileType payloadOf(Value value) {
  if (auto tile = dyn_cast<tile::TileType>(value.getType()))
    return tile::TileType::get(tile.getRows(), tile.getCols(), tile.getElementType());
  return tile::TileType::get(1, 1, value.getType());
}

/// Lanes join what they push, so what each of them has whole is joined to as many copies.
static bool travelsAsCopies(Value value, const LaneSplit &sender) {
  return sender.divides() && (!isa<tile::TileType>(value.getType()) || sender.isWhole(value));
}

/// Whether each lane sends or receives its own part of everything in a crossing.
static bool isDivided(const Crossing &crossing, const LaneSplit &lanes) {
  return lanes.divides() && llvm::all_of(crossing.values, [&](Value value) {
           return isa<tile::TileType>(value.getType()) && !lanes.isWhole(value);
         });
}

SmallVector<tile::PipeType> pipesOf(const PartitionPlan &plan, MLIRContext *context) {
  SmallVector<tile::PipeType> pipes;
  const LaneSplit &lanes = plan.lanes();
  for (const Crossing &crossing : plan.crossings()) {
    SmallVector<tile::TileType> payload;
    bool isSplit = isDivided(crossing, lanes);
    for (Value value : crossing.values) {
      payload.push_back(payloadOf(value));
      if (!travelsAsCopies(value, plan.lanesOf(crossing.from)))
        continue;
      isSplit = true;
      int64_t rows = payload.back().getRows(), cols = payload.back().getCols();
      payload.back() = lanes.axis() == 0 ? payload.back().withShape(rows * lanes.lanes, cols)
                                         : payload.back().withShape(rows, cols * lanes.lanes);
    }
    pipes.push_back(tile::PipeType::get(context, crossing.from->name, crossing.to->name, payload,
                                        isSplit ? lanes.split : tile::Split::None));
  }
  for (const Token &token : plan.tokens())
    pipes.push_back(tile::PipeType::get(context, token.from->name, token.to->name, {},
                                        plan.lanesOf(token.from).split));
  return pipes;
}

/// Whether all of one region is executed before the other, whenever both are.
static bool followEachOther(Block *first, Block *second) {
  Operation *a = first->getParentOp(), *b = second->getParentOp();
  if (isa<ir::FuncOp>(a) || isa<ir::FuncOp>(b))
    return false;
  Block *around = a->getBlock();
  while (!around->findAncestorOpInBlock(*b))
    around = around->getParentOp()->getBlock();
  return around->findAncestorOpInBlock(*a) != around->findAncestorOpInBlock(*b);
}

SmallVector<unsigned> sharedPipes(const PartitionPlan &plan, ArrayRef<tile::PipeType> pipes) {
  SmallVector<unsigned> shared;
  for (unsigned index = 0; index < pipes.size(); ++index) {
    auto blockOf = [&](unsigned crossing) {
      return Value(plan.crossings()[crossing].values.back()).getParentBlock();
    };
    // All that use a pipe must follow each other, so that the tiles stay in order.
    auto fits = [&](unsigned pipe) {
      for (unsigned other = pipe; other < index; ++other)
        if (shared[other] == pipe && !followEachOther(blockOf(other), blockOf(index)))
          return false;
      return pipes[pipe] == pipes[index];
    };
    unsigned pipe = 0;
    bool isToken = index >= plan.crossings().size();
    while (pipe < index && (isToken || shared[pipe] != pipe || !fits(pipe)))
      ++pipe;
    shared.push_back(pipe);
  }
  return shared;
}

//===----------------------------------------------------------------------===//
// One role
//===----------------------------------------------------------------------===//

namespace {

/// Copies the part of a kernel that one role executes. Control flow and scalars come along; a value
/// of another role is popped, and one that another role needs is pushed, where it is made.
class RoleBuilder {
public:
  RoleBuilder(ir::FuncOp body, ir::FuncOp func, const PartitionPlan &plan, const Role *role,
              ArrayRef<Value> pipes)
      : Plan(plan), TheRole(role), Pipes(pipes),
        Builder(OpBuilder::atBlockTerminator(&func.getBody().front())),
        Divider(plan.lanesOf(role), Builder, func.getLoc()) {
    for (auto [from, to] : llvm::zip(body.getArguments(), func.getArguments()))
      Copies.map(from, to);
    copyBlock(body.getBody().front());
  }

private:
  void copyBlock(Block &block);
  void copy(Operation *op);
  void copyLoop(scf::ForOp loop);
  void copyBranch(scf::IfOp branch);
  void copyRegion(Region &region, OpBuilder &builder, ResultRange results);
  void meet(Value value);
  void push(const Crossing &crossing, Value pipe);
  void pop(const Crossing &crossing, Value pipe);
  Value carried(Value value, Value result);
  Value tokenPipe(size_t index) const { return Pipes[Plan.crossings().size() + index]; }

  const PartitionPlan &Plan;
  const Role *TheRole;
  ArrayRef<Value> Pipes; ///< Null where this role is at neither end.
  OpBuilder Builder;
  LaneDivider Divider;
  IRMapping Copies;
};

void RoleBuilder::copyBlock(Block &block) {
  for (BlockArgument argument : block.getArguments())
    meet(argument);
  for (Operation &op : block) {
    for (auto [index, token] : llvm::enumerate(Plan.tokens()))
      if (token.before == &op && token.to == TheRole)
        tile::PopOp::create(Builder, op.getLoc(), TypeRange(), tokenPipe(index));
    if (&op == block.getTerminator())
      return;
    if (Plan.runs(&op, TheRole))
      copy(&op);
    for (Value result : op.getResults())
      meet(result);
    for (auto [index, token] : llvm::enumerate(Plan.tokens()))
      if (token.after == &op && token.from == TheRole)
        tile::PushOp::create(Builder, op.getLoc(), ValueRange(), tokenPipe(index));
  }
}

void RoleBuilder::copy(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return copyLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return copyBranch(branch);
  OpBuilder::InsertionGuard guard(Builder);
  if (Divider.isForOneLane(op)) {
    Value isFirst = Divider.isFirstLane(Builder, op->getLoc());
    auto once = scf::IfOp::create(Builder, op->getLoc(), isFirst, /*withElseRegion=*/false);
    Builder.setInsertionPoint(once.thenYield());
  }
  Operation *clone = Builder.clone(*op, Copies);
  Copies.map(op->getResults(), Divider.divide(Builder, op, clone));
}

/// Ends a copied region with what this role carries out of it.
void RoleBuilder::copyRegion(Region &region, OpBuilder &builder, ResultRange results) {
  OpBuilder outer = Builder;
  Builder = builder;
  copyBlock(region.front());
  Operation *end = region.front().getTerminator();
  SmallVector<Value> yielded;
  for (OpResult result : results)
    if (Plan.carries(result, TheRole))
      yielded.push_back(carried(end->getOperand(result.getResultNumber()), result));
  scf::YieldOp::create(Builder, end->getLoc(), yielded);
  Builder = outer;
}

void RoleBuilder::copyLoop(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (auto [result, init] : llvm::zip(loop.getResults(), loop.getInitArgs()))
    if (Plan.carries(result, TheRole))
      inits.push_back(carried(init, result));
  auto copied = scf::ForOp::create(
      Builder, loop.getLoc(), Copies.lookup(loop.getLowerBound()),
      Copies.lookup(loop.getUpperBound()), Copies.lookup(loop.getStep()), inits,
      [&](OpBuilder &builder, Location, Value index, ValueRange carried) {
        Copies.map(loop.getInductionVar(), index);
        for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
          if (Plan.carries(result, TheRole)) {
            Copies.map(argument, carried.front());
            carried = carried.drop_front();
          }
        copyRegion(loop.getRegion(), builder, loop.getResults());
      },
      loop.getUnsignedCmp());
  copied->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  unsigned next = 0;
  for (OpResult result : loop.getResults())
    if (Plan.carries(result, TheRole))
      Copies.map(result, copied.getResult(next++));
}

void RoleBuilder::copyBranch(scf::IfOp branch) {
  auto side = [&](Region &region) {
    return [&](OpBuilder &builder, Location) { copyRegion(region, builder, branch.getResults()); };
  };
  auto copyThen = side(branch.getThenRegion()), copyElse = side(branch.getElseRegion());
  Value condition = Copies.lookup(branch.getCondition());
  auto copied = branch.elseBlock()
                    ? scf::IfOp::create(Builder, branch.getLoc(), condition, copyThen, copyElse)
                    : scf::IfOp::create(Builder, branch.getLoc(), condition, copyThen);
  unsigned next = 0;
  for (OpResult result : branch.getResults())
    if (Plan.carries(result, TheRole))
      Copies.map(result, copied.getResult(next++));
}

/// Sends a value to the roles that use it, or receives it, with what travels along.
void RoleBuilder::meet(Value value) {
  for (auto [crossing, pipe] : llvm::zip(Plan.crossings(), Pipes)) {
    if (crossing.values.back() != value)
      continue;
    if (crossing.from == TheRole)
      push(crossing, pipe);
    else if (crossing.to == TheRole)
      pop(crossing, pipe);
  }
}

void RoleBuilder::push(const Crossing &crossing, Value pipe) {
  Location loc = crossing.values.back().getLoc();
  SmallVector<Value> tiles;
  for (Value value : crossing.values) {
    Value copy = Copies.lookup(value);
    tiles.push_back(isa<tile::TileType>(copy.getType())
                        ? copy
                        : tile::FullOp::create(Builder, loc, payloadOf(value), copy));
  }
  tile::PushOp::create(Builder, loc, tiles, pipe);
}

void RoleBuilder::pop(const Crossing &crossing, Value pipe) {
  Location loc = crossing.values.back().getLoc();
  auto type = cast<tile::PipeType>(pipe.getType());
  const LaneSplit &lanes = Plan.lanesOf(TheRole);
  SmallVector<Type> types;
  for (tile::TileType full : type.getPayload())
    types.push_back(type.getSplit() == tile::Split::None ? full : lanes.shareOf(full));
  auto pop = tile::PopOp::create(Builder, loc, types, pipe);
  const int64_t origin[] = {0, 0};
  for (auto [value, tile] : llvm::zip(crossing.values, pop.getTiles())) {
    Value copy = tile;
    if (!isa<tile::TileType>(value.getType()))
      copy = tile::ElementOp::create(Builder, loc, value.getType(), copy, ValueRange(), origin);
    else if (travelsAsCopies(value, Plan.lanesOf(crossing.from)))
      copy = tile::ExtractOp::create(Builder, loc, payloadOf(value), copy, ValueRange(), origin);
    else if (type.getSplit() == tile::Split::None && !lanes.isWhole(value))
      copy = Divider.extractShare(Builder, copy);
    Copies.map(value, copy);
  }
}

/// A value as a loop or branch carries it: all of it or a share, like the result.
Value RoleBuilder::carried(Value value, Value result) {
  Value copy = Copies.lookup(value);
  const LaneSplit &lanes = Plan.lanesOf(TheRole);
  bool isShare = isa<tile::TileType>(value.getType()) && !lanes.isWhole(result);
  return isShare && lanes.isWhole(value) ? Divider.extractShare(Builder, copy) : copy;
}

} // namespace

/// Receives as late as possible: a role goes on with what it has. Every push still comes before its
/// pop in the order of the kernel, so nobody waits for somebody who waits.
static void sinkPops(ir::FuncOp func) {
  SmallVector<tile::PopOp> pops;
  func.walk([&](tile::PopOp pop) { pops.push_back(pop); });
  for (tile::PopOp pop : pops) {
    Operation *first = pop->getBlock()->getTerminator();
    for (Operation *user : pop->getUsers())
      if (Operation *here = pop->getBlock()->findAncestorOpInBlock(*user);
          here->isBeforeInBlock(first))
        first = here;
    if (pop.getNumResults() > 0)
      pop->moveBefore(first);
  }
}

/// States which tensors a role function reads and writes.
static void setDirections(ir::FuncOp func) {
  SmallVector<std::pair<bool, bool>> facts(func.getNumArguments());
  func.walk([&](Operation *op) {
    for (const tile::TensorAccess &access : tile::tensorAccesses(op))
      if (auto root = dyn_cast<BlockArgument>(ir::rootOf(access.tensor))) {
        facts[root.getArgNumber()].first |= access.reads;
        facts[root.getArgNumber()].second |= access.writes;
      }
  });
  for (auto [index, fact] : llvm::enumerate(facts))
    if (isa<ir::TensorType>(func.getArgumentTypes()[index]))
      func.setArgDirection(index, !fact.second ? ir::Direction::In
                                  : fact.first ? ir::Direction::InOut
                                               : ir::Direction::Out);
}

//===----------------------------------------------------------------------===//
// The group
//===----------------------------------------------------------------------===//

/// Makes the function of one role and calls it in the group. `pipes` has the pipe of each crossing
/// and token. Parameters that the role does not use are left out.
static void emitRole(ir::FuncOp group, ir::FuncOp body, const PartitionPlan &plan, const Role *role,
                     ArrayRef<tile::PipeOp> pipes, SymbolTable &symbols) {
  SmallVector<Type> types(body.getArgumentTypes());
  SmallVector<Value> args(group.getArguments());
  std::vector<std::string> names;
  for (unsigned index = 0; index < body.getNumArguments(); ++index)
    names.push_back(body.getArgName(index).str());
  SmallVector<std::optional<unsigned>> parameterOfPipe;
  for (unsigned index = 0; index < pipes.size(); ++index) {
    tile::PipeOp pipe = pipes[index];
    tile::PipeType type = pipe.getPipe().getType();
    StringRef end = role->name;
    bool isEnd = type.getFrom() == end || type.getTo() == end;
    const auto *known = llvm::find(pipes.take_front(index), pipe);
    bool isKnown = known != pipes.begin() + index;
    parameterOfPipe.push_back(isKnown ? parameterOfPipe[known - pipes.begin()]
                              : isEnd ? std::optional<unsigned>(types.size())
                                      : std::nullopt);
    if (isKnown || !isEnd)
      continue;
    types.push_back(type);
    args.push_back(pipe);
    names.push_back(pipe.getName()->str());
  }
  OpBuilder builder(group);
  auto func =
      ir::FuncOp::create(builder, body.getLoc(), (group.getSymName() + "_" + role->name).str(),
                         builder.getFunctionType(types, {}), ir::FuncKind::Role, role->name, names);
  func->remove();
  symbols.insert(func, Block::iterator(group));
  SmallVector<Value> ends;
  for (std::optional<unsigned> parameter : parameterOfPipe)
    ends.push_back(parameter ? Value(func.getArgument(*parameter)) : Value());
  RoleBuilder moved(body, func, plan, role, ends);
  sinkPops(func);

  llvm::BitVector unused(func.getNumArguments());
  for (BlockArgument argument : func.getArguments())
    unused[argument.getArgNumber()] = argument.use_empty();
  for (int index = unused.find_last(); index >= 0; index = unused.find_prev(index))
    args.erase(args.begin() + index);
  (void)func.eraseArguments(unused);
  setDirections(func);
  builder.setInsertionPoint(group.getBody().front().getTerminator());
  ir::CallOp::create(builder, body.getLoc(), TypeRange(), func.getSymName(), args);
}

void emitGroup(ir::FuncOp kernel, ir::FuncOp body, const PartitionPlan &plan) {
  auto module = kernel->getParentOfType<ModuleOp>();
  SymbolTable symbols(module);
  OpBuilder builder(kernel);
  auto group = ir::FuncOp::create(builder, kernel.getLoc(), kernel.getSymName(),
                                  kernel.getFunctionType(), ir::FuncKind::Group);
  if (ArrayAttr attributes = kernel.getArgAttrsAttr())
    group.setArgAttrsAttr(attributes);
  if (plan.lanes().divides())
    group.setLanes(plan.lanes().lanes);
  symbols.erase(kernel);
  symbols.insert(group);
  ir::copyRequirements(body, group);

  builder.setInsertionPoint(group.getBody().front().getTerminator());
  SmallVector<tile::PipeOp> pipes;
  llvm::StringMap<unsigned> numbers;
  SmallVector<tile::PipeType> types = pipesOf(plan, module.getContext());
  SmallVector<unsigned> shared = sharedPipes(plan, types);
  for (auto [index, type] : llvm::enumerate(types)) {
    if (shared[index] != index) {
      pipes.push_back(pipes[shared[index]]);
      continue;
    }
    bool isToken = index >= plan.crossings().size();
    Location loc = isToken ? plan.tokens()[index - plan.crossings().size()].after->getLoc()
                           : plan.crossings()[index].values.back().getLoc();
    std::string name = ((isToken ? "order_" : "to_") + type.getTo()).str();
    unsigned number = numbers[name]++;
    pipes.push_back(tile::PipeOp::create(
        builder, loc, type, body.getSlotsAttr(),
        builder.getStringAttr(number ? name + "_" + std::to_string(number) : name)));
  }
  for (const Role *role : plan.roles())
    emitRole(group, body, plan, role, pipes, symbols);
}

} // namespace kiln
