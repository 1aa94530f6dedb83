// Operations on tiles, as calls of the device library.
#include "CudaFunction.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Dialect/Tile/MostlyOnes.h"
#include "kiln/Dialect/Tile/Staged.h"
#include "kiln/Dialect/Tile/TileElementwise.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Dialect/Tile/Turns.h"
#include "kiln/Dialect/Tile/Unwritten.h"
#include "kiln/Dialect/Tile/Walk.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Text/Literals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::cuda {

using tile::Space;
using tile::TileType;

static std::string shapeText(TileType type) {
  return text::cppShape(cppType(type.getElementType()), type.getRows(), type.getCols());
}
std::string registerType(TileType type) { return "Reg" + shapeText(type); }
std::string sharedType(TileType type) { return "Shared" + shapeText(type); }

bool hasRingPerLane(tile::PipeType type) {
  return findRole(type.getFrom())->maxLanes > 1 && findRole(type.getTo())->maxLanes > 1;
}

bool isInRegisters(TileType type) {
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
  if (valid)
    result += ", " + commas(*valid, validDynamic);
  return result + ")";
}

/// `rowsWindow<T, R, C, I>(tensor, {i, j}, numbers, {k}, rows, cols)`
template <typename Op> std::string FunctionEmitter::rowsWindowText(TileType type, Op op) {
  std::string shape = shapeText(type);
  std::string result = "rowsWindow" + shape.substr(0, shape.size() - 1) + ", " +
                       cppType(cast<ir::TensorType>(op.getRows().getType()).getElementType()) +
                       ">(" + text(op.getTensor()) + ", " +
                       list(op.getStaticIndices(), op.getIndices()) + ", " + text(op.getRows()) +
                       ", " + list(op.getStaticRowIndices(), op.getRowIndices());
  if (op.getStaticValid())
    result += ", " + commas(*op.getStaticValid(), op.getValid());
  return result + ")";
}

std::string FunctionEmitter::placeText(Value tile) {
  auto result = cast<OpResult>(tile);
  auto addresses = result.getOwner()->getAttrOfType<DenseI64ArrayAttr>(tile::kAddressAttr);
  int64_t number =
      llvm::count_if(result.getOwner()->getResults().take_front(result.getResultNumber()),
                     [](Value other) { return isa<TileType>(other.getType()); });
  if (!addresses || addresses[number] < 0) {
    unsupported(result.getOwner(), "its result has no place in shared memory");
    return "";
  }
  return placeText(addresses[number]);
}

std::string FunctionEmitter::placeText(int64_t address) {
  return "memory + " + std::to_string(address) +
         (Kernel.lanes > 1 ? " + int(lane) * " + std::to_string(Kernel.laneBytes) : "");
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// What a load or store says of how often its memory is touched.
static std::string touchedText(Operation *op, StringRef before) {
  return op->hasAttr(tile::kStreamsAttr) ? before.str() + "Touched::Once" : "";
}

void FunctionEmitter::emitLoad(tile::LoadOp op) {
  TileType type = op.getType();
  if (type.getSpace() == Space::Mat)
    return emitRequest(op);
  if (auto whole = Whole.find(op); whole != Whole.end())
    return define(op, "loadWhole<" + resultText(op) + touchedText(op, ", ") + ">(" + whole->second +
                          ", " + padText(op.getPadAttr(), type.getElementType()) + ")");
  define(op, (isMadeLater(op) ? "loadLater<" : "load<") + resultText(op) +
                 (isMadeLater(op) ? "" : touchedText(op, ", ")) + ">(" +
                 windowText(type, op.getTensor(), op.getStaticIndices(), op.getIndices(),
                            op.getStaticValid(), op.getValid()) +
                 ", " + padText(op.getPadAttr(), type.getElementType()) + ")");
}

/// Whether the copy engine can be told of a load: tiles of a parameter, padded with zeros, that lie
/// in shared memory as the engine writes them. Of which less than a tile counts, threads copy.
static bool isForEngine(tile::LoadOp op, bool isParameter) {
  TileType type = op.getType();
  int64_t rank = op.getTensor().getType().getRank();
  int64_t bits = type.getElementType().getIntOrFloatBitWidth(),
          rowBytes = type.getCols() * bits / 8;
  auto pad = dyn_cast_or_null<tile::PadKindAttr>(op.getPadAttr());
  bool padsZeros = !op.getPadAttr() || (pad && pad.getValue() == tile::PadKind::Zero);
  return isParameter && padsZeros && rank >= 2 && rank <= 5 &&
         (bits == 8 || bits == 16 || bits == 32) && type.getRows() <= 256 &&
         (rowBytes == 32 || rowBytes == 64 || rowBytes % 128 == 0);
}

/// A load of the copying role describes a transfer; the push that sends it on makes it.
void FunctionEmitter::emitRequest(tile::LoadOp op) {
  TileType type = op.getType();
  if (!isCopying())
    return unsupported(op, "only the copying role loads into shared memory");
  auto origin = Origin.find(op.getTensor());
  if (!isForEngine(op, origin != Origin.end()))
    return define(op, "copyRequest(" +
                          windowText(type, op.getTensor(), op.getStaticIndices(), op.getIndices(),
                                     op.getStaticValid(), op.getValid()) +
                          ", " + padText(op.getPadAttr(), type.getElementType()) + ")");
  int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  CudaTensorMap map{Kernel.tensorIndex[origin->second], uint32_t(type.getRows()),
                    uint32_t(std::min<int64_t>(type.getCols(), 128 / elementBytes)),
                    op->hasAttr(tile::kStreamsAttr),
                    op->hasAttr(tile::kUnwrittenAttr) && canRunAhead(Func)};
  size_t number = mapNumber(map);
  std::string valid = op.getStaticValid() ? ", " + commas(*op.getStaticValid(), op.getValid()) : "";
  std::string shape = shapeText(type);
  shape.insert(shape.size() - 1, touchedText(op, ", "));
  std::string request = (valid.empty() ? "request" : "validRequest") + shape + "(" +
                        text(op.getTensor()) + ", args.maps[" + std::to_string(number) + "], " +
                        list(op.getStaticIndices(), op.getIndices()) + valid + ")";
  if (map.isAhead)
    request = "unwritten(" + request + ")";
  if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>(tile::kVariesAlongAttr);
      axes && Kernel.pairsBlocks) {
    unsigned bits = 0;
    for (int64_t axis : axes.asArrayRef())
      bits |= 1u << axis;
    request = "paired<" + std::to_string(bits) + ">(" + request + ", block)";
  }
  define(op, request);
}

void FunctionEmitter::emitGatherRows(tile::GatherRowsOp op) {
  TileType type = op.getType();
  std::string arguments =
      "(" + rowsWindowText(type, op) + ", " + padText(op.getPadAttr(), type.getElementType()) + ")";
  define(op, (type.getSpace() == Space::Mat ? "copyRequest" : "load<" + registerType(type) + ">") +
                 arguments);
}

/// Threads store what they hold.
std::string FunctionEmitter::inRegisters(Value tile) {
  auto type = cast<TileType>(tile.getType());
  return isInRegisters(type) ? text(tile)
                             : "toRegisters<" + registerType(type) + ">(" + text(tile) + ")";
}

size_t FunctionEmitter::mapNumber(const CudaTensorMap &map) {
  auto found = llvm::find(Kernel.maps, map);
  size_t number = found - Kernel.maps.begin();
  if (found == Kernel.maps.end())
    Kernel.maps.push_back(map);
  return number;
}

/// The store that waits for the next block's first product; null if there is none.
tile::StoreOp FunctionEmitter::delayedStore() {
  tile::StoreOp found;
  if (Kernel.delaysStores)
    Func.walk([&](tile::StoreOp store) {
      if (store->hasAttr(tile::kDelayedAttr) && store->hasAttr(tile::kScratchAttr) &&
          Origin.contains(store.getTensor()))
        found = store;
    });
  return found;
}

/// Through a scratch in shared memory.
void FunctionEmitter::emitStaged(tile::StoreOp op, int64_t scratch) {
  TileType type = op.getTile().getType();
  int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  CudaTensorMap map{Kernel.tensorIndex[Origin.lookup(op.getTensor())], uint32_t(tile::kStagedRows),
                    uint32_t(tile::kStagedRowBytes / elementBytes)};
  Kernel.stagesStores = true;
  std::string index = list(op.getStaticIndices(), op.getIndices()),
              window = windowText(type, op.getTensor(), op.getStaticIndices(), op.getIndices(),
                                  op.getStaticValid(), op.getValid());
  if (op == delayedStore()) {
    scf::ForOp products;
    Func.walk(
        [&](tile::ProductInterface product) { products = product->getParentOfType<scf::ForOp>(); });
    std::string shape = shapeText(type);
    Kernel.keeps = "DelayedStore" + shape.substr(0, shape.size() - 1) + ", " +
                   std::to_string(op.getTensor().getType().getRank()) + ">";
    Kernel.keepsGiven = "args.maps[" + std::to_string(mapNumber(map)) + "], " + placeText(scratch);
    return line("delayed.keep(" + inRegisters(op.getTile()) + ", " + window + ", " +
                text(op.getTensor()) + ", " + index + ", " +
                operand(products.getLowerBound(), Binding::Sum) + " < " +
                operand(products.getUpperBound(), Binding::Sum) + ", lane);");
  }
  line("storeStaged(" + inRegisters(op.getTile()) + ", " + window + ", " + text(op.getTensor()) +
       ", args.maps[" + std::to_string(mapNumber(map)) + "], " + index + ", " + placeText(scratch) +
       ", " + Kernel.warpgroup() + ");");
}

void FunctionEmitter::emitStore(tile::StoreOp op) {
  TileType type = op.getTile().getType();
  if (auto scratch = op->getAttrOfType<IntegerAttr>(tile::kScratchAttr);
      scratch && Origin.contains(op.getTensor()))
    return emitStaged(op, scratch.getInt());
  std::string touched = touchedText(op, "");
  if (auto whole = Whole.find(op); whole != Whole.end())
    return line("storeWhole" + (touched.empty() ? "" : "<" + touched + ">") + "(" +
                inRegisters(op.getTile()) + ", " + whole->second + ");");
  line((op.getAtomic()    ? "storeAdding("
        : touched.empty() ? "store("
                          : "store<" + touched + ">(") +
       inRegisters(op.getTile()) + ", " +
       windowText(type, op.getTensor(), op.getStaticIndices(), op.getIndices(), op.getStaticValid(),
                  op.getValid()) +
       ");");
}

void FunctionEmitter::emitScatterRows(tile::ScatterRowsOp op) {
  TileType type = op.getTile().getType();
  line((op.getAtomic() ? "storeAdding(" : "store(") + inRegisters(op.getTile()) + ", " +
       rowsWindowText(type, op) + ");");
}

//===----------------------------------------------------------------------===//
// Between memories
//===----------------------------------------------------------------------===//

/// Whether nobody reads a tile but products, also after loops and branches have handed it on.
static bool isOnlyMultiplied(Value tile, llvm::SmallPtrSetImpl<void *> &seen) {
  if (!seen.insert(tile.getAsOpaquePointer()).second)
    return true;
  return llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    unsigned number = use.getOperandNumber();
    if (isa<tile::ProductInterface>(user))
      return true;
    if (auto loop = dyn_cast<scf::ForOp>(user))
      return isOnlyMultiplied(loop.getTiedLoopRegionIterArg(&use), seen) &&
             isOnlyMultiplied(loop.getTiedLoopResult(&use), seen);
    if (!isa<scf::YieldOp>(user))
      return false;
    if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()))
      return isOnlyMultiplied(loop.getRegionIterArg(number), seen) &&
             isOnlyMultiplied(loop.getResult(number), seen);
    auto branch = dyn_cast<scf::IfOp>(user->getParentOp());
    return branch && isOnlyMultiplied(branch.getResult(number), seen);
  });
}

void FunctionEmitter::emitMove(tile::MoveOp op) {
  // What the matrix unit reads, as a left or right operand, is still where it was.
  Value held = op.getOperand();
  for (auto move = held.getDefiningOp<tile::MoveOp>();
       move && !isInRegisters(move.getType()) && move.getType().getSpace() != Space::Mat;
       move = held.getDefiningOp<tile::MoveOp>())
    held = move.getOperand();
  auto from = cast<TileType>(held.getType());
  Space to = op.getType().getSpace();
  if (from.getSpace() == Space::Mat && (to == Space::Vec || to == Space::Acc))
    return define(op,
                  "toRegisters<" + registerType(op.getType()) + ">(" + text(op.getOperand()) + ")");
  llvm::SmallPtrSet<void *, 8> seen;
  if (isInRegisters(from) && to == Space::Left && from.getRows() > 1 &&
      from.getElementType().getIntOrFloatBitWidth() == 16 && isOnlyMultiplied(op, seen))
    return define(op, "packed(" + text(op.getOperand()) + ")");
  if (isInRegisters(from) && to == Space::Mat)
    return define(op, "toShared(" + text(op.getOperand()) + ", " + placeText(op) + ", " +
                          Kernel.warpgroup().str() + ")");
  set(op, text(op.getOperand())); // the matrix unit reads where the tile is
  if (Owned.contains(op.getOperand()) && op.getOperand().hasOneUse())
    Owned.insert(op);
}

std::string FunctionEmitter::pipeCall(Value pipe, StringRef method,
                                      ArrayRef<std::string> arguments) {
  SmallVector<std::string> given(arguments);
  if (Kernel.hasGuests)
    given.insert(given.begin(), "lane");
  return text(pipe) + "." + method.str() + "(" + llvm::join(given, ", ") + ")";
}

/// The tiles of the oldest slot: a lane's part of each, where lanes share them.
void FunctionEmitter::emitPop(tile::PopOp op) {
  tile::PipeType pipe = op.getPipe().getType();
  std::string slot = pipeCall(op.getPipe(), "pop");
  if (op.getTiles().empty())
    return line(slot + ";");
  if (op.getTiles().size() > 1) {
    std::string name = freshName("slot");
    line("auto " + name + " = " + slot + ";");
    slot = name;
  }
  for (auto [k, tile] : llvm::enumerate(op.getTiles())) {
    std::string inSlot = "get<" + std::to_string(k) + ">(" + slot + ")";
    auto type = cast<TileType>(tile.getType());
    TileType whole = pipe.getPayload()[k];
    for (unsigned axis : {0, 1})
      if (int64_t extent = type.getExtent(axis);
          extent != whole.getExtent(axis) && !hasRingPerLane(pipe))
        inSlot = (axis == 0 ? "rowsFrom<" : "colsFrom<") + std::to_string(extent) + ">(" + inSlot +
                 ", lane * " + std::to_string(extent) + ")";
    define(tile, op.getCopy() ? "copied(" + inSlot + ", " + placeText(tile) + ", " +
                                    Kernel.warpgroup().str() + ")"
                              : inSlot);
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void FunctionEmitter::emitMultiply(tile::ProductInterface op) {
  if (auto start = dyn_cast<tile::MatmulStartOp>(op.getOperation()))
    return emitStart(start);
  auto result = cast<TileType>(op->getResult(0).getType());
  std::string zero = result.getElementType().isF32() ? "0.0f" : "0";
  std::string from = op.getAccumulator() ? text(op.getAccumulator()->get())
                                         : "full<" + registerType(result) + ">(" + zero + ")";
  std::string transposed =
      std::string(op.getTransB() ? "true" : "false") + (op.getTransA() ? ", true" : "");
  if (delayedStore()) { // which stands behind the loop of this product, the only one
    std::string name = Into.lookup(op->getResult(0));
    if (name.empty())
      line("auto " + (name = nameFor(op->getResult(0), "t")) + " = " + from + ";");
    else if (name != from)
      line(name + " = " + from + ";");
    line("start<" + transposed + ">(" + name + ", " + text(op.getLhs()) + ", " + text(op.getRhs()) +
         ");");
    auto loop = op->getParentOfType<scf::ForOp>();
    line("delayed.store(lane, " + operand(loop.getInductionVar(), Binding::Sum) + " + " +
         operand(loop.getStep(), Binding::Product) +
         " >= " + operand(loop.getUpperBound(), Binding::Sum) + ");");
    line("await<0>(" + name + ");");
    return set(op->getResult(0), name);
  }
  define(op->getResult(0), "multiply<" + transposed + ">(" + from + ", " + text(op.getLhs()) +
                               ", " + text(op.getRhs()) + ")");
}

/// The variable that the matrix unit changes, up to the await.
void FunctionEmitter::emitStart(tile::MatmulStartOp op) {
  auto isGiven = [](bool is) { return is ? "true" : "false"; };
  OpOperand *acc = op.getAccumulator();
  std::string name = nameFor(op.getResult(), "t");
  line(acc ? "auto " + name + " = " + text(acc->get()) + ";"
           : registerType(op.getType()) + " " + name + ";");
  std::string flags = isGiven(op.getTransB());
  if (op.getTransA() || !acc)
    flags += std::string(", ") + isGiven(op.getTransA());
  // Two lanes are as fast without, and do not wait for each other.
  bool alternates = Kernel.lanes > 2;
  if (alternates && op->hasAttr(tile::kTakesTurnAttr)) {
    line("takeTurn(lane);");
    Kernel.takesTurns = true;
  }
  line("start<" + flags + (acc ? "" : ", true") + ">(" + name + ", " + text(op.getLhs()) + ", " +
       text(op.getRhs()) + ");");
  if (alternates && op->hasAttr(tile::kPassesTurnAttr))
    line("passTurn<" + std::to_string(Kernel.lanes) + ">(lane);");
  set(op, name);
}

/// Products are made in the order in which they were begun, so all that were begun before this one
/// are awaited with it. What was begun in other blocks has been awaited there.
void FunctionEmitter::emitAwait(tile::AwaitOp op) {
  int64_t later = 0;
  for (Operation *next = op.getOperand().getDefiningOp()->getNextNode(); next != op;
       next = next->getNextNode())
    later += isa<tile::MatmulStartOp>(next);
  line("await<" + std::to_string(later) + ">(" + text(op.getOperand()) + ");");
  set(op, text(op.getOperand()));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Whether a tile is used once, at its own places, by an operation that can compute or read its
/// elements one by one. A load moves to where it is used only if nobody writes what it reads.
bool FunctionEmitter::isMadeLater(Operation *op) {
  // Where tiles are known to be whole they are computed piece by piece as they are stored: what was
  // loaded stays as short as it came, and what other blocks read too, such as weights, is only read
  // then.
  bool isWhole = WholeBlock && op->getBlock() == WholeBlock;
  Operation *user = Again.lookup(op);
  if ((!Kernel.computesLater && !isWhole) || IsInBody || op->getNumResults() != 1 ||
      (!user && !op->hasOneUse()) || op->hasAttr(tile::kMostlyOnesAttr))
    return false;
  auto type = dyn_cast<TileType>(op->getResult(0).getType());
  auto load = dyn_cast<tile::LoadOp>(op);
  if (!type || !isInRegisters(type) ||
      (!tile::isElementwise(op) &&
       (!load || (isWhole && op->hasAttr(tile::kStreamsAttr)) || Meetings.contains(op))))
    return false;
  if (!user)
    user = *op->user_begin();
  if (user->getBlock() != op->getBlock() || user->hasAttr(tile::kMostlyOnesAttr))
    return false;
  if (auto store = dyn_cast<tile::StoreOp>(user))
    return !store.getAtomic();
  return tile::isElementwise(user) &&
         type.getRows() == cast<TileType>(user->getResult(0).getType()).getRows() &&
         type.getCols() == cast<TileType>(user->getResult(0).getType()).getCols();
}

std::string FunctionEmitter::resultText(Operation *op) {
  std::string type = registerText(cast<TileType>(op->getResult(0).getType()));
  return isMadeLater(op) ? "Later<" + type + ">" : type;
}

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
  if (op->hasAttr(tile::kMostlyOnesAttr))
    name = "mulUnlessOnes";
  SmallVector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(argument(operand));
  define(op->getResult(0),
         "tile::" + name.str() + "<" + resultText(op) + ">(" + llvm::join(operands, ", ") + ")");
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
      .Case<tile::GatherRowsOp>([&](auto gather) { return emitGatherRows(gather), true; })
      .Case<tile::ScatterRowsOp>([&](auto scatter) { return emitScatterRows(scatter), true; })
      .Case<tile::PopOp>([&](auto pop) { return emitPop(pop), true; })
      .Case<tile::PushOp>([&](tile::PushOp push) {
        SmallVector<std::string> tiles;
        for (Value tile : push.getTiles())
          tiles.push_back(text(tile));
        return line(pipeCall(push.getPipe(), IsAhead ? "runAhead" : "push", tiles) + ";"), true;
      })
      .Case<tile::FreeOp>(
          [&](tile::FreeOp free) { return line(pipeCall(free.getPipe(), "free") + ";"), true; })
      .Case<tile::ProductInterface>([&](auto product) { return emitMultiply(product), true; })
      .Case<tile::AwaitOp>([&](auto await) { return emitAwait(await), true; })
      .Case<tile::FullOp>([&](tile::FullOp full) {
        return define(full, "full<" + registerText(full.getType()) + ">(" +
                                argument(full.getValue()) + ")"),
               true;
      })
      .Case<tile::IotaOp>([&](tile::IotaOp iota) {
        return define(iota, "iota<" + registerType(iota.getType()) + ", " +
                                std::to_string(iota.getAxis()) + ">()"),
               true;
      })
      .Case<tile::CastOp>([&](tile::CastOp cast) {
        Operation *from = cast.getOperand().getDefiningOp();
        bool isLater = isMadeLater(cast) || (from && isMadeLater(from));
        std::string given = text(cast.getOperand());
        if (Again.contains(cast))
          given = "again(" + given + ")";
        return define(cast,
                      (isLater ? "castLater<" : "cast<") + resultText(cast) + ">(" + given + ")"),
               true;
      })
      .Case<tile::MaskOp>([&](tile::MaskOp mask) {
        if (isIdleWhereWhole(mask))
          return set(mask, text(mask.getOperand())), true;
        return define(mask, "mask(" + text(mask.getOperand()) + ", " +
                                commas(mask.getStaticValid(), mask.getValid()) + ", " +
                                padText(mask.getPadAttr(), mask.getType().getElementType()) + ")"),
               true;
      })
      .Case<tile::MaskDiagOp>([&](tile::MaskDiagOp mask) {
        return define(mask, "maskDiagonal(" + text(mask.getOperand()) + ", " +
                                argument(mask.getOffset()) + ", " +
                                padText(mask.getPadAttr(), mask.getType().getElementType()) + ")"),
               true;
      })
      .Default([&](Operation *) { return emitExchange(op) || emitElementwise(op); });
}

} // namespace kiln::cuda
