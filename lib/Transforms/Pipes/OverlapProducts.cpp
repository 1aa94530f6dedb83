#include "LoopGuard.h"

#include "PassMachine.h"
#include "kiln/Machine/Guests.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEOVERLAPPRODUCTS
#include "kiln/Transforms/Passes.h.inc"

namespace {

using tile::ProductInterface;
using tile::Space;
using tile::TileType;

/// Makes the last product of an iteration while the next one computes.
class Overlapper {
public:
  Overlapper(scf::ForOp loop, const Machine &machine)
      : Loop(loop), Body(loop.getBody()), Target(machine) {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!step || *step <= 0 || loop.getUnsignedCmp() || !loop.getInductionVar().getType().isIndex())
      Reason = "its index is no signed index with a positive constant step";
    else if (findLate() && findDeferred())
      findFirst();
  }

  /// Why it does not run ahead; empty if it does.
  StringRef reason() const { return Reason; }

  void run() {
    findReleased();
    replaceLoop(Loop, [&](OpBuilder &builder, Value trips) { return build(builder, trips); });
    if (Released.empty())
      return;
    // Where the loop does not run they are freed as well.
    if (auto guard = dyn_cast_or_null<scf::IfOp>(Released.front()->getPrevNode())) {
      OpBuilder otherwise = OpBuilder::atBlockBegin(guard.elseBlock());
      for (tile::FreeOp free : Released)
        otherwise.clone(*free);
    }
    for (tile::FreeOp free : Released)
      free.erase();
  }

private:
  bool refuse(StringRef why) {
    Reason = why.str();
    return false;
  }

  //===-- What there is ---------------------------------------------------------------===//

  /// Whether the matrix unit makes it by itself, and where its left operand is it can stay.
  bool canBeStarted(ProductInterface product) const {
    auto left = cast<TileType>(product.getLhs().getType());
    auto right = cast<TileType>(product.getRhs().getType());
    auto made = cast<TileType>(product->getResult(0).getType());
    return !isa<tile::MatmulStartOp>(product.getOperation()) && left.getSpace() == Space::Left &&
           right.getSpace() == Space::Right && made.getRows() % Target.matrixRows == 0;
  }

  bool isInBody(Operation *op) const { return op && op->getBlock() == Body; }

  /// The last product, whose accumulator the loop carries; with it what brings its operands out of
  /// a pipe.
  bool findLate() {
    for (Operation &op : llvm::reverse(Body->without_terminator()))
      if (auto product = dyn_cast<ProductInterface>(op)) {
        Late = product;
        break;
      }
    if (!Late || !Late.getAccumulator() || !canBeStarted(Late))
      return refuse("its last product is none that the matrix unit adds to an accumulator");
    Value made = Late->getResult(0);
    if (!made.hasOneUse() || *made.user_begin() != Body->getTerminator())
      return refuse("what its last product makes is used before the iteration ends");
    Carried = made.use_begin()->getOperandNumber();
    Delayed.insert(Late);
    return delayOperand(Late.getLhs(), /*mayBeCarried=*/true) &&
           delayOperand(Late.getRhs(), /*mayBeCarried=*/false);
  }

  /// An operand in a slot of a pipe is popped later; one in registers is carried into the next
  /// iteration.
  bool delayOperand(Value operand, bool mayBeCarried) {
    SmallVector<Operation *> moves;
    Value from = operand;
    for (auto move = from.getDefiningOp<tile::MoveOp>(); move && isInBody(move);
         move = from.getDefiningOp<tile::MoveOp>()) {
      moves.push_back(move);
      from = move.getOperand();
    }
    if (!isInBody(from.getDefiningOp()) && from.getParentBlock() != Body)
      return true; // it is there in all iterations
    if (auto pop = from.getDefiningOp<tile::PopOp>())
      return delayPop(pop, moves);
    if (!mayBeCarried || spaceOf(from) == Space::Mat)
      return refuse("an operand of its last product is made in shared memory");
    Handed.push_back(operand);
    return true;
  }

  static Space spaceOf(Value tile) { return cast<TileType>(tile.getType()).getSpace(); }

  bool delayPop(tile::PopOp pop, ArrayRef<Operation *> moves) {
    if (pop.getNumResults() != 1 || pop.getCopy())
      return refuse("an operand of its last product comes with other tiles");
    Delayed.insert(pop);
    Delayed.insert_range(moves);
    for (Operation *op : Delayed)
      if (op != Late.getOperation() &&
          llvm::any_of(op->getUsers(), [&](Operation *user) { return !Delayed.contains(user); }))
        return refuse("an operand of its last product is used otherwise, too");
    // Of this pipe nothing else may be popped or freed meanwhile.
    bool isAlone = true;
    unsigned frees = 0;
    Loop.walk([&](Operation *op) {
      auto other = dyn_cast<tile::PopOp>(op);
      isAlone &= !other || other == pop || other.getPipe() != pop.getPipe();
      auto free = dyn_cast<tile::FreeOp>(op);
      if (!free || free.getPipe() != pop.getPipe())
        return;
      ++frees;
      isAlone &= isInBody(free) && Late->isBeforeInBlock(free);
      Delayed.insert(free);
    });
    if (!isAlone || frees != 1)
      return refuse("the pipe of an operand of its last product is used otherwise, too");
    return true;
  }

  /// What waits for the last product of the iteration before: what uses it, and what makes the left
  /// operand of the next one, whose registers are read up to then.
  bool findDeferred() {
    BlockArgument sum = Loop.getRegionIterArg(Carried);
    for (Operation &op : Body->without_terminator()) {
      if (Delayed.contains(&op))
        continue;
      bool depends = op.walk([&](Operation *inside) {
                         return llvm::any_of(inside->getOperands(),
                                             [&](Value operand) {
                                               return operand == sum ||
                                                      (operand.getDefiningOp() &&
                                                       Deferred.contains(operand.getDefiningOp()));
                                             })
                                    ? WalkResult::interrupt()
                                    : WalkResult::advance();
                       }).wasInterrupted();
      if (!depends)
        continue;
      if (!isMemoryEffectFree(&op))
        return refuse("something with an effect needs what its last product made before");
      Deferred.insert(&op);
    }
    for (auto [number, value] : llvm::enumerate(Body->getTerminator()->getOperands()))
      if (number != Carried &&
          (value == sum || (value.getDefiningOp() && Deferred.contains(value.getDefiningOp()))))
        return refuse("it carries more than one thing that its last product makes");
    for (Value value : Handed)
      for (Operation *op = value.getDefiningOp();
           isa_and_nonnull<tile::MoveOp, tile::CastOp>(op) && isInBody(op) && op->hasOneUse();
           op = op->getOperand(0).getDefiningOp())
        Deferred.insert(op);
    return true;
  }

  /// The product beside which the late one is made.
  bool findFirst() {
    for (Operation &op : Body->without_terminator()) {
      if (auto product = dyn_cast<ProductInterface>(op);
          product && product != Late && !Deferred.contains(&op) && canBeStarted(product)) {
        First = product;
        return true;
      }
    }
    return refuse("there is no other product beside which its last one could be made");
  }

  /// What is freed right behind the loop, and is not needed for the product that is left then: the
  /// role that fills these slots, for the next block, need not wait for it.
  void findReleased() {
    llvm::SetVector<Value> needed;
    for (Operation *op : Delayed)
      needed.insert_range(op->getOperands());
    llvm::SmallPtrSet<Value, 4> pipes;
    for (size_t next = 0; next < needed.size(); ++next) {
      Operation *op = needed[next].getDefiningOp();
      if (auto pop = dyn_cast_or_null<tile::PopOp>(op))
        pipes.insert(pop.getPipe());
      else if (op && !isInBody(op))
        needed.insert_range(op->getOperands());
    }
    for (Operation *op = Loop->getNextNode(); isa<tile::FreeOp>(op); op = op->getNextNode()) {
      auto free = cast<tile::FreeOp>(op);
      if (pipes.contains(free.getPipe()))
        return;
      Released.push_back(free);
    }
  }

  //===-- What becomes of it ----------------------------------------------------------===//

  static Value start(OpBuilder &builder, ProductInterface product, const IRMapping &values) {
    SmallVector<Value> acc;
    if (OpOperand *given = product.getAccumulator())
      acc.push_back(values.lookupOrDefault(given->get()));
    return tile::MatmulStartOp::create(builder, product->getLoc(), product->getResult(0).getType(),
                                       values.lookupOrDefault(product.getLhs()),
                                       values.lookupOrDefault(product.getRhs()), acc,
                                       product.getTransA(), product.getTransB());
  }
  static Value await(OpBuilder &builder, Value begun) {
    return tile::AwaitOp::create(builder, begun.getLoc(), begun.getType(), begun);
  }

  /// Begins the late product of the iteration before; its slots are freed when it is awaited.
  Value startLate(OpBuilder &builder, IRMapping &before) {
    for (Operation &op : *Body)
      if (Delayed.contains(&op) && &op != Late.getOperation() && !isa<tile::FreeOp>(op))
        builder.clone(op, before);
    return start(builder, Late, before);
  }
  void freeLate(OpBuilder &builder) {
    for (Operation &op : *Body)
      if (Delayed.contains(&op) && isa<tile::FreeOp>(op))
        builder.clone(op);
  }

  /// One iteration with the late product of the one before.
  void buildSteady(OpBuilder &builder, IRMapping &now, IRMapping &before) {
    Value late;
    for (Operation &op : Body->without_terminator()) {
      if (Delayed.contains(&op) || Deferred.contains(&op))
        continue;
      if (&op != First.getOperation()) {
        builder.clone(op, now);
        continue;
      }
      Value first = start(builder, First, now);
      late = startLate(builder, before);
      now.map(First->getResult(0), await(builder, first));
    }
    now.map(Loop.getRegionIterArg(Carried), await(builder, late));
    freeLate(builder);
    for (Operation &op : *Body)
      if (Deferred.contains(&op))
        builder.clone(op, now);
  }

  /// What goes from one iteration to the next: what the loop carries, with the accumulator for the
  /// late product instead of what it makes, and its operands in registers.
  SmallVector<Value> carriedOn(const IRMapping &values) {
    SmallVector<Value> next;
    for (auto [number, value] : llvm::enumerate(Body->getTerminator()->getOperands()))
      next.push_back(
          values.lookupOrDefault(number == Carried ? Late.getAccumulator()->get() : value));
    for (Value value : Handed)
      next.push_back(values.lookupOrDefault(value));
    return next;
  }

  void mapLate(IRMapping &values, ValueRange carried) {
    values.map(Late.getAccumulator()->get(), carried[Carried]);
    values.map(Handed, carried.drop_front(Loop.getNumResults()));
  }

  SmallVector<Value> build(OpBuilder &builder, Value) {
    Location loc = Loop.getLoc();
    Value lower = Loop.getLowerBound(), step = Loop.getStep();
    IRMapping first;
    first.map(Loop.getInductionVar(), lower);
    first.map(Loop.getRegionIterArgs(), Loop.getInitArgs());
    for (Operation &op : Body->without_terminator())
      if (!Delayed.contains(&op))
        builder.clone(op, first);
    auto steady = scf::ForOp::create(
        builder, loc, builder.createOrFold<arith::AddIOp>(loc, lower, step), Loop.getUpperBound(),
        step, carriedOn(first), [&](OpBuilder &body, Location, Value index, ValueRange carried) {
          IRMapping now, before;
          now.map(Loop.getInductionVar(), index);
          now.map(Loop.getRegionIterArgs(), carried.take_front(Loop.getNumResults()));
          mapLate(before, carried);
          buildSteady(body, now, before);
          scf::YieldOp::create(body, loc, carriedOn(now));
        });
    steady->setDiscardableAttrs(Loop->getDiscardableAttrDictionary());
    for (tile::FreeOp free : Released)
      builder.clone(*free);
    IRMapping last;
    mapLate(last, steady.getResults());
    for (Operation &op : *Body)
      if (Delayed.contains(&op))
        builder.clone(op, last);
    SmallVector<Value> results(steady.getResults().take_front(Loop.getNumResults()));
    results[Carried] = last.lookup(Late->getResult(0));
    return results;
  }

  scf::ForOp Loop;
  Block *Body;
  const Machine &Target;
  std::string Reason;
  ProductInterface Late, First;
  unsigned Carried = 0; ///< The number of what the loop carries of the late product.
  llvm::SetVector<Operation *> Delayed;  ///< The late product, and what goes with it.
  llvm::SetVector<Operation *> Deferred; ///< What waits for it.
  SmallVector<Value> Handed;             ///< Its operands that are carried.
  SmallVector<tile::FreeOp> Released;    ///< Behind the loop, before the last of it.
};

struct OverlapProducts : impl::TileOverlapProductsBase<OverlapProducts> {
  using TileOverlapProductsBase::TileOverlapProductsBase;

  void runOnOperation() override {
    const Machine *target = machineOf(getOperation(), machine);
    if (!target)
      return signalPassFailure();
    if (!target->startsProducts)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      // A guest would keep slots that the role which fills them waits for.
      StringRef role = loop->getParentOfType<ir::FuncOp>().getRole().value_or("");
      if (!findGuest(*target, role) && !loop.getBody()->getOps<ProductInterface>().empty())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      Overlapper overlapper(loop, *target);
      if (report && !overlapper.reason().empty())
        loop.emitRemark("no product of this loop runs beside another: ") << overlapper.reason();
      else if (report)
        loop.emitRemark("the last product of this loop runs beside the next iteration");
      if (overlapper.reason().empty())
        overlapper.run();
    }
  }
};
} // namespace
} // namespace kiln
