#include "kiln/Analysis/Instructions.h"

#include "kiln/Dialect/Tile/TileMemory.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

using tile::Space;
using tile::TileType;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// What lies where a tile is: a view is what it is a view of, and a loop keeps what it carries
/// where its result will be.
static Value ownerOf(Value tile) {
  while (true) {
    if (auto reshape = tile.getDefiningOp<tile::ReshapeOp>()) {
      tile = reshape.getOperand();
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(tile);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    return loop ? loop.getResult(argument.getArgNumber() - 1) : tile;
  }
}

tile::PopOp slotOf(Value tile) {
  auto pop = ownerOf(tile).getDefiningOp<tile::PopOp>();
  return pop && pop->hasAttr(tile::kLocalRingAttr) ? pop : tile::PopOp();
}

/// The ring that an operation of its consumer has to do with, where it is in that one's memory:
/// address and bytes.
static std::optional<TilePlace> ringOf(Operation *op) {
  auto ring = op->getAttrOfType<DenseI64ArrayAttr>(tile::kLocalRingAttr);
  if (!ring)
    return std::nullopt;
  bool isMatrix = findRole(*op->getParentOfType<ir::FuncOp>().getRole())->executes & MatrixWork;
  return TilePlace{isMatrix ? Space::Mat : Space::Vec, ring[0], ring[0] + ring[1] * ring[2]};
}

std::optional<TilePlace> placeOf(Value tile, const Machine &machine) {
  auto owner = dyn_cast<OpResult>(ownerOf(tile));
  if (!owner)
    return std::nullopt;
  if (std::optional<TilePlace> ring = ringOf(owner.getOwner()))
    return ring;
  auto addresses = owner.getOwner()->getAttrOfType<DenseI64ArrayAttr>(tile::kAddressAttr);
  int64_t number =
      llvm::count_if(owner.getOwner()->getResults().take_front(owner.getResultNumber()),
                     [](Value other) { return isa<TileType>(other.getType()); });
  if (!addresses || addresses[number] < 0)
    return std::nullopt;
  auto type = cast<TileType>(owner.getType());
  return TilePlace{type.getSpace(), addresses[number],
                   addresses[number] + tile::bytesOn(machine, type)};
}

int64_t scratchBytes(Operation *op, const Machine &machine) {
  if (!hardwareOf(machine))
    return 0;
  // A row is folded in halves beside itself; a select widens its mask.
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return tile::bytesOn(machine, reduce.getOperand().getType());
  if (auto select = dyn_cast<tile::SelectOp>(op))
    return tile::bytesOn(machine, select.getType());
  if (auto transpose = dyn_cast<tile::TransposeOp>(op))
    return tile::bytesOn(machine, transpose.getType());
  return 0;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static Unit unitOfMove(tile::MoveOp move) {
  Space from = move.getOperand().getType().getSpace(), to = move.getType().getSpace();
  if (from == Space::Acc)
    return Unit::FIX;
  if (from == Space::Vec)
    return to == Space::Vec ? Unit::V : Unit::MTE3;
  return Unit::MTE1;
}

static Unit unitOfPush(Value tile) {
  return cast<TileType>(tile.getType()).getSpace() == Space::Acc ? Unit::FIX : Unit::MTE3;
}

static std::optional<Unit> unitOf(Operation *op) {
  if (std::optional<TilePlace> ring = ringOf(op)) // its consumer's unit reads the slots itself
    return ring->space == Space::Mat ? Unit::MTE1 : Unit::V;
  return TypeSwitch<Operation *, std::optional<Unit>>(op)
      // Where a pop copies, the slot is free when the copy is made.
      .Case<tile::LoadOp, tile::GatherRowsOp, tile::PopOp, tile::FreeOp>(
          [](auto) { return Unit::MTE2; })
      .Case<tile::StoreOp, tile::ScatterRowsOp>([](auto op) { return unitOfPush(op.getTile()); })
      .Case<tile::PushOp>([](tile::PushOp push) -> std::optional<Unit> {
        if (push.getTiles().empty())
          return std::nullopt;
        return unitOfPush(push.getTiles().front());
      })
      .Case<tile::MoveOp>([](tile::MoveOp move) { return unitOfMove(move); })
      .Case<tile::FullOp>([](tile::FullOp full) {
        return full.getType().getSpace() == Space::Vec ? Unit::V : Unit::MTE2;
      })
      .Case<tile::ProductInterface>([](auto) { return Unit::M; })
      .Case<tile::ElementOp, tile::IotaOp, ir::ReadOp, ir::WriteOp>([](auto) { return Unit::S; })
      .Case<tile::ReshapeOp, tile::PrefetchOp, tile::YieldOp>([](auto) { return std::nullopt; })
      .Default([](Operation *op) -> std::optional<Unit> {
        auto facts = dyn_cast<tile::TileOpInterface>(op);
        bool computes = facts && facts.getWork() == VectorWork && op->getNumResults() > 0;
        return computes ? std::optional(Unit::V) : std::nullopt;
      });
}

/// A pipe whose both ends are this role: nobody else orders what it pushes and pops.
static bool isToItself(Value pipe) {
  auto type = cast<tile::PipeType>(pipe.getType());
  return type.getFrom() == type.getTo();
}

std::optional<Instruction> instructionOf(Operation *op, const Machine &machine) {
  std::optional<Unit> unit = unitOf(op);
  if (!unit)
    return std::nullopt;
  Instruction result{op, *unit, {}, false};
  auto touch = [&](Value tile, bool writes) {
    if (std::optional<TilePlace> place = placeOf(tile, machine))
      result.touches.push_back({writes, place->space, place->from, place->to});
  };
  for (Value operand : op->getOperands())
    if (isa<TileType>(operand.getType()))
      touch(operand, false);
  for (Value made : op->getResults())
    if (isa<TileType>(made.getType()))
      touch(made, true);
  if (auto scratch = op->getAttrOfType<IntegerAttr>(tile::kScratchAttr))
    result.touches.push_back(
        {true, Space::Vec, scratch.getInt(), scratch.getInt() + scratchBytes(op, machine)});
  for (const tile::TensorAccess &access : tile::tensorAccesses(op)) {
    if (access.reads)
      result.touches.push_back(
          {false, Space::Unassigned, 0, 0, ir::rootOf(access.tensor), boxOf(access)});
    if (access.writes)
      result.touches.push_back(
          {true, Space::Unassigned, 0, 0, ir::rootOf(access.tensor), boxOf(access)});
  }
  if (std::optional<TilePlace> ring = ringOf(op)) {
    result.signals = !isa<tile::PushOp>(op);
    result.touches = {{true, ring->space, ring->from, ring->to}};
    if (auto push = dyn_cast<tile::PushOp>(op)) // a pipe of the core to itself: a copy
      touch(push.getTiles().front(), false);
    return result;
  }
  if (auto push = dyn_cast<tile::PushOp>(op); push && isToItself(push.getPipe()))
    result.touches.push_back({true, Space::Unassigned, 0, 0, push.getPipe(), std::nullopt});
  if (auto pop = dyn_cast<tile::PopOp>(op); pop && isToItself(pop.getPipe()))
    result.touches.push_back({false, Space::Unassigned, 0, 0, pop.getPipe(), std::nullopt});
  result.accumulates = isa<tile::MatmulAccOp>(op);
  return result;
}

/// Whether some two touches of two instructions, one of them a write, are of the same bytes.
static bool touchTheSame(const Instruction &first, const Instruction &second,
                         function_ref<bool(const Touch &, const Touch &)> overlap) {
  return llvm::any_of(first.touches, [&](const Touch &a) {
    return llvm::any_of(second.touches,
                        [&](const Touch &b) { return (a.writes || b.writes) && overlap(a, b); });
  });
}

bool collideInCore(const Instruction &first, const Instruction &second) {
  if (first.unit == second.unit && (first.signals || second.signals))
    return false;
  return touchTheSame(first, second, [&](const Touch &a, const Touch &b) {
    if (second.accumulates && first.unit == second.unit && a.space == Space::Acc)
      return false;
    return !a.global && !b.global && a.space == b.space && a.from < b.to && b.from < a.to;
  });
}

bool mustWait(const Instruction &first, const Instruction &second) {
  if (collideInCore(first, second))
    return true;
  // What one unit writes to global memory, and reads from there, it does in order.
  return first.unit != second.unit &&
         touchTheSame(first, second, [](const Touch &a, const Touch &b) {
           return a.global && a.global == b.global &&
                  (!a.box || !b.box || !areDisjoint(*a.box, *b.box));
         });
}

std::string outOfOrderText(Unit unit, Unit earlier) {
  return "(unit " + std::string(toString(unit)) + ") may begin before an operation of unit " +
         std::string(toString(earlier)) + " that touches the same memory has finished";
}

} // namespace kiln
