#include "Pipe.h"

#include "Watcher.h"

#include "kiln/Program/Signature.h"
#include "kiln/runtime/pipe_slots.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace kiln::simulator {

Pipe::Pipe(std::string name, tile::PipeType type, int64_t slots, int64_t producers,
           int64_t consumers)
    : Name(std::move(name)), Type(type), Slots(slots), Producers(producers), Consumers(consumers) {}

/// The lanes of the other end that `lane` deals with: its own counterpart if both ends have lanes,
/// else all.
static llvm::iota_range<int64_t> counterparts(int64_t lane, size_t mine, size_t theirs) {
  return mine > 1 && theirs > 1 ? llvm::seq(lane, lane + 1) : llvm::seq<int64_t>(0, theirs);
}

Pipe::Lanes Pipe::consumersOf(int64_t lane) const {
  return counterparts(lane, Producers.size(), Consumers.size());
}
Pipe::Lanes Pipe::producersOf(int64_t lane) const {
  return counterparts(lane, Consumers.size(), Producers.size());
}

SmallVector<int64_t> Pipe::pushWaitsFor(int64_t lane) const {
  SmallVector<int64_t> waits;
  for (int64_t consumer : consumersOf(lane))
    if (Producers[lane].pushed - Consumers[consumer].freed >= static_cast<uint64_t>(Slots))
      waits.push_back(consumer);
  return waits;
}

SmallVector<int64_t> Pipe::popWaitsFor(int64_t lane) const {
  SmallVector<int64_t> waits;
  for (int64_t producer : producersOf(lane))
    if (Producers[producer].pushed <= Consumers[lane].popped)
      waits.push_back(producer);
  return waits;
}

Expected<Pipe::Place> Pipe::placeInRing(uint64_t message, size_t which, int64_t lane,
                                        int64_t lanes) const {
  tile::TileType full = Type.getPayload()[which];
  DType dtype = *dtypeOf(full.getElementType());
  bool isSplit = Type.getSplit() != tile::Split::None;
  bool ownTiles = !isSplit && Producers.size() > 1 && Consumers.size() > 1;
  std::vector<int64_t> extents{full.getRows() * (ownTiles ? lanes : 1), full.getCols()};
  int64_t slot = static_cast<int64_t>(message % Slots);
  int64_t offset =
      Ring->row * Ring->rings.stride(0) + Ring->where.tiles[which] + slot * Ring->where.stride;
  Expected<Tensor> tile = Tensor::view(Ring->rings.dataAs<std::byte>() + offset, dtype, extents);
  if (!tile)
    return tile.status();
  std::vector<int64_t> indices{0, 0};
  if (ownTiles)
    indices[0] = lane * full.getRows();
  else if (isSplit && lanes > 1)
    indices[Type.getSplitAxis()] = lane * (full.getExtent(Type.getSplitAxis()) / lanes);
  return Place{*tile, indices};
}

Status Pipe::push(int64_t lane, std::vector<TilePtr> tiles, Operation *op, Agent *agent,
                  GlobalMemory &memory) {
  Producer &producer = Producers[lane];
  if (agent && ordersAgents()) {
    size_t slot = producer.pushed % Slots;
    for (int64_t consumer : consumersOf(lane))
      if (const auto &frees = Consumers[consumer].frees; slot < frees.size())
        agent->acquire(frees[slot].before);
  }
  for (size_t which = 0; Ring && which < tiles.size(); ++which) {
    Expected<Place> place = placeInRing(producer.pushed, which, lane, Producers.size());
    if (!place)
      return place.status();
    Access access{op, Ring->where.bytes, place->tile, place->indices, {}, agent};
    if (Status bad = memory.store(access, *tiles[which], /*isAtomicAdd=*/false); !bad.isOk())
      return bad;
  }
  producer.parts.push_back({std::move(tiles), op, agent ? agent->release() : Clock()});
  ++producer.pushed;
  return Status::ok();
}

Expected<std::vector<TilePtr>> Pipe::pop(int64_t lane, Operation *op, Agent *agent,
                                         GlobalMemory &memory) {
  uint64_t number = Consumers[lane].popped++;
  Lanes producers = producersOf(lane);
  if (agent && ordersAgents())
    for (int64_t producer : producers)
      agent->acquire(Producers[producer].part(number).pushed);
  bool isSplit = Type.getSplit() != tile::Split::None;
  std::vector<TilePtr> tiles = Producers[*producers.begin()].part(number).tiles;
  for (auto [which, tile] : llvm::enumerate(tiles)) {
    if (isSplit && producers.size() > 1) { // join the lanes' parts
      SmallVector<TilePtr> parts;
      for (int64_t producer : producers)
        parts.push_back(Producers[producer].part(number).tiles[which]);
      tile = concatenate(parts, Type.getSplitAxis());
    } else if (isSplit && Producers.size() == 1 && Consumers.size() > 1) { // take this lane's part
      bool byRows = Type.getSplitAxis() == 0;
      int64_t lanes = Consumers.size();
      int64_t rows = byRows ? tile->rows / lanes : tile->rows,
              cols = byRows ? tile->cols : tile->cols / lanes;
      tile = extractBox(*tile, byRows ? lane * rows : 0, byRows ? 0 : lane * cols, rows, cols);
    }
    if (!Ring)
      continue;
    // What is known of the tile came with it; its elements are what the memory holds now.
    Expected<Place> place = placeInRing(number, which, lane, Consumers.size());
    if (!place)
      return place.status();
    Access access{op, Ring->where.bytes, place->tile, place->indices, {}, agent};
    Expected<TilePtr> read =
        memory.load(access, tile->rows, tile->cols, ScalarBits::fromInt(tile->dtype, 0));
    if (!read)
      return read.status();
    auto arrived = std::make_shared<Tile>(**read);
    arrived->origins = tile->origins;
    arrived->bounds = tile->bounds;
    tile = std::move(arrived);
  }
  return tiles;
}

Status Pipe::free(int64_t lane, Operation *op, Agent *agent) {
  Consumer &consumer = Consumers[lane];
  if (consumer.freed == consumer.popped)
    return fault("frees a slot of pipe '" + Name +
                 "', but every slot that was popped is free already (" +
                 std::to_string(consumer.popped) + " popped)");
  if (agent) {
    size_t slot = consumer.freed % Slots;
    consumer.frees.resize(std::max(consumer.frees.size(), slot + 1));
    consumer.frees[slot] = {op, agent->release()};
  }
  ++consumer.freed;
  for (int64_t from : producersOf(lane)) {
    Producer &producer = Producers[from];
    uint64_t freedByAll = producer.pushed;
    for (int64_t other : consumersOf(from))
      freedByAll = std::min(freedByAll, Consumers[other].freed);
    while (producer.pushed - producer.parts.size() < freedByAll)
      producer.parts.pop_front();
  }
  return Status::ok();
}

Operation *Pipe::freeOf(int64_t lane, uint64_t message) const {
  const Consumer &consumer = Consumers[lane];
  return message < consumer.freed ? consumer.frees[message % Slots].op : nullptr;
}

std::string Pipe::describeForPush(int64_t lane) const {
  const Consumer *slowest = nullptr;
  for (int64_t consumer : consumersOf(lane))
    if (!slowest || Consumers[consumer].freed < slowest->freed)
      slowest = &Consumers[consumer];
  return describe(Producers[lane].pushed, *slowest);
}

std::string Pipe::describeForPop(int64_t lane) const {
  uint64_t pushed = UINT64_MAX;
  for (int64_t producer : producersOf(lane))
    pushed = std::min(pushed, Producers[producer].pushed);
  return describe(pushed, Consumers[lane]);
}

std::string Pipe::describe(uint64_t pushed, const Consumer &consumer) const {
  return describeSlots(pushed - consumer.popped, consumer.popped - consumer.freed, Slots);
}

uint64_t Pipe::used() const {
  uint64_t used = 0;
  for (int64_t lane = 0; lane < static_cast<int64_t>(Producers.size()); ++lane)
    for (int64_t consumer : consumersOf(lane))
      used = std::max(used, Producers[lane].pushed - Consumers[consumer].freed);
  return used;
}

Pipe::Leftover Pipe::leftover() const {
  Leftover left;
  for (int64_t consumer = 0; consumer < static_cast<int64_t>(Consumers.size()); ++consumer)
    for (int64_t lane : producersOf(consumer)) {
      const Producer &producer = Producers[lane];
      uint64_t popped = Consumers[consumer].popped;
      left.messages = std::max(left.messages, producer.pushed - std::min(popped, producer.pushed));
      for (uint64_t number = popped; number < producer.pushed; ++number)
        if (Operation *op = producer.part(number).op; !llvm::is_contained(left.pushes, op))
          left.pushes.push_back(op);
    }
  return left;
}

//===----------------------------------------------------------------------===//
// Pipe operations
//===----------------------------------------------------------------------===//

bool canExecutePipeOp(Interpreter &in, Operation *op) {
  if (auto push = dyn_cast<tile::PushOp>(op))
    return in.pipe(push.getPipe()).pushWaitsFor(in.place().lane).empty();
  if (auto pop = dyn_cast<tile::PopOp>(op))
    return in.pipe(pop.getPipe()).popWaitsFor(in.place().lane).empty();
  return true;
}

/// Tells the watcher, if there is one, of what has been done.
static Status done(Interpreter &in, Operation *op, const Pipe &pipe) {
  if (Watcher *watcher = in.memory().watcher(); watcher && in.place().agent)
    watcher->pipeIsUsed(*in.place().agent, op, pipe.name(), pipe.used(), pipe.slots());
  return Status::ok();
}

static Status runPush(Interpreter &in, tile::PushOp op) {
  std::vector<TilePtr> tiles;
  for (mlir::Value value : op.getTiles())
    tiles.push_back(in.tile(value));
  Pipe &pipe = in.pipe(op.getPipe());
  Status bad = pipe.push(in.place().lane, std::move(tiles), op, in.place().agent, in.memory());
  return bad.isOk() ? done(in, op, pipe) : bad;
}

static Status runPop(Interpreter &in, tile::PopOp op) {
  Pipe &pipe = in.pipe(op.getPipe());
  uint64_t message = pipe.popped(in.place().lane);
  Expected<std::vector<TilePtr>> tiles =
      pipe.pop(in.place().lane, op, in.place().agent, in.memory());
  if (!tiles)
    return tiles.status();
  for (auto [result, tile] : llvm::zip_equal(op.getTiles(), *tiles)) {
    in.set(result, tile);
    if (in.place().agent && !op.getCopy())
      in.setSlot(result, {op, &pipe, message});
  }
  return done(in, op, pipe);
}

static Status runFree(Interpreter &in, tile::FreeOp op) {
  Pipe &pipe = in.pipe(op.getPipe());
  Status bad = pipe.free(in.place().lane, op, in.place().agent);
  return bad.isOk() ? done(in, op, pipe) : bad;
}

void addPipeOps(OpTable &table) {
  table.add<tile::PushOp, runPush>();
  table.add<tile::PopOp, runPop>();
  table.add<tile::FreeOp, runFree>();
}

} // namespace kiln::simulator
