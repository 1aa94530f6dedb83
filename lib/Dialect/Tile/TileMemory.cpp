#include "kiln/Dialect/Tile/TileMemory.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Machine/Hardware.h"

using namespace mlir;

namespace kiln::tile {

int64_t bytesOn(const Machine &machine, TileType type) {
  const Hardware *hardware = hardwareOf(machine);
  return hardware ? hardware->bytesOf(stringifySpace(type.getSpace()), type.getRows(),
                                      type.getCols(), type.getElementType().getIntOrFloatBitWidth())
                  : bytesOf(type);
}

int64_t bytesReadBehind(Operation *op) {
  auto product = dyn_cast<ProductInterface>(op);
  if (!product || !op->hasAttr(kExchangedAttr))
    return 0;
  auto right = cast<TileType>(product.getRhs().getType());
  int64_t rowBytes = right.getCols() * right.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t rows = llvm::alignTo(right.getRows(), 64) - right.getRows();
  return rows * std::min<int64_t>(rowBytes, 128);
}

bool hasPanelsInPlace(TileType type) {
  int64_t rowBytes = type.getCols() * type.getElementType().getIntOrFloatBitWidth() / 8;
  if (rowBytes <= 128)
    return rowBytes == 32 || rowBytes == 64 || rowBytes == 128;
  int64_t whole = llvm::alignTo(type.getRows(), 8);
  return rowBytes % 128 == 0 && whole * rowBytes <= int64_t(llvm::alignTo(bytesOf(type), 1024));
}

LogicalResult verifyAddresses(Operation *op, Attribute addresses) {
  auto list = dyn_cast<DenseI64ArrayAttr>(addresses);
  int64_t tiles = llvm::count_if(op->getResultTypes(), llvm::IsaPred<TileType>);
  if (!list || list.size() != tiles || tiles == 0)
    return op->emitOpError("needs one i64 in ")
           << kAddressAttr << " for each of the " << tiles << " tiles it makes";
  return success();
}

LogicalResult verifyLocalRing(Operation *op, Attribute ring) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(ring);
  bool isGood =
      numbers && numbers.size() == 3 &&
      llvm::all_of(numbers.asArrayRef(), [](int64_t at) { return at >= 0 && at <= INT32_MAX; });
  if (!isa<PipeOp, PushOp, PopOp, FreeOp>(op) || !isGood)
    return op->emitOpError("cannot have this ")
           << kLocalRingAttr << ": a pipe, and what is done with it, has the address of its ring, "
           << "the bytes of a slot and the slots";
  return success();
}

/// The value that stands for what lies at an address: a view is what it is a view of, and a loop
/// keeps what it carries where its result will be.
static Value ownerOf(Value tile) {
  while (true) {
    if (auto reshape = tile.getDefiningOp<ReshapeOp>()) {
      tile = reshape.getOperand();
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(tile);
    Operation *around = argument ? argument.getOwner()->getParentOp() : nullptr;
    if (auto loop = dyn_cast_or_null<scf::ForOp>(around); loop && argument.getArgNumber() > 0)
      return loop.getResult(argument.getArgNumber() - 1);
    // What is planned hands its tiles straight on; what is not has no addresses.
    if (auto loop = dyn_cast_or_null<scf::WhileOp>(around);
        loop && argument.getArgNumber() < loop.getNumResults())
      return loop.getResult(argument.getArgNumber());
    return tile;
  }
}

static SmallVector<std::pair<Value, int64_t>> placedBy(Operation *op) {
  SmallVector<std::pair<Value, int64_t>> placed;
  auto addresses = op->getAttrOfType<DenseI64ArrayAttr>(kAddressAttr);
  if (!addresses)
    return placed;
  unsigned next = 0;
  for (Value result : op->getResults())
    if (isa<TileType>(result.getType()))
      placed.emplace_back(result, addresses[next++]);
  return placed;
}

/// Where a tile is to be found; -1 if nobody planned it.
static int64_t addressOf(Value owner) {
  if (Operation *op = owner.getDefiningOp())
    for (auto [tile, address] : placedBy(op))
      if (tile == owner)
        return address;
  return -1;
}

static std::string describe(Value tile, int64_t address) {
  auto type = cast<TileType>(tile.getType());
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type.getRows() << "x" << type.getCols() << "x" << type.getElementType() << " at byte "
     << address << " of " << stringifySpace(type.getSpace());
  return text;
}

std::optional<TileMemory::Fault> TileMemory::use(Operation *op) const {
  for (Value operand : op->getOperands()) {
    if (!isa<TileType>(operand.getType()))
      continue;
    Value owner = ownerOf(operand);
    int64_t address = addressOf(owner);
    if (address < 0)
      continue;
    Space space = cast<TileType>(owner.getType()).getSpace();
    auto area = Content.find({space, address});
    if (area != Content.end() && area->second.tile == owner)
      continue;
    Fault fault{"uses the tile " + describe(owner, address) + ", where another tile lies by now"};
    auto next = Content.upper_bound(
        {space, address + bytesOn(*Target, cast<TileType>(owner.getType())) - 1});
    if (next != Content.begin() && std::prev(next)->first.first == space)
      fault.other = std::prev(next)->second.maker;
    return fault;
  }
  return std::nullopt;
}

std::optional<TileMemory::Fault> TileMemory::put(Value tile, int64_t address, Operation *maker) {
  auto type = cast<TileType>(tile.getType());
  Space space = type.getSpace();
  const Memory *memory = Target->findMemory(stringifySpace(space));
  int64_t end = address + bytesOn(*Target, type);
  if (!memory || end > memory->bytes)
    return Fault{"puts a tile of " + describe(tile, address) + ", which has " +
                 std::to_string(memory ? memory->bytes : 0) + " bytes"};
  if (address % memory->alignment != 0)
    return Fault{"puts a tile of " + describe(tile, address) + ", where tiles are aligned to " +
                 std::to_string(memory->alignment) + " bytes"};
  auto area = Content.lower_bound({space, address});
  if (area != Content.begin() && std::prev(area)->first.first == space &&
      std::prev(area)->second.end > address)
    --area;
  while (area != Content.end() && area->first.first == space && area->first.second < end)
    area = Content.erase(area);
  Content[{space, address}] = {end, tile, maker};
  return std::nullopt;
}

std::optional<TileMemory::Fault> TileMemory::make(Operation *op) {
  Operation *maker = isa<scf::YieldOp>(op) ? op->getParentOp() : op;
  if (isa<ReshapeOp>(op) || (maker == op && isa<scf::IfOp>(op)))
    return std::nullopt;
  for (auto [tile, address] : placedBy(maker))
    if (address >= 0)
      if (std::optional<Fault> fault = put(tile, address, op))
        return fault;
  return std::nullopt;
}

void TileMemory::enter(Operation *loop) {
  auto putAll = [&](Operation *op) {
    if (!isa<ReshapeOp>(op))
      for (auto [tile, address] : placedBy(op))
        if (address >= 0)
          (void)put(tile, address, op); // what is wrong with it is told where it is made
  };
  for (Region &region : loop->getRegions())
    region.walk(putAll);
  putAll(loop);
}

void TileMemory::meet(const TileMemory &other) {
  for (auto it = Content.begin(); it != Content.end();) {
    auto there = other.Content.find(it->first);
    bool same = there != other.Content.end() && there->second.tile == it->second.tile;
    it = same ? std::next(it) : Content.erase(it);
  }
}

//===----------------------------------------------------------------------===//
// Replay
//===----------------------------------------------------------------------===//

static LogicalResult report(Operation *op, const std::optional<TileMemory::Fault> &fault) {
  if (!fault)
    return success();
  InFlightDiagnostic diag = op->emitOpError(fault->message);
  if (fault->other)
    diag.attachNote(fault->other->getLoc()) << "put there by this operation";
  return diag;
}

static LogicalResult replay(Block &block, TileMemory &memory) {
  for (Operation &op : block) {
    if (failed(report(&op, memory.use(&op))) || failed(report(&op, memory.make(&op))))
      return failure();
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      TileMemory otherwise = memory;
      if (failed(replay(*branch.thenBlock(), memory)))
        return failure();
      if (branch.elseBlock() && failed(replay(*branch.elseBlock(), otherwise)))
        return failure();
      memory.meet(otherwise);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      TileMemory skipped = memory;
      memory.enter(loop);
      if (failed(replay(*loop.getBody(), memory)))
        return failure();
      memory.meet(skipped);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      memory.enter(loop);
      if (failed(replay(*loop.getBeforeBody(), memory)))
        return failure();
      TileMemory left = memory;
      if (failed(replay(*loop.getAfterBody(), memory)))
        return failure();
      memory = std::move(left);
    }
  }
  return success();
}

LogicalResult verifyMemoryPlan(ir::FuncOp func, const Machine &machine) {
  TileMemory memory(machine);
  return replay(func.getBody().front(), memory);
}

} // namespace kiln::tile
