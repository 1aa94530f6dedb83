#include "PipeEvents.h"

#include "kiln/Dialect/Kiln/Contracts.h"
#include "kiln/Dialect/Tile/TilePipes.h"
#include "kiln/Program/Signature.h"

#include "mlir/IR/Matchers.h"

#include <set>

using namespace mlir;

namespace kiln::pipes {

std::optional<unsigned> GroupModel::memberOf(StringRef role) const {
  for (auto [index, member] : llvm::enumerate(members))
    if (ir::FuncOp func = member.func; *func.getRole() == role)
      return index;
  return std::nullopt;
}

void forEachStep(const Sequence &sequence, llvm::function_ref<void(const Step &)> visit) {
  for (const Step &step : sequence) {
    visit(step);
    if (auto *loop = std::get_if<Loop>(&step))
      forEachStep(loop->body, visit);
    if (auto *branch = std::get_if<Branch>(&step)) {
      forEachStep(branch->then, visit);
      forEachStep(branch->otherwise, visit);
    }
  }
}

void forEachControl(const GroupModel &model, llvm::function_ref<void(const Expr &)> visit) {
  for (const Member &member : model.members)
    forEachStep(member.body, [&](const Step &step) {
      if (auto *loop = std::get_if<Loop>(&step)) {
        visit(loop->trips);
        visit(loop->lower);
      }
      if (auto *branch = std::get_if<Branch>(&step))
        visit(branch->condition);
    });
}

namespace {

/// Whether an index of an orchestration can become negative by what the orchestration does to it.
/// Its own parameters are counts. What is computed in many steps is not looked into.
bool mayBeNegative(Value value, int steps = 12) {
  if (steps == 0)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(owner); loop && argument == loop.getInductionVar())
      return mayBeNegative(loop.getLowerBound(), steps - 1);
    return !isa<ir::FuncOp>(owner) || !argument.getType().isIndex();
  }
  Operation *op = value.getDefiningOp();
  if (IntegerAttr constant; matchPattern(value, m_Constant(&constant)))
    return constant.getValue().isNegative();
  auto isNegative = [&](Value operand) { return mayBeNegative(operand, steps - 1); };
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp,
          arith::RemSIOp, arith::MinSIOp>(op))
    return llvm::any_of(op->getOperands(), isNegative);
  if (isa<arith::MaxSIOp>(op))
    return llvm::all_of(op->getOperands(), isNegative);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isNegative(select.getTrueValue()) || isNegative(select.getFalseValue());
  return !isa<ir::DimOp>(op);
}

/// Evaluates scalars of a group and its members as expressions of the group's parameters.
class ScalarReader {
public:
  ScalarReader(ScalarTable &scalars, ir::FuncOp group) : Scalars(scalars), Group(group) {}

  /// Gives the parameters of a member the values the group passes.
  void bind(ir::FuncOp member, ir::CallOp call) {
    for (auto [parameter, argument] : llvm::zip_equal(member.getArguments(), call.getArgs()))
      Arguments[parameter] = argument;
    member.walk([&](Operation *op) {
      if (hasEffect<MemoryEffects::Write>(op))
        for (Value operand : op->getOperands())
          if (isa<ir::TensorType>(operand.getType()))
            Written.insert(rootOf(operand));
    });
  }

  Value resolve(Value value) const {
    auto argument = Arguments.find(value);
    return argument == Arguments.end() ? value : argument->second;
  }

  /// The tensor of the group, or made in it, that a tensor of a member is a view of.
  Value rootOf(Value tensor) const { return ir::rootOf(resolve(ir::rootOf(tensor))); }

  void define(Value value, Expr expr) { Known[value] = std::move(expr); }

  Expr read(Value value) {
    value = resolve(value);
    if (auto known = Known.find(value); known != Known.end())
      return known->second;
    Expr expr = compute(value);
    Known[value] = expr;
    return expr;
  }

  /// What a `while` loop does with what it carries.
  Recurrence readRecurrence(scf::WhileOp loop) {
    Recurrence made;
    for (Value init : loop.getInits())
      made.inits.push_back(read(init));
    DenseMap<Value, Expr> outside = Known;
    for (auto [which, argument] : llvm::enumerate(loop.getBeforeArguments()))
      define(argument, Scalars.carried(which));
    made.condition = read(loop.getConditionOp().getCondition());
    defineBody(loop);
    for (Value next : loop.getYieldOp().getOperands())
      made.nexts.push_back(read(next));
    Known = std::move(outside); // what was computed in the loop was in terms of what it carries
    return made;
  }

  /// Reads what the body of a `while` loop is given, where what the condition is given is known.
  void defineBody(scf::WhileOp loop) {
    for (auto [argument, passed] :
         llvm::zip_equal(loop.getAfterArguments(), loop.getConditionOp().getArgs()))
      define(argument, read(passed));
  }

private:
  Expr compute(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *owner = argument.getOwner()->getParentOp();
      if (owner != Group)
        return Scalars.makeUnknown(owner);
      if (argument.getType().isInteger(1))
        return Scalars.free(nameOf(argument), 0, 1);
      if (auto integer = dyn_cast<IntegerType>(argument.getType()))
        return Scalars.free(nameOf(argument), llvm::minIntN(integer.getWidth()),
                            llvm::maxIntN(integer.getWidth()));
      return argument.getType().isIndex() ? Scalars.index(nameOf(argument), isCount(argument))
                                          : Scalars.named(nameOf(argument));
    }
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return readConstant(constant.getValue());
    if (auto dim = dyn_cast<ir::DimOp>(op))
      return extent(dim.getTensor(), dim.getDim(), op);
    if (auto block = dyn_cast<tile::BlockIdxOp>(op))
      return Scalars.freeBelow("block_idx " + std::to_string(block.getDim()),
                               blockCount(block.getDim()));
    if (auto blocks = dyn_cast<tile::BlockCountOp>(op))
      return blockCount(blocks.getDim());
    if (isa<tile::LaneOp>(op)) {
      auto func = op->getParentOfType<ir::FuncOp>();
      return Group.getLanesOf(*func.getRole()) > 1 ? Scalars.lane() : Expr(0);
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      return Scalars.select(read(branch.getCondition()),
                            read(branch.thenYield().getOperand(number)),
                            read(branch.elseYield().getOperand(number)));
    }
    // An element of a tensor that nobody in the group writes is the same for all who read it.
    auto readOp = dyn_cast<ir::ReadOp>(op);
    bool isStable = readOp && !Written.contains(rootOf(readOp.getTensor()));
    bool isView = isa<ir::SliceOp, ir::TransposeOp, ir::ReshapeOp>(op);
    if (!isStable && !isView && !isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
      return Scalars.makeUnknown(op);
    SmallVector<Expr> operands;
    for (Value operand : op->getOperands())
      operands.push_back(read(operand));
    return Scalars.apply(op, operands);
  }

  Expr blockCount(uint64_t dim) { return Scalars.free("block_count " + std::to_string(dim), 1); }

  Expr readConstant(Attribute value) {
    if (auto integer = dyn_cast<IntegerAttr>(value))
      return integer.getType().isInteger(1) ? Expr(integer.getValue().getZExtValue())
                                            : Expr(integer.getValue().getSExtValue());
    std::string name;
    llvm::raw_string_ostream(name) << value;
    return Scalars.named(name);
  }

  /// The extent of a tensor along an axis, looked up through what it is a view of.
  Expr extent(Value tensor, uint64_t axis, Operation *cause) {
    tensor = resolve(tensor);
    auto type = cast<ir::TensorType>(tensor.getType());
    if (!type.isDynamicDim(axis))
      return Expr(type.getShape()[axis]);
    if (auto argument = dyn_cast<BlockArgument>(tensor))
      return Scalars.extent(nameOf(argument) + ".dim(" + std::to_string(axis) + ")");
    if (auto transpose = tensor.getDefiningOp<ir::TransposeOp>())
      return extent(transpose.getTensor(), transpose.getPermutation()[axis], cause);
    if (auto slice = tensor.getDefiningOp<ir::SliceOp>(); slice && slice.getDropped().empty()) {
      auto isDynamic = [](int64_t size) { return ShapedType::isDynamic(size); };
      return read(
          slice.getSizes()[llvm::count_if(slice.getStaticSizes().take_front(axis), isDynamic)]);
    }
    return Scalars.makeUnknown(cause);
  }

  /// Whether every launch of the group passes a count for an index parameter.
  bool isCount(BlockArgument argument) {
    bool found = true;
    if (auto module = Group->getParentOfType<ModuleOp>())
      module.walk([&](ir::SubmitOp launch) {
        if (launch.getCallee() == Group.getSymName())
          found &= !mayBeNegative(launch.getArgs()[argument.getArgNumber()]);
      });
    return found;
  }

  std::string nameOf(BlockArgument argument) {
    return parameterNames(Group)[argument.getArgNumber()];
  }

  ScalarTable &Scalars;
  ir::FuncOp Group;
  DenseMap<Value, Value> Arguments;
  DenseMap<Value, Expr> Known;
  llvm::SmallDenseSet<Value> Written;
};

class ModelBuilder {
public:
  ModelBuilder(GroupModel &model, ir::FuncOp group, bool joinsLoops)
      : Model(model), Reader(model.scalars, group), JoinsLoops(joinsLoops) {}

  void build(ir::FuncOp group, int64_t defaultSlots, ValueRange required) {
    for (auto pipe : group.getBody().getOps<tile::PipeOp>()) {
      PipeNumbers[pipe.getPipe()] = Model.pipes.size();
      int64_t slots = pipe.getSlots().value_or(defaultSlots);
      Model.pipes.push_back({pipe, pipeName(pipe), slots});
    }
    for (auto call : group.getBody().getOps<ir::CallOp>()) {
      auto func = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(group, call.getCalleeAttr());
      Reader.bind(func, call);
      Model.members.push_back({func, func.getSymName().str(), {}});
    }
    for (Member &member : Model.members) {
      member.body = readBlock(member.func.getBody().front());
      forEachStep(member.body, [&](const Step &step) { checkControl(step); });
    }
    std::vector<Expr> conditions;
    for (Value condition : required)
      conditions.push_back(Reader.read(condition));
    for (ir::RequireOp require : ir::requirementsIn(group))
      conditions.push_back(Reader.read(require.getCondition()));
    keepRelevant(std::move(conditions));
  }

private:
  /// Keeps the requirements that have to do with what decides which events run, directly or by
  /// other requirements.
  void keepRelevant(std::vector<Expr> requirements) {
    std::set<Atom> atoms;
    auto addAtoms = [&](const Expr &expr) {
      Model.scalars.forEachAtom(expr, [&](Atom atom) { atoms.insert(atom); });
    };
    forEachControl(Model, addAtoms);
    auto isRelevant = [&](const Expr &expr) {
      bool found = false;
      Model.scalars.forEachAtom(expr, [&](Atom atom) { found |= atoms.contains(atom); });
      return found;
    };
    while (true) {
      auto relevant = llvm::find_if(requirements, isRelevant);
      if (relevant == requirements.end())
        return;
      addAtoms(*relevant);
      Model.required.push_back(std::move(*relevant));
      requirements.erase(relevant);
    }
  }

  Sequence readBlock(Block &block) {
    Sequence sequence;
    for (Operation &op : block) {
      if (auto push = dyn_cast<tile::PushOp>(op))
        sequence.push_back(event(Event::Kind::Push, push.getPipe(), &op));
      else if (auto pop = dyn_cast<tile::PopOp>(op))
        sequence.push_back(event(Event::Kind::Pop, pop.getPipe(), &op));
      else if (auto free = dyn_cast<tile::FreeOp>(op))
        sequence.push_back(event(Event::Kind::Free, free.getPipe(), &op));
      else if (op.getNumRegions() > 0)
        readRegions(&op, sequence);
    }
    return sequence;
  }

  void readRegions(Operation *op, Sequence &sequence) {
    if (!pipeOpInside(op))
      return;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Loop read = readLoop(loop);
      Loop *before =
          JoinsLoops && !sequence.empty() ? std::get_if<Loop>(&sequence.back()) : nullptr;
      if (!before || !goesOn(*before, read))
        sequence.push_back(std::move(read));
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Expr condition = Reader.read(branch.getCondition());
      Sequence then = readBlock(*branch.thenBlock()), otherwise;
      if (branch.elseBlock())
        otherwise = readBlock(*branch.elseBlock());
      sequence.push_back(Branch{op, condition, std::move(then), std::move(otherwise)});
    } else if (auto loop = dyn_cast<scf::WhileOp>(op); loop && !pipeOpIn(loop.getBefore())) {
      sequence.push_back(readWhile(loop));
    } else {
      Model.unknowns.push_back({op->getLoc(), "how often the pipe operations in " +
                                                  op->getName().getStringRef().str() +
                                                  " run is known only when the program runs"});
    }
  }

  Loop readLoop(scf::ForOp loop) {
    Expr lower = Reader.read(loop.getLowerBound()), upper = Reader.read(loop.getUpperBound()),
         step = Reader.read(loop.getStep());
    Expr trips = Model.scalars.ceilDiv(upper - lower, step);
    Atom index = Model.scalars.makeIndex(lower);
    Reader.define(loop.getInductionVar(), Expr::of(index));
    if (step.isConstant() ? step.constant() <= 0 : true)
      Model.unknowns.push_back({loop.getLoc(), "the step of the loop is not a positive constant"});
    if (loop.getUnsignedCmp())
      Model.unknowns.push_back({loop.getLoc(), "the bounds of the loop are unsigned"});
    return {loop, index, lower, upper, step, trips, readBlock(*loop.getBody())};
  }

  /// Makes one loop of two that do in turn what one would do, as a pass leaves them that splits a
  /// loop: the first runs from `lower` to the least of `middle` and `upper`, the second from
  /// `middle` to `upper`, where `middle` is some whole steps from `lower`. False: they are not
  /// such.
  bool goesOn(Loop &first, const Loop &second) {
    if (!isa<scf::ForOp>(first.op) || !first.step.isConstant() || first.step != second.step)
      return false;
    ScalarTable &scalars = Model.scalars;
    int64_t step = first.step.constant();
    Expr distance = second.lower - first.lower;
    auto isWhole = [&](int64_t number) { return number % step == 0; };
    if (step <= 0 || !isWhole(distance.constant()) ||
        !llvm::all_of(distance.terms(), [&](const auto &term) { return isWhole(term.second); }) ||
        !scalars.isNeverNegative(distance))
      return false;
    std::optional<Atom> least = first.upper.asSymbol();
    if (!least || !isa_and_nonnull<arith::MinSIOp>(scalars.info(*least).op) ||
        !llvm::is_contained(scalars.info(*least).operands, second.lower) ||
        !llvm::is_contained(scalars.info(*least).operands, second.upper))
      return false;
    if (!areEqual(first.body, second.body, {{second.index, Expr::of(first.index)}}))
      return false;
    Model.hasJoined = true;
    first.upper = second.upper;
    first.trips = scalars.ceilDiv(first.upper - first.lower, first.step);
    return true;
  }

  /// Whether two sequences are the same events, where `indices` says what the indices of the second
  /// are in the first.
  bool areEqual(const Sequence &a, const Sequence &b, const Env &indices) {
    auto isEqual = [&](const Expr &one, const Expr &other) {
      return one == Model.scalars.substitute(other, indices);
    };
    return llvm::equal(a, b, [&](const Step &one, const Step &other) {
      if (one.index() != other.index())
        return false;
      if (auto *event = std::get_if<Event>(&one))
        return event->kind == std::get<Event>(other).kind &&
               event->pipe == std::get<Event>(other).pipe;
      if (auto *branch = std::get_if<Branch>(&one)) {
        const auto &twin = std::get<Branch>(other);
        return isEqual(branch->condition, twin.condition) &&
               areEqual(branch->then, twin.then, indices) &&
               areEqual(branch->otherwise, twin.otherwise, indices);
      }
      const auto &loop = std::get<Loop>(one), &twin = std::get<Loop>(other);
      Env inner = indices;
      inner[twin.index] = Expr::of(loop.index);
      return isEqual(loop.lower, twin.lower) && isEqual(loop.step, twin.step) &&
             isEqual(loop.trips, twin.trips) && areEqual(loop.body, twin.body, inner);
    });
  }

  /// A loop that counts its iterations from 0.
  Loop readWhile(scf::WhileOp loop) {
    Recurrence carried = Reader.readRecurrence(loop);
    Expr trips = countRounds(carried);
    Atom index = Model.scalars.makeIndex(0);
    for (auto [which, argument] : llvm::enumerate(loop.getBeforeArguments())) {
      Expr step = carried.nexts[which] - Model.scalars.carried(which);
      Reader.define(argument, step.isConstant()
                                  ? carried.inits[which] + Expr::of(index) * step.constant()
                                  : Model.scalars.whileValue(carried, which, Expr::of(index)));
    }
    Reader.defineBody(loop);
    return {loop, index, 0, trips, 1, trips, readBlock(*loop.getAfterBody())};
  }

  /// How often a `while` loop runs: as an expression where it counts up to a bound.
  Expr countRounds(const Recurrence &loop) {
    ScalarTable &scalars = Model.scalars;
    std::optional<Atom> atom = loop.condition.asSymbol();
    auto compare = atom ? dyn_cast_or_null<arith::CmpIOp>(scalars.info(*atom).op) : arith::CmpIOp();
    using P = arith::CmpIPredicate;
    if (compare && (compare.getPredicate() == P::slt || compare.getPredicate() == P::sle))
      for (auto [which, init] : llvm::enumerate(loop.inits)) {
        // init + step * k < bound, and nothing else changes.
        Expr counter = scalars.carried(which), step = loop.nexts[which] - counter;
        Expr offset = scalars.info(*atom).operands[0] - counter,
             bound = scalars.info(*atom).operands[1];
        if (compare.getPredicate() == P::sle)
          bound = bound + 1;
        if (step.isConstant() && step.constant() > 0 && offset.isConstant() && !isCarried(bound))
          return scalars.ceilDiv(bound - init - offset, step); // never, if that is negative
      }
    return scalars.whileTrips(loop);
  }

  Event event(Event::Kind kind, Value pipe, Operation *op) {
    return {kind, PipeNumbers.lookup(Reader.resolve(pipe)), op};
  }

  void checkControl(const Step &step) {
    if (auto *loop = std::get_if<Loop>(&step))
      check(loop->trips, isa<scf::ForOp>(loop->op) ? "trip count" : "condition", loop->op,
            pipeOpInside(loop->op));
    if (auto *branch = std::get_if<Branch>(&step))
      check(branch->condition, "condition", branch->op, pipeOpInside(branch->op));
  }

  /// Rejects what differs between lanes, and notes what is not known.
  void check(const Expr &expr, const std::string &what, Operation *control, Operation *inside) {
    bool dependsOnLane = false;
    Operation *unknown = nullptr;
    Model.scalars.forEachAtom(expr, [&](Atom atom) {
      const AtomInfo &info = Model.scalars.info(atom);
      dependsOnLane |= info.dependsOnLane;
      unknown = unknown ? unknown : info.unknown;
    });
    if (unknown)
      Model.unknowns.push_back({control->getLoc(), "the " + what + " depends on " +
                                                       unknown->getName().getStringRef().str() +
                                                       ", whose result is known only when the "
                                                       "program runs"});
    else if (dependsOnLane)
      Model.findings.push_back(
          {{inside->getLoc(),
            inside->getName().getStringRef().str() + " runs under a " + what +
                " that differs between lanes; all lanes of a role push, pop and free alike, so "
                "move it out and let only the computation depend on the lane"},
           {{control->getLoc(), "the " + what + " is this one"}}});
  }

  /// Whether an expression depends on what a `while` loop carries.
  bool isCarried(const Expr &expr) const {
    bool found = false;
    Model.scalars.forEachAtom(expr, [&](Atom atom) {
      found |= Model.scalars.info(atom).kind == AtomInfo::Kind::Carried;
    });
    return found;
  }

  static Operation *pipeOpIn(Region &region) { return tile::findPipeUse(region); }
  static Operation *pipeOpInside(Operation *op) {
    for (Region &region : op->getRegions())
      if (Operation *found = pipeOpIn(region))
        return found;
    return nullptr;
  }

  GroupModel &Model;
  ScalarReader Reader;
  bool JoinsLoops;
  DenseMap<Value, unsigned> PipeNumbers;
};

} // namespace

GroupModel modelGroup(ir::FuncOp group, int64_t defaultSlots, ValueRange required,
                      bool joinsLoops) {
  GroupModel model;
  ModelBuilder(model, group, joinsLoops).build(group, defaultSlots, required);
  return model;
}

} // namespace kiln::pipes
