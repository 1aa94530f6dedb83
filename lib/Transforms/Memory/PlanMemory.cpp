#include "LoopTiles.h"
#include "MemoryPlan.h"

#include "PassMachine.h"
#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Machine/Hardware.h"
#include "kiln/Program/Signature.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEPLANMEMORY
#include "kiln/Transforms/Passes.h.inc"

namespace {

std::string describe(Value tile) {
  auto type = cast<tile::TileType>(tile.getType());
  std::string text;
  llvm::raw_string_ostream(text) << type.getRows() << "x" << type.getCols() << "x"
                                 << type.getElementType();
  return text;
}

std::string describe(const TileBuffer &buffer) {
  return buffer.scratchOf ? "scratch of " + buffer.scratchOf->getName().getStringRef().str()
                          : "a tile of " + describe(buffer.tiles.front());
}

/// An example of smaller tiles: the larger extent divided.
std::string describeSmaller(Value tile, int64_t divisor) {
  auto type = cast<tile::TileType>(tile.getType());
  bool byRows = type.getRows() >= type.getCols();
  int64_t rows = byRows ? std::max<int64_t>(type.getRows() / divisor, 1) : type.getRows(),
          cols = byRows ? type.getCols() : std::max<int64_t>(type.getCols() / divisor, 1);
  return std::to_string(rows) + "x" + std::to_string(cols) + " instead of " +
         std::to_string(type.getRows()) + "x" + std::to_string(type.getCols());
}

struct PlanMemory : impl::TilePlanMemoryBase<PlanMemory> {
  using TilePlanMemoryBase::TilePlanMemoryBase;

  //===-- What does not fit -----------------------------------------------------------===//

  LogicalResult reportOverflow(FunctionPlan &plan, const MemoryUse &use) {
    InFlightDiagnostic diag = plan.func.emitError("@")
                              << plan.func.getSymName() << " needs " << use.bytes << " bytes of "
                              << use.memory->name << "; role " << *plan.func.getRole() << " of "
                              << plan.machine->name << " has " << use.memory->bytes;
    int64_t worst = plan.worstMoment(use);
    SmallVector<const PlacedBuffer *> alive = plan.aliveAt(use, worst);
    constexpr size_t most = 5;
    for (const PlacedBuffer *placed : ArrayRef(alive).take_front(most))
      diag.attachNote(placed->buffer.scratchOf ? placed->buffer.scratchOf->getLoc()
                                               : placed->buffer.tiles.front().getLoc())
          << describe(placed->buffer) << " takes " << placed->bytes() << " bytes"
          << (placed->lanes > 1 ? " on " + std::to_string(placed->lanes) + " lanes" : "");
    if (alive.size() > most) {
      int64_t rest = 0;
      for (const PlacedBuffer *placed : ArrayRef(alive).drop_front(most))
        rest += placed->bytes();
      diag.attachNote(plan.func.getLoc())
          << alive.size() - most << " more tiles take " << rest << " bytes";
    }
    for (const PlacedRing &ring : plan.rings)
      if (ring.memory == use.memory)
        diag.attachNote(ring.pipe.getLoc())
            << "the ring of pipe '" << pipeName(ring.pipe) << "' takes " << ring.bytes()
            << " bytes: " << ring.slots << " slots of " << ring.slotBytes;
    suggest(diag, plan, use, alive);
    return diag;
  }

  /// Says what would fit; each suggestion was planned.
  void suggest(InFlightDiagnostic &diag, const FunctionPlan &plan, const MemoryUse &use,
               ArrayRef<const PlacedBuffer *> alive) {
    int64_t slots = 0;
    for (const PlacedRing &ring : plan.rings)
      if (ring.memory == use.memory)
        slots = std::max(slots, ring.slots);
    for (int64_t fewer = slots - 1; fewer >= 1; --fewer)
      if (plan.wouldFit(use, {.mostSlots = fewer})) {
        diag.attachNote(plan.func.getLoc())
            << "with " << fewer << " slot" << (fewer == 1 ? "" : "s") << " a pipe it would fit";
        break;
      }
    for (int64_t divisor = 2; divisor <= 64; divisor *= 2)
      if (plan.wouldFit(use, {.divisor = divisor})) {
        diag.attachNote(plan.func.getLoc())
            << "with tiles of 1/" << divisor << " of the size it would fit"
            << (alive.empty() || alive.front()->buffer.scratchOf
                    ? std::string()
                    : ": for example " +
                          describeSmaller(alive.front()->buffer.tiles.front(), divisor));
        return;
      }
  }

  //===-- What fits -------------------------------------------------------------------===//

  void writeAddresses(const FunctionPlan &plan) {
    DenseMap<Value, int64_t> addresses;
    for (const PlacedBuffer &placed : plan.buffers)
      for (Value tile : placed.buffer.tiles)
        addresses[tile] = placed.address;
    for (const PlacedBuffer &placed : plan.buffers)
      if (Operation *op = placed.buffer.scratchOf)
        op->setAttr(tile::kScratchAttr, Builder(op).getI64IntegerAttr(placed.address));
    plan.func->walk([&](Operation *op) {
      SmallVector<int64_t> list;
      for (Value result : op->getResults())
        if (isa<tile::TileType>(result.getType())) {
          auto at = addresses.find(result);
          list.push_back(at == addresses.end() ? -1 : at->second);
        }
      if (!list.empty())
        op->setAttr(tile::kAddressAttr, DenseI64ArrayAttr::get(&getContext(), list));
    });
  }

  /// Slots beyond the default, where rings take what memory there is.
  void writeSlots(const FunctionPlan &plan) {
    for (const PlacedRing &ring : plan.rings)
      for (tile::PipeOp pipe : ring.unsized) {
        if (ring.slots == plan.machine->defaultSlots)
          continue;
        pipe.setSlots(ring.slots);
        if (report)
          pipe.emitRemark("pipe '") << pipeName(pipe) << "' has " << ring.slots << " slots of "
                                    << ring.slotBytes << " bytes, as memory allows";
      }
  }

  /// Where rings are, at the pipes and at what their consumer does with them.
  void writeRings(const FunctionPlan &plan) {
    for (const PlacedRing &ring : plan.rings) {
      auto where =
          DenseI64ArrayAttr::get(&getContext(), {ring.address, ring.slotBytes, ring.slots});
      for (tile::PipeOp pipe : ring.pipes)
        pipe->setAttr(tile::kLocalRingAttr, where);
      for (Operation *user : ring.parameter.getUsers())
        user->setAttr(tile::kLocalRingAttr, where);
    }
  }

  static llvm::json::Object toJson(const PlacedBuffer &placed) {
    llvm::json::Array tiles;
    for (Value tile : placed.buffer.tiles)
      tiles.push_back(llvm::json::Object{{"tile", describe(tile)},
                                         {"location", sourceLocOf(tile.getLoc()).str()}});
    if (placed.buffer.scratchOf)
      tiles.push_back(
          llvm::json::Object{{"tile", describe(placed.buffer)},
                             {"location", sourceLocOf(placed.buffer.scratchOf->getLoc()).str()}});
    llvm::json::Array alive;
    for (LifeSpan span : placed.buffer.spans)
      alive.push_back(llvm::json::Array{span.from, span.to});
    return llvm::json::Object{{"address", placed.address},
                              {"bytes", placed.bytes()},
                              {"copies", placed.copies},
                              {"alive", std::move(alive)},
                              {"tiles", std::move(tiles)}};
  }

  static llvm::json::Object toJson(const FunctionPlan &plan) {
    llvm::json::Array memories;
    for (const MemoryUse &use : plan.uses) {
      llvm::json::Array buffers, rings;
      for (const PlacedBuffer &placed : plan.buffers)
        if (placed.memory == use.memory)
          buffers.push_back(toJson(placed));
      for (const PlacedRing &ring : plan.rings)
        if (ring.memory == use.memory)
          rings.push_back(llvm::json::Object{{"pipe", pipeName(ring.pipe)},
                                             {"address", ring.address},
                                             {"slots", ring.slots},
                                             {"slot_bytes", ring.slotBytes}});
      memories.push_back(llvm::json::Object{{"name", std::string(use.memory->name)},
                                            {"capacity", use.memory->bytes},
                                            {"used", use.bytes},
                                            {"rings", std::move(rings)},
                                            {"buffers", std::move(buffers)}});
    }
    return llvm::json::Object{{"name", plan.func.getSymName()},
                              {"role", *plan.func.getRole()},
                              {"memories", std::move(memories)}};
  }

  LogicalResult writeMap(const Machine &target, llvm::json::Array functions) {
    llvm::json::Value document = llvm::json::Object{
        {"format", 1}, {"machine", std::string(target.name)}, {"functions", std::move(functions)}};
    std::error_code error;
    llvm::raw_fd_ostream file(map, error, llvm::sys::fs::OF_Text);
    if (!error) {
      file << llvm::formatv("{0:2}", document) << "\n";
      file.close();
      error = file.error();
    }
    if (!error)
      return success();
    file.clear_error();
    return getOperation().emitError("cannot write the memory map to '")
           << map << "': " << error.message();
  }

  /// A function that can be planned: its tiles have memories.
  bool hasSpaces(ir::FuncOp func) {
    if (func.getKind() != ir::FuncKind::Role)
      return false;
    handOnWhatIsCarried(func);
    copyWhatChangesPlaces(func);
    return !func.walk([](Operation *op) {
                  bool isUnassigned = llvm::any_of(op->getResultTypes(), [](Type type) {
                    auto tile = dyn_cast<tile::TileType>(type);
                    return tile && tile.getSpace() == tile::Space::Unassigned;
                  });
                  bool isInBody = isa<tile::CombiningInterface>(op->getParentOp());
                  return isUnassigned && !isInBody ? WalkResult::interrupt()
                                                   : WalkResult::advance();
                })
                .wasInterrupted();
  }

  static bool isPlanned(ir::FuncOp func) {
    return func
        .walk([](Operation *op) {
          return op->hasAttr(tile::kAddressAttr) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void runOnOperation() override {
    const Machine *target = machineOf(getOperation(), machine);
    if (!target)
      return signalPassFailure();
    if (failed(tile::requireFacts(getOperation(), "whether it works in place")))
      return signalPassFailure();
    llvm::json::Array functions;
    bool failedOnce = false;
    for (auto func : getOperation().getOps<ir::FuncOp>()) {
      if (!hasSpaces(func))
        continue;
      if (isPlanned(func)) {
        if (failed(tile::verifyMemoryPlan(func, *target)))
          return signalPassFailure();
        continue;
      }
      auto overflows = [](const MemoryUse &use) { return use.overflows(); };
      FunctionPlan plan = planWithPanels(func, *target);
      if (separateMoves(plan))
        plan = planWithPanels(func, *target);
      const MemoryUse *tooMuch = llvm::find_if(plan.uses, overflows);
      if (tooMuch != plan.uses.end()) {
        (void)reportOverflow(plan, *tooMuch);
        failedOnce = true; // the others may have something to say too
        continue;
      }
      writeAddresses(plan);
      writeSlots(plan);
      if (hardwareOf(*target))
        writeRings(plan);
      if (failed(tile::verifyMemoryPlan(func, *target)))
        return signalPassFailure();
      if (report)
        for (const MemoryUse &use : plan.uses)
          func.emitRemark("@") << func.getSymName() << " uses " << use.bytes << " of "
                               << use.memory->bytes << " bytes of " << use.memory->name;
      functions.push_back(toJson(plan));
    }
    if (failedOnce || (!map.empty() && failed(writeMap(*target, std::move(functions)))))
      signalPassFailure();
  }
};
} // namespace
} // namespace kiln
