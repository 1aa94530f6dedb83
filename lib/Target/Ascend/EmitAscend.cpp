// Files: what a role is given, its pipes, and the entry that the runtime calls.
#include "kiln/Target/Ascend/Ascend.h"

#include "AscendFunction.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Program/Launched.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Text/Names.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {
namespace ascend {
namespace {

/// Flags between cores: each pipe has one for full and one for free slots.
constexpr unsigned kMostPipes = 8;
/// What a task of the runtime carries. The extents of the grid are three of the scalars.
constexpr size_t kMostTensors = 32, kMostScalars = 16 - 3;

const text::NameRules &nameRules() {
  static const text::NameRules rules = text::NameRules::cpp(
      "args block lane isShadow rings allRings element tensor scalar window load store fill mask "
      "count bind push pop "
      "clip larger smaller floorDiv ceilDiv half pto kiln Tensor Block Window Vec Mat Left Right "
      "Acc Column Mask",
      "v_");
  return rules;
}

/// The roles of one kernel or group.
class TaskEmitter {
public:
  TaskEmitter(ir::FuncOp func, const Machine &machine, std::vector<AscendKernel> &kernels)
      : Func(func), Target(machine), Kernels(kernels) {}

  Status emit() {
    Order = parameterOrder(Func);
    if (Order.tensors.size() > kMostTensors || Order.scalars.size() > kMostScalars)
      return refuse(Func, "it has " + Twine(Order.tensors.size()) + " tensors and " +
                              Twine(Order.scalars.size()) + " scalars; a task carries " +
                              Twine(kMostTensors) + " and " + Twine(kMostScalars));
    if (Func.getKind() == ir::FuncKind::Role)
      return emitRole(Func, nullptr);
    if (Func.getKind() != ir::FuncKind::Group)
      return refuse(Func, "its work could not be given to the roles aic and aiv (--remarks says "
                          "why)");
    auto module = Func->getParentOfType<ModuleOp>();
    for (auto call : Func.getBody().getOps<ir::CallOp>())
      if (Status failed = emitRole(module.lookupSymbol<ir::FuncOp>(call.getCallee()), call);
          !failed.isOk())
        return failed;
    return Status::ok();
  }

private:
  Status refuse(Operation *op, const Twine &why) {
    return Status(StatusCode::Unsupported,
                  "@" + Func.getSymName().str() + " cannot be compiled for " +
                      std::string(Target.platform) + ": " + why.str(),
                  sourceLocOf(op->getLoc()));
  }

  bool isVector(ir::FuncOp role) const { return *role.getRole() == StringRef("aiv"); }

  /// Of the arguments of the task: tensors first, then scalars, then the grid.
  std::string parameterText(unsigned parameter, const std::string &name) {
    Type type = Func.getArgumentTypes()[parameter];
    for (auto [place, number] : llvm::enumerate(Order.tensors))
      if (number == parameter) {
        auto tensor = cast<ir::TensorType>(type);
        return "  const auto " + name + " = tensor<" + cppType(tensor.getElementType()) + ", " +
               std::to_string(tensor.getRank()) + ">(args, " + std::to_string(place) + ");\n";
      }
    for (auto [place, number] : llvm::enumerate(Order.scalars))
      if (number == parameter)
        return "  const " + cppType(type) + " " + name + " = scalar<" + cppType(type) + ">(args, " +
               std::to_string(Order.tensors.size() + place) + ");\n";
    return "";
  }

  /// A pipe of the group as a variable of the role.
  Status usePipe(tile::PipeOp pipe, PipeUse &use, std::string &text) {
    tile::PipeType type = pipe.getPipe().getType();
    auto local = pipe->getAttrOfType<DenseI64ArrayAttr>(tile::kLocalRingAttr);
    std::optional<tile::GlobalRing> ring = tile::ringOf(pipe);
    if (type.getPayload().size() != 1 || !(ring || local))
      return refuse(pipe, "a pipe carries one tile at a time");
    unsigned number = 0;
    for (auto other : Func.getBody().getOps<tile::PipeOp>()) {
      if (other == pipe)
        break;
      ++number;
    }
    if (number >= kMostPipes)
      return refuse(pipe, "a group has at most " + Twine(kMostPipes) + " pipes");
    int64_t lanes = Func.getNumLanes();
    tile::TileType payload = type.getPayload().front();
    use.isOwn = type.getFrom() == type.getTo();
    use.split = type.getSplit() == tile::Split::UpDown      ? "TileSplitAxis::TILE_UP_DOWN"
                : type.getSplit() == tile::Split::LeftRight ? "TileSplitAxis::TILE_LEFT_RIGHT"
                                                            : "TileSplitAxis::TILE_NO_SPLIT";
    bool isSplit = type.getSplit() != tile::Split::None;
    if (isSplit != (lanes == 2))
      return refuse(pipe, "lanes share the tiles of a pipe, or there is one lane");
    if (local)
      return useLocalPipe(pipe, use, text, number, local);
    std::string place = "rings + " + std::to_string(ring->tiles.front()),
                slots = std::to_string(*pipe.getSlots()), stride = std::to_string(ring->stride);
    if (use.isOwn) {
      tile::TileType share = tile::laneShare(payload, type.getSplit(), lanes);
      std::string element = cppType(payload.getElementType());
      int64_t offset = !isSplit                                 ? 0
                       : type.getSplit() == tile::Split::UpDown ? share.getNumElements()
                                                                : share.getCols();
      text += "  OwnPipe<" + element + ", " + std::to_string(share.getRows()) + ", " +
              std::to_string(share.getCols()) + ", " + slots + ", " + stride + "> " + use.name +
              "{reinterpret_cast<__gm__ " + element + " *>(" + place + ") + lane * " +
              std::to_string(offset) + ", " + std::to_string(payload.getCols()) + "};\n";
      return Status::ok();
    }
    int64_t bits = payload.getElementType().getIntOrFloatBitWidth();
    if (payload.getCols() * bits % 256 != 0 && payload.getCols() != 1)
      return refuse(pipe, "rows of its tiles are no multiple of 32 bytes");
    bool isDown = type.getFrom() == StringRef("aic");
    text += "  TPipe<" + std::to_string(2 * number) +
            ", Direction::" + (isDown ? "DIR_C2V" : "DIR_V2C") + ", " + stride + ", " + slots +
            ", 1> " + use.name + "(" + place + ", 0, 0);\n";
    return Status::ok();
  }

  /// The same of a pipe whose ring is in its consumer's memory.
  Status useLocalPipe(tile::PipeOp pipe, const PipeUse &use, std::string &text, unsigned number,
                      ArrayRef<int64_t> ring) {
    tile::PipeType type = pipe.getPipe().getType();
    tile::TileType payload = type.getPayload().front();
    std::string address = std::to_string(ring[0]), stride = std::to_string(ring[1]),
                slots = std::to_string(*pipe.getSlots());
    if (use.isOwn) {
      text += "  OwnSlots<" + slots + ", " + stride + "> " + use.name + "{" + address + "};\n";
      return Status::ok();
    }
    bool isDown = type.getFrom() == StringRef("aic");
    if (isDown && payload.getElementType().getIntOrFloatBitWidth() != 32)
      return refuse(pipe, "what leaves an accumulator for a vector core has elements of 32 bits");
    if (isDown && type.getSplit() == tile::Split::LeftRight && payload.getCols() % 32 != 0)
      return refuse(pipe,
                    "the columns of a tile that is split left and right are a multiple of 32");
    bool isSplit = type.getSplit() != tile::Split::None;
    text += "  TPipe<" + std::to_string(2 * number) +
            ", Direction::" + (isDown ? "DIR_C2V" : "DIR_V2C") + ", " + stride + ", " + slots +
            ", " + slots + (isSplit ? "> " : ", true> ") + use.name + "(nullptr, " + address +
            ", " + address + ");\n";
    return Status::ok();
  }

  Status emitRole(ir::FuncOp role, ir::CallOp call) {
    AscendKernel kernel;
    kernel.name = role.getSymName().str();
    kernel.task = Func.getSymName().str();
    kernel.role = role.getRole()->str();
    kernel.file = "kernels/" + kernel.role + "/" + text::cppIdentifier(kernel.name) + ".cpp";
    bool hasShadow = call && isVector(role) && Func.getNumLanes() == 1 &&
                     Target.findRole("aiv")->maxLanes == 2 && pairsWithMatrix() &&
                     Target.pipeStorage == PipeStorage::GlobalMemory;
    kernel.vectorCores = !isVector(role)                                  ? 0
                         : call && (hasShadow || Func.getNumLanes() == 2) ? 2
                                                                          : 1;

    llvm::DenseMap<Value, std::string> given;
    llvm::DenseMap<Value, PipeUse> pipes;
    std::string prologue, pipeTexts;
    text::NameScope names(nameRules());
    std::vector<std::string> own = parameterNames(role);
    std::optional<unsigned> ringTensor;
    for (BlockArgument argument : role.getArguments()) {
      unsigned number = argument.getArgNumber();
      Value passed = call ? call.getArgs()[number] : Value(argument);
      if (auto pipe = passed.getDefiningOp<tile::PipeOp>()) {
        pipes[argument].name = names.unique(pipeName(pipe));
        if (Status failed = usePipe(pipe, pipes[argument], pipeTexts); !failed.isOk())
          return failed;
        pipes[argument].hasShadow = hasShadow;
        if (tile::ringOf(pipe))
          ringTensor = Func.getNumArguments() - 1;
        continue;
      }
      auto parameter = dyn_cast<BlockArgument>(passed);
      if (!parameter || cppType(elementOf(argument.getType())).empty() ||
          (argument.getType().isIntOrFloat() && argument.getType().getIntOrFloatBitWidth() < 32))
        return refuse(role, "its parameter '" + own[number] + "' is nothing a task carries");
      std::string name = names.unique(own[number]);
      given[argument] = name;
      prologue += parameterText(parameter.getArgNumber(), name);
    }
    Expected<std::string> body =
        FunctionEmitter(role, Target, std::move(given), std::move(pipes), hasShadow, names)
            .emitBody();
    if (!body)
      return body.status();
    size_t grid = Order.tensors.size() + Order.scalars.size();
    std::string entry =
        "  KILN_SET_LANE(args);\n  const Block block(args, " + std::to_string(grid) + ");\n";
    if (isVector(role) && call)
      entry += hasShadow ? "  const bool isShadow = get_sub_block_id(args) != 0;\n"
                         : "  const int64_t lane = get_sub_block_id(args);\n";
    else
      entry += "  const int64_t lane = 0;\n";
    if (ringTensor)
      prologue += "  const auto allRings = tensor<int8_t, 2>(args, " +
                  std::to_string(Order.tensors.size() - 1) +
                  ");\n  __gm__ int8_t *rings = allRings.data + block.number * "
                  "allRings.strides[0];\n";
    kernel.source = header(role) + entry + prologue + pipeTexts + *body + "}\n";
    Kernels.push_back(std::move(kernel));
    return Status::ok();
  }

  static Type elementOf(Type type) {
    auto tensor = dyn_cast<ir::TensorType>(type);
    return tensor ? tensor.getElementType() : type;
  }

  /// Whether a matrix core takes part: only then do both vector cores have to meet it.
  bool pairsWithMatrix() {
    auto module = Func->getParentOfType<ModuleOp>();
    return llvm::any_of(Func.getBody().getOps<ir::CallOp>(), [&](ir::CallOp call) {
      return !isVector(module.lookupSymbol<ir::FuncOp>(call.getCallee()));
    });
  }

  std::string header(ir::FuncOp role) {
    SourceLoc at = sourceLocOf(role.getLoc());
    std::string what = "// Role " + role.getRole()->str() + " of @" + Func.getSymName().str();
    if (role != Func)
      what += " (@" + role.getSymName().str() + ")";
    if (at.isKnown())
      what += ", " + at.file.substr(at.file.rfind('/') + 1) + ":" + std::to_string(at.line);
    return what + ", for " + std::string(Target.platform) +
           ". Written by Kiln.\n#include \"kiln_kernel.h\"\n\nusing namespace kiln;\n\n"
           "extern \"C\" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ "
           "int64_t "
           "*args) {\n";
  }

  ir::FuncOp Func;
  const Machine &Target;
  std::vector<AscendKernel> &Kernels;
  ParameterOrder Order;
};

} // namespace
} // namespace ascend

Expected<std::vector<AscendKernel>> emitAscend(ModuleOp compiled, const Machine &machine) {
  std::vector<AscendKernel> kernels;
  for (ir::FuncOp func : launchedFunctions(compiled)) {
    if (Status failed = ascend::TaskEmitter(func, machine, kernels).emit(); !failed.isOk())
      return failed;
  }
  return kernels;
}

} // namespace kiln
