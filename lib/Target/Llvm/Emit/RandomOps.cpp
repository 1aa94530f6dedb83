// tile.random: Philox4x32-10, as Salmon et al. define it (Parallel random numbers: as easy as 1, 2,
// 3; SC 2011); several blocks side by side in the lanes of a vector.
#include "KernelEmitter.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

using V = llvm::Value;

/// The four words of each block of a vector of block numbers.
std::array<V *, 4> philox(Builder &b, V *key, V *blocks) {
  llvm::Type *i32 = Builder::shapedAs(blocks, b.getInt32Ty());
  auto low = [&](V *x) { return b.CreateTrunc(x, i32); };
  auto high = [&](V *x) { return b.CreateTrunc(b.CreateLShr(x, b.bits(x, 32)), i32); };
  auto product = [&](V *x, uint64_t factor) {
    return b.CreateMul(b.CreateZExt(x, blocks->getType()), b.bits(blocks, factor));
  };
  V *zero = llvm::Constant::getNullValue(i32);
  std::array<V *, 4> words{low(blocks), high(blocks), zero, zero};
  V *key0 = low(key), *key1 = high(key);
  for (int round = 0; round < 10; ++round) {
    V *even = product(words[0], 0xD2511F53), *odd = product(words[2], 0xCD9E8D57);
    words = {b.CreateXor(b.CreateXor(high(odd), words[1]), key0), low(odd),
             b.CreateXor(b.CreateXor(high(even), words[3]), key1), low(even)};
    key0 = b.CreateAdd(key0, b.bits(key0, 0x9E3779B9));
    key1 = b.CreateAdd(key1, b.bits(key1, 0xBB67AE85));
  }
  return words;
}

/// The words of the blocks one after the other.
V *interleaved(Builder &b, const std::array<V *, 4> &words) {
  int width = Builder::widthOf(words[0]);
  SmallVector<int> both, all;
  for (int lane = 0; lane < 2 * width; ++lane)
    both.push_back(lane);
  V *front = b.CreateShuffleVector(words[0], words[1], both);
  V *back = b.CreateShuffleVector(words[2], words[3], both);
  for (int lane = 0; lane < width; ++lane)
    all.append({lane, width + lane, 2 * width + lane, 3 * width + lane});
  return b.CreateShuffleVector(front, back, all);
}

void random(KernelEmitter &e, tile::RandomOp op) {
  Builder &b = e.b;
  tile::TileType type = op.getResult().getType();
  DType element = elementTypeOf(type);
  V *to = e.address(op.getResult()), *counter = e.scalar(op.getCounter());
  int64_t count = type.getNumElements();
  b.chunks((count + 3) / 4, kWidth / 4, [&](V *at, unsigned width) {
    V *blocks = b.CreateAdd(b.splat(width, b.add(counter, at)), b.lanes(width));
    V *words = interleaved(b, philox(b, b.splat(width, e.scalar(op.getKey())), blocks));
    V *place = b.mul(at, 4);
    // Only the last chunk, whose place is a constant, can run over the end.
    auto *known = dyn_cast<llvm::ConstantInt>(place);
    const int64_t whole = int64_t(4) * width;
    int64_t left = known ? count - known->getSExtValue() : whole;
    if (left < whole) {
      SmallVector<int> lanes;
      for (int lane = 0; lane < left; ++lane)
        lanes.push_back(lane);
      words = b.CreateShuffleVector(words, lanes);
    }
    if (isFloat(element)) {
      V *fraction = b.CreateLShr(words, b.bits(words, 8));
      words = b.CreateUIToFP(fraction, Builder::shapedAs(words, b.getFloatTy()));
      words = b.CreateFMul(words, b.real(words, 0x1p-24));
    }
    storeElements(b, words, b.offset(memoryType(b, element), to, place), element);
  });
}

} // namespace

void addRandomOps(OpTable &table) { table.add<tile::RandomOp, random>(); }

} // namespace kiln::llvmir
