// What a kernel is made of: its roles, its pipes, the names of its parameters, and its memory.
#include "KernelEmitter.h"

#include "kiln/Analysis/TileLifetimes.h"
#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Dialect/Tile/Staged.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Dialect/Tile/Walk.h"
#include "kiln/Machine/Guests.h"
#include "kiln/Target/Text/Names.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::cuda {

Status KernelEmitter::addRole(ir::FuncOp func, ir::CallOp call) {
  StringRef role = func.getRole().value_or("");
  if (findGuest(Target, role) && call) {
    Kernel.hasGuests = true;
    Roles.push_back({func, call, nameRules().spell(func.getSymName()), /*copies=*/false,
                     Func.getLanesOf(role), Lanes});
    Lanes += Roles.back().lanes;
    return Status::ok();
  }
  if (role != "dma" && role != "compute")
    return refuse(func, "its work could not be given to the roles dma and compute "
                        "(kiln run --remarks says why)");
  if (llvm::any_of(Roles, [&](RoleCall &other) { return other.copies == (role == "dma"); }))
    return refuse(func, "it has two members with role " + role);
  Lanes = Func.getKind() == ir::FuncKind::Group ? Func.getNumLanes() : 1;
  Kernel.lanes = Lanes;
  bool copies = role == "dma";
  Roles.push_back({func, call, nameRules().spell(func.getSymName()), copies, copies ? 1 : Lanes});
  return Status::ok();
}

Status KernelEmitter::findRoles() {
  if (Func.getKind() != ir::FuncKind::Group)
    return addRole(Func, nullptr);
  auto module = Func->getParentOfType<ModuleOp>();
  for (Operation &op : Func.getBody().front())
    if (auto call = dyn_cast<ir::CallOp>(op))
      if (Status failed = addRole(module.lookupSymbol<ir::FuncOp>(call.getCallee()), call);
          !failed.isOk())
        return failed;
  if (llvm::none_of(Roles, [](RoleCall &role) { return !role.copies; }))
    return refuse(Func, "nobody computes in it");
  // Blocks that count are not walked in pairs, nor are those of a kernel that does all tasks.
  Kernel.pairsBlocks =
      !IsPart && Func->hasAttr(tile::kPairsBlocksAttr) && Roles.size() == 2 && !Kernel.hasGuests &&
      !Func->hasAttr(tile::kHandsOutBlocksAttr) &&
      llvm::none_of(Roles, [](RoleCall &role) { return ir::findBarrier(role.func) != nullptr; });
  return Status::ok();
}

void KernelEmitter::nameParameters() {
  Order = parameterOrder(Func);
  std::vector<std::string> names = parameterNames(Func);
  text::NameScope fields(nameRules());
  fields.reserve("maps");
  fields.reserve("grid");
  fields.reserve("arrivals");
  fields.reserve("taken");
  Kernel.parameters.resize(names.size());
  Kernel.tensorIndex.resize(names.size());
  for (auto [place, parameter] : llvm::enumerate(Order.tensors)) {
    TensorFields.push_back(fields.unique(names[parameter]));
    Kernel.parameters[parameter] = "args." + TensorFields.back();
    Kernel.tensorIndex[parameter] = place;
  }
  for (unsigned parameter : Order.scalars) {
    ScalarFields.push_back(fields.unique(names[parameter]));
    Kernel.parameters[parameter] = "scalarOf<" + cppType(Func.getArgumentTypes()[parameter]) +
                                   ">(args." + ScalarFields.back() + ")";
  }
}

void KernelEmitter::chooseLayout() {
  bool multiplies = false, isExchanged = false;
  int64_t rows = 1, cols = 1, bits = 32;
  for (RoleCall &role : Roles)
    role.func.walk([&](Operation *op) {
      multiplies |= isa<tile::ProductInterface>(op);
      isExchanged |= op->hasAttr(tile::kExchangedAttr);
      BytesBehind = std::max(BytesBehind, tile::bytesReadBehind(op));
      for (Type type : op->getResultTypes())
        if (auto tile = dyn_cast<tile::TileType>(type)) {
          rows = std::max(rows, tile.getRows());
          cols = std::max(cols, tile.getCols());
          if (unsigned width = tile.getElementType().getIntOrFloatBitWidth(); width >= 16)
            bits = std::min<int64_t>(bits, width);
        }
    });
  if (multiplies) {
    Layout = isExchanged ? "Exchanged::Of<R, C>" : "Fragments::Of<R, C>";
    return;
  }
  int64_t neighbours = 128 / bits; // 16 bytes of the narrowest
  // A row is a warp's or, where there are too few rows for four warps, several warps'.
  int64_t most = std::max<int64_t>(32, kWarpgroup / llvm::PowerOf2Ceil(rows));
  int64_t threads = llvm::PowerOf2Ceil(std::max<int64_t>(cols / neighbours, 1));
  Layout = "typename Coalesced<" + std::to_string(std::min(threads, most)) + ", " +
           std::to_string(neighbours) + ">::Of<R, C>";
}

Status KernelEmitter::findPipes() {
  for (Operation &op : Func.getBody().front()) {
    auto pipe = dyn_cast<tile::PipeOp>(op);
    if (!pipe)
      continue;
    tile::PipeType type = pipe.getPipe().getType();
    if (!Kernel.hasGuests &&
        (type.getFrom() != "dma" || type.getTo() != "compute" || type.getPayload().empty()))
      return refuse(pipe, "pipes carry tiles from dma to compute");
    int64_t slots = pipe.getSlots().value_or(Target.defaultSlots), rings = 1;
    if (hasRingPerLane(type))
      rings = Func.getNumLanes();
    std::string tiles;
    int64_t begin = Kernel.ringBytes;
    for (tile::TileType payload : type.getPayload()) {
      if (rings > 1)
        payload = tile::laneShare(payload, type.getSplit(), rings);
      tiles += ", " + sharedType(payload);
      Kernel.ringBytes += rings * slots * llvm::alignTo(tile::bytesOf(payload), kTileAlignment);
    }
    std::string name = nameRules().spell(pipeName(pipe));
    if (llvm::any_of(Pipes, [&](PipeText &other) { return other.name == name; }))
      name += "_" + std::to_string(Pipes.size());
    auto lanes = [&](StringRef role) { return std::to_string(Func.getLanesOf(role)); };
    std::string ends = Kernel.hasGuests ? lanes(type.getFrom()) + ", " + lanes(type.getTo())
                                        : std::to_string(Lanes);
    bool isPaired = Kernel.pairsBlocks && carriesShared(pipe);
    std::string kind = Kernel.hasGuests ? "RolePipe<" : isPaired ? "PairedPipe<" : "Pipe<";
    if (IsPart) // where it lies in the ring
      kind = "View<" + std::to_string(begin) + ", " + std::to_string(BarrierBytes / 16) + ", ";
    Pipes.push_back({pipe, name, "Pipe_" + name,
                     kind + std::to_string(slots) + ", " + ends + tiles + ">",
                     Kernel.ringBytes - begin, isPaired});
    BarrierBytes += rings * slots * 16;
  }
  return Status::ok();
}

void KernelEmitter::namePushed() {
  for (RoleCall &role : Roles)
    role.func.walk([&](tile::PushOp push) {
      auto pipe = dyn_cast<BlockArgument>(push.getPipe());
      if (!pipe || !role.call)
        return;
      SmallVector<std::string> &names =
          Kernel.pushed[given(role.call.getArgs()[pipe.getArgNumber()]).first];
      names.resize(push.getTiles().size());
      for (auto [name, tile] : llvm::zip_equal(names, push.getTiles()))
        if (auto load = tile.getDefiningOp<tile::LoadOp>())
          if (auto tensor = dyn_cast<BlockArgument>(ir::rootOf(load.getTensor()));
              tensor && tensor.getOwner()->isEntryBlock())
            name = StringRef(given(role.call.getArgs()[tensor.getArgNumber()]).first)
                       .drop_front(strlen("args."))
                       .str();
    });
}

bool KernelEmitter::carriesShared(tile::PipeOp pipe) {
  for (RoleCall &role : Roles)
    for (auto [number, given] : llvm::enumerate(role.call ? role.call.getArgs() : ValueRange()))
      if (role.copies && given == pipe.getPipe())
        for (Operation *user : role.func.getArgument(number).getUsers())
          if (auto push = dyn_cast<tile::PushOp>(user))
            for (Value tile : push.getTiles())
              if (Operation *load = tile.getDefiningOp();
                  load && load->hasAttr(tile::kVariesAlongAttr))
                return true;
  return false;
}

void KernelEmitter::measureTiles() {
  int64_t begin = Kernel.hasGuests ? 0 : Kernel.ringBytes;
  for (RoleCall &role : Roles) {
    role.func.walk([&](Operation *op) {
      if (auto scratch = op->getAttrOfType<IntegerAttr>(tile::kScratchAttr))
        role.laneBytes = std::max(role.laneBytes, scratch.getInt() - begin + tile::kStagedBytes);
      auto addresses = op->getAttrOfType<DenseI64ArrayAttr>(tile::kAddressAttr);
      size_t number = 0;
      for (Type type : op->getResultTypes())
        if (auto tile = dyn_cast<tile::TileType>(type)) {
          int64_t address = addresses ? addresses[number++] : -1;
          if (address >= 0 && tile.getSpace() == tile::Space::Mat)
            role.laneBytes = std::max<int64_t>(
                role.laneBytes,
                address - begin + llvm::alignTo(tile::bytesOf(tile), kTileAlignment));
        }
    });
    if (Kernel.hasGuests)
      role.memory = Kernel.ringBytes + LaneBytes;
    LaneBytes += role.laneBytes * role.lanes;
  }
}

int64_t KernelEmitter::registersForTiles() {
  int64_t most = 0;
  for (RoleCall &role : Roles) {
    if (role.copies)
      continue;
    std::vector<TileBuffer> buffers =
        findBuffers(role.func, Target, [](Operation *op) { return isa<tile::PopOp>(op); });
    llvm::erase_if(buffers, [](const TileBuffer &buffer) {
      return buffer.space != tile::Space::Vec && buffer.space != tile::Space::Acc;
    });
    for (const TileBuffer &first : buffers)
      for (LifeSpan span : first.spans) {
        int64_t bytes = 0;
        for (const TileBuffer &other : buffers)
          if (other.isAliveAt(span.from))
            bytes += other.bytes;
        most = std::max(most, bytes);
      }
  }
  return most / (4 * kWarpgroup);
}

std::pair<std::string, int> KernelEmitter::given(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return {Kernel.parameters[argument.getArgNumber()], int(argument.getArgNumber())};
  for (PipeText &pipe : Pipes)
    if (pipe.op.getPipe() == value)
      return {pipe.name, -1};
  return {"", -1};
}

const RoleCall *KernelEmitter::copyingRole() const {
  const RoleCall *found = llvm::find_if(Roles, [](const RoleCall &role) { return role.copies; });
  return found == Roles.end() ? nullptr : found;
}

bool KernelEmitter::handsOutBlocks() const {
  return Func->hasAttr(tile::kHandsOutBlocksAttr) && !Kernel.hasBarrier && copyingRole();
}

int64_t KernelEmitter::waiters() {
  int64_t count = 0;
  for (RoleCall &role : Roles)
    if (ir::findBarrier(role.func))
      count += role.lanes;
  return count;
}

bool KernelEmitter::copiesAlongBothAxes() const {
  bool along[3] = {};
  for (const RoleCall &role : Roles)
    if (role.copies)
      ir::FuncOp(role.func).walk([&](tile::BlockIdxOp index) { along[index.getDim()] = true; });
  return along[0] && along[1];
}

bool KernelEmitter::mayHang() const {
  return !Pipes.empty() || Kernel.hasBarrier || llvm::any_of(Roles, [](const RoleCall &role) {
    return ir::FuncOp(role.func)
        .walk([](scf::WhileOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  });
}

} // namespace kiln::cuda
