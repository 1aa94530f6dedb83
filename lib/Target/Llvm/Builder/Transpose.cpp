#include "Transpose.h"

using namespace llvm;

namespace kiln::llvmir {

/// A square block in registers: log2(n) rounds, each of which interleaves vectors half the block
/// apart.
static void transposeBlock(Builder &b, SmallVectorImpl<Value *> &rows) {
  unsigned n = rows.size();
  SmallVector<int> low, high;
  for (unsigned i = 0; i < n / 2; ++i) {
    low.append({int(i), int(n + i)});
    high.append({int(n / 2 + i), int(n + n / 2 + i)});
  }
  for (unsigned round = 1; round < n; round *= 2) {
    SmallVector<Value *> next(n);
    for (size_t i = 0; i < n / 2; ++i) {
      next[2 * i] = b.CreateShuffleVector(rows[i], rows[i + n / 2], low);
      next[2 * i + 1] = b.CreateShuffleVector(rows[i], rows[i + n / 2], high);
    }
    rows.assign(next);
  }
}

void emitTranspose(Builder &b, int64_t rows, int64_t cols,
                   function_ref<Value *(Value *, Value *, unsigned)> load,
                   function_ref<void(Value *, Value *, Value *)> store) {
  constexpr int64_t n = 16;
  int64_t wholeRows = rows / n * n, wholeCols = cols / n * n;
  auto single = [&](Value *row, Value *col) { store(load(row, col, 1), col, row); };
  b.loop(0, wholeRows, n, [&](Value *row) {
    b.loop(0, wholeCols, n, [&](Value *col) {
      SmallVector<Value *> block;
      for (int64_t i = 0; i < n; ++i)
        block.push_back(load(b.add(row, i), col, n));
      transposeBlock(b, block);
      for (int64_t i = 0; i < n; ++i)
        store(block[i], b.add(col, i), row);
    });
    b.loop(wholeCols, cols, 1,
           [&](Value *col) { b.loop(0, n, 1, [&](Value *i) { single(b.add(row, i), col); }); });
  });
  b.loop(wholeRows, rows, 1,
         [&](Value *row) { b.loop(0, cols, 1, [&](Value *col) { single(row, col); }); });
}

} // namespace kiln::llvmir
