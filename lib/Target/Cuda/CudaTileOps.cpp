// Operations on tiles, as calls of the device library.
#include "CudaFunction.h"

#include "kiln/Program/Signature.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::cuda {

using tile::Space;
using tile::TileType;

static std::string shapeText(TileType type) {
  return "<" + cppType(type.getElementType()) + ", " + std::to_string(type.getRows()) + ", " +
         std::to_string(type.getCols()) + ">";
}
std::string registerType(TileType type) { return "Reg" + shapeText(type); }
std::string sharedType(TileType type) { return "Shared" + shapeText(type); }

static bool isInRegisters(TileType type) {
  return type.getSpace() == Space::Vec || type.getSpace() == Space::Acc;
}

/// Whether the device library has an element of this type, and the registers for so many of them.
bool FunctionEmitter::checkTile(Operation *op, TileType type) {
  if (cppType(type.getElementType()).empty()) {
    std::string name;
    llvm::raw_string_ostream(name) << type.getElementType();
    unsupported(op, "it has no elements of type " + name);
    return false;
  }
  if (type.getSpace() == Space::Mat) {
    int64_t rowBytes = type.getCols() * type.getElementType().getIntOrFloatBitWidth() / 8;
    if (rowBytes != 32 && rowBytes != 64 && rowBytes % 128 != 0) {
      unsupported(op, "a row of a tile in shared memory has 32 or 64 bytes, or a multiple of 128; "
                      "these have " +
                          Twine(rowBytes));
      return false;
    }
    if (type.getRows() > 256) {
      unsupported(op, "a tile in shared memory has at most 256 rows");
      return false;
    }
    if (unsigned bits = type.getElementType().getIntOrFloatBitWidth(); bits != 16 && bits != 32) {
      unsupported(op, "tiles in shared memory have elements of 16 or 32 bits");
      return false;
    }
  }
  // A warpgroup has 128 threads with at most 255 registers each.
  if (isInRegisters(type) && type.getNumElements() > int64_t(128) * 240) {
    unsupported(op, "a tile of " + Twine(type.getRows()) + " x " + Twine(type.getCols()) +
                        " does not fit the registers of a lane; use smaller tiles");
    return false;
  }
  return true;
}

std::string FunctionEmitter::padText(Attribute pad, Type element) {
  std::string type = cppType(element);
  if (auto constant = dyn_cast_or_null<FloatAttr>(pad)) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.17g", constant.getValueAsDouble());
    return "convert<" + type + ">(float(" + buffer + "))";
  }
  auto kind = dyn_cast_or_null<tile::PadKindAttr>(pad);
  if (!kind || kind.getValue() == tile::PadKind::Zero)
    return "convert<" + type + ">(0)";
  return (kind.getValue() == tile::PadKind::Min ? "least<" : "greatest<") + type + ">()";
}

std::string FunctionEmitter::windowText(TileType type, Value tensor, ArrayRef<int64_t> indices,
                                        ValueRange dynamic, std::optional<ArrayRef<int64_t>> valid,
                                        ValueRange validDynamic) {
  std::string result =
      "window" + shapeText(type) + "(" + text(tensor) + ", " + list(indices, dynamic);
  if (valid) {
    std::string extents = list(*valid, validDynamic);
    result += ", " + extents.substr(1, extents.size() - 2);
  }
  return result + ")";
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

void FunctionEmitter::emitLoad(tile::LoadOp op) {
  TileType type = op.getType();
  if (type.getSpace() == Space::Mat)
    return emitRequest(op);
  define(op, "load<" + registerType(type) + ">(" +
                 windowText(type, op.getTensor(), op.getStaticIndices(), op.getIndices(),
                            op.getStaticValid(), op.getValid()) +
                 ", " + padText(op.getPadAttr(), type.getElementType()) + ")");
}

/// A load of the copying role describes a transfer; the push that sends it on makes it.
void FunctionEmitter::emitRequest(tile::LoadOp op) {
  TileType type = op.getType();
  auto origin = Origin.find(op.getTensor());
  if (origin == Origin.end())
    return unsupported(op, "the copying role loads from parameters only, not from views of them");
  if (op.getStaticValid())
    return unsupported(op, "the copying role loads whole tiles; this one has valid extents");
  if (auto pad = dyn_cast_or_null<tile::PadKindAttr>(op.getPadAttr());
      op.getPadAttr() && (!pad || pad.getValue() != tile::PadKind::Zero))
    return unsupported(op, "what the copying role loads is padded with zeros");
  int64_t rank = op.getTensor().getType().getRank();
  if (rank < 2 || rank > 4)
    return unsupported(op, "the copying role loads from tensors of two to four axes");
  int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  CudaTensorMap map{Kernel.tensorIndex[origin->second], uint32_t(type.getRows()),
                    uint32_t(std::min<int64_t>(type.getCols(), 128 / elementBytes))};
  auto found = llvm::find(Kernel.maps, map);
  size_t number = found - Kernel.maps.begin();
  if (found == Kernel.maps.end())
    Kernel.maps.push_back(map);
  define(op, "request" + shapeText(type) + "(" + text(op.getTensor()) + ", args.maps[" +
                 std::to_string(number) + "], " + list(op.getStaticIndices(), op.getIndices()) +
                 ")");
}

void FunctionEmitter::emitStore(tile::StoreOp op) {
  TileType type = op.getTile().getType();
  if (!isInRegisters(type))
    return unsupported(op, "tiles are stored from registers");
  if (op.getAtomic() && !type.getElementType().isF32())
    return unsupported(op, "only f32 is added atomically");
  line((op.getAtomic() ? "storeAdding(" : "store(") + text(op.getTile()) + ", " +
       windowText(type, op.getTensor(), op.getStaticIndices(), op.getIndices(), op.getStaticValid(),
                  op.getValid()) +
       ");");
}

//===----------------------------------------------------------------------===//
// Between memories
//===----------------------------------------------------------------------===//

void FunctionEmitter::emitMove(tile::MoveOp op) {
  Space from = op.getOperand().getType().getSpace(), to = op.getType().getSpace();
  if (from == Space::Mat && (to == Space::Vec || to == Space::Acc))
    return define(op,
                  "toRegisters<" + registerType(op.getType()) + ">(" + text(op.getOperand()) + ")");
  if (to == Space::Mat || (to == Space::Right && from != Space::Mat))
    return unsupported(op,
                       "tiles do not go from registers to shared memory yet; a right operand of a "
                       "product has to be loaded in a pipelined loop");
  set(op, text(op.getOperand())); // the matrix unit reads where the tile is
}

/// Whether a number is a multiple of `factor`, as far as its own computation says.
static bool isMultipleOf(Value value, int64_t factor) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.getInt() % factor == 0;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MulIOp>(op))
    return isMultipleOf(op->getOperand(0), factor) || isMultipleOf(op->getOperand(1), factor);
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return isMultipleOf(op->getOperand(0), factor) && isMultipleOf(op->getOperand(1), factor);
  return false;
}

void FunctionEmitter::emitExtract(tile::ExtractOp op) {
  TileType from = op.getTile().getType(), to = op.getType();
  ArrayRef<int64_t> indices = op.getStaticIndices();
  bool byEights =
      ShapedType::isDynamic(indices[0]) ? isMultipleOf(op.getIndices()[0], 8) : indices[0] % 8 == 0;
  if (to.getSpace() != Space::Mat || indices[1] != 0 || to.getCols() != from.getCols() ||
      !byEights || to.getRows() % 8 != 0)
    return unsupported(op,
                       "only whole rows of a tile in shared memory, from a multiple of 8 on and "
                       "a multiple of 8 of them, can be taken out of it");
  std::string row =
      ShapedType::isDynamic(indices[0]) ? text(op.getIndices()[0]) : std::to_string(indices[0]);
  define(op,
         "rowsFrom<" + std::to_string(to.getRows()) + ">(" + text(op.getTile()) + ", " + row + ")");
}

void FunctionEmitter::emitPop(tile::PopOp op) {
  std::string slot = freshName("slot");
  line("auto " + slot + " = " + text(op.getPipe()) + ".pop();");
  for (auto [k, tile] : llvm::enumerate(op.getTiles())) {
    std::string inSlot = "get<" + std::to_string(k) + ">(" + slot + ")";
    define(tile, op.getCopy() ? copyText(cast<TileType>(tile.getType()), inSlot) : inSlot);
  }
}

/// A copy of a tile in shared memory, at a place of its own for each lane.
std::string FunctionEmitter::copyText(TileType type, const std::string &tile) {
  int64_t bytes = llvm::alignTo(
      type.getNumElements() * type.getElementType().getIntOrFloatBitWidth() / 8, kTileAlignment);
  std::string place =
      "copies + " + std::to_string(Kernel.copyBytes) + " + int(lane) * " + std::to_string(bytes);
  Kernel.copyBytes += bytes * Kernel.lanes;
  return "copied(" + tile + ", " + place + ", lane)";
}

//===----------------------------------------------------------------------===//
// Products, reductions
//===----------------------------------------------------------------------===//

void FunctionEmitter::emitMultiply(Operation *op, Value acc, Value lhs, Value rhs, bool transA,
                                   bool transB) {
  auto left = cast<TileType>(lhs.getType()), right = cast<TileType>(rhs.getType());
  auto result = cast<TileType>(op->getResult(0).getType());
  Type element = left.getElementType();
  if (!element.isBF16() && !element.isF16())
    return unsupported(op, "the matrix unit multiplies bf16 and f16 so far; cast the operands");
  if (transA)
    return unsupported(op, "a transposed left operand is not there yet");
  int64_t sums = transB ? right.getCols() : right.getRows();
  if (sums % 16 != 0 || result.getCols() % 8 != 0)
    return unsupported(op, "a product has a multiple of 8 columns and sums over a multiple of 16 "
                           "elements");
  // Matrix instructions read 64 rows; those there are too many of are behind the tile.
  if (left.getRows() % 64 != 0)
    Kernel.slackBytes = std::max<int64_t>(Kernel.slackBytes, int64_t(64) * 128);
  std::string from = acc ? text(acc) : "full<" + registerType(result) + ">(0.0f)";
  define(op->getResult(0), std::string("multiply<") + (transB ? "true" : "false") + ">(" + from +
                               ", " + text(lhs) + ", " + text(rhs) + ")");
}

void FunctionEmitter::emitReduce(tile::ReduceOp op) {
  StringRef name = [&]() -> StringRef {
    switch (op.getKind()) {
    case tile::ReduceKind::Sum:
      return "sum_columns";
    case tile::ReduceKind::Max:
      return "max_columns";
    case tile::ReduceKind::Min:
      return "min_columns";
    case tile::ReduceKind::Prod:
      return "prod_columns";
    default:
      return "";
    }
  }();
  if (name.empty())
    return unsupported(op, "argmax and argmin are not there yet");
  if (op.getAxis() != 1)
    return unsupported(op, "rows cannot be reduced yet, only columns: axis(1)");
  define(op, "tile::" + name.str() + "<" + registerType(op.getType()) + ">(" +
                 text(op.getOperand()) + ")");
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

bool FunctionEmitter::emitElementwise(Operation *op) {
  // From an op to the function of the device library.
  static const llvm::StringMap<StringRef> functions = {
#include "kiln/Dialect/Tile/Elementwise/Cuda.inc"
      {"tile.select", "select"},
  };
  auto compare = dyn_cast<tile::CmpOp>(op);
  StringRef name = compare ? tile::stringifyCmpKind(compare.getKind())
                           : functions.lookup(op->getName().getStringRef());
  if (name.empty())
    return false;
  SmallVector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(text(operand));
  define(op->getResult(0), "tile::" + name.str() + "<" +
                               registerType(cast<TileType>(op->getResult(0).getType())) + ">(" +
                               llvm::join(operands, ", ") + ")");
  return true;
}

bool FunctionEmitter::emitTile(Operation *op) {
  if (!isa_and_nonnull<tile::TileDialect>(op->getDialect()))
    return false;
  for (Type type : op->getResultTypes())
    if (auto tile = dyn_cast<TileType>(type); tile && !checkTile(op, tile))
      return true;
  return TypeSwitch<Operation *, bool>(op)
      .Case<tile::LoadOp>([&](auto load) { return emitLoad(load), true; })
      .Case<tile::StoreOp>([&](auto store) { return emitStore(store), true; })
      .Case<tile::MoveOp>([&](auto move) { return emitMove(move), true; })
      .Case<tile::ExtractOp>([&](auto extract) { return emitExtract(extract), true; })
      .Case<tile::ReduceOp>([&](auto reduce) { return emitReduce(reduce), true; })
      .Case<tile::PopOp>([&](auto pop) { return emitPop(pop), true; })
      .Case<tile::PushOp>([&](tile::PushOp push) {
        SmallVector<std::string> tiles;
        for (Value tile : push.getTiles())
          tiles.push_back(text(tile));
        return line(text(push.getPipe()) + ".push(" + llvm::join(tiles, ", ") + ");"), true;
      })
      .Case<tile::FreeOp>(
          [&](tile::FreeOp free) { return line(text(free.getPipe()) + ".free();"), true; })
      .Case<tile::MatmulOp>([&](tile::MatmulOp product) {
        emitMultiply(op, Value(), product.getLhs(), product.getRhs(), product.getTransA(),
                     product.getTransB());
        return true;
      })
      .Case<tile::MatmulAccOp>([&](tile::MatmulAccOp product) {
        emitMultiply(op, product.getAcc(), product.getLhs(), product.getRhs(), product.getTransA(),
                     product.getTransB());
        return true;
      })
      .Case<tile::FullOp>([&](tile::FullOp full) {
        return define(full,
                      "full<" + registerType(full.getType()) + ">(" + text(full.getValue()) + ")"),
               true;
      })
      .Case<tile::IotaOp>([&](tile::IotaOp iota) {
        return define(iota, "iota<" + registerType(iota.getType()) + ", " +
                                std::to_string(iota.getAxis()) + ">()"),
               true;
      })
      .Case<tile::CastOp>([&](tile::CastOp cast) {
        return define(cast, "cast<" + registerType(cast.getType()) + ">(" +
                                text(cast.getOperand()) + ")"),
               true;
      })
      .Case<tile::MaskOp>([&](tile::MaskOp mask) {
        std::string extents = list(mask.getStaticValid(), mask.getValid());
        return define(mask, "mask(" + text(mask.getOperand()) + ", " +
                                extents.substr(1, extents.size() - 2) + ", " +
                                padText(mask.getPadAttr(), mask.getType().getElementType()) + ")"),
               true;
      })
      .Case<tile::MaskDiagOp>([&](tile::MaskDiagOp mask) {
        return define(mask, "maskDiagonal(" + text(mask.getOperand()) + ", " +
                                text(mask.getOffset()) + ", " +
                                padText(mask.getPadAttr(), mask.getType().getElementType()) + ")"),
               true;
      })
      .Default([&](Operation *) { return emitElementwise(op); });
}

} // namespace kiln::cuda
