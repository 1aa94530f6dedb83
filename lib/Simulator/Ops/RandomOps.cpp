// tile.random: Philox4x32-10, as Salmon et al. define it (Parallel random numbers: as easy as 1, 2,
// 3; SC 2011) and as the library Random123 has it.
#include "TileOps.h"

using namespace mlir;

namespace kiln::simulator {
namespace {

using Words = std::array<uint32_t, 4>;

Words philox(uint64_t key, uint64_t block) {
  auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  auto high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
  Words words{low(block), high(block), 0, 0};
  uint32_t key0 = low(key), key1 = high(key);
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xD2511F53) * words[0], odd = uint64_t(0xCD9E8D57) * words[2];
    words = {high(odd) ^ words[1] ^ key0, low(odd), high(even) ^ words[3] ^ key1, low(even)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return words;
}

Status random(Interpreter &in, tile::RandomOp op) {
  NewTile result = makeTile(op.getResult());
  uint64_t key = in.scalar(op.getKey()).bits, counter = in.scalar(op.getCounter()).bits;
  int64_t count = result->rows * result->cols;
  for (int64_t at = 0; at < count; at += 4) {
    Words words = philox(key, counter + static_cast<uint64_t>(at / 4));
    for (int64_t i = 0; i < std::min<int64_t>(4, count - at); ++i)
      if (result->hasFloats())
        result->floats[at + i] = static_cast<float>(words[i] >> 8) * 0x1p-24f;
      else
        result->ints[at + i] = static_cast<int32_t>(words[i]);
  }
  return setResult(in, op, result);
}

} // namespace

void addRandomOps(OpTable &table) { table.add<tile::RandomOp, random>(); }

} // namespace kiln::simulator
