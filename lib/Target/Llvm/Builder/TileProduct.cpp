#include "TileProduct.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace llvm;

namespace kiln::llvmir {
namespace {

// Numbers of registers: sums of the block row by row, then the parts of the sides.
constexpr unsigned kSums = 0, kLeft = 4, kRight = 6;
constexpr int64_t kWordBytes = 4;

void callOf(Builder &b, Intrinsic::ID id, ArrayRef<Value *> operands) {
  b.CreateIntrinsic(b.getVoidTy(), id, operands);
}

int64_t tilesOf(int64_t extent) { return divideCeil(extent, kTile); }
/// Of the tile with this number along an extent.
int64_t extentOf(int64_t tile, int64_t extent) { return std::min(kTile, extent - tile * kTile); }

/// As the instruction reads them.
struct TileShapes {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {};
  uint8_t rows[16] = {};

  void set(int64_t tile, int64_t height, int64_t width) {
    rows[tile] = uint8_t(height);
    rowBytes[tile] = uint16_t(width * kWordBytes);
  }
};
static_assert(sizeof(TileShapes) == 64);

/// Of a block of so many rows and columns.
TileShapes shapesOf(int64_t rows, int64_t cols) {
  TileShapes shapes;
  for (int64_t i = 0; i < tilesOf(rows); ++i) {
    shapes.set(kLeft + i, extentOf(i, rows), kTile);
    for (int64_t j = 0; j < tilesOf(cols); ++j)
      shapes.set(kSums + 2 * i + j, extentOf(i, rows), extentOf(j, cols));
  }
  for (int64_t j = 0; j < tilesOf(cols); ++j)
    shapes.set(kRight + j, kTile, extentOf(j, cols));
  return shapes;
}

class TileProductEmitter {
public:
  TileProductEmitter(Builder &builder, const Product &product)
      : b(builder), P(product), Word(b.getInt32Ty()) {
    assert(P.aStep == 1 && "words of the left side follow each other");
  }

  void emit() {
    // Columns outside: their part of the right side stays in the nearest cache for all rows.
    b.chunks(P.cols, kTileBlock, [&](Value *col, unsigned cols) {
      int64_t whole = P.rows / kTileBlock * kTileBlock, rest = P.rows - whole;
      if (whole && !P.areTilesShaped)
        shapeTiles(b, kTileBlock, cols);
      b.loop(0, whole, kTileBlock, [&](Value *row) { emitBlock(row, kTileBlock, col, cols); });
      if (rest) {
        if (!P.areTilesShaped)
          shapeTiles(b, rest, cols);
        emitBlock(b.index(whole), rest, col, cols);
      }
    });
    if (!P.areTilesShaped)
      releaseTiles(b);
  }

private:
  void call(Intrinsic::ID id, ArrayRef<Value *> operands) { callOf(b, id, operands); }
  Value *number(unsigned value) { return b.getInt8(value); }

  /// The part of the result from (row, col) on.
  void emitBlock(Value *row, int64_t rows, Value *col, int64_t cols) {
    int64_t down = tilesOf(rows), across = tilesOf(cols);
    Value *sumPitch = b.index(P.cRow * kWordBytes);
    auto overSums = [&](function_ref<void(unsigned tile, Value *at)> body) {
      for (int64_t i = 0; i < down; ++i)
        for (int64_t j = 0; j < across; ++j)
          body(unsigned(kSums + 2 * i + j),
               b.offset(Word, P.c,
                        b.add(b.mul(b.add(row, i * kTile), P.cRow), b.add(col, j * kTile))));
    };
    Value *isZero = !P.accumulates ? b.getTrue() : P.startsAtZero ? P.startsAtZero : b.getFalse();
    b.branch(
        isZero,
        [&] {
          overSums([&](unsigned tile, Value *) { call(Intrinsic::x86_tilezero, {number(tile)}); });
        },
        [&] {
          overSums([&](unsigned tile, Value *at) {
            call(Intrinsic::x86_tileloadd64, {number(tile), at, sumPitch});
          });
        });
    Value *left = b.offset(Word, P.a, b.mul(row, P.aRow)), *right = b.offset(Word, P.b, col);
    b.loop(b.index(0), P.depth, kTile, [&](Value *k) { emitStep(left, right, k, down, across); });
    overSums([&](unsigned tile, Value *at) {
      call(Intrinsic::x86_tilestored64, {number(tile), at, sumPitch});
    });
  }

  void emitStep(Value *left, Value *right, Value *k, int64_t down, int64_t across) {
    Value *leftPitch = b.mul(P.aRow, kWordBytes), *rightPitch = b.index(P.bStep * kWordBytes);
    for (int64_t j = 0; j < across; ++j)
      call(Intrinsic::x86_tileloadd64,
           {number(kRight + j), b.offset(Word, right, b.add(b.mul(k, P.bStep), j * kTile)),
            rightPitch});
    for (int64_t i = 0; i < down; ++i) {
      call(Intrinsic::x86_tileloadd64, {number(kLeft + i), rowOf(left, i * kTile, k), leftPitch});
      for (int64_t j = 0; j < across; ++j)
        call(P.how.element == DType::BF16 ? Intrinsic::x86_tdpbf16ps : Intrinsic::x86_tdpbssd,
             {number(kSums + 2 * i + j), number(kLeft + i), number(kRight + j)});
    }
  }

  Value *rowOf(Value *left, int64_t row, Value *k) {
    return b.offset(Word, b.offset(Word, left, b.mul(P.aRow, row)), k);
  }

  Builder &b;
  const Product &P;
  Type *Word;
};

} // namespace

bool areTileBlocksAlike(int64_t rows, int64_t cols) {
  auto isAlike = [](int64_t extent) { return extent <= kTileBlock || extent % kTileBlock == 0; };
  return isAlike(rows) && isAlike(cols);
}

void shapeTiles(Builder &b, int64_t rows, int64_t cols) {
  rows = std::min(rows, kTileBlock), cols = std::min(cols, kTileBlock);
  std::string name = "kiln.tiles." + std::to_string(rows) + "x" + std::to_string(cols);
  Module &module = *b.GetInsertBlock()->getModule();
  GlobalVariable *shapes = module.getNamedGlobal(name);
  if (!shapes) {
    TileShapes made = shapesOf(rows, cols);
    Constant *bytes = ConstantDataArray::getString(
        b.getContext(), StringRef(reinterpret_cast<const char *>(&made), sizeof made), false);
    shapes = new GlobalVariable(module, bytes->getType(), /*isConstant=*/true,
                                GlobalValue::PrivateLinkage, bytes, name);
    shapes->setAlignment(Align(64));
  }
  callOf(b, Intrinsic::x86_ldtilecfg, {shapes});
}

void releaseTiles(Builder &b) { callOf(b, Intrinsic::x86_tilerelease, {}); }

void emitTileProduct(Builder &b, const Product &product) { TileProductEmitter(b, product).emit(); }

} // namespace kiln::llvmir
