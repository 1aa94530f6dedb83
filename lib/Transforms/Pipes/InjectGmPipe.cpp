#include "PassMachine.h"
#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Machine/Hardware.h"
#include "kiln/Program/Signature.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNINJECTGMPIPE
#include "kiln/Transforms/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kParameterName = "__gm_pipe";

struct InjectGmPipe : impl::KilnInjectGmPipeBase<InjectGmPipe> {
  using KilnInjectGmPipeBase::KilnInjectGmPipeBase;

  /// What a tile takes in a slot: where tiles lie in blocks, what the consumer reads at once.
  static int64_t slotBytes(tile::TileType tile, tile::PipeOp pipe, const Machine &machine) {
    int64_t bytes = tile::bytesOf(tile) * tile::copiesInSlot(pipe);
    const Role *reader = machine.findRole(pipe.getPipe().getType().getTo());
    if (!hardwareOf(machine) || !reader)
      return bytes;
    auto space = reader->executes & MatrixWork ? tile::Space::Mat : tile::Space::Vec;
    return std::max(
        bytes,
        tile::bytesOn(machine, tile::TileType::get(tile.getContext(), tile.getRows(),
                                                   tile.getCols(), tile.getElementType(), space)));
  }

  /// Lays the rings of a group's pipes one after the other. The bytes of a block, or nothing if
  /// that overflows.
  std::optional<int64_t> layOutRings(ir::FuncOp group, const Machine &machine) {
    int64_t alignment = machine.findMemory("gm")->alignment, at = 0;
    for (auto pipe : group.getBody().getOps<tile::PipeOp>()) {
      ArrayRef<tile::TileType> payload = pipe.getPipe().getType().getPayload();
      if (payload.empty()) // a token has no bytes
        continue;
      if (!pipe.getSlots())
        pipe.setSlots(machine.defaultSlots);
      if (const Hardware *hardware = hardwareOf(machine)) // as many as were proved with, at least
        pipe.setSlots(hardware->slotsFor(*pipe.getSlots()));
      SmallVector<int64_t> places{0};
      for (tile::TileType tile : payload) {
        places.push_back(at + places[0]);
        places[0] += llvm::alignTo(slotBytes(tile, pipe, machine), alignment);
      }
      pipe->setAttr(tile::kRingAttr, DenseI64ArrayAttr::get(&getContext(), places));
      int64_t ring = 0;
      if (llvm::MulOverflow<int64_t>(places[0], *pipe.getSlots(), ring) ||
          llvm::AddOverflow(at, ring, at))
        return std::nullopt;
      if (report)
        pipe.emitRemark("pipe '") << pipeName(pipe) << "' takes " << ring
                                  << " bytes of global memory a block: " << *pipe.getSlots()
                                  << " slots of " << places[0];
    }
    return at;
  }

  /// Gives a group its parameter; null if it needs none or has it already.
  FailureOr<bool> addParameter(ir::FuncOp group, const Machine &machine) {
    if (ir::numUserParameters(group) != group.getNumArguments())
      return false;
    std::optional<int64_t> bytes = layOutRings(group, machine);
    if (!bytes)
      return group.emitOpError("needs more global memory for its pipes than can be addressed; use "
                               "fewer slots or smaller tiles");
    if (*bytes == 0)
      return false;
    if (llvm::count_if(group.getArgumentTypes(), llvm::IsaPred<ir::TensorType>) >= KILN_MAX_TENSORS)
      return group.emitOpError("has ")
             << KILN_MAX_TENSORS
             << " tensors already; the rings of its pipes need one more, and a task "
             << "carries at most " << KILN_MAX_TENSORS;
    Builder builder(&getContext());
    auto type = ir::TensorType::get({ShapedType::kDynamic, *bytes}, builder.getI8Type());
    NamedAttrList attributes;
    attributes.set(ir::kArgNameAttr, builder.getStringAttr(kParameterName));
    attributes.set(ir::kArgDirectionAttr,
                   ir::DirectionAttr::get(&getContext(), ir::Direction::InOut));
    attributes.set(ir::kInternalAttr, builder.getUnitAttr());
    if (failed(group.insertArgument(group.getNumArguments(), type,
                                    attributes.getDictionary(&getContext()), group.getLoc())))
      return failure();
    if (!shard)
      group->setAttr(tile::kSharedRingAttr, builder.getUnitAttr());
    return true;
  }

  /// The blocks of a launch: a constant in `known`, or a value. Made right before the launch, so
  /// whatever the grid depends on is there. A negative dimension counts as none here: the launch
  /// itself refuses it, with a better message than an allocation could give.
  Value countBlocks(OpBuilder &builder, ir::SubmitOp submit, int64_t &known) {
    ArrayRef<int64_t> grid = submit.getStaticGrid();
    known = llvm::is_contained(grid, 0) ? 0 : 1;
    for (int64_t dim : grid)
      if (known && !ShapedType::isDynamic(dim))
        known *= dim; // the verifier has seen that it does not overflow
    Value blocks;
    Location loc = submit.getLoc();
    for (Value dim : submit.getGrid()) {
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      Value positive = arith::MaxSIOp::create(builder, loc, dim, zero);
      blocks = blocks ? arith::MulIOp::create(builder, loc, blocks, positive) : positive;
    }
    if (blocks && known != 1)
      blocks = arith::MulIOp::create(builder, loc, blocks,
                                     arith::ConstantIndexOp::create(builder, loc, known));
    return blocks;
  }

  LogicalResult passRings(ir::SubmitOp submit, ir::FuncOp group) {
    OpBuilder builder(submit);
    int64_t known = 1;
    Value blocks = countBlocks(builder, submit, known);
    auto parameter = cast<ir::TensorType>(group.getArgumentTypes().back());
    int64_t bytes = parameter.getShape()[1];
    auto type = ir::TensorType::get({blocks ? ShapedType::kDynamic : known, bytes},
                                    parameter.getElementType());
    int64_t total = 0;
    if (!blocks && llvm::MulOverflow(known, bytes, total))
      return submit.emitOpError("needs ") << bytes << " bytes for the pipes of each of " << known
                                          << " blocks, more than can be addressed";
    auto rings = ir::AllocOp::create(builder, submit.getLoc(), type,
                                     blocks ? ValueRange(blocks) : ValueRange(),
                                     builder.getStringAttr(kParameterName));
    submit.getArgsMutable().append(rings.getResult());
    return success();
  }

  void runOnOperation() override {
    const Machine *target = machineOf(getOperation(), machine);
    if (!target)
      return signalPassFailure();
    if (target->pipeStorage != PipeStorage::GlobalMemory)
      return;
    llvm::SmallPtrSet<Operation *, 4> changed;
    for (auto group : getOperation().getOps<ir::FuncOp>()) {
      if (group.getKind() != ir::FuncKind::Group)
        continue;
      FailureOr<bool> added = addParameter(group, *target);
      if (failed(added))
        return signalPassFailure();
      if (*added)
        changed.insert(group);
    }
    SmallVector<std::pair<ir::SubmitOp, ir::FuncOp>> launches;
    getOperation().walk([&](ir::SubmitOp submit) {
      if (!submit.getCallee())
        return;
      auto callee = getOperation().lookupSymbol<ir::FuncOp>(*submit.getCallee());
      if (changed.contains(callee))
        launches.emplace_back(submit, callee);
    });
    for (auto [submit, group] : launches)
      if (failed(passRings(submit, group)))
        return signalPassFailure();
  }
};
} // namespace
} // namespace kiln
