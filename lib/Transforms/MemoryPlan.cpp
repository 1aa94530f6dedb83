#include "MemoryPlan.h"

#include "kiln/Dialect/Tile/GlobalRing.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

/// Whether a popped tile can stay in its slot: its last use comes before the free of that slot. The
/// frees of a pipe come in the order of its pops.
bool staysInSlot(tile::PopOp pop) {
  Block *block = pop->getBlock();
  int64_t popsBefore = 0, frees = 0;
  for (auto other : block->getOps<tile::PopOp>()) {
    if (other == pop)
      break;
    popsBefore += other.getPipe() == pop.getPipe();
  }
  Operation *release = nullptr;
  for (auto free : block->getOps<tile::FreeOp>())
    if (free.getPipe() == pop.getPipe() && frees++ == popsBefore)
      release = free;
  if (!release)
    return frees == 0; // not placed yet, or not here
  SmallVector<Value> work(pop.getTiles());
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (!here || !here->isBeforeInBlock(release))
        return false;
      if (isa<tile::ReshapeOp>(user))
        work.push_back(user->getResult(0));
    }
  return true;
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
      int64_t slotBytes = 0;
      for (tile::TileType full : type.getPayload())
        slotBytes += llvm::alignTo(
            tile::bytesOf(tile::laneShare(full, type.getSplit(), group.getLanesOf(type.getTo()))),
            memory->alignment);
      PlacedRing ring{pipe, memory,
                      static_cast<int64_t>(pipe.getSlots().value_or(machine.defaultSlots)),
                      slotBytes};
      if (!largest || largest->bytes() < ring.bytes())
        largest = ring;
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
/// first, each at the lowest address where it meets nobody.
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
  int64_t used = ringsEnd;
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
      if (other->address < placed->address + placed->bytes())
        placed->address = std::max(placed->address, other->address + other->bytes());
    done.push_back(placed);
    used = std::max(used, placed->address + placed->bytes());
  }
  return used;
}

} // namespace

FunctionPlan planFunction(ir::FuncOp func, const Machine &machine) {
  FunctionPlan plan{func, &machine, {}, {}, {}};
  bool ringsAreHere = machine.pipeStorage == PipeStorage::ConsumerMemory ||
                      machine.pipeStorage == PipeStorage::SharedMemory;
  if (ringsAreHere)
    plan.rings = findRings(func, machine);
  auto liesInSlot = [&](tile::PopOp pop) { return ringsAreHere && staysInSlot(pop); };
  for (TileBuffer &buffer : findBuffers(func, liesInSlot)) {
    const Memory *memory = machine.findMemory(tile::stringifySpace(buffer.space));
    if (!memory || memory->bytes == 0)
      continue;
    PlacedBuffer placed{std::move(buffer), memory};
    placed.each = llvm::alignTo(placed.buffer.bytes, memory->alignment);
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
    for (; copies >= 1; --copies) {
      for (PlacedBuffer &placed : plan.buffers)
        if (isHere(placed))
          placed.copies = std::min(placed.buffer.copies, copies);
      use.bytes = place(plan.rings, plan.buffers, &memory);
      if (!use.overflows())
        break;
    }
    plan.uses.push_back(use);
  }
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
  return place(otherRings, otherBuffers, use.memory) <= use.memory->bytes;
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
