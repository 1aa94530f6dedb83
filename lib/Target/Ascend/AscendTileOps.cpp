// Operations on tiles, as instructions of PTO-ISA and calls of the device library.
#include "AscendFunction.h"

#include "kiln/Dialect/Tile/TileElementwise.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Target/Text/Literals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::ascend {

using tile::Space;
using tile::TileType;

static std::string shapeText(TileType type) {
  return text::cppShape(cppType(type.getElementType()), type.getRows(), type.getCols());
}

/// A column lies in memory as a row does.
static bool isColumn(TileType type) {
  return type.getSpace() == Space::Vec && type.getCols() == 1 &&
         !type.getElementType().isInteger(1);
}

std::string rowType(TileType type) { return "Vec" + shapeText(type.withShape(1, type.getRows())); }

std::string tileType(TileType type) {
  if (isColumn(type))
    return "Column<" + cppType(type.getElementType()) + ", " + std::to_string(type.getRows()) + ">";
  switch (type.getSpace()) {
  case Space::Vec:
    if (type.getElementType().isInteger(1))
      return "Mask<" + std::to_string(type.getRows()) + ", " + std::to_string(type.getCols()) + ">";
    return "Vec" + shapeText(type);
  case Space::Mat:
    return "Mat" + shapeText(type);
  case Space::Left:
    return "Left" + shapeText(type);
  case Space::Right:
    return "Right" + shapeText(type);
  case Space::Acc:
    return "Acc" + shapeText(type);
  default:
    return "";
  }
}

bool FunctionEmitter::checkTile(Operation *op, TileType type) {
  Type element = type.getElementType();
  if (tileType(type).empty()) {
    unsupported(op, "a tile of it has no memory, or lies where the backend puts none");
    return false;
  }
  if (cppType(element).empty() || element.isInteger(64)) {
    std::string name;
    llvm::raw_string_ostream(name) << element;
    unsupported(op, "tiles have no elements of type " + name);
    return false;
  }
  if (element.isInteger(1) && (type.getCols() % 8 != 0 || isa<tile::LoadOp, tile::PopOp>(op))) {
    unsupported(op, "a tile of truth values is a mask, whose rows are whole bytes");
    return false;
  }
  return true;
}

int64_t FunctionEmitter::addressOf(Value tile) {
  std::optional<TilePlace> place = placeOf(tile, Target);
  if (!place)
    unsupported(tile.getDefiningOp() ? tile.getDefiningOp() : Func.getOperation(),
                "a tile has no address");
  return place ? place->from : 0;
}

std::string FunctionEmitter::declareAt(StringRef name, const std::string &type, int64_t address) {
  line(type + " " + name + "; TASSIGN(" + name + ", " + Twine(address) + ");");
  return name.str();
}

/// A variable for the bytes of a tile: at its address, or where its slot is found to be.
std::string FunctionEmitter::declareAt(StringRef name, const std::string &type, Value tile) {
  tile::PopOp pop = slotOf(tile);
  if (!pop)
    return declareAt(name, type, addressOf(tile));
  line(type + " " + name + "; bind(" + name + ", " + text(pop.getTiles().front()) + ");");
  return name.str();
}

/// A tile that is brought into the blocks of the matrix unit before it is pushed.
static bool isForMatrix(Value tile) {
  auto move = tile.getDefiningOp<tile::MoveOp>();
  if (!move || move.getType().getSpace() != Space::Vec || !move->hasOneUse())
    return false;
  auto push = dyn_cast<tile::PushOp>(*move->user_begin());
  return push && (findRole(push.getPipe().getType().getTo())->executes & MatrixWork);
}

void FunctionEmitter::declare(Value tile) {
  auto type = cast<TileType>(tile.getType());
  if (Operation *op = tile.getDefiningOp(); op && !checkTile(op, type))
    return;
  std::string name = nameFor(tile, "tile");
  declareAt(name, isForMatrix(tile) ? "VecNz" + shapeText(type) : tileType(type), tile);
  Values[tile] = name;
  if (isColumn(type))
    Rows[tile] = declareAt(freshName(name + "_row"), rowType(type), tile);
}

std::string FunctionEmitter::flat(Value tile) {
  auto row = Rows.find(tile);
  return row == Rows.end() ? text(tile) : row->second;
}

std::string FunctionEmitter::scratchText(Operation *op, const std::string &type) {
  auto scratch = op->getAttrOfType<IntegerAttr>(tile::kScratchAttr);
  if (!scratch) {
    unsupported(op, "it has no scratch memory");
    return "";
  }
  return declareAt(freshName("tmp"), type, scratch.getInt());
}

std::string FunctionEmitter::padText(Attribute pad) {
  auto kind = dyn_cast_or_null<tile::PadKindAttr>(pad);
  if (!kind || kind.getValue() == tile::PadKind::Zero)
    return "PadValue::Zero";
  return kind.getValue() == tile::PadKind::Min ? "PadValue::Min" : "PadValue::Max";
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

std::string FunctionEmitter::windowText(TileType type, Value tensor, ArrayRef<int64_t> indices,
                                        ValueRange dynamic, std::optional<ArrayRef<int64_t>> valid,
                                        ValueRange validDynamic) {
  bool isTurned = isColumn(type);
  int64_t rows = isTurned ? 1 : type.getRows(), cols = isTurned ? type.getRows() : type.getCols();
  std::string result = "window<" + std::to_string(rows) + ", " + std::to_string(cols) + ">(" +
                       text(tensor) + ", {" + list(indices, dynamic) + "}";
  if (valid) {
    SmallVector<std::string> both =
        text::mixedList(*valid, validDynamic, [&](Value value) { return text(value); });
    result += ", " + both[isTurned] + ", " + both[!isTurned];
  }
  return result + ")";
}

/// A column of a matrix would be elements far apart.
static bool isStridedColumn(TileType type, Value tensor) {
  auto of = cast<ir::TensorType>(tensor.getType());
  return isColumn(type) && type.getRows() > 1 && of.getRank() > 1;
}

void FunctionEmitter::emitLoad(tile::LoadOp op) {
  if (isStridedColumn(op.getType(), op.getTensor()))
    return unsupported(op, "a column of a matrix is not loaded; load a row of the transposed one");
  declare(op);
  line("load(" + flat(op) + ", " +
       windowText(op.getType(), op.getTensor(), op.getStaticIndices(), op.getIndices(),
                  op.getStaticValid(), op.getValid()) +
       ");");
}

void FunctionEmitter::emitStore(tile::StoreOp op) {
  TileType type = op.getTile().getType();
  if (isStridedColumn(type, op.getTensor()))
    return unsupported(op, "a column of a matrix is not stored; store a row of the transposed one");
  if (type.getElementType().isInteger(1))
    return unsupported(op, "a mask is not stored");
  std::string how = op.getAtomic() ? "<AtomicType::AtomicAdd>" : "";
  if (HasShadow) // one of two vector cores writes
    line("if (!isShadow)");
  line((HasShadow ? "  store" : "store") + how + "(" + flat(op.getTile()) + ", " +
       windowText(type, op.getTensor(), op.getStaticIndices(), op.getIndices(), op.getStaticValid(),
                  op.getValid()) +
       ");");
}

//===----------------------------------------------------------------------===//
// Between memories
//===----------------------------------------------------------------------===//

/// How the products that use an operand see it: 0 as it is, 1 with rows and columns exchanged, -1
/// if they disagree.
static int turnOf(tile::MoveOp move) {
  int turn = 2;
  for (OpOperand &use : move->getUses()) {
    auto product = dyn_cast<tile::ProductInterface>(use.getOwner());
    if (!product)
      return -1;
    int here = product.getLhsMutable().getOperandNumber() == use.getOperandNumber()
                   ? product.getTransA()
                   : product.getTransB();
    if (turn != 2 && turn != here)
      return -1;
    turn = here;
  }
  return turn == 2 ? 0 : turn;
}

void FunctionEmitter::emitMove(tile::MoveOp op) {
  TileType from = op.getOperand().getType(), to = op.getType();
  Space source = from.getSpace(), target = to.getSpace();
  if (source == Space::Vec && target == Space::Vec) {
    declare(op);
    return line("TMOV(" + flat(op) + ", " + flat(op.getOperand()) + ");");
  }
  if (source == Space::Mat && (target == Space::Left || target == Space::Right)) {
    int turn = turnOf(op);
    if (turn < 0)
      return unsupported(op, "products use it both as it is and transposed");
    if (!checkTile(op, to))
      return;
    TileType seen = turn ? to.withShape(to.getCols(), to.getRows()) : to;
    std::string given = text(op.getOperand());
    if (turn)
      given = declareAt(freshName(given + "_transposed"), "Transposed" + shapeText(seen),
                        op.getOperand());
    std::string name = nameFor(op, "tile");
    Values[op] = name;
    declareAt(name, tileType(seen), op.getResult());
    return line("TMOV(" + name + ", " + given + ");");
  }
  if (source == Space::Acc && target == Space::Mat) {
    declare(op);
    return line("TMOV(" + text(op) + ", " + text(op.getOperand()) + ");");
  }
  unsupported(op, "the backend does not move tiles from " + tile::stringifySpace(source) + " to " +
                      tile::stringifySpace(target));
}

void FunctionEmitter::emitPush(tile::PushOp op) {
  auto pipe = Pipes.find(op.getPipe());
  if (op.getTiles().size() != 1 || pipe == Pipes.end())
    return unsupported(op, "a pipe carries one tile at a time");
  std::string tile = flat(op.getTiles().front());
  if (pipe->second.isOwn)
    return line(pipe->second.name + ".push(" + tile + ");");
  line("push<" + pipe->second.split + ">(" + pipe->second.name + ", " + tile +
       (pipe->second.hasShadow ? ", isShadow);" : ");"));
}

void FunctionEmitter::emitPop(tile::PopOp op) {
  auto pipe = Pipes.find(op.getPipe());
  if (op.getTiles().size() != 1 || pipe == Pipes.end())
    return unsupported(op, "a pipe carries one tile at a time");
  Value tile = op.getTiles().front();
  auto type = cast<TileType>(tile.getType());
  if (slotOf(tile))
    return emitPopOfSlot(op, pipe->second);
  declare(tile);
  if (Failure)
    return;
  if (pipe->second.isOwn)
    return line(pipe->second.name + ".pop(" + flat(tile) + ");");
  std::string into = flat(tile);
  int64_t block = Target.findRole(*Func.getRole())->executes & MatrixWork ? 16 : 1;
  if (type.getRows() % block != 0) { // whole blocks of rows; the last ones are not looked at
    TileType padded = type.withShape((type.getRows() + block - 1) / block * block, type.getCols());
    into = declareAt(freshName(into + "_blocks"), tileType(padded), addressOf(tile));
  }
  line("pop<" + pipe->second.split + ">(" + pipe->second.name + ", " + into + ", " +
       Twine(addressOf(tile)) + ");");
}

/// Whether a slot is free again before the next one of its pipe is popped.
static bool isFreedFirst(tile::PopOp pop) {
  for (Operation *op = pop->getNextNode(); op; op = op->getNextNode())
    if (llvm::is_contained(op->getOperands(), pop.getPipe()))
      return isa<tile::FreeOp>(op);
  return false;
}

/// The tile is found where its slot is.
void FunctionEmitter::emitPopOfSlot(tile::PopOp op, const PipeUse &pipe) {
  Value tile = op.getTiles().front();
  auto type = cast<TileType>(tile.getType());
  if (!checkTile(op, type))
    return;
  // Where frees are told in batches, each is counted as that of the tile that was popped last.
  int64_t slots = op->getAttrOfType<DenseI64ArrayAttr>(tile::kLocalRingAttr)[2];
  if (!pipe.isOwn && hardwareOf(Target)->batchOf(slots) > 1 && !isFreedFirst(op))
    return unsupported(op, "its slot is not freed before the next one is popped, and of " +
                               Twine(slots) + " slots several are freed at once; use fewer");
  std::string name = nameFor(tile, "tile"), into = isColumn(type) ? freshName(name + "_row") : name;
  line((isColumn(type) ? rowType(type) : tileType(type)) + " " + into + ";");
  line(pipe.isOwn ? pipe.name + ".pop(" + into + ");"
                  : "pop<" + pipe.split + ">(" + pipe.name + ", " + into + ");");
  Values[tile] = name;
  if (!isColumn(type))
    return;
  line(tileType(type) + " " + name + "; bind(" + name + ", " + into + ");");
  Rows[tile] = into;
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

static bool computesWith(Type element) {
  return element.isF32() || element.isInteger(32) || element.isInteger(16);
}

/// Masks have a bit for each element of a row in memory, so rows have no gaps.
static bool hasWholeRows(TileType type) {
  return type.getCols() * type.getElementType().getIntOrFloatBitWidth() % 256 == 0;
}

void FunctionEmitter::emitProduct(tile::ProductInterface op) {
  Value result = op->getResult(0);
  OpOperand *from = op.getAccumulator();
  declare(result);
  if (Failure)
    return;
  if (from && addressOf(from->get()) != addressOf(result))
    return unsupported(op, "its accumulator is needed afterwards, and nothing copies one");
  std::string operands = text(op.getLhs()) + ", " + text(op.getRhs()) + ");";
  line(from ? "TMATMUL_ACC(" + text(result) + ", " + text(result) + ", " + operands
            : "TMATMUL(" + text(result) + ", " + operands);
}

void FunctionEmitter::emitReduce(tile::ReduceOp op) {
  static constexpr StringLiteral kinds[] = {"SUM", "MAX", "MIN", "PROD"};
  auto kind = unsigned(op.getKind());
  TileType from = op.getOperand().getType();
  if (kind >= std::size(kinds) || isColumn(from) || !computesWith(from.getElementType()))
    return unsupported(op, "only sums, products and extreme values of rows and columns are "
                           "made, of tiles with several columns");
  declare(op);
  bool isByRows = op.getAxis() == 1;
  std::string type = isByRows ? "Reduced" + shapeText(from) : tileType(from);
  std::string tmp = scratchText(op, type);
  if (isByRows) {
    std::string given =
        declareAt(freshName(text(op.getOperand()) + "_rows"), type, op.getOperand());
    return line("TROW" + kinds[kind] + "(" + text(op) + ", " + given + ", " + tmp + ");");
  }
  line("TCOL" + kinds[kind] + "(" + text(op) + ", " + text(op.getOperand()) +
       (kind == 0 ? ", " + tmp + ", false);" : ");"));
}

void FunctionEmitter::emitMask(tile::MaskOp op) {
  if (isa_and_nonnull<FloatAttr>(op.getPadAttr()))
    return unsupported(op, "masks fill with zero, min or max");
  TileType type = op.getType();
  declare(op);
  SmallVector<std::string> valid =
      text::mixedList(op.getStaticValid(), op.getValid(), [&](Value value) { return text(value); });
  line("mask<" + padText(op.getPadAttr()) + ">(" + flat(op) + ", " + flat(op.getOperand()) + ", " +
       valid[isColumn(type)] + ", " + valid[!isColumn(type)] + ");");
}

void FunctionEmitter::emitCast(tile::CastOp op) {
  Type from = op.getOperand().getType().getElementType(), to = op.getType().getElementType();
  if (from.isInteger(1) || to.isInteger(1))
    return unsupported(op,
                       "masks are converted to numbers of 16 bits and more, and nothing to masks");
  declare(op);
  bool truncates = isa<FloatType>(from) && !isa<FloatType>(to);
  line("TCVT(" + flat(op) + ", " + flat(op.getOperand()) +
       ", RoundMode::" + (truncates ? "CAST_TRUNC);" : "CAST_RINT);"));
}

void FunctionEmitter::emitCompare(tile::CmpOp op) {
  auto lhs = dyn_cast<TileType>(op.getLhs().getType());
  if (!lhs || !hasWholeRows(lhs) || !computesWith(lhs.getElementType()))
    return unsupported(op, "a comparison is of a tile of f32, i32 or i16 whose rows are multiples "
                           "of 32 bytes");
  declare(op);
  std::string mode = ", CmpMode::" + tile::stringifyCmpKind(op.getKind()).upper() + ");";
  bool isScalar = !isa<TileType>(op.getRhs().getType());
  line((isScalar ? "TCMPS(" : "TCMP(") + text(op) + ", " + text(op.getLhs()) + ", " +
       text(op.getRhs()) + mode);
}

void FunctionEmitter::emitSelect(tile::SelectOp op) {
  if (!hasWholeRows(op.getType()))
    return unsupported(op, "a select is of tiles whose rows are multiples of 32 bytes");
  declare(op);
  std::string tmp = scratchText(op, tileType(op.getType()));
  line("TSEL(" + text(op) + ", " + text(op.getCondition()) + ", " + text(op.getLhs()) + ", " +
       text(op.getRhs()) + ", " + tmp + ");");
}

void FunctionEmitter::emitConcat(tile::ConcatOp op) {
  if (op.getTiles().size() != 2 || op.getAxis() != 1 || isColumn(op.getType()))
    return unsupported(op, "two tiles beside each other are joined, nothing else");
  declare(op);
  line("TCONCAT(" + text(op) + ", " + text(op.getTiles()[0]) + ", " + text(op.getTiles()[1]) +
       ");");
}

/// What PTO-ISA calls an elementwise operation; empty if it has none.
static StringRef instructionName(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
#include "kiln/Dialect/Tile/Elementwise/Ascend.inc"
      .Default(StringRef());
}

bool FunctionEmitter::emitBinary(Operation *op) {
  StringRef name = instructionName(op);
  if (name.empty() || op->getNumOperands() != 2)
    return false;
  Value result = op->getResult(0), lhs = op->getOperand(0), rhs = op->getOperand(1);
  auto type = cast<TileType>(result.getType());
  if (isa<tile::DivOp>(op) && !isa<FloatType>(type.getElementType()))
    return unsupported(op, "integers are not divided"), true;
  if (!computesWith(type.getElementType()))
    return unsupported(op, "vectors compute with elements of f32, i32 and i16"), true;
  auto isWhole = [&](Value value) { return value.getType() == result.getType(); };
  if (!isWhole(lhs) && tile::isCommutative(op))
    std::swap(lhs, rhs);
  declare(result);
  if (Failure)
    return true;
  if (!isWhole(lhs))
    return unsupported(op, "its first operand has another shape than its result"), true;
  auto other = dyn_cast<TileType>(rhs.getType());
  std::string call = !other                 ? "T" + name.str() + "S"
                     : isWhole(rhs)         ? "T" + name.str()
                     : other.getCols() == 1 ? "TROWEXPAND" + name.str()
                                            : "TCOLEXPAND" + name.str();
  std::string right = other && isWhole(rhs) ? flat(rhs) : text(rhs);
  line(call + "(" + flat(result) + ", " + flat(lhs) + ", " + right + ");");
  return true;
}

bool FunctionEmitter::emitUnary(Operation *op) {
  StringRef name = instructionName(op);
  if (name.empty() || op->getNumOperands() != 1)
    return false;
  if (!cast<TileType>(op->getResult(0).getType()).getElementType().isF32())
    return unsupported(op, "it is computed of f32 only"), true;
  declare(op->getResult(0));
  line("T" + name + "(" + flat(op->getResult(0)) + ", " + flat(op->getOperand(0)) + ");");
  return true;
}

/// Whether the elements of a tile follow one another without a gap.
static bool isDense(TileType type, const Machine &machine) {
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  return isColumn(type) || type.getRows() == 1 || type.getCols() * bits % 256 == 0 ||
         tile::bytesOn(machine, type) * 8 == type.getNumElements() * bits;
}

bool FunctionEmitter::emitTile(Operation *op) {
  if (!isa_and_nonnull<tile::TileDialect>(op->getDialect()))
    return false;
  sayWhere(op);
  return TypeSwitch<Operation *, bool>(op)
      .Case<tile::LoadOp>([&](auto load) { return emitLoad(load), true; })
      .Case<tile::StoreOp>([&](auto store) { return emitStore(store), true; })
      .Case<tile::MoveOp>([&](auto move) { return emitMove(move), true; })
      .Case<tile::PushOp>([&](auto push) { return emitPush(push), true; })
      .Case<tile::PopOp>([&](auto pop) { return emitPop(pop), true; })
      .Case<tile::FreeOp>([&](tile::FreeOp free) {
        auto pipe = Pipes.find(free.getPipe());
        if (pipe != Pipes.end() && !pipe->second.isOwn)
          line("TFREE<decltype(" + pipe->second.name + "), " + pipe->second.split + ">(" +
               pipe->second.name + ");");
        return true;
      })
      .Case<tile::ProductInterface>([&](auto product) { return emitProduct(product), true; })
      .Case<tile::ReduceOp>([&](auto reduce) { return emitReduce(reduce), true; })
      .Case<tile::MaskOp>([&](auto mask) { return emitMask(mask), true; })
      .Case<tile::CastOp>([&](auto cast) { return emitCast(cast), true; })
      .Case<tile::CmpOp>([&](auto compare) { return emitCompare(compare), true; })
      .Case<tile::SelectOp>([&](auto select) { return emitSelect(select), true; })
      .Case<tile::ConcatOp>([&](auto concat) { return emitConcat(concat), true; })
      .Case<tile::FullOp>([&](tile::FullOp full) {
        declare(full);
        if (full.getType().getSpace() == Space::Mat)
          line("fill(" + text(full) + ", " + text(full.getValue()) + ");");
        else
          line("TEXPANDS(" + flat(full) + ", " + text(full.getValue()) + ");");
        return true;
      })
      .Case<tile::IotaOp>([&](tile::IotaOp iota) {
        declare(iota);
        return line("count(" + flat(iota) + ");"), true;
      })
      .Case<tile::ReshapeOp>([&](tile::ReshapeOp view) {
        if (!isDense(view.getOperand().getType(), Target) || !isDense(view.getType(), Target))
          return unsupported(view, "its rows have gaps in memory"), true;
        return declare(view), true;
      })
      .Case<tile::ExtractOp>([&](tile::ExtractOp extract) {
        if (isColumn(extract.getType()) || !extract.getIndices().empty())
          return unsupported(extract, "boxes of several columns at constant places are taken"),
                 true;
        declare(extract);
        return line("TEXTRACT(" + text(extract) + ", " + text(extract.getTile()) + ", " +
                    list(extract.getStaticIndices(), extract.getIndices()) + ");"),
               true;
      })
      .Case<tile::ElementOp>([&](tile::ElementOp element) {
        auto type = element.getTile().getType();
        bool isTurned = isColumn(type);
        SmallVector<std::string> at =
            text::mixedList(element.getStaticIndices(), element.getIndices(),
                            [&](Value value) { return text(value); });
        std::string tile = flat(element.getTile());
        std::string offset = isTurned ? at[0]
                             : at[0] == "0"
                                 ? at[1]
                                 : at[0] + " * decltype(" + tile + ")::RowStride + " + at[1];
        return define(element, tile + ".GetValue(" + offset + ")"), true;
      })
      .Default([&](Operation *) { return emitBinary(op) || emitUnary(op); });
}

} // namespace kiln::ascend
