#include "kiln/Analysis/TileLifetimes.h"

#include "kiln/Analysis/Instructions.h"
#include "kiln/Dialect/Tile/Staged.h"
#include "kiln/Dialect/Tile/TileMemory.h"

using namespace mlir;

namespace kiln {

bool TileBuffer::meets(const TileBuffer &other) const {
  return llvm::any_of(spans, [&](LifeSpan mine) {
    return llvm::any_of(other.spans, [&](LifeSpan theirs) {
      return mine.from <= theirs.to && theirs.from <= mine.to;
    });
  });
}

bool TileBuffer::isAliveAt(int64_t moment) const {
  return llvm::any_of(spans,
                      [&](LifeSpan span) { return span.from <= moment && moment <= span.to; });
}

namespace {

class BufferFinder {
public:
  BufferFinder(ir::FuncOp func, const Machine &machine,
               llvm::function_ref<bool(Operation *)> liesInSlot)
      : Func(func), Target(machine) {
    number(func.getBody().front());
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (int64_t bytes = scratchBytes(op, machine))
        addScratch(op, bytes);
      if (op->hasAttr(tile::kStagedAttr) && machine.spreadsTiles)
        addStaged(op);
      if (liesInSlot(op))
        return;
      for (Value result : op->getResults())
        if (isa<tile::TileType>(result.getType()))
          add(result);
    });
  }

  std::vector<TileBuffer> run() {
    shareViews();
    shareCarried();
    shareInPlace();
    std::vector<TileBuffer> found;
    for (int64_t i = 0; i < int64_t(Buffers.size()); ++i)
      if (Parent[i] == i)
        found.push_back(std::move(Buffers[i]));
    for (TileBuffer &buffer : found)
      if (scf::ForOp loop = pipelinedLoopOf(buffer)) {
        auto kind = loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr);
        buffer.copies = std::max<int64_t>(kind.getStages(), 1);
        buffer.loop = {Begin.lookup(loop), End.lookup(loop)};
      }
    return found;
  }

private:
  //===-- Moments ---------------------------------------------------------------------===//

  /// Each operation has a moment at which it starts and, if it has regions, one at which it ends.
  void number(Block &block) {
    for (Operation &op : block) {
      Begin[&op] = Next;
      At.push_back(&op);
      ++Next;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          number(inner);
      if (op.getNumRegions() > 0) {
        At.push_back(&op);
        ++Next;
      }
      End[&op] = Next - 1;
    }
  }

  /// When a use is over: a loop inside which it lies, and outside which the value was made, uses it
  /// again and again.
  int64_t momentOf(Operation *user, Block *madeIn) const {
    int64_t moment = Begin.lookup(user);
    for (Operation *op = user; op->getBlock() != madeIn; op = op->getParentOp())
      if (Operation *around = op->getParentOp(); isa<scf::ForOp, scf::WhileOp>(around))
        moment = End.lookup(around);
    return moment;
  }

  LifeSpan spanOf(Value value, int64_t from) const {
    LifeSpan span{from, from};
    for (Operation *user : value.getUsers()) {
      span.to = std::max(span.to, momentOf(user, value.getParentBlock()));
      if (auto facts = dyn_cast<tile::TileOpInterface>(user); facts && facts.readsUntilUsed())
        for (Operation *later : user->getResult(0).getUsers())
          span.to = std::max(span.to, momentOf(later, value.getParentBlock()));
    }
    return span;
  }

  //===-- Buffers ---------------------------------------------------------------------===//

  void addScratch(Operation *op, int64_t bytes) {
    TileBuffer buffer{tile::Space::Vec, bytes, {}, op, {{Begin.lookup(op), Begin.lookup(op)}}};
    Parent.push_back(Buffers.size());
    Buffers.push_back(std::move(buffer));
  }

  /// The copy engine reads it while the function goes on, and when it is called again.
  void addStaged(Operation *op) {
    TileBuffer buffer{tile::Space::Mat, tile::kStagedBytes, {}, op, {{0, Next}}};
    Parent.push_back(Buffers.size());
    Buffers.push_back(std::move(buffer));
  }

  void add(Value value) {
    auto type = cast<tile::TileType>(value.getType());
    TileBuffer buffer{type.getSpace(), tile::bytesOn(Target, type), {value}, nullptr, {}};
    Operation *op = value.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      // The loop starts with a copy; each iteration ends with one, and in between the memory is
      // needed up to the last use.
      unsigned index = cast<OpResult>(value).getResultNumber();
      BlockArgument argument = loop.getRegionIterArg(index);
      Carried[argument] = value;
      int64_t yield = Begin.lookup(loop.getBody()->getTerminator());
      buffer.spans = {spanOf(argument, Begin.lookup(op)), spanOf(value, End.lookup(op))};
      buffer.spans[1].from = yield;
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      // The same, where the condition is evaluated once more at the end: its moments come before
      // those of the body, and the memory is needed in all of them.
      unsigned index = cast<OpResult>(value).getResultNumber();
      BlockArgument before = loop.getBeforeArguments()[index],
                    after = loop.getAfterArguments()[index];
      Carried[before] = Carried[after] = value;
      int64_t begin = Begin.lookup(op), condition = Begin.lookup(loop.getConditionOp());
      buffer.spans = {{begin, std::max(condition, spanOf(after, begin).to)},
                      spanOf(value, End.lookup(op))};
      buffer.spans[1].from = Begin.lookup(loop.getYieldOp());
    } else if (isa<scf::IfOp>(op)) {
      buffer.spans = {spanOf(value, End.lookup(op))};
      for (Region &region : op->getRegions())
        if (!region.empty()) {
          int64_t yield = Begin.lookup(region.front().getTerminator());
          buffer.spans.insert(std::prev(buffer.spans.end()), {yield, yield});
        }
    } else {
      buffer.spans = {spanOf(value, Begin.lookup(op))};
    }
    Index[value] = Buffers.size();
    Parent.push_back(Buffers.size());
    Buffers.push_back(std::move(buffer));
  }

  std::optional<int64_t> bufferOf(Value value) const {
    if (Value loopResult = Carried.lookup(value))
      value = loopResult;
    auto it = Index.find(value);
    if (it == Index.end())
      return std::nullopt;
    int64_t at = it->second;
    while (Parent[at] != at)
      at = Parent[at];
    return at;
  }

  /// Makes two buffers one if they are never alive at once. They may touch where one operation
  /// reads the one and makes the other, if it works in place.
  bool share(Value a, Value b) {
    std::optional<int64_t> one = bufferOf(a), other = bufferOf(b);
    if (!one || !other || Buffers[*one].space != Buffers[*other].space)
      return false;
    if (*one == *other)
      return true;
    for (LifeSpan x : Buffers[*one].spans)
      for (LifeSpan y : Buffers[*other].spans) {
        if (x.from < y.to && y.from < x.to)
          return false;
        if ((x.to == y.from && !worksInPlace(At[x.to], *one, *other)) ||
            (y.to == x.from && !worksInPlace(At[y.to], *one, *other)))
          return false;
      }
    TileBuffer &into = Buffers[*one], &from = Buffers[*other];
    into.bytes = std::max(into.bytes, from.bytes);
    llvm::append_range(into.tiles, from.tiles);
    llvm::append_range(into.spans, from.spans);
    llvm::sort(into.spans, [](LifeSpan x, LifeSpan y) { return x.from < y.from; });
    Parent[*other] = *one;
    return true;
  }

  /// Whether an operation may write its result over the operand that shares its buffer: it reads
  /// each element before it writes the one at the same place.
  bool worksInPlace(Operation *op, int64_t one, int64_t other) const {
    auto facts = dyn_cast<tile::TileOpInterface>(op);
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp>(op) ||
        (facts && facts.getView() == tile::View::Whole))
      return true; // copies, or nothing at all
    auto isOurs = [&](Value value) {
      std::optional<int64_t> buffer = bufferOf(value);
      return buffer == one || buffer == other;
    };
    auto mayReplace = [&](OpOperand &operand) { return facts.mayReplace(operand); };
    return facts && llvm::any_of(op->getOpOperands(), mayReplace) &&
           llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
             return !isa<tile::TileType>(operand.get().getType()) || !isOurs(operand.get()) ||
                    mayReplace(operand);
           });
  }

  void shareViews() {
    Func.walk([&](tile::TileOpInterface view) {
      if (view.getView() != tile::View::Whole)
        return;
      std::optional<int64_t> one = bufferOf(view->getOperand(0)),
                             other = bufferOf(view->getResult(0));
      if (!one || !other || *one == *other || Buffers[*one].space != Buffers[*other].space)
        return;
      // The same memory, alive as long as one of them is.
      TileBuffer &into = Buffers[*one], &from = Buffers[*other];
      LifeSpan &last = into.spans.back();
      last.to = std::max(last.to, from.spans.back().to);
      llvm::append_range(into.tiles, from.tiles);
      Parent[*other] = *one;
    });
  }

  void shareLoop(ValueRange results, ValueRange yields, ValueRange inits) {
    for (auto [result, yielded, init] : llvm::zip(results, yields, inits)) {
      if (!isa<tile::TileType>(result.getType()))
        continue;
      share(result, yielded);
      share(result, init);
    }
  }

  void shareCarried() {
    Func.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        shareLoop(loop.getResults(), loop.getYieldedValues(), loop.getInits());
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        shareLoop(loop.getResults(), loop.getYieldOp().getResults(), loop.getInits());
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        for (Region &region : branch->getRegions())
          if (!region.empty())
            for (auto [result, yielded] :
                 llvm::zip(branch.getResults(), region.front().getTerminator()->getOperands()))
              if (isa<tile::TileType>(result.getType()))
                share(result, yielded);
    });
  }

  void shareInPlace() {
    Func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa_and_nonnull<tile::TileDialect>(op->getDialect()) || op->getNumResults() != 1 ||
          !isa<tile::TileType>(op->getResult(0).getType()))
        return;
      for (Value operand : op->getOperands())
        if (operand.getType() == op->getResult(0).getType() && share(operand, op->getResult(0)))
          return;
    });
  }

  /// The loop in which a load may run ahead; null if it may not.
  static scf::ForOp pipelinedLoopOf(const TileBuffer &buffer) {
    if (buffer.tiles.empty())
      return {};
    Operation *load = buffer.tiles.front().getDefiningOp();
    auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
    auto kind = loop ? loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr) : ir::LoopAttr();
    bool isPipelined = kind && kind.getKind() == ir::LoopKind::Pipeline;
    return isPipelined && buffer.tiles.size() == 1 && isa<tile::LoadOp>(load) ? loop : scf::ForOp();
  }

  ir::FuncOp Func;
  const Machine &Target;
  DenseMap<Operation *, int64_t> Begin, End;
  SmallVector<Operation *> At; ///< By moment.
  int64_t Next = 0;
  std::vector<TileBuffer> Buffers;
  std::vector<int64_t> Parent; ///< Of a buffer that became part of another.
  DenseMap<Value, int64_t> Index;
  DenseMap<Value, Value> Carried; ///< From what a loop carries to its result.
};

} // namespace

std::vector<TileBuffer> findBuffers(ir::FuncOp func, const Machine &machine,
                                    llvm::function_ref<bool(Operation *)> liesInSlot) {
  return BufferFinder(func, machine, liesInSlot).run();
}

} // namespace kiln
