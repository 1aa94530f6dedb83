// Kernels: the argument block, the pipes, and the function that runs the roles over the blocks.
#include "CudaFunction.h"
#include "KernelPart.h"

#include "kiln/Analysis/TileLifetimes.h"
#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Dialect/Tile/Staged.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Dialect/Tile/Walk.h"
#include "kiln/Machine/Guests.h"
#include "kiln/Program/Launched.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Cuda/Cuda.h"
#include "kiln/Target/Text/Literals.h"
#include "kiln/Target/Text/Names.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace kiln {
namespace cuda {
namespace {

constexpr int64_t kWarpgroup = 128;

/// Shared memory for the barriers of pipes: half of what the machine model leaves. The other half
/// is for what warps tell each other: those of a row, and the copying one which block comes next.
constexpr int64_t kBarrierBytes = 512, kHandoutBytes = 48;

/// One kernel or group.
class KernelEmitter {
public:
  /// `name` is that of the kernel in symbols and files.
  KernelEmitter(ir::FuncOp func, std::string name, const Machine &target, bool computesLater,
                bool isPart)
      : Func(func), Name(std::move(name)), Target(target), IsPart(isPart) {
    Kernel.computesLater = computesLater;
  }

  Expected<CudaUnit> emit() {
    if (Status failed = emitRoles(); !failed.isOk())
      return failed;
    return assemble();
  }

  Expected<KernelPart> emitPart() {
    if (Status failed = emitRoles(); !failed.isOk())
      return failed;
    Expected<CudaUnit> unit = assemble();
    if (!unit)
      return unit.status();
    KernelPart part{std::move(*unit), "kernel_" + Name, Lanes, tileBytes(), BytesBehind};
    part.slots = (BarrierBytes - (handsOutBlocks() ? kHandoutBytes : 0)) / 16;
    part.copies = copyingRole() != nullptr;
    part.lendsMemory = LaneBytes > 0;
    return part;
  }

private:
  Status emitRoles() {
    if (Status failed = findRoles(); !failed.isOk())
      return failed;
    if (IsPart && Kernel.hasGuests)
      return refuse(Func, "its roles run beside one another, which they cannot in one kernel for "
                          "all tasks; run the program without --persistent");
    nameParameters();
    chooseLayout();
    // Who is handed a block does not know before whether there is another.
    Kernel.delaysStores = !Kernel.computesLater && !IsPart && !handsOutBlocks();
    if (Status failed = emitPipes(); !failed.isOk())
      return failed;
    measureTiles();
    namePushed();
    for (RoleCall &role : Roles)
      if (Status failed = emitRole(role); !failed.isOk())
        return failed;
    return Status::ok();
  }

  struct RoleCall {
    ir::FuncOp func;
    ir::CallOp call; ///< Null: the kernel itself.
    std::string name;
    bool copies;
    int64_t lanes;
    int64_t first = 0;       ///< Of its warpgroups.
    int64_t laneBytes = 0;   ///< Of tiles in shared memory outside rings, for each lane.
    int64_t memory = 0;      ///< Where these begin, if that is not planned (guests).
    bool runsAhead = false;  ///< It begins before the kernels that come first have ended.
    bool usesMemory = false; ///< Whether there are any.
    bool delaysStores = false;
  };
  struct PipeText {
    tile::PipeOp op;
    std::string name, type, spelled;
    int64_t bytes; ///< Of its ring.
    bool isPaired; ///< Its slots are in two blocks.
  };

  Status refuse(Operation *op, const Twine &why) {
    return Status(StatusCode::Unsupported,
                  "@" + Func.getSymName().str() + " cannot be compiled for h200: " + why.str(),
                  sourceLocOf(op->getLoc()));
  }

  Status addRole(ir::FuncOp func, ir::CallOp call) {
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

  Status findRoles() {
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
        !IsPart && Func->hasAttr(tile::kPairsBlocksAttr) && Roles.size() == 2 &&
        !Kernel.hasGuests && !Func->hasAttr(tile::kHandsOutBlocksAttr) &&
        llvm::none_of(Roles, [](RoleCall &role) { return ir::findBarrier(role.func) != nullptr; });
    return Status::ok();
  }

  void nameParameters() {
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

  /// One family for all tiles of a kernel, so that rows and columns lie where whole tiles do.
  void chooseLayout() {
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

  Status emitPipes() {
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

  /// Whatever role loads what it pushes, who pops it calls it by the tensor.
  void namePushed() {
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

  /// Whether some of what is pushed into a pipe is what two blocks share.
  bool carriesShared(tile::PipeOp pipe) {
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

  /// How much each lane needs for the tiles that were given addresses: behind the rings, or, of
  /// guests, from 0 on.
  void measureTiles() {
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

  /// How many registers of a computing thread hold tiles at once, at most. Elementwise operations
  /// work in place; what the compiler needs beside tiles, or saves by another order, is not known.
  int64_t registersForTiles() {
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

  /// What a role is given for one operand of its call, and which parameter of the kernel that is.
  std::pair<std::string, int> given(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return {Kernel.parameters[argument.getArgNumber()], int(argument.getArgNumber())};
    for (PipeText &pipe : Pipes)
      if (pipe.op.getPipe() == value)
        return {pipe.name, -1};
    return {"", -1};
  }

  Status emitRole(RoleCall &role) {
    SmallVector<std::string> names;
    SmallVector<int> origin;
    std::string parameters;
    if (role.call) {
      for (Value operand : role.call.getArgs()) {
        auto [name, number] = given(operand);
        names.push_back(name);
        origin.push_back(number);
      }
    } else {
      for (unsigned k = 0; k < Func.getNumArguments(); ++k) {
        names.push_back(Kernel.parameters[k]);
        origin.push_back(k);
      }
    }
    for (PipeText &pipe : Pipes)
      parameters += ", " + pipe.type + " &" + pipe.name;
    Kernel.lanes = role.lanes;
    Kernel.laneBytes = role.laneBytes;
    Expected<std::string> body = FunctionEmitter(role.func, Kernel, names, origin).emitBody();
    if (!body)
      return body.status();
    // In one kernel for all tasks it would hold up what others wait for.
    role.runsAhead = role.copies && !IsPart && canRunAhead(role.func);
    if (role.runsAhead) {
      Expected<std::string> ahead =
          FunctionEmitter(role.func, Kernel, names, origin, /*isAhead=*/true).emitBody();
      if (!ahead)
        return ahead.status();
      Functions += functionText(role.name + "_ahead", parameters, *ahead);
    }
    if (role.usesMemory = role.laneBytes > 0; role.usesMemory)
      parameters += ", SharedAddress memory";
    if (role.delaysStores = !role.copies && !Kernel.keeps.empty(); role.delaysStores)
      parameters += ", " + Kernel.keeps + " &delayed";
    if (ir::findBarrier(role.func))
      parameters += ", GridBarrier &allBlocks";
    for (PipeText &pipe : Pipes)
      if (Kernel.hasGuests && pipe.op.getPipe().getType().getFrom() == *role.func.getRole())
        *body += "  " + pipe.name + ".end(lane);\n";
    Functions += functionText(role.name, parameters, *body);
    return Status::ok();
  }

  std::string functionText(const std::string &name, const std::string &parameters,
                           const std::string &body) const {
    return "__device__ __forceinline__ void " + name + "(const Args &args, const " +
           (Kernel.pairsBlocks ? "PairedBlock" : "Block") + " &block, i64 lane" +
           (Kernel.hasGuests ? ", i64 warpgroup" : "") + parameters + ") {\n" + body + "}\n\n";
  }

  std::string argumentBlock() const {
    std::string text = "struct Args {\n";
    if (!Kernel.maps.empty())
      text += "  TensorMap maps[" + std::to_string(Kernel.maps.size()) + "];\n";
    for (const std::string &name : TensorFields)
      text += "  Tensor " + name + ";\n";
    for (const std::string &name : ScalarFields)
      text += "  u64 " + name + ";\n";
    text += "  i64 grid[3];\n";
    if (Kernel.hasBarrier)
      text += "  u64 *arrivals;\n";
    if (handsOutBlocks())
      text += "  u64 *taken;\n";
    return text + "};\n\n";
  }

  /// The walk. Where a role copies, each role walks all blocks of this multiprocessor by itself:
  /// the copying one runs ahead, into the next. So it is where blocks wait for one another, and all
  /// run at once. In all other kernels the launch has as many blocks as the grid, each of which is
  /// done after one: nothing is left from one to the next, and while some wait for memory others
  /// compute.
  bool isPersistent() const { return IsPart || Kernel.hasBarrier || copyingRole(); }

  const RoleCall *copyingRole() const {
    const RoleCall *found = llvm::find_if(Roles, [](const RoleCall &role) { return role.copies; });
    return found == Roles.end() ? nullptr : found;
  }

  /// Whether the copying role takes a number when it has asked for all of the block before. Where
  /// blocks wait for one another each is started.
  bool handsOutBlocks() const {
    return Func->hasAttr(tile::kHandsOutBlocksAttr) && !Kernel.hasBarrier && copyingRole();
  }

  /// The head of the loop over the blocks of a multiprocessor.
  std::string walkText(const RoleCall &role) const {
    if (!handsOutBlocks())
      return std::string("for (") + (IsPart ? "unsigned" : "i64") +
             " number = blockIdx.x; number < blocks; number += gridDim.x)\n";
    return role.copies ? "for (unsigned number = handout.first(); number < blocks; number = "
                         "handout.next())\n"
                       : "for (unsigned number; handout.hear(number);)\n";
  }

  std::string roleLoop(const RoleCall &role, StringRef lane, StringRef indent) {
    std::string arguments;
    for (const PipeText &pipe : Pipes)
      arguments += ", " + pipe.name;
    std::string rest;
    if (role.usesMemory)
      rest += role.memory ? ", memory + " + std::to_string(role.memory) : std::string(", memory");
    if (role.delaysStores)
      rest += ", delayed";
    if (ir::findBarrier(role.func))
      rest += ", allBlocks";
    auto blockAt = [&](StringRef number) {
      return std::string(Kernel.pairsBlocks ? "pairedBlockAt<" : "blockAt<") + rowsTogether() +
             ">(" + number.str() + (Kernel.pairsBlocks ? ", blocks" : "") + ", args.grid)";
    };
    std::string result;
    if (role.copies && !role.runsAhead && !IsPart && !handsOutBlocks() && !Kernel.pairsBlocks)
      return indent.str() + "Walk<" + rowsTogether() + "> walk(args.grid, blocks);\n" +
             indent.str() + "ptx::awaitPrerequisites();\n" + indent.str() +
             "for (; walk.isInside(); walk.next())\n" + indent.str() + "  " + role.name +
             "(args, walk.block, " + lane.str() + arguments + rest + ");\n";
    if (role.runsAhead)
      result = indent.str() + "if (" + mayRunAhead() + ")\n" + indent.str() + "  " + role.name +
               "_ahead(args, " + blockAt("i64(blockIdx.x)") + ", " + lane.str() + arguments +
               ");\n";
    if (!IsPart)
      result += looks(role, indent) + indent.str() + "ptx::awaitPrerequisites();\n";
    else if (role.copies)
      result += indent.str() + "tasks.awaitBeforeByWarp(task);\n";
    result += indent.str() + walkText(role);
    if (!Kernel.pairsBlocks && !role.delaysStores)
      return result + indent.str() + "  " + role.name + "(args, " + blockAt("number") + ", " +
             lane.str() + arguments + rest + ");\n";
    result.insert(result.size() - 1, " {");
    if (Kernel.pairsBlocks)
      result += indent.str() + "  PairedBlock block = " + blockAt("number") + ";\n";
    for (const PipeText &pipe : Pipes)
      if (pipe.isPaired)
        result += indent.str() + "  " + pipe.name + ".hasOther = block.hasOther;\n";
    if (role.delaysStores)
      result += indent.str() + "  delayed.hasNext = number + gridDim.x < blocks;\n";
    return result + indent.str() + "  " + role.name + "(args, " +
           (Kernel.pairsBlocks ? "block" : blockAt("number")) + ", " + lane.str() + arguments +
           rest + ");\n" + indent.str() + "}\n";
  }

  /// What lanes read of the argument block at their end, they read when they have nothing to do
  /// yet.
  std::string looks(const RoleCall &role, StringRef indent) {
    std::string text;
    if (!role.copies && copyingRole())
      for (Value operand : ir::CallOp(role.call).getArgs())
        if (isa<ir::TensorType>(operand.getType()))
          text += indent.str() + "look(" + given(operand).first + ");\n";
    return text;
  }

  /// What is to be asked before anything is read ahead.
  std::string mayRunAhead() const {
    std::string text = "blockIdx.x < blocks";
    for (size_t number = 0; number < TensorFields.size(); ++number)
      if (llvm::any_of(Kernel.maps, [&](const CudaTensorMap &map) {
            return map.isAhead && map.tensor == number;
          }))
        text += " && mayReadAhead(args." + TensorFields[number] + ")";
    return text;
  }

  /// How many rows of the grid are walked together. Where what is copied differs along both axes of
  /// the grid, blocks that run at once share most of it if they are near each other along both.
  std::string rowsTogether() const { return copiesAlongBothAxes() ? "16" : "1"; }

  bool copiesAlongBothAxes() const {
    bool along[3] = {};
    for (const RoleCall &role : Roles)
      if (role.copies)
        ir::FuncOp(role.func).walk([&](tile::BlockIdxOp index) { along[index.getDim()] = true; });
    return along[0] && along[1];
  }

  /// Who waits for other blocks in each block: every lane of a role with a barrier.
  int64_t waiters() {
    int64_t count = 0;
    for (RoleCall &role : Roles)
      if (ir::findBarrier(role.func))
        count += role.lanes;
    return count;
  }

  /// The end of a role: the other block may still copy to this one, and free its slots. Behind both
  /// roles it would take registers that the copying one does not have; warps that have ended are
  /// not waited for.
  std::string leavePair(StringRef indent) const {
    return Kernel.pairsBlocks ? indent.str() + "leavePair();\n" : "";
  }

  /// Whether somebody waits in it, or loops for as long as data says.
  bool mayHang() const {
    return !Pipes.empty() || Kernel.hasBarrier || llvm::any_of(Roles, [](const RoleCall &role) {
      return ir::FuncOp(role.func)
          .walk([](scf::WhileOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
    });
  }

  std::string entryFunction(StringRef symbol, int64_t threads) {
    const RoleCall *copies = nullptr, *computes = nullptr;
    for (const RoleCall &role : Roles)
      (role.copies ? copies : computes) = &role;
    std::string text = std::string("extern \"C\" __global__ void ") +
                       (Kernel.pairsBlocks ? "__cluster_dims__(2, 1, 1) " : "") +
                       "__launch_bounds__(" + std::to_string(threads) +
                       (copies || Kernel.hasGuests ? ", 1)\n" : ", KILN_BLOCKS_AT_ONCE)\n") +
                       symbol.str() + "(const __grid_constant__ Args args) {\n";
    if (threads == kWarpgroup)
      text += "  ptx::assumeThreads<" + std::to_string(threads) + ">();\n";
    if (tileBytes() > 0)
      text += "  extern __shared__ __align__(1024) unsigned char shared[];\n";
    if (LaneBytes > 0)
      text += "  SharedAddress memory = sharedAddress(shared);\n";
    text += "  i64 blocks = args.grid[0] * args.grid[1] * args.grid[2];\n";
    if (!Pipes.empty()) {
      text += "  SharedAddress ring = sharedAddress(shared), barriers = ring + " +
              std::to_string(tileBytes()) + ";\n";
      for (size_t k = 0; k < Pipes.size(); ++k) {
        tile::PipeType ends = Pipes[k].op.getPipe().getType();
        text +=
            "  " + Pipes[k].type + " " + Pipes[k].name + "(ring, barriers, \"" + Pipes[k].name +
            "\"" +
            (Kernel.hasGuests ? ", \"" + ends.getFrom().str() + "\", \"" + ends.getTo().str() + "\""
                              : "") +
            ");\n";
        if (k + 1 < Pipes.size())
          text += "  ring += " + Pipes[k].type + "::ringBytes, barriers += " + Pipes[k].type +
                  "::barrierBytes;\n";
      }
      if (handsOutBlocks())
        text += "  Handout<" + std::to_string(Lanes) + "> handout(barriers + " + Pipes.back().type +
                "::barrierBytes, args.taken, blocks);\n";
      text += "  if (threadIdx.x == 0) {\n";
      if (!Kernel.maps.empty())
        text += "    prefetch(args.maps);\n";
      for (const PipeText &pipe : Pipes)
        text += "    " + pipe.name + ".init();\n";
      if (handsOutBlocks())
        text += "    handout.init();\n";
      text += "    barrier::publishInit();\n  }\n";
      text += Kernel.pairsBlocks ? "  enterPair();\n" : "  __syncthreads();\n";
    }
    text += "  int " + Kernel.warpgroup().str() + " = " +
            (copies || Lanes > 1 ? "warpgroupIndex()" : "0") + ";\n";
    if (Kernel.hasBarrier)
      text +=
          "  GridBarrier allBlocks{args.arrivals, blocks * " + std::to_string(waiters()) + "};\n";
    if (mayHang())
      text += "  progress::begin();\n";
    std::string end = mayHang() ? "progress::end();\n" : "";
    if (Kernel.hasGuests)
      return text + "  ptx::launchDependents();\n" + guestsText() + "}\n";
    if (!copies) // it is short: the next kernel's weights may come beside it
      return text + "  ptx::launchDependents();\n" + roleLoop(*computes, "lane", "  ") +
             (end.empty() ? "" : "  " + end) + "}\n";
    RegisterShares shares = kShares[Lanes];
    text += "  if (lane == " + std::to_string(Lanes) + ") {\n";
    if (shares.dma)
      text += "    giveBackRegisters<" + std::to_string(shares.dma) + " + " +
              std::to_string(8 * Lanes) + " * KILN_REGISTERS_MOVED>();\n";
    // The next kernel does not compete for memory before all of this one's has been asked for.
    text += "    if (warpInGroup() == 0) {\n" + roleLoop(*copies, "0", "      ") +
            "      ptx::launchDependents();\n      " + end + leavePair("      ") +
            "    }\n  } else {\n";
    if (shares.compute)
      text += "    takeRegisters<" + std::to_string(shares.compute) +
              " - 8 * KILN_REGISTERS_MOVED>();\n";
    if (Kernel.takesTurns)
      text += "    if (lane == " + std::to_string(Lanes - 1) + ") // the first lane comes first\n" +
              "      passTurn<" + std::to_string(Lanes) + ">(lane);\n";
    if (computes->delaysStores)
      text += "    " + Kernel.keeps + " delayed(" + Kernel.keepsGiven + ");\n";
    text += roleLoop(*computes, "lane", "    ");
    if (Kernel.stagesStores)
      text += "    awaitStaged();\n";
    return text + "    " + end + leavePair("    ") + "  }\n}\n";
  }

  /// Each role with its warpgroups.
  std::string guestsText() {
    std::string text;
    for (const RoleCall &role : Roles) {
      bool isLast = &role == &Roles.back();
      std::string lane = "warpgroup" + (role.first ? " - " + std::to_string(role.first) : "");
      text +=
          isLast ? " {\n" : "if (warpgroup < " + std::to_string(role.first + role.lanes) + ") {\n";
      text += roleLoop(role, lane + ", warpgroup", "    ") + "    progress::end();\n  }" +
              (isLast ? "\n" : " else ");
    }
    return "  " + text;
  }

  /// What a role does in a task: a function, and in it the walk.
  std::string partFunction(const RoleCall &role) {
    std::string text =
        std::string("__device__ __forceinline__ void ") + (role.copies ? "copies" : "computes") +
        "(const Tasks &tasks, const Task &task, " + (role.copies ? "" : "int lane, ") +
        "Ring &ring) {\n  const Args &args = tasks.arguments<Args>(task);\n" +
        "  i64 blocks = args.grid[0] * args.grid[1] * args.grid[2];\n";
    if (LaneBytes > 0)
      text += role.copies ? "  ring.lend(" + std::to_string(Kernel.ringBytes) + ", " +
                                std::to_string(tileBytes()) + ");\n"
                          : "  SharedAddress memory = ring.memory;\n";
    for (const PipeText &pipe : Pipes)
      text += "  " + pipe.type + " " + pipe.name + "(ring, \"" + pipe.name + "\");\n";
    if (handsOutBlocks())
      text += "  Handout<" + std::to_string(Lanes) +
              "> handout(ring.barriers + Ring::barrierBytes, args.taken, blocks);\n" +
              "  handout.said = ring.said;\n";
    if (ir::findBarrier(role.func))
      text +=
          "  GridBarrier allBlocks{args.arrivals, blocks * " + std::to_string(waiters()) + "};\n";
    bool takesTurns = Kernel.takesTurns && !role.copies;
    if (takesTurns)
      text += "  if (lane == " + std::to_string(Lanes - 1) + ") // the first lane comes first\n" +
              "    passTurn<" + std::to_string(Lanes) + ">(lane);\n";
    text += roleLoop(role, role.copies ? "0" : "lane", "  ");
    if (takesTurns)
      text += "  if (lane == 0) // nobody has the turn any more\n    takeTurn(lane);\n";
    if (!role.copies && Kernel.stagesStores)
      text += "  awaitWritten();\n";
    if (!role.copies && LaneBytes > 0)
      text += "  ring.giveBack<" + std::to_string(Lanes) + ">();\n";
    if (handsOutBlocks())
      text += "  ring.said = handout.said;\n";
    if (!Pipes.empty()) {
      const PipeText &largest = *llvm::max_element(
          Pipes, [](const PipeText &a, const PipeText &b) { return a.bytes < b.bytes; });
      text +=
          "  ring.next = " + largest.name + (role.copies ? ".nextPushed();\n" : ".nextFreed();\n");
    }
    return text + "}\n";
  }

  std::string partFunctions() {
    std::string text;
    for (const RoleCall &role : Roles)
      text += (text.empty() ? "" : "\n") + partFunction(role);
    if (LaneBytes > 0 && !copyingRole())
      text +=
          "\n__device__ __forceinline__ void copies(const Tasks &, const Task &, Ring &ring) {\n"
          "  ring.lend(" +
          std::to_string(Kernel.ringBytes) + ", " + std::to_string(tileBytes()) + ");\n}\n";
    return text;
  }

  /// Rings, and the tiles behind them.
  int64_t tileBytes() const { return Kernel.ringBytes + LaneBytes; }

  Expected<CudaUnit> assemble() {
    bool copies = copyingRole();
    int64_t available = Target.findMemory("mat")->bytes;
    if (tileBytes() > available || BarrierBytes > kBarrierBytes)
      return refuse(Func, "its pipes and tiles take " + Twine(tileBytes()) +
                              " bytes of shared memory and " + Twine(BarrierBytes) +
                              " of barriers; there are " + Twine(available) + " and " +
                              Twine(kBarrierBytes) + ": use smaller tiles or fewer slots");
    if (handsOutBlocks())
      BarrierBytes += kHandoutBytes;
    int64_t shared = tileBytes() + std::max(BarrierBytes, BytesBehind);
    const std::string &name = Name;
    CudaUnit unit;
    unit.location = sourceLocOf(Func.getLoc());
    unit.kernel.name = Func.getSymName().str();
    unit.kernel.symbol = "kiln_" + name;
    unit.kernel.file = "kernels/" + name + ".cubin";
    unit.kernel.threads = kWarpgroup * (Lanes + copies);
    unit.kernel.sharedBytes = shared;
    unit.kernel.numTensors = Order.tensors.size();
    unit.kernel.numScalars = Order.scalars.size();
    unit.kernel.maps = Kernel.maps;
    unit.kernel.isPersistent = isPersistent();
    unit.kernel.hasBarrier = Kernel.hasBarrier;
    unit.kernel.handsOutBlocks = handsOutBlocks();
    unit.kernel.pairsBlocks = Kernel.pairsBlocks;
    unit.isMemoryBound = !copies && !Kernel.hasGuests;
    unit.movesRegisters = copies && kShares[Lanes].dma;
    unit.registersForTiles = registersForTiles();
    std::string text = "// @" + unit.kernel.name + "\nnamespace kernel_" + name + " {\n\n";
    text += "template <typename T, int R, int C> using Reg = Tile<T, " + Layout + ">;\n";
    for (const PipeText &pipe : Pipes)
      text += "using " + pipe.type + " = " + pipe.spelled + ";\n";
    text += "\n" + argumentBlock() + Functions;
    text += IsPart ? partFunctions() : entryFunction(unit.kernel.symbol, unit.kernel.threads);
    unit.text = Kernel.withLines(text + "\n} // namespace kernel_" + name + "\n");
    return unit;
  }

  ir::FuncOp Func;
  std::string Name;
  const Machine &Target;
  bool IsPart; ///< Of a kernel that does all tasks of a program.
  /// Of all roles that compute; and the bytes of their tiles outside rings.
  int64_t Lanes = 0, LaneBytes = 0;
  int64_t BarrierBytes = 0, BytesBehind = 0;
  SmallVector<RoleCall> Roles;
  SmallVector<PipeText> Pipes;
  ParameterOrder Order;
  SmallVector<std::string> TensorFields, ScalarFields;
  KernelText Kernel;
  std::string Layout, Functions;
};

} // namespace

Expected<std::vector<KernelPart>> emitParts(ModuleOp compiled, const Machine &machine,
                                            bool computesLater) {
  std::vector<KernelPart> parts;
  text::NameScope names(nameRules());
  for (ir::FuncOp func : launchedFunctions(compiled)) {
    std::string name = names.unique(func.getSymName());
    Expected<KernelPart> part =
        KernelEmitter(func, name, machine, computesLater, /*isPart=*/true).emitPart();
    if (!part)
      return part.status();
    parts.push_back(std::move(*part));
  }
  return parts;
}

} // namespace cuda

template <typename F> static void forEachLine(const CudaText &text, F f) {
  SmallVector<StringRef> lines;
  StringRef(text.text).split(lines, '\n');
  if (lines.back().empty())
    lines.pop_back();
  for (auto [number, line] : llvm::enumerate(lines))
    f(number, line, number < text.lines.size() ? text.lines[number] : SourceLoc());
}

std::string CudaText::commented() const {
  std::string result;
  SourceLoc last;
  forEachLine(*this, [&](size_t, StringRef line, const SourceLoc &of) {
    result += line;
    StringRef statement = line.ltrim();
    if (of.isKnown() && (of.file != last.file || of.line != last.line) &&
        !statement.starts_with("#") && !statement.starts_with("}")) {
      result += " // " + llvm::sys::path::filename(of.file).str() + ":" + std::to_string(of.line);
      last = of;
    }
    result += "\n";
  });
  return result;
}

std::string CudaText::directed(const std::string &file) const {
  std::string result;
  SourceLoc next; // as the compiler counts
  int32_t before = StringRef(kCudaHeader).count('\n');
  forEachLine(*this, [&](size_t number, StringRef line, SourceLoc of) {
    if (!of.isKnown())
      of = {file, before + int32_t(number) + 1};
    if (of.file != next.file || of.line != next.line)
      result += "#line " + std::to_string(of.line) + " " + text::cppString(of.file) + "\n";
    result += line.str() + "\n";
    next = {of.file, of.line + 1};
  });
  return result;
}

std::string cudaSource(const std::vector<CudaUnit> &units) {
  std::string text = kCudaHeader;
  for (const CudaUnit &unit : units)
    text += (&unit == &units.front() ? "" : "\n") + unit.text.commented();
  return text;
}

Expected<std::vector<CudaUnit>> emitCuda(ModuleOp compiled, const Machine &machine) {
  std::vector<CudaUnit> units;
  text::NameScope names(cuda::nameRules());
  for (ir::FuncOp func : launchedFunctions(compiled)) {
    std::string name = names.unique(func.getSymName());
    Expected<CudaUnit> unit = cuda::KernelEmitter(func, name, machine, false, false).emit();
    if (!unit)
      return unit.status();
    Expected<CudaUnit> frugal = cuda::KernelEmitter(func, name, machine, true, false).emit();
    if (frugal && frugal->text.text != unit->text.text)
      unit->frugalText = frugal->text;
    units.push_back(std::move(*unit));
  }
  return units;
}

} // namespace kiln
