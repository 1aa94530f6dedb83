#include "Product.h"

#include "TileProduct.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kiln::llvmir {

bool keepsPanelsNear(const MachineTraits &machine, int64_t rows) {
  return machine.wantsPanelsNear && rows > machine.accumulators;
}
/// A block of 6 x 4 vectors needs 10 loads for 24 products, one of 12 x 2 needs 14: 8 % slower
/// where two threads share a core's ports. But it reads the panel half as often.
static int64_t panelVectors(const MachineTraits &machine, int64_t rows) {
  return machine.accumulators < 16 ? 1 : keepsPanelsNear(machine, rows) ? 2 : 4;
}
int64_t panelWidth(const MachineTraits &machine, const Multiplier &how, int64_t rows) {
  return how.byTiles ? kTileBlock : panelVectors(machine, rows) * kWidth;
}
int64_t streamedRowsFor(const Multiplier &how) { return how.byTiles ? kTileBlock : 8; }
/// Whether the sums of two vectors for each row fit into the registers, and two of words beside.
static bool hasManyRegisters(const MachineTraits &machine, const Multiplier &how) {
  return !how.byTiles && machine.accumulators > 2 * streamedRowsFor(how);
}
/// Two vectors for each row. A word that only one product uses costs as much to load as to
/// multiply, and eight sums are too few for machines that begin two products in each cycle.
int64_t streamedWordsAcross(const MachineTraits &machine, const Multiplier &how, int64_t words,
                            int64_t cols) {
  int64_t across = 1;
  if (hasManyRegisters(machine, how))
    while (words % (2 * across) == 0 && 2 * across <= kWidth && across * cols <= kWidth)
      across *= 2;
  return across;
}
int64_t streamedWords(const MachineTraits &machine, const Multiplier &how, int64_t words,
                      int64_t wordsAcross) {
  if (!hasManyRegisters(machine, how))
    return words % kWidth == 0 ? kWidth : how.unrolled(words);
  // Of more, LLVM would load what is multiplied last before anything is multiplied.
  int64_t some = std::max<int64_t>(4, 2 * wordsAcross);
  return words % some == 0 ? some : wordsAcross;
}

/// A line of memory, in words and in bytes.
static constexpr int64_t kLine = 16, kLineBytes = 64;

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
    int64_t vectors = panelVectors(Machine, P.rows), wide = vectors * kWidth,
            lanes = P.cols * P.wordsAcross, whole = lanes / wide * wide;
    b.loop(0, whole, wide,
           [&](Value *col) { emitRows(col, SmallVector<unsigned>(vectors, kWidth)); });
    SmallVector<unsigned> rest;
    for (int64_t left = lanes - whole; left > 0; left -= rest.back())
      rest.push_back(std::min<int64_t>(left, kWidth));
    if (!rest.empty())
      emitRows(b.index(whole), rest);
  }

private:
  // `col` and `widths` count lanes: a column has `wordsAcross` of them.

  /// As few blocks of rows as registers allow, and as equal: 64 rows are 9 x 6 + 2 x 5.
  void emitRows(Value *col, ArrayRef<unsigned> widths) {
    int64_t most = std::max<int64_t>(1, Machine.accumulators / int64_t(widths.size()));
    if (P.streamedRows)
      most = std::min(most, P.streamedRows);
    int64_t count = (P.rows + most - 1) / most, fewer = P.rows / count, larger = P.rows % count;
    int64_t split = larger * (fewer + 1);
    auto block = [&](Value *row, int64_t rows) {
      emitBlock(row, rows, col, widths, fetchesOf(row, rows, count, int64_t(widths.size())));
    };
    b.loop(0, split, fewer + 1, [&](Value *row) { block(row, fewer + 1); });
    b.loop(split, P.rows, fewer, [&](Value *row) { block(row, fewer); });
  }

  /// The lines that a block fetches while k runs, and how much further for each word, in units of
  /// so many bytes.
  struct Fetches {
    Values lines;
    Value *step = nullptr;
    int64_t unit = 1;
  };

  /// Those of one of `count` blocks down. What is needed later is fetched where there are more
  /// blocks than the lines of the next right side take.
  Fetches fetchesOf(Value *row, int64_t rows, int64_t count, int64_t vectors) {
    Value *above = b.CreateUDiv(row, b.index(rows)); // blocks
    Value *number = P.fetch.from ? b.add(b.mul(P.fetch.part, count), above) : above;
    if (P.fetch.from && P.later.from) { // both are shared by all calls
      Value *shared = b.add(b.mul(above, P.fetch.parts), P.fetch.part);
      number = b.CreateSelect(P.later.isWanted, shared, number);
    }
    Fetches fetches = rightFetches(number, P.fetch.parts * count, vectors);
    if (!P.later.from || fetches.lines.size() > 1)
      return fetches;
    Value *isSpare = P.later.isWanted;
    if (fetches.lines.empty())
      fetches = {{P.c}, b.index(0), 1};
    else
      isSpare = b.CreateAnd(isSpare, b.CreateICmpSGE(number, b.index(linesOfRight(vectors))));
    // A row in each iteration of one of the lines across, from those of the blocks above on: there
    // are more iterations than rows in a block.
    Value *first = b.add(b.mul(b.CreateSub(row, b.index(vectors * rows)), P.later.rowStride),
                         b.mul(b.CreateURem(above, b.index(vectors)), kLineBytes));
    Value *step = b.CreateSDiv(P.later.rowStride, b.index(P.unroll));
    fetches.lines[0] =
        b.CreateSelect(isSpare, b.offset(b.getInt8Ty(), P.later.from, first), fetches.lines[0]);
    fetches.step = b.CreateSelect(isSpare, step, b.mul(fetches.step, fetches.unit));
    fetches.unit = 1;
    return fetches;
  }

  /// How many lines of the next right side an iteration passes.
  int64_t linesOfRight(int64_t vectors) const {
    int64_t bytes = vectors * kWidth * sizeOf(P.fetch.element);
    return P.unroll * P.how.group * std::max<int64_t>(1, bytes / kLineBytes);
  }

  /// Some lines of the rows that an iteration passes, so that all blocks together fetch each.
  Fetches rightFetches(Value *number, int64_t blocks, int64_t vectors) {
    if (!P.fetch.from)
      return {};
    int64_t size = sizeOf(P.fetch.element), perLine = kLineBytes / size;
    int64_t down = P.unroll * P.how.group, lines = linesOfRight(vectors), across = lines / down;
    int64_t each = divideCeil(lines, blocks);
    Fetches fetches{{}, P.fetch.rowStride, P.how.group * size};
    for (int64_t i = 0; i < each; ++i) {
      Value *place = b.add(b.mul(number, each), i);
      Value *line = b.CreateURem(place, b.index(across));
      Value *row = b.CreateURem(b.CreateUDiv(place, b.index(across)), b.index(down));
      fetches.lines.push_back(b.offset(memoryType(b, P.fetch.element), P.fetch.from,
                                       b.add(b.mul(row, P.fetch.rowStride), b.mul(line, perLine))));
    }
    return fetches;
  }

  /// How many words of the right side are loaded for so many columns.
  unsigned loaded(unsigned width) const { return P.how.wantsWholeVectors() ? kWidth : width; }

  /// How many columns so many lanes are.
  unsigned columns(unsigned width) const { return width / unsigned(P.wordsAcross); }

  /// A column's sum as the sum of the first of its words, and zero as those of the others.
  Value *spread(Value *sums) {
    if (P.wordsAcross == 1)
      return sums;
    int count = int(Builder::widthOf(sums)), across = int(P.wordsAcross);
    SmallVector<int> lanes;
    for (int lane = 0; lane < count * across; ++lane)
      lanes.push_back(lane % across == 0 ? lane / across : count);
    return b.CreateShuffleVector(sums, Constant::getNullValue(sums->getType()), lanes);
  }

  /// The sums of a row's columns, of those of their words: of neighbours, again and again.
  Value *gather(ArrayRef<Value *> vectors) {
    Value *sums = concatenateVectors(b, vectors);
    for (int64_t across = P.wordsAcross; across > 1; across /= 2) {
      SmallVector<int> even, odd;
      for (int lane = 0; lane < int(Builder::widthOf(sums)); lane += 2) {
        even.push_back(lane);
        odd.push_back(lane + 1);
      }
      Value *x = b.CreateShuffleVector(sums, even), *y = b.CreateShuffleVector(sums, odd);
      sums = P.how.sum == DType::F32 ? b.CreateFAdd(x, y) : b.CreateAdd(x, y);
    }
    return sums;
  }

  /// What each sum of a block starts with.
  Values startOf(ArrayRef<Value *> targets, Value *col, ArrayRef<unsigned> widths) {
    auto widthAt = [&](size_t i) { return widths[i % widths.size()]; };
    auto loads = [&] {
      Values sums;
      for (auto [i, target] : enumerate(targets))
        sums.push_back(spread(loadElements(b, target, P.how.sum, columns(widthAt(i)))));
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

  /// Where a block has its vectors, in a matrix with rows so far apart.
  Values placesOf(Value *matrix, Value *rowStride, Value *row, int64_t rows, Value *col,
                  ArrayRef<unsigned> widths) {
    Values places;
    for (int64_t i = 0; i < rows; ++i) {
      Value *start = b.mul(b.add(row, i), rowStride), *at = col;
      for (unsigned width : widths) {
        places.push_back(b.offset(Sum, matrix, b.add(start, at)));
        at = b.add(at, columns(width));
      }
    }
    return places;
  }

  /// The part of the result from (row, col) on: `rows` rows of vectors of these widths.
  void emitBlock(Value *row, int64_t rows, Value *col, ArrayRef<unsigned> widths,
                 const Fetches &fetches) {
    Values targets = placesOf(P.c, b.index(P.cRow), row, rows, col, widths);
    Values sums = startOf(targets, col, widths);
    fetchNextSums(targets, row, rows, col);
    Value *left = b.offset(Word, P.a, b.mul(row, P.aRow)), *right = b.offset(Word, P.b, col);
    size_t products = sums.size(), sides = products;
    if (P.streamedRows)
      sums.append(farSides(left, right, rows));
    size_t behind = sums.size();
    bool fetchesFar = P.streamedRows && Machine.wantsFarRowsFetched;
    if (fetchesFar)
      sums.append({farWord(left, rows, P.aRow), b.index(0)});
    sums = b.loop(b.index(0), P.depth, P.unroll, sums, [&](Value *k, ArrayRef<Value *> old) {
      for (Value *line : fetches.lines)
        emitPrefetch(
            b, b.offset(b.getIntNTy(unsigned(8 * fetches.unit)), line, b.mul(k, fetches.step)));
      fetchNextLeft(left, rows, k);
      Values next(old.take_front(products));
      ArrayRef<Value *> far = old.slice(sides, behind - sides);
      for (int64_t step = 0; step < P.unroll; step += P.wordsAcross)
        next = emitStep(sidesAt(left, right, far, k, step, rows), rows, widths, next);
      if (P.streamedRows)
        next.append(farSidesBehind(far));
      if (fetchesFar)
        next.append(fetchRowsBehind(old[behind], old[behind + 1], rows));
      return next;
    });
    if (P.to)
      targets = placesOf(P.to, P.toRow, row, rows, col, widths);
    storeSums(ArrayRef(sums).take_front(products), targets, widths);
  }

  /// The sums of the next block, which come while k runs: further down, or the next product's.
  void fetchNextSums(ArrayRef<Value *> targets, Value *row, int64_t rows, Value *col) {
    Value *next = b.offset(Sum, targets.front(), b.index(rows * P.cRow));
    if (P.cNext) {
      Value *isLast = b.CreateICmpEQ(b.add(row, rows), b.index(P.rows));
      next = b.CreateSelect(isLast, b.offset(Sum, P.cNext, col), next);
    }
    auto across = int64_t(targets.size()) / rows;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t vector = 0; vector < across; ++vector)
        emitPrefetch(b, b.offset(Sum, next, b.index(i * P.cRow + vector * kWidth)), true);
  }

  /// A line in each iteration of the rows that the next block multiplies by a panel that stays
  /// near. They come from the second cache, each too short for the machine to see where it leads.
  void fetchNextLeft(Value *left, int64_t rows, Value *k) {
    if (P.streamedRows || P.aStep != 1 || !P.cNext || !keepsPanelsNear(Machine, P.rows))
      return;
    Value *next = b.add(b.mul(k, kLine / P.unroll), b.mul(P.aRow, rows)); // no other address
    emitPrefetch(b, b.offset(Word, left, next), true);
  }

  void storeSums(ArrayRef<Value *> sums, ArrayRef<Value *> targets, ArrayRef<unsigned> widths) {
    size_t together = P.wordsAcross == 1 ? 1 : widths.size();
    for (size_t i = 0; i < sums.size(); i += together) {
      Values vectors;
      for (size_t j = i; j < i + together; ++j)
        vectors.push_back(resized(b, sums[j], widths[j % widths.size()]));
      storeElements(b, gather(vectors), targets[i], P.how.sum);
    }
  }

  /// Where an iteration reads some words of k: of each row of the left side, and of the right one.
  struct Sides {
    Values left;
    Value *right;
  };
  Sides sidesAt(Value *left, Value *right, ArrayRef<Value *> far, Value *k, int64_t step,
                int64_t rows) {
    Sides at;
    if (far.empty()) {
      Value *word = b.add(k, step);
      for (int64_t row = 0; row < rows; ++row)
        at.left.push_back(wordOf(left, row, word));
      at.right = b.offset(Word, right, b.mul(word, P.bStep));
      return at;
    }
    for (int64_t row = 0; row < rows; ++row)
      at.left.push_back(farWordOf(far, row, step));
    at.right = b.offset(Word, far.back(), b.index(step * P.bStep));
    return at;
  }

  /// The address of a word of the left side.
  Value *wordOf(Value *left, int64_t row, Value *k) {
    Value *start = b.mul(b.index(row), P.aRow), *along = b.mul(k, P.aStep);
    if (isa<Constant>(start)) // one address, and distances that instructions hold
      return b.offset(Word, left, b.add(along, start));
    return b.offset(Word, b.offset(Word, left, start), along);
  }

  // The rows of a left side that is read from far away lie so far apart that each would have an
  // address of its own, and there are not so many registers. Those of every fourth row move on with
  // k, and so does that of the right side; what lies between is a distance of one, two or three
  // rows, of which instructions take two from the same register.

  static constexpr int64_t kRowsPerAddress = 4;

  /// The address so many rows further.
  Value *farWord(Value *from, int64_t rows, Value *distance) {
    if (rows == 2)
      return b.offset(b.getInt64Ty(), from, distance);
    return b.offset(Word, from, b.mul(distance, rows));
  }
  Value *farWordOf(ArrayRef<Value *> far, int64_t row, int64_t step) {
    Value *start = farWord(far[row / kRowsPerAddress], row % kRowsPerAddress, P.aRow);
    return b.offset(Word, start, b.index(step * P.aStep));
  }
  /// The addresses where an iteration begins.
  Values farSides(Value *left, Value *right, int64_t rows) {
    Values far;
    for (int64_t row = 0; row < rows; row += kRowsPerAddress)
      far.push_back(b.offset(Word, left, b.mul(P.aRow, row)));
    far.push_back(right);
    return far;
  }
  Values farSidesBehind(ArrayRef<Value *> far) {
    Values behind;
    for (Value *left : far.drop_back())
      behind.push_back(b.offset(Word, left, b.index(P.unroll * P.aStep)));
    behind.push_back(b.offset(Word, far.back(), b.index(P.unroll * P.bStep)));
    return behind;
  }

  // The rows behind these are fetched one after the other, as they lie: an iteration fetches as
  // many words of them as it multiplies of these. That is one place in memory that moves on, which
  // machines follow by themselves, and one address in a register.

  /// Fetches from `at` on, before which there are so many words of its row: both for the next
  /// iteration.
  Values fetchRowsBehind(Value *at, Value *before, int64_t rows) {
    int64_t words = rows * P.unroll;
    for (int64_t word = 0; word < words; word += kLine)
      emitPrefetch(b, b.offset(Word, at, b.index(word)), true);
    Value *behind = b.add(before, words), *isOver = b.CreateICmpSGE(behind, P.depth);
    Value *gap = b.CreateSelect(isOver, b.CreateSub(P.aRow, P.depth), b.index(0));
    return {b.offset(Word, at, b.add(gap, words)),
            b.CreateSelect(isOver, b.CreateSub(behind, P.depth), behind)};
  }

  /// A vector again and again, so that there are so many lanes.
  Value *repeated(Value *vector, unsigned width) {
    SmallVector<int> lanes;
    for (unsigned lane = 0; lane < width; ++lane)
      lanes.push_back(int(lane % Builder::widthOf(vector)));
    return b.CreateShuffleVector(vector, lanes);
  }

  /// The products of a word, or of as many as lie side by side.
  Values emitStep(const Sides &sides, int64_t rows, ArrayRef<unsigned> widths,
                  ArrayRef<Value *> old) {
    SmallVector<Value *> panel;
    int64_t col = 0;
    for (unsigned width : widths) {
      panel.push_back(b.CreateAlignedLoad(Builder::vectorOf(Word, loaded(width)),
                                          b.offset(Word, sides.right, b.index(col)), Align(4)));
      col += width;
    }
    Values next;
    for (int64_t i = 0; i < rows; ++i) {
      Value *words = b.CreateAlignedLoad(Builder::vectorOf(Word, unsigned(P.wordsAcross)),
                                         sides.left[i], Align(1));
      for (auto [vector, width] : enumerate(widths)) {
        Value *x = repeated(words, loaded(width));
        if (P.streamedRows && P.how.shiftsLeft()) // it was not packed
          x = b.CreateXor(x, addedBytes(b));
        next.push_back(
            emitMultiplyAdd(b, P.how, x, panel[vector], old[i * widths.size() + vector]));
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
  int64_t lanes = p.cols * p.wordsAcross, vectors = divideCeil(lanes, int64_t(kWidth));
  int64_t chains = vectors * p.unroll / p.wordsAcross;
  // Sums for each row of words of an iteration: one alone would wait for itself.
  Values zeros(chains, Constant::getNullValue(vector));
  Values sums = b.loop(b.index(0), p.depth, p.unroll, zeros, [&](Value *k, ArrayRef<Value *> old) {
    Values next;
    for (int64_t chain = 0; chain < chains; ++chain) {
      Value *row = b.mul(b.add(k, chain / vectors * p.wordsAcross), p.bStep);
      Value *right = b.CreateAlignedLoad(
          vector, b.offset(word, p.b, b.add(row, chain % vectors * kWidth)), Align(4));
      next.push_back(emitMultiplyAdd(b, p.how, addedBytes(b), right, old[chain]));
    }
    return next;
  });
  for (int64_t i = 0; i < vectors; ++i) {
    Value *sum = sums[i];
    for (int64_t other = i + vectors; other < chains; other += vectors)
      sum = b.CreateAdd(sum, sums[other]);
    auto width = unsigned(std::min<int64_t>(kWidth, lanes - i * kWidth));
    storeElements(b, resized(b, sum, width), b.offset(word, to, b.index(i * kWidth)), p.how.sum);
  }
}

void emitProduct(Builder &b, const MachineTraits &machine, const Product &product) {
  if (product.how.byTiles)
    return emitTileProduct(b, product);
  ProductEmitter(b, machine, product).emit();
}

} // namespace kiln::llvmir
