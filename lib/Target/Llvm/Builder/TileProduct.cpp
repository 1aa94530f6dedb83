#include "TileProduct.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace llvm;

namespace kiln::llvmir {
namespace {

// Numbers of registers: sums of the block row by row, then the parts of the sides.
constexpr unsigned kSums = 0, kLeft = 4, kRight = 6;
constexpr int64_t kWordBytes = 4;

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
      if (whole)
        configure(kTileBlock, cols);
      b.loop(0, whole, kTileBlock, [&](Value *row) { emitBlock(row, kTileBlock, col, cols); });
      if (rest) {
        configure(rest, cols);
        emitBlock(b.index(whole), rest, col, cols);
      }
    });
    call(Intrinsic::x86_tilerelease, {}); // or every switch of threads saves them
  }

private:
  void call(Intrinsic::ID id, ArrayRef<Value *> operands) {
    b.CreateIntrinsic(b.getVoidTy(), id, operands);
  }
  Value *number(unsigned value) { return b.getInt8(value); }

  static int64_t tilesOf(int64_t extent) { return divideCeil(extent, kTile); }
  /// Of the tile with this number along an extent.
  static int64_t extentOf(int64_t tile, int64_t extent) {
    return std::min(kTile, extent - tile * kTile);
  }

  /// Sets the shapes of the registers for blocks of so many rows and columns.
  void configure(int64_t rows, int64_t cols) {
    struct {
      uint8_t palette = 1, start = 0, reserved[14] = {};
      uint16_t rowBytes[16] = {};
      uint8_t rows[16] = {};
    } shapes;
    static_assert(sizeof shapes == 64);
    auto shape = [&](unsigned tile, int64_t height, int64_t width) {
      shapes.rows[tile] = uint8_t(height);
      shapes.rowBytes[tile] = uint16_t(width * kWordBytes);
    };
    for (int64_t i = 0; i < tilesOf(rows); ++i) {
      shape(kLeft + i, extentOf(i, rows), kTile);
      for (int64_t j = 0; j < tilesOf(cols); ++j)
        shape(kSums + 2 * i + j, extentOf(i, rows), extentOf(j, cols));
    }
    for (int64_t j = 0; j < tilesOf(cols); ++j)
      shape(kRight + j, kTile, extentOf(j, cols));
    std::string name = "kiln.tiles." + std::to_string(rows) + "x" + std::to_string(cols);
    Module &module = *b.GetInsertBlock()->getModule();
    GlobalVariable *global = module.getNamedGlobal(name);
    if (!global) {
      Constant *bytes = ConstantDataArray::getString(
          b.getContext(), StringRef(reinterpret_cast<const char *>(&shapes), sizeof shapes), false);
      global = new GlobalVariable(module, bytes->getType(), /*isConstant=*/true,
                                  GlobalValue::PrivateLinkage, bytes, name);
      global->setAlignment(Align(64));
    }
    call(Intrinsic::x86_ldtilecfg, {global});
  }

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
    overSums([&](unsigned tile, Value *at) {
      if (P.accumulates)
        call(Intrinsic::x86_tileloadd64, {number(tile), at, sumPitch});
      else
        call(Intrinsic::x86_tilezero, {number(tile)});
    });
    Value *left = b.offset(Word, P.a, b.mul(row, P.aRow)), *right = b.offset(Word, P.b, col);
    Value *block = b.CreateUDiv(row, b.index(kTileBlock));
    if (P.fetch.from)
      block = b.add(block, b.mul(P.fetch.part, divideCeil(P.rows, kTileBlock)));
    b.loop(b.index(0), P.depth, kTile, [&](Value *k) {
      if (P.fetch.from)
        fetchNext(k, block);
      if (P.streamedRows)
        fetchRowsBehind(left, k, rows);
      emitStep(left, right, k, down, across);
    });
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

  /// Blocks of rows divide what is fetched among themselves: each asks for a few rows of a step's.
  void fetchNext(Value *k, Value *block) {
    constexpr int64_t shares = 8;
    int64_t each = kTile * P.how.group / shares;
    Type *element = memoryType(b, P.fetch.element);
    Value *first = b.add(b.mul(k, P.how.group), b.mul(b.CreateURem(block, b.index(shares)), each));
    Value *at = b.offset(element, P.fetch.from, b.mul(first, P.fetch.rowStride));
    for (int64_t row = 0; row < each; ++row)
      emitPrefetch(b, b.offset(element, at, b.mul(P.fetch.rowStride, row)));
  }

  void fetchRowsBehind(Value *left, Value *k, int64_t rows) {
    for (int64_t row = rows; row < 2 * rows; ++row)
      emitPrefetch(b, rowOf(left, row, k));
  }

  Builder &b;
  const Product &P;
  Type *Word;
};

} // namespace

void emitTileProduct(Builder &b, const Product &product) { TileProductEmitter(b, product).emit(); }

} // namespace kiln::llvmir
