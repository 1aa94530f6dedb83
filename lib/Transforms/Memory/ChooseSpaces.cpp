#include "PassMachine.h"
#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Tile/CoarseSums.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Machine/Guests.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILECHOOSESPACES
#include "kiln/Transforms/Passes.h.inc"

namespace {

using tile::Space;
using tile::TileType;

constexpr std::string_view kGlobal = "gm";

std::string nameOf(Space space) { return tile::stringifySpace(space).str(); }

Space spaceOf(Value value) { return cast<TileType>(value.getType()).getSpace(); }

TileType withSpace(Type type, Space space) {
  auto tile = cast<TileType>(type);
  return TileType::get(tile.getContext(), tile.getRows(), tile.getCols(), tile.getElementType(),
                       space);
}

/// One role function on one machine.
class SpaceChooser {
public:
  /// With `onlyWarn` what the machine cannot do is a warning.
  SpaceChooser(ir::FuncOp func, const Machine &machine, bool onlyWarn)
      : Func(func), Target(machine), Role(*findExecutor(machine, *func.getRole())),
        OnlyWarn(onlyWarn) {}

  LogicalResult run() {
    if (failed(checkWork()))
      return failure();
    if (Target.spreadsTiles)
      widenProducts();
    assign();
    WalkResult walked = Func.walk([&](Operation *op) {
      return failed(moveOperands(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  unsigned moves() const { return Moves; }

private:
  InFlightDiagnostic complain(Operation *op) {
    return OnlyWarn ? op->emitWarning("'") << op->getName() << "' op " : op->emitOpError();
  }

  //===-- What a role can do ----------------------------------------------------------===//

  static OpClass workOf(Operation *op) {
    auto facts = dyn_cast<tile::TileOpInterface>(op);
    return facts ? facts.getWork() : NoWork;
  }

  LogicalResult checkWork() {
    WalkResult walked = Func.walk([&](Operation *op) -> WalkResult {
      unsigned work = workOf(op) & (MatrixWork | VectorWork); // every role may load and store
      if ((Role.executes & work) == work)
        return WalkResult::advance();
      InFlightDiagnostic diag = complain(op)
                                << "cannot run in role " << Role.name << " of " << Target.name;
      for (const kiln::Role &other : Target.roles)
        if (other.executes & work)
          diag << "; it is work for role " << other.name;
      return diag;
    });
    return failure(walked.wasInterrupted());
  }

  /// Where tiles come in from global memory.
  static Space loadedTo(const kiln::Role &role, const Machine &machine) {
    bool direct = llvm::any_of(machine.paths, [](const Path &path) {
      return path.from == kGlobal && tile::symbolizeSpace(path.to) == Space::Vec;
    });
    return (role.executes & VectorWork) && direct ? Space::Vec : Space::Mat;
  }

  /// Where tiles come in from a pipe: in the ring, if that is in memory all roles share.
  static Space poppedTo(const kiln::Role &role, const Machine &machine) {
    return machine.pipeStorage == PipeStorage::SharedMemory ? Space::Mat : loadedTo(role, machine);
  }

  /// Whether an operation stands in the body of a reduction or scan: what are tiles there are
  /// single elements, which have no memory.
  static bool isInBody(Operation *op) { return isa<tile::CombiningInterface>(op->getParentOp()); }

  static bool placesElements(Operation *op) {
    auto facts = dyn_cast<tile::TileOpInterface>(op);
    return facts && facts.placesElements();
  }

  static bool isPart(Operation *op) {
    auto facts = dyn_cast<tile::TileOpInterface>(op);
    return facts && facts.getView() == tile::View::Part;
  }

  /// Whether a box of a tile is a view: the matrix unit reads its operands where they are. Of a
  /// tile in shared memory whole rows are one, by eights: there the pattern repeats in which it
  /// lies.
  bool isView(Operation *op) const {
    constexpr int64_t eights = 8;
    const Memory *left = Target.findMemory("left");
    auto extract = dyn_cast<tile::ExtractOp>(op);
    if (!extract || !left || left->inside != "mat" || spaceOf(extract.getTile()) != Space::Mat)
      return false;
    ArrayRef<int64_t> indices = extract.getStaticIndices();
    bool beginsEight = ShapedType::isDynamic(indices[0])
                           ? isMultipleOf(extract.getIndices().front(), eights)
                           : indices[0] % eights == 0;
    return beginsEight && extract.getType().getRows() % eights == 0 &&
           tile::covers(extract.getType(), extract.getTile().getType(), indices, 1);
  }

  /// Whether a number is a multiple of `factor`, as far as its own computation says.
  static bool isMultipleOf(Value value, int64_t factor) {
    IntegerAttr constant;
    if (matchPattern(value, m_Constant(&constant)))
      return constant.getInt() % factor == 0;
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::MulIOp>(op))
      return isMultipleOf(op->getOperand(0), factor) || isMultipleOf(op->getOperand(1), factor);
    if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
      return isMultipleOf(op->getOperand(0), factor) && isMultipleOf(op->getOperand(1), factor);
    return false;
  }

  /// Whether the matrix unit can make a product of 16-bit floats in this shape: in whole steps,
  /// with a right operand that lies as it wants.
  static bool hasShapeForUnit(tile::ProductInterface product) {
    auto right = cast<TileType>(product.getRhs().getType());
    int64_t rowBytes = right.getCols() * 2, sums = right.getExtent(product.getSummedAxis(1));
    int64_t cols = cast<TileType>(product->getResult(0).getType()).getCols();
    bool isSwizzled = rowBytes == 32 || rowBytes == 64 || rowBytes % 128 == 0;
    return isSwizzled && sums % 16 == 0 && cols % 8 == 0;
  }

  /// Whether the matrix unit takes the left operand of a product from registers. Products that it
  /// does not make at all are made by threads, which read both operands from memory that they
  /// share.
  static bool takesLeftFromRegisters(tile::ProductInterface product) {
    Type element = cast<TileType>(product.getRhs().getType()).getElementType();
    return element.getIntOrFloatBitWidth() == 16 && !product.getTransA() &&
           hasShapeForUnit(product);
  }

  /// Whether the matrix unit makes a product of 8-bit floats as they are, and need not be more
  /// exact: rows along K on both sides, where it finds them, 64 on the left.
  static bool isMadeAsItIs(tile::ProductInterface product) {
    auto left = cast<TileType>(product.getLhs().getType()),
         right = cast<TileType>(product.getRhs().getType());
    return product->hasAttr(tile::kCoarseAttr) && product.getTransB() && !product.getTransA() &&
           left.getElementType() == right.getElementType() && left.getRows() % 64 == 0 &&
           tile::hasPanelsInPlace(left) && tile::hasPanelsInPlace(right);
  }

  /// Products of 8 bits, as products of halves, which hold all such numbers: f16 for floats, and
  /// for integers too as long as no sum of products leaves the whole numbers of an f32.
  void widenProducts() {
    SmallVector<tile::ProductInterface> products;
    Func.walk([&](tile::ProductInterface product) { products.push_back(product); });
    for (tile::ProductInterface product : products) {
      auto right = cast<TileType>(product.getRhs().getType());
      bool isFloat = mlir::isa<FloatType>(right.getElementType());
      constexpr int64_t mostSums = (int64_t(1) << 24) / (int64_t(128) * 128);
      if (right.getElementType().getIntOrFloatBitWidth() != 8 || !hasShapeForUnit(product) ||
          isMadeAsItIs(product) ||
          (!isFloat && right.getExtent(product.getSummedAxis(1)) > mostSums))
        continue;
      OpBuilder builder(product);
      for (OpOperand *operand : {&product.getLhsMutable(), &product.getRhsMutable()}) {
        auto type = cast<TileType>(operand->get().getType()).withElement(builder.getF16Type());
        operand->set(tile::CastOp::create(builder, product.getLoc(), type, operand->get()));
      }
      if (!isFloat)
        sumAsIntegers(product);
    }
  }

  /// A product of whole numbers as floats, of which the integers are wanted.
  static void sumAsIntegers(tile::ProductInterface product) {
    OpBuilder builder(product);
    Location loc = product.getLoc();
    auto type = cast<TileType>(product->getResult(0).getType());
    Value made = tile::MatmulOp::create(builder, loc, type.withElement(builder.getF32Type()),
                                        product.getLhs(), product.getRhs(), product.getTransA(),
                                        product.getTransB());
    Value sum = tile::CastOp::create(builder, loc, type, made);
    if (OpOperand *acc = product.getAccumulator())
      sum = tile::AddOp::create(builder, loc, type, acc->get(), sum);
    product->replaceAllUsesWith(ValueRange(sum));
    product->erase();
  }

  //===-- Where each tile is made -----------------------------------------------------===//

  Space madeIn(Operation *op) const {
    if (workOf(op) == MatrixWork)
      return Space::Acc;
    if (workOf(op) == CopyWork)
      return loadedTo(Role, Target);
    if (isa<tile::PopOp>(op))
      return poppedTo(Role, Target);
    if (isView(op) || (Target.spreadsTiles && placesElements(op)))
      return Space::Mat;
    // Only the matrix unit writes accumulators, so that is where it can make a tile.
    bool isMatrixOnly = !(Role.executes & VectorWork);
    return isMatrixOnly && isa<tile::FullOp>(op) ? Space::Acc : Space::Vec;
  }

  static void set(Value value, Space space) {
    if (auto tile = dyn_cast<TileType>(value.getType());
        tile && tile.getSpace() == Space::Unassigned)
      value.setType(withSpace(tile, space));
  }

  /// What a loop carries lives where the loop makes it; what a branch yields where the first branch
  /// does. Inner values come first; rounds are made until one decides nothing, for a value that is
  /// carried around unchanged is decided by what it starts as.
  void assign() {
    Func.walk([&](Operation *op) {
      if (isa_and_nonnull<tile::TileDialect>(op->getDialect()) && !isInBody(op))
        for (Value result : op->getResults())
          set(result, madeIn(op));
    });
    bool hasDecided = false;
    auto follow = [&](Value value, Value source) {
      if (!isa<TileType>(value.getType()) || spaceOf(source) == Space::Unassigned ||
          spaceOf(value) != Space::Unassigned)
        return;
      hasDecided = true;
      // What goes from one iteration to the next does not stay in a slot, nor at one address.
      bool isHeld = Target.spreadsTiles && spaceOf(source) == Space::Mat;
      set(value, isHeld ? Space::Vec : spaceOf(source));
    };
    for (bool atLast = false; hasDecided || !atLast; atLast = true) {
      hasDecided = !atLast;
      Func.walk([&](Operation *op) {
        if (auto loop = dyn_cast<scf::ForOp>(op)) {
          for (auto [result, argument, yielded, init] :
               llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs(), loop.getYieldedValues(),
                               loop.getInits())) {
            follow(result, yielded);
            if (atLast)
              follow(result, init);
            follow(argument, result);
          }
        } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults() > 0) {
          for (auto [result, yielded, other] :
               llvm::zip_equal(branch.getResults(), branch.thenYield().getResults(),
                               branch.elseYield().getResults())) {
            follow(result, yielded);
            if (atLast)
              follow(result, other);
          }
        } else if (auto select = dyn_cast<arith::SelectOp>(op)) { // what a short branch becomes
          follow(select, select.getTrueValue());
          if (atLast)
            follow(select, select.getFalseValue());
        } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
          for (auto [argument, yielded, init] : llvm::zip_equal(
                   loop.getBeforeArguments(), loop.getYieldOp().getResults(), loop.getInits())) {
            follow(argument, yielded);
            if (atLast)
              follow(argument, init);
          }
          for (auto [result, argument, passed] : llvm::zip_equal(
                   loop.getResults(), loop.getAfterArguments(), loop.getConditionOp().getArgs())) {
            follow(result, passed);
            follow(argument, result);
          }
        }
      });
    }
  }

  //===-- Where each tile is needed ---------------------------------------------------===//

  Space leftOf(tile::ProductInterface product) const {
    return Target.spreadsTiles && !takesLeftFromRegisters(product) ? Space::Mat : Space::Left;
  }

  /// The memory in which an operation wants an operand; Unassigned: wherever it is.
  Space neededBy(OpOperand &operand) const {
    Operation *op = operand.getOwner();
    if (auto product = dyn_cast<tile::ProductInterface>(op))
      return &operand == &product.getLhsMutable()   ? leftOf(product)
             : &operand == &product.getRhsMutable() ? Space::Right
                                                    : Space::Acc;
    auto carried = [](Value value) { return spaceOf(value); };
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return carried(loop.getTiedLoopResult(&operand));
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return carried(loop.getBeforeArguments()[operand.getOperandNumber()]);
    if (isa<arith::SelectOp>(op))
      return carried(op->getResult(0));
    if (auto condition = dyn_cast<scf::ConditionOp>(op))
      return carried(op->getParentOp()->getResult(operand.getOperandNumber() - 1));
    if (auto yield = dyn_cast<scf::YieldOp>(op)) {
      if (auto loop = dyn_cast<scf::WhileOp>(op->getParentOp()))
        return carried(loop.getBeforeArguments()[operand.getOperandNumber()]);
      return carried(op->getParentOp()->getResult(operand.getOperandNumber()));
    }
    auto facts = dyn_cast<tile::TileOpInterface>(op);
    if (Target.spreadsTiles && facts && facts.readsElsewhere(operand))
      return Space::Mat;
    if (isPart(op))
      return spaceOf(op->getResult(0));
    if (workOf(op) == VectorWork)
      return Space::Vec;
    return Space::Unassigned;
  }

  /// The memory a tile leaves the core for: global memory, or that of whoever pops it.
  std::string destinationOf(Operation *op) const {
    auto push = dyn_cast<tile::PushOp>(op);
    if (!push || Target.pipeStorage == PipeStorage::GlobalMemory)
      return std::string(kGlobal);
    const kiln::Role *to = findExecutor(Target, push.getPipe().getType().getTo());
    return nameOf(poppedTo(to ? *to : Role, Target));
  }

  LogicalResult moveOperands(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TileType>(operand.get().getType()) || isInBody(op))
        continue;
      if (workOf(op) == CopyWork || isa<tile::PushOp>(op)) {
        if (failed(move(operand, destinationOf(op), /*leaves=*/true)))
          return failure();
      } else if (Space needed = neededBy(operand); needed != Space::Unassigned) {
        if (failed(move(operand, nameOf(needed), /*leaves=*/false)))
          return failure();
      }
    }
    return success();
  }

  /// Brings an operand to a memory. The last step of a tile that leaves the core is the operation
  /// itself.
  LogicalResult move(OpOperand &operand, const std::string &to, bool leaves) {
    Value value = operand.get();
    std::string from = nameOf(spaceOf(value));
    std::vector<std::string_view> route = Target.findRoute(from, to);
    // Through global memory there is no way without a tensor to go through.
    bool detours = llvm::is_contained(
        llvm::drop_end(llvm::drop_begin(route, !route.empty()), route.size() > 1), kGlobal);
    if (route.empty() || detours)
      return noPath(operand, from, to);
    if (leaves && route.size() > 1)
      route.pop_back();
    OpBuilder builder(operand.getOwner());
    for (std::string_view next : llvm::drop_begin(route)) {
      Space space = *tile::symbolizeSpace(llvm::StringRef(next));
      value = tile::MoveOp::create(builder, operand.getOwner()->getLoc(),
                                   withSpace(value.getType(), space), value);
      ++Moves;
    }
    operand.set(value);
    return success();
  }

  LogicalResult noPath(OpOperand &operand, llvm::StringRef from, llvm::StringRef to) {
    Operation *op = operand.getOwner();
    InFlightDiagnostic diag = complain(op)
                              << "needs a tile in " << to << " that is made in " << from
                              << ", and no path of " << Target.name << " leads there";
    SmallVector<std::string> reachable;
    for (const Path &path : Target.paths)
      if (path.from == std::string_view(from))
        reachable.push_back(path.to == kGlobal ? "global memory" : std::string(path.to));
    if (tile::symbolizeSpace(to) == Space::Acc)
      diag << "; an accumulator starts as tile.full or as a product: multiply without it and let "
              "the vector role add";
    else if (!reachable.empty())
      diag << "; from there tiles go to " << llvm::join(reachable, ", ");
    diag.attachNote(operand.get().getLoc()) << "it is made here";
    return diag;
  }

  ir::FuncOp Func;
  const Machine &Target;
  const kiln::Role &Role;
  bool OnlyWarn;
  unsigned Moves = 0;
};

struct ChooseSpaces : impl::TileChooseSpacesBase<ChooseSpaces> {
  using TileChooseSpacesBase::TileChooseSpacesBase;

  static bool hasTileWithoutSpace(ir::FuncOp func) {
    return func
        .walk([](Operation *op) {
          return !isa<tile::CombiningInterface>(op->getParentOp()) &&
                         llvm::any_of(op->getResults(),
                                      [](Value value) {
                                        auto tile = dyn_cast<TileType>(value.getType());
                                        return tile && tile.getSpace() == Space::Unassigned;
                                      })
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void runOnOperation() override {
    const Machine *target = machineOf(getOperation(), machine);
    if (!target)
      return signalPassFailure();
    if (failed(tile::requireFacts(getOperation(), "what class of work it is")))
      return signalPassFailure();
    for (auto func : getOperation().getOps<ir::FuncOp>()) {
      if (target->paths.empty() || !hasTileWithoutSpace(func))
        continue;
      if (func.getKind() != ir::FuncKind::Role || !findExecutor(*target, *func.getRole())) {
        if (report && func.getKind() != ir::FuncKind::Orchestration)
          func.emitRemark("@") << func.getSymName() << " belongs to no role of " << target->name
                               << ", so its tiles have no memory";
        continue;
      }
      OwningOpRef<ir::FuncOp> copy = func.clone(); // all or nothing
      SpaceChooser chooser(*copy, *target, asWritten);
      if (failed(chooser.run())) {
        if (asWritten)
          continue;
        return signalPassFailure();
      }
      func.getBody().takeBody(copy->getBody());
      if (report)
        func.emitRemark("@") << func.getSymName() << " needs " << chooser.moves()
                             << " moves between memories";
    }
  }
};
} // namespace
} // namespace kiln
