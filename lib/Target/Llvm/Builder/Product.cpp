#include "Product.h"

#include "TileProduct.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kiln::llvmir {

/// A block of 6 x 4 vectors needs 10 loads for 24 products, one of 12 x 2 needs 14: 8 % slower
/// where two threads share a core's ports.
static int64_t panelVectors(const MachineTraits &machine) {
  return machine.accumulators >= 16 ? 4 : 1;
}
int64_t panelWidth(const MachineTraits &machine, const Multiplier &how) {
  return how.byTiles ? kTileBlock : panelVectors(machine) * kWidth;
}
int64_t streamedRowsFor(const Multiplier &how) { return how.byTiles ? kTileBlock : 8; }
int64_t streamedWords(const Multiplier &how, int64_t words) {
  return words % kWidth == 0 ? kWidth : how.unrolled(words);
}
bool canStream(const MachineTraits &machine, const Multiplier &how, int64_t words) {
  return !how.shiftsLeft() || (machine.byteDotLanes == kWidth && words % kWidth == 0);
}

/// What was added to each byte of a word, or to all of a vector's.
static Value *addedBytes(Builder &b) { return b.splat(kWidth, b.getInt32(0x80808080)); }

/// The first lanes of a vector; those beyond its own have no value.
static Value *resized(Builder &b, Value *vector, unsigned width) {
  if (width == Builder::widthOf(vector))
    return vector;
  SmallVector<int> lanes;
  for (unsigned lane = 0; lane < width; ++lane)
    lanes.push_back(lane < Builder::widthOf(vector) ? int(lane) : PoisonMaskElem);
  return b.CreateShuffleVector(vector, lanes);
}

namespace {

class ProductEmitter {
public:
  ProductEmitter(Builder &builder, const MachineTraits &machine, const Product &product)
      : b(builder), Machine(machine), P(product), Sum(memoryType(b, P.how.sum)),
        Word(wordType(b, P.how)) {}

  void emit() {
    // Columns outside: their part of the right side stays in the nearest cache for all rows.
    int64_t wide = panelVectors(Machine) * kWidth, whole = P.cols / wide * wide;
    b.loop(0, whole, wide, [&](Value *col) {
      emitRows(col, SmallVector<unsigned>(panelVectors(Machine), kWidth));
    });
    SmallVector<unsigned> rest;
    for (int64_t left = P.cols - whole; left > 0; left -= rest.back())
      rest.push_back(std::min<int64_t>(left, kWidth));
    if (!rest.empty())
      emitRows(b.index(whole), rest);
  }

private:
  /// As few blocks of rows as registers allow, and as equal: 64 rows are 9 x 6 + 2 x 5.
  void emitRows(Value *col, ArrayRef<unsigned> widths) {
    int64_t most = std::max<int64_t>(1, Machine.accumulators / int64_t(widths.size()));
    if (P.streamedRows)
      most = std::min(most, P.streamedRows);
    int64_t count = (P.rows + most - 1) / most, fewer = P.rows / count, larger = P.rows % count;
    int64_t split = larger * (fewer + 1);
    auto block = [&](Value *row, int64_t rows) {
      Values lines;
      if (P.fetch.from)
        lines = firstLines(b.add(b.mul(P.fetch.part, count), b.CreateUDiv(row, b.index(rows))),
                           P.fetch.parts * count, int64_t(widths.size()));
      emitBlock(row, rows, col, widths, lines);
    };
    b.loop(0, split, fewer + 1, [&](Value *row) { block(row, fewer + 1); });
    b.loop(split, P.rows, fewer, [&](Value *row) { block(row, fewer); });
  }

  /// Where block `number` of so many begins to fetch: some lines of the rows that an iteration
  /// passes, so that all blocks together fetch each of them.
  Values firstLines(Value *number, int64_t blocks, int64_t vectors) {
    int64_t perLine = 64 / sizeOf(P.fetch.element);
    int64_t across = std::max<int64_t>(1, vectors * kWidth / perLine);
    int64_t down = P.unroll * P.how.group, each = divideCeil(across * down, blocks);
    Values lines;
    for (int64_t i = 0; i < each; ++i) {
      Value *place = b.add(b.mul(number, each), i);
      Value *line = b.CreateURem(place, b.index(across));
      Value *row = b.CreateURem(b.CreateUDiv(place, b.index(across)), b.index(down));
      lines.push_back(b.offset(memoryType(b, P.fetch.element), P.fetch.from,
                               b.add(b.mul(row, P.fetch.rowStride), b.mul(line, perLine))));
    }
    return lines;
  }

  /// How many words of the right side are loaded for so many columns.
  unsigned loaded(unsigned width) const { return P.how.wantsWholeVectors() ? kWidth : width; }

  /// What each sum of a block starts with.
  Values startOf(ArrayRef<Value *> targets, Value *col, ArrayRef<unsigned> widths) {
    auto widthAt = [&](size_t i) { return widths[i % widths.size()]; };
    auto loads = [&] {
      Values sums;
      for (auto [i, target] : enumerate(targets))
        sums.push_back(loadElements(b, target, P.how.sum, widthAt(i)));
      return sums;
    };
    auto zeros = [&] {
      Values sums;
      for (size_t i = 0; i < targets.size(); ++i)
        sums.push_back(Constant::getNullValue(Builder::vectorOf(Sum, widthAt(i))));
      return sums;
    };
    Values sums = !P.accumulates   ? zeros()
                  : P.startsAtZero ? b.choose(P.startsAtZero, zeros, loads)
                                   : loads();
    for (auto [i, sum] : enumerate(sums)) {
      if (P.excess) {
        Value *at = b.add(col, int64_t(i % widths.size()) * kWidth);
        Value *excess = loadElements(b, b.offset(Sum, P.excess, at), P.how.sum, widthAt(i));
        sum = b.CreateSub(sum, excess);
      }
      sum = resized(b, sum, loaded(widthAt(i)));
    }
    return sums;
  }

  /// The part of the result from (row, col) on: `rows` rows of vectors of these widths.
  void emitBlock(Value *row, int64_t rows, Value *col, ArrayRef<unsigned> widths,
                 ArrayRef<Value *> lines) {
    SmallVector<Value *> targets;
    for (int64_t i = 0; i < rows; ++i) {
      Value *start = b.mul(b.add(row, i), P.cRow), *at = col;
      for (unsigned width : widths) {
        targets.push_back(b.offset(Sum, P.c, b.add(start, at)));
        at = b.add(at, width);
      }
    }
    Values sums = startOf(targets, col, widths);
    for (Value *target : targets) // where the next block will be, which comes while k runs
      emitPrefetch(b, b.offset(Sum, target, b.index(rows * P.cRow)), true);
    Value *left = b.offset(Word, P.a, b.mul(row, P.aRow)), *right = b.offset(Word, P.b, col);
    size_t products = sums.size();
    if (hasAddedColumns())
      sums.append(rows, Constant::getNullValue(Builder::vectorOf(Word, kWidth)));
    sums = b.loop(b.index(0), P.depth, P.unroll, sums, [&](Value *k, ArrayRef<Value *> old) {
      for (Value *line : lines)
        emitPrefetch(b, b.offset(memoryType(b, P.fetch.element), line,
                                 b.mul(b.mul(k, P.how.group), P.fetch.rowStride)));
      Values next(old.take_front(products));
      for (int64_t step = 0; step < P.unroll; ++step) {
        if (P.streamedRows && Machine.wantsFarRowsFetched)
          fetchRowsBehind(left, k, step, rows);
        next = emitStep(left, right, b.add(k, step), rows, widths, next);
      }
      for (auto [row, sum] : enumerate(old.drop_front(products)))
        next.push_back(addAddedBytes(sum, wordOf(left, int64_t(row), k)));
      return next;
    });
    for (auto [i, target] : enumerate(targets)) {
      Value *sum = sums[i];
      if (hasAddedColumns()) {
        Value *added = b.CreateAddReduce(sums[products + i / widths.size()]);
        sum = b.CreateSub(sum, b.splat(Builder::widthOf(sum), added));
      }
      storeElements(b, resized(b, sum, widths[i % widths.size()]), target, P.how.sum);
    }
  }

  /// A left side that is read from far away is multiplied by columns whose bytes have something
  /// added: every sum of a row is too large by as many times the sum of the row's bytes.
  bool hasAddedColumns() const { return P.streamedRows && P.how.shiftsLeft(); }

  /// The products of a vector of words, all of one row, with what was added.
  Value *addAddedBytes(Value *sum, Value *words) {
    Value *row = b.CreateAlignedLoad(Builder::vectorOf(Word, kWidth), words, Align(1));
    return emitMultiplyAdd(b, P.how, addedBytes(b), row, sum);
  }

  /// The address of a word of the left side.
  Value *wordOf(Value *left, int64_t row, Value *k) {
    Value *start = b.mul(b.index(row), P.aRow), *along = b.mul(k, P.aStep);
    if (isa<Constant>(start)) // one address, and distances that instructions hold
      return b.offset(Word, left, b.add(along, start));
    return b.offset(Word, b.offset(Word, left, start), along);
  }

  /// A line of each row, spread over the words of an iteration: nothing is moved across, so that
  /// fewer words of the left side are in registers at a time.
  void fetchRowsBehind(Value *left, Value *k, int64_t step, int64_t rows) {
    for (int64_t row = 0; row < rows; ++row)
      if (row * P.unroll / rows == step)
        emitPrefetch(b, wordOf(left, row + rows, k));
  }

  Values emitStep(Value *left, Value *right, Value *k, int64_t rows, ArrayRef<unsigned> widths,
                  ArrayRef<Value *> old) {
    SmallVector<Value *> panel;
    Value *at = b.mul(k, P.bStep);
    for (unsigned width : widths) {
      panel.push_back(b.CreateAlignedLoad(Builder::vectorOf(Word, loaded(width)),
                                          b.offset(Word, right, at), Align(4)));
      at = b.add(at, width);
    }
    Values next;
    for (int64_t i = 0; i < rows; ++i) {
      Value *one = b.CreateAlignedLoad(Word, wordOf(left, i, k), Align(1));
      for (auto [vector, width] : enumerate(widths)) {
        Value *x = b.splat(loaded(width), one), *y = panel[vector];
        if (hasAddedColumns()) // bytes without a sign come first
          std::swap(x, y);
        next.push_back(emitMultiplyAdd(b, P.how, x, y, old[i * widths.size() + vector]));
      }
    }
    return next;
  }

  Builder &b;
  const MachineTraits &Machine;
  const Product &P;
  Type *Sum, *Word;
};

} // namespace

void emitExcess(Builder &b, const Product &p, Value *to) {
  Type *word = wordType(b, p.how), *vector = Builder::vectorOf(word, kWidth);
  b.chunks(p.cols, kWidth, [&](Value *col, unsigned width) {
    Value *from = b.offset(word, p.b, col);
    Values sums = b.loop(b.index(0), p.depth, 1, {Constant::getNullValue(vector)},
                         [&](Value *k, ArrayRef<Value *> old) {
                           Value *at = b.offset(word, from, b.mul(k, p.bStep));
                           Value *right = b.CreateAlignedLoad(vector, at, Align(4));
                           return Values{emitMultiplyAdd(b, p.how, addedBytes(b), right, old[0])};
                         });
    storeElements(b, resized(b, sums[0], width), b.offset(word, to, col), p.how.sum);
  });
}

void emitProduct(Builder &b, const MachineTraits &machine, const Product &product) {
  if (product.how.byTiles)
    return emitTileProduct(b, product);
  ProductEmitter(b, machine, product).emit();
}

} // namespace kiln::llvmir
