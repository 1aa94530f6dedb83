#include "MemoryPlan.h"

#include "kiln/Dialect/Kiln/CompilerChoices.h"
#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Dialect/Tile/Staged.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Machine/Guests.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

/// The free of the slot that a tile is popped from, in the same block; null if it is not there. The
/// frees of a pipe come in the order of its pops.
Operation *releaseOf(tile::PopOp pop) {
  auto isSame = [&](auto op) { return op.getPipe() == pop.getPipe(); };
  auto pops = llvm::make_filter_range(pop->getBlock()->getOps<tile::PopOp>(), isSame);
  auto frees = llvm::make_filter_range(pop->getBlock()->getOps<tile::FreeOp>(), isSame);
  auto free = frees.begin();
  for (auto other = pops.begin(); *other != pop && free != frees.end(); ++other)
    ++free;
  return free == frees.end() ? nullptr : (*free).getOperation();
}

bool isUsedBefore(Value value, Operation *op) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    return here && here->isBeforeInBlock(op);
  });
}

/// Whether a load of a role that only copies goes straight to the slot it is pushed into.
bool loadsIntoSlot(Operation *op, const Machine &machine) {
  auto load = dyn_cast<tile::LoadOp>(op);
  if (!load || load->use_empty())
    return false;
  const Role *role = findExecutor(machine, *op->getParentOfType<ir::FuncOp>().getRole());
  return role && role->executes == CopyWork &&
         llvm::all_of(load->getUsers(), llvm::IsaPred<tile::PushOp>);
}

/// Whether an operation takes rows of what was popped: threads that hold tiles in registers, and
/// the matrix unit, read them where they are.
bool takesRowsOfSlot(Operation *op, const Machine &machine) {
  auto extract = dyn_cast<tile::ExtractOp>(op);
  auto pop = extract ? extract.getTile().getDefiningOp<tile::PopOp>() : nullptr;
  return machine.spreadsTiles && pop && !pop.getCopy() &&
         extract.getType().getSpace() == tile::Space::Mat;
}

/// The lanes of a role that share one memory: what each of them has takes as many places.
int64_t lanesInMemory(ir::FuncOp func, const Machine &machine) {
  int64_t lanes = 1;
  if (machine.pipeStorage == PipeStorage::SharedMemory)
    func->getParentOfType<ModuleOp>().walk([&](ir::CallOp call) {
      if (call.getCallee() == func.getSymName())
        lanes = std::max(lanes, call->getParentOfType<ir::FuncOp>().getLanesOf(*func.getRole()));
    });
  return lanes;
}

/// The memory of a role in which tiles arrive that it pops: where its pops are.
const Memory *memoryOf(tile::PopOp pop, const Machine &machine) {
  for (Value tile : pop.getTiles())
    return machine.findMemory(
        tile::stringifySpace(cast<tile::TileType>(tile.getType()).getSpace()));
  return nullptr;
}

/// The rings in this function's memory, each as the group with the most slots makes it.
std::vector<PlacedRing> findRings(ir::FuncOp func, const Machine &machine) {
  std::vector<PlacedRing> rings;
  llvm::SmallDenseMap<Value, const Memory *> memories; // by pipe parameter
  func.walk([&](tile::PopOp pop) {
    if (const Memory *memory = memoryOf(pop, machine); memory && memory->bytes)
      memories[pop.getPipe()] = memory;
  });
  auto module = func->getParentOfType<ModuleOp>();
  for (BlockArgument parameter : func.getArguments()) {
    const Memory *memory = memories.lookup(parameter);
    if (!memory)
      continue;
    std::optional<PlacedRing> largest;
    module.walk([&](ir::CallOp call) {
      if (call.getCallee() != func.getSymName())
        return;
      auto pipe = call.getArgs()[parameter.getArgNumber()].getDefiningOp<tile::PipeOp>();
      auto group = call->getParentOfType<ir::FuncOp>();
      tile::PipeType type = pipe.getPipe().getType();
      // Each lane's part is in its own memory, or all of them are in one.
      int64_t parts =
          machine.pipeStorage == PipeStorage::SharedMemory ? 1 : group.getLanesOf(type.getTo());
      int64_t slotBytes = 0;
      for (tile::TileType full : type.getPayload()) {
        tile::TileType share = tile::laneShare(full, type.getSplit(), parts);
        auto there = tile::TileType::get(share.getContext(), share.getRows(), share.getCols(),
                                         share.getElementType(),
                                         *tile::symbolizeSpace(llvm::StringRef(memory->name)));
        slotBytes += llvm::alignTo(tile::bytesOn(machine, there), memory->alignment);
      }
      PlacedRing ring{pipe, memory,
                      static_cast<int64_t>(pipe.getSlots().value_or(machine.defaultSlots)),
                      slotBytes};
      if (largest)
        ring.unsized = largest->unsized;
      if (!pipe.getSlots())
        ring.unsized.push_back(pipe);
      ring.pipes = largest ? largest->pipes : ring.pipes;
      ring.pipes.push_back(pipe);
      if (largest && largest->bytes() >= ring.bytes()) {
        largest->unsized = ring.unsized;
        largest->pipes = ring.pipes;
      } else {
        largest = ring;
      }
      largest->parameter = parameter;
    });
    if (largest)
      rings.push_back(*largest);
  }
  return rings;
}

/// Whether two buffers need memory at once, with the copies they have.
bool meet(const PlacedBuffer &a, const PlacedBuffer &b) {
  auto withCopies = [](const PlacedBuffer &placed) {
    TileBuffer buffer = placed.buffer;
    if (placed.copies > 1)
      buffer.spans = {placed.buffer.loop};
    return buffer;
  };
  return withCopies(a).meets(withCopies(b));
}

/// Gives every ring and buffer of a memory an address: rings first, then buffers, the largest
/// first, each at the lowest address where it meets nobody. Lanes do not wait for each other, so
/// each has all its buffers apart from the others', and they follow one another.
int64_t place(std::vector<PlacedRing> &rings, std::vector<PlacedBuffer> &buffers,
              const Memory *memory) {
  int64_t ringsEnd = 0;
  for (PlacedRing &ring : rings) {
    if (ring.memory != memory)
      continue;
    ring.address = ringsEnd;
    ringsEnd += ring.bytes();
  }
  SmallVector<PlacedBuffer *> order;
  for (PlacedBuffer &placed : buffers)
    if (placed.memory == memory)
      order.push_back(&placed);
  llvm::stable_sort(
      order, [](const PlacedBuffer *a, const PlacedBuffer *b) { return a->bytes() > b->bytes(); });
  int64_t used = ringsEnd, lanes = 1;
  SmallVector<PlacedBuffer *> done;
  for (PlacedBuffer *placed : order) {
    SmallVector<PlacedBuffer *> inTheWay;
    llvm::copy_if(done, std::back_inserter(inTheWay),
                  [&](PlacedBuffer *other) { return meet(*placed, *other); });
    llvm::sort(inTheWay, [](const PlacedBuffer *a, const PlacedBuffer *b) {
      return a->address < b->address;
    });
    placed->address = ringsEnd;
    for (PlacedBuffer *other : inTheWay)
      if (other->address < placed->address + placed->laneBytes())
        placed->address = std::max(placed->address, other->address + other->laneBytes());
    done.push_back(placed);
    used = std::max(used, placed->address + placed->laneBytes());
    lanes = placed->lanes;
  }
  return ringsEnd + (used - ringsEnd) * lanes;
}

/// Whether the only tiles of a ring come once a block.
bool comesOnce(const PlacedRing &ring) {
  int64_t pops = 0;
  for (Operation *user : ring.parameter.getUsers())
    if (isa<tile::PopOp>(user))
      pops += user->getParentOfType<scf::ForOp>() || user->getParentOfType<scf::WhileOp>() ? 2 : 1;
  return pops == 1;
}

/// Where memory is short, a pipe whose only tiles come once a block does with one slot: nobody has
/// to push a second time before the first is popped.
void narrowRings(FunctionPlan &plan, MemoryUse &use) {
  for (PlacedRing &ring : plan.rings)
    if (ring.memory == use.memory && !ring.unsized.empty() && comesOnce(ring))
      ring.slots = 1;
  use.bytes = place(plan.rings, plan.buffers, use.memory);
}

/// Gives rings the slots that their memory has room for. More than a few hide no more latency, and
/// each costs its barriers, for which there is little room beside the memory. What streams through
/// small slots has as many as there are barriers for: all that is under way is in them. What comes
/// once a block is there in time with those it has.
void deepenRings(FunctionPlan &plan, MemoryUse &use) {
  constexpr int64_t mostInAll = 32;
  bool isStream = plan.func
                      .walk([](tile::ProductInterface product) {
                        return product->hasAttr(tile::kExchangedAttr) ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
                      })
                      .wasInterrupted();
  int64_t mostSlots = isStream ? mostInAll : 16;
  if (std::optional<int64_t> told = ir::CompilerChoices::of(plan.func).slots)
    mostSlots = std::min(mostSlots, *told);
  SmallVector<PlacedRing *> rings;
  for (PlacedRing &ring : plan.rings)
    if (ring.memory == use.memory && !ring.unsized.empty() && ring.slotBytes > 0 &&
        !comesOnce(ring))
      rings.push_back(&ring);
  auto addSlots = [&](int64_t number) {
    for (PlacedRing *ring : rings)
      ring->slots += number;
    use.bytes = place(plan.rings, plan.buffers, use.memory);
  };
  auto canGrow = [&](const PlacedRing *ring) { return ring->slots < mostSlots; };
  auto slotsInAll = [&] {
    int64_t sum = 0;
    for (const PlacedRing &ring : plan.rings)
      sum += ring.slots;
    return sum;
  };
  while (!rings.empty() && !use.overflows() && llvm::all_of(rings, canGrow) &&
         slotsInAll() + int64_t(rings.size()) <= mostInAll)
    addSlots(1);
  if (use.overflows())
    addSlots(-1);
}

} // namespace

/// Whether what a tile is moved from is still there where it is used: a slot may be free by then.
static bool canMoveLater(tile::MoveOp move) {
  Operation *op = move;
  auto isWholeView = [](Operation *from) {
    auto facts = dyn_cast_if_present<tile::TileOpInterface>(from);
    return facts && (facts.getView() == tile::View::Moved || facts.getView() == tile::View::Whole);
  };
  while (isWholeView(op))
    op = op->getOperand(0).getDefiningOp();
  auto pop = dyn_cast_or_null<tile::PopOp>(op);
  if (!pop || pop.getCopy())
    return true;
  Operation *release = releaseOf(pop);
  return release && isUsedBefore(move, release);
}

bool separateMoves(const FunctionPlan &plan) {
  auto overflows = [&](tile::Space space) {
    return llvm::any_of(plan.uses, [&](const MemoryUse &use) {
      return use.overflows() && use.memory->name == std::string_view(tile::stringifySpace(space));
    });
  };
  SmallVector<tile::MoveOp> moves;
  plan.func.walk([&](tile::MoveOp move) {
    bool isAtItsUse = move->hasOneUse() && move->getNextNode() == *move->user_begin();
    if (!isAtItsUse && overflows(move.getType().getSpace()) && canMoveLater(move))
      moves.push_back(move);
  });
  // The last first: a move of what another move made comes before that one's own uses.
  for (tile::MoveOp move : llvm::reverse(moves)) {
    for (OpOperand &use : llvm::make_early_inc_range(move->getUses())) {
      OpBuilder builder(use.getOwner());
      use.set(builder.clone(*move)->getResult(0));
    }
    move.erase();
  }
  return !moves.empty();
}

FunctionPlan planFunction(ir::FuncOp func, const Machine &machine) {
  FunctionPlan plan{func, &machine, {}, {}, {}};
  bool ringsAreHere = machine.pipeStorage == PipeStorage::ConsumerMemory ||
                      machine.pipeStorage == PipeStorage::SharedMemory;
  // The rings of guests are the group's: what any of its roles has in shared memory comes behind.
  if (ringsAreHere && !findGuest(machine, *func.getRole()))
    plan.rings = findRings(func, machine);
  auto liesInSlot = [&](Operation *op) {
    auto pop = dyn_cast<tile::PopOp>(op);
    return ringsAreHere &&
           (pop ? !pop.getCopy() : loadsIntoSlot(op, machine) || takesRowsOfSlot(op, machine));
  };
  int64_t lanes = lanesInMemory(func, machine);
  for (TileBuffer &buffer : findBuffers(func, machine, liesInSlot)) {
    const Memory *memory = machine.findMemory(tile::stringifySpace(buffer.space));
    if (!memory || memory->bytes == 0)
      continue;
    PlacedBuffer placed{std::move(buffer), memory};
    placed.each = llvm::alignTo(placed.buffer.bytes, memory->alignment);
    placed.lanes = lanes;
    placed.copies = placed.buffer.copies;
    plan.buffers.push_back(std::move(placed));
  }
  for (const Memory &memory : machine.memories) {
    auto isHere = [&](const auto &placed) { return placed.memory == &memory; };
    if (llvm::none_of(plan.buffers, isHere) && llvm::none_of(plan.rings, isHere))
      continue;
    int64_t copies = 1;
    for (PlacedBuffer &placed : plan.buffers)
      if (isHere(placed))
        copies = std::max(copies, placed.buffer.copies);
    MemoryUse use{&memory};
    if (machine.pipeStorage == PipeStorage::SharedMemory)
      func.walk(
          [&](Operation *op) { use.behind = std::max(use.behind, tile::bytesReadBehind(op)); });
    for (; copies >= 1; --copies) {
      for (PlacedBuffer &placed : plan.buffers)
        if (isHere(placed))
          placed.copies = std::min(placed.buffer.copies, copies);
      use.bytes = place(plan.rings, plan.buffers, &memory);
      if (!use.overflows())
        break;
    }
    if (machine.slotsFillMemory && use.overflows())
      narrowRings(plan, use);
    else if (machine.slotsFillMemory)
      deepenRings(plan, use);
    plan.uses.push_back(use);
  }
  return plan;
}

FunctionPlan planWithPanels(ir::FuncOp func, const Machine &machine) {
  FunctionPlan plan = planFunction(func, machine);
  SmallVector<Operation *> staged;
  for (const PlacedBuffer &placed : plan.buffers)
    if (Operation *store = placed.buffer.scratchOf; store && store->hasAttr(tile::kStagedAttr))
      staged.push_back(store);
  if (staged.empty())
    return plan;

  for (Operation *store : staged)
    store->removeAttr(tile::kStagedAttr);
  FunctionPlan without = planFunction(func, machine);
  bool costsSlots = llvm::any_of(llvm::zip_equal(plan.rings, without.rings), [](const auto &pair) {
    return std::get<0>(pair).slots < std::get<1>(pair).slots;
  });
  if (costsSlots || llvm::any_of(plan.uses, [](const MemoryUse &use) { return use.overflows(); }))
    return without;
  for (Operation *store : staged)
    store->setAttr(tile::kStagedAttr, UnitAttr::get(store->getContext()));
  return plan;
}

bool FunctionPlan::wouldFit(const MemoryUse &use, const Supposition &what) const {
  std::vector<PlacedRing> otherRings = rings;
  std::vector<PlacedBuffer> otherBuffers = buffers;
  auto scale = [&](int64_t bytes) {
    return int64_t(llvm::alignTo(llvm::divideCeil(bytes, what.divisor), use.memory->alignment));
  };
  for (PlacedRing &ring : otherRings) {
    ring.slots = std::min(ring.slots, what.mostSlots);
    ring.slotBytes = scale(ring.slotBytes);
  }
  for (PlacedBuffer &placed : otherBuffers)
    placed.each = scale(placed.each);
  return place(otherRings, otherBuffers, use.memory) + use.behind <= use.memory->bytes;
}

llvm::SmallVector<const PlacedBuffer *> FunctionPlan::aliveAt(const MemoryUse &use,
                                                              int64_t moment) const {
  SmallVector<const PlacedBuffer *> alive;
  for (const PlacedBuffer &placed : buffers)
    if (placed.memory == use.memory && placed.buffer.isAliveAt(moment))
      alive.push_back(&placed);
  llvm::stable_sort(
      alive, [](const PlacedBuffer *a, const PlacedBuffer *b) { return a->bytes() > b->bytes(); });
  return alive;
}

int64_t FunctionPlan::worstMoment(const MemoryUse &use) const {
  int64_t worst = 0, most = -1;
  for (const PlacedBuffer &placed : buffers)
    for (LifeSpan span : placed.buffer.spans) { // something starts at the worst moment
      int64_t bytes = 0;
      for (const PlacedBuffer *other : aliveAt(use, span.from))
        bytes += other->bytes();
      if (bytes > most) {
        most = bytes;
        worst = span.from;
      }
    }
  return worst;
}

} // namespace kiln
