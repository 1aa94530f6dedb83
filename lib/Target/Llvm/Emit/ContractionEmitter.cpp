// A contraction over a rectangle of blocks. Blocks are taken a few hundred rows and columns at a
// time; of those, a few iterations of the loop at a time: their left and right sides are packed
// into the scratch once, as the registers will want them, and multiplied for all blocks. Sums lie
// in the scratch until the loop is over; then each block goes on with them.
#include "Builder/TileProduct.h"
#include "Builder/Transpose.h"
#include "KernelEmitter.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

using V = llvm::Value;

class ContractionEmitter {
public:
  ContractionEmitter(KernelEmitter &emitter, const Contraction &contraction)
      : e(emitter), b(emitter.b), C(contraction), Sum(memoryType(b, C.how.sum)),
        Word(wordType(b, C.how)), Width(panelWidth(e.machine(), C.how, C.rows())) {}

  void emit() { overGrid(0); }

private:
  //===--------------------------------------------------------------------===//
  // Blocks
  //===--------------------------------------------------------------------===//

  /// All grid dimensions: those that panels are shared along several blocks at a time.
  void overGrid(int dim) {
    if (dim == KILN_MAX_GRID_DIMS)
      return emitRectangle();
    auto [begin, end] = e.blockRange(dim);
    int64_t step = dim == C.rowDim ? C.maxRows : dim == C.colDim ? C.maxCols : 1;
    b.loop(begin, end, step, [&, end = end](V *at) {
      e.setBlockIndex(dim, at);
      V *count = b.min(b.index(step), b.CreateSub(end, at));
      if (dim == C.rowDim)
        FirstRow = at, NumRows = count;
      if (dim == C.colDim)
        FirstCol = at, NumCols = count;
      overGrid(dim + 1);
    });
  }

  void overRows(llvm::function_ref<void(V *)> body) {
    if (C.rowDim < 0)
      return body(b.index(0));
    b.loop(b.index(0), NumRows, 1, [&](V *row) {
      e.setBlockIndex(C.rowDim, b.add(FirstRow, row));
      body(row);
    });
  }
  void overCols(llvm::function_ref<void(V *)> body) {
    if (C.colDim < 0)
      return body(b.index(0));
    b.loop(b.index(0), NumCols, 1, [&](V *col) {
      setCol(col);
      body(col);
    });
  }
  void setCol(V *col) {
    if (C.colDim >= 0)
      e.setBlockIndex(C.colDim, b.add(FirstCol, col));
  }

  /// Every block with these columns, with everything before the loop computed for it.
  void overBlocks(V *col, llvm::function_ref<void(V *row)> body) {
    Block &block = *C.loop->getBlock();
    setCol(col);
    overRows([&](V *row) {
      e.emitOps(block.begin(), C.loop->getIterator());
      body(row);
    });
  }

  //===--------------------------------------------------------------------===//
  // The loop
  //===--------------------------------------------------------------------===//

  /// A few iterations at a time: as many for each round as there is room for, and all alike. The
  /// first starts the sums of a block's columns, the last goes on with them, while they are near.
  void emitRectangle() {
    setFirstBlock();
    e.emitOps(C.bounds);
    e.locate(C.loop);
    Trips trips = tripsOf(e, C.loop);
    V *count = b.add(b.CreateZExt(trips.beforeLast, b.getInt64Ty()), 1);
    count = b.CreateSelect(trips.runs, count, b.index(0));
    auto divideUp = [&](V *x, V *y) {
      return b.CreateUDiv(b.CreateSub(b.add(x, y), b.index(1)), y);
    };
    V *rounds = b.max(divideUp(count, b.index(C.maxSteps)), b.index(1));
    V *perRound = divideUp(count, rounds);
    IsOneRound = b.CreateICmpEQ(rounds, b.index(1));
    b.loop(b.index(0), rounds, 1, [&](V *round) {
      V *done = b.mul(round, perRound);
      V *steps = b.min(perRound, b.CreateSub(count, done));
      auto setStep = [&](V *step) {
        V *number = b.CreateTrunc(b.add(done, step), trips.first->getType());
        e.setScalar(C.loop.getInductionVar(), b.add(trips.first, b.mul(number, trips.step)));
      };
      auto overSteps = [&](llvm::function_ref<void(V *)> body) {
        b.loop(b.index(0), steps, 1, [&](V *step) { return setStep(step), body(step); });
      };
      setFirstBlock();
      overSteps([&](V *step) { overRows([&](V *row) { packLeft(row, step); }); });
      if (C.streamsRight && C.how.shiftsLeft())
        sumLeft(steps);
      NextStep = b.min(steps, b.CreateSub(b.CreateSub(count, done), b.index(1)));
      Runs = b.CreateICmpSGT(steps, b.index(0));
      setFirstBlock();
      overCols([&](V *col) {
        IsFirstRound = b.CreateICmpEQ(round, b.index(0));
        IsLastRound = b.CreateICmpEQ(round, b.CreateSub(rounds, b.index(1)));
        V *isStarted = startsAtZero() ? Runs : b.getFalse(); // by the products
        b.branch(b.CreateAnd(IsFirstRound, b.CreateNot(isStarted)), [&] { startSums(col); });
        setCol(col); // what was emitted in a branch is not known behind it
        // A loop that never runs reads nothing, not even where it would begin.
        b.branch(Runs, [&] {
          if (C.streamsRight)
            return withTiles(C.cols(), C.rows(), [&] { stream(col, steps, setStep); });
          overSteps([&](V *step) { packRight(step); });
          multiply(col, b.mul(steps, C.words()), setStep);
        });
        b.branch(IsLastRound, [&] { goOn(col); });
      });
    });
  }

  /// Whether products start the sums themselves, in registers, because all start at zero.
  bool startsAtZero() {
    auto isZero = [](Value init) {
      auto full = init.getDefiningOp<tile::FullOp>();
      return full && (matchPattern(full.getValue(), m_PosZeroFloat()) ||
                      matchPattern(full.getValue(), m_Zero()));
    };
    return llvm::all_of(C.loop.getInitArgs(), isZero);
  }

  void startSums(V *col) {
    overBlocks(col, [&](V *row) {
      for (auto [number, init] : llvm::enumerate(C.loop.getInitArgs())) {
        V *to = C.streamsRight ? rightPanel(number) : sums(number, row, col);
        e.evalInto(init, {to, C.cols()});
        if (C.streamsRight)
          turn(to, C.rows(), C.cols(), sums(number, row, col));
      }
    });
  }

  void goOn(V *col) {
    overBlocks(col, [&](V *row) {
      for (auto [number, result] : llvm::enumerate(C.loop.getResults())) {
        V *made = sums(number, row, col);
        if (C.streamsRight)
          turn(made, C.cols(), C.rows(), rightPanel(number));
        e.setAddress(result, C.streamsRight ? rightPanel(number) : made);
      }
      auto rest = [&] { e.emitOps(std::next(C.loop->getIterator()), C.loop->getBlock()->end()); };
      C.store ? b.branch(b.CreateNot(placeOf(row, col).takesSums), rest) : rest();
    });
  }

  /// Where a block is stored, if nothing else happens to its sums.
  struct Place {
    V *takesSums; ///< Whether the last products store them there.
    V *origin, *rowStride;
  };
  Place placeOf(V *row, V *col) {
    setCol(col);
    if (C.rowDim >= 0)
      e.setBlockIndex(C.rowDim, b.add(FirstRow, row));
    e.emitOps(C.place);
    Window window = e.windowOf(C.store);
    return {b.CreateAnd(Runs, e.isStoredPlainly(C.store, window)), window.origin, window.rowStride};
  }

  /// What does not depend on the block is computed for the first one.
  void setFirstBlock() {
    if (C.rowDim >= 0)
      e.setBlockIndex(C.rowDim, FirstRow);
    if (C.colDim >= 0)
      e.setBlockIndex(C.colDim, FirstCol);
  }

  void packLeft(V *row, V *step) {
    e.emitOps(C.left);
    for (auto [number, product] : llvm::enumerate(C.products)) {
      if (C.leftOf(number) != number)
        continue;
      V *to = leftPanel(number, row), *first = b.mul(step, C.words());
      if (C.wordsAcross > 1) {
        packAcross(product.getLhs(), b.offset(Word, to, b.mul(first, C.rows())));
        continue;
      }
      bool isTurned = C.isLeftTurned();
      pack(product.getLhs(),
           product.getTransA() ? PackedSide::Down
           : isTurned          ? PackedSide::Turned
                               : PackedSide::Across,
           !C.streamsRight, [&](V *words, V *i, V *j) {
             V *k = b.add(first, isTurned ? i : j), *at = b.mul(isTurned ? j : i, leftRow());
             storeWords(words, b.offset(Word, to, b.add(at, b.mul(k, leftStep()))));
           });
    }
  }

  /// A left side with some words of k of each row side by side.
  void packAcross(Value left, V *to) {
    pack(left, PackedSide::Across, false, [&](V *words, V *row, V *k) {
      V *at = b.add(b.mul(k, C.rows()), b.mul(row, C.wordsAcross));
      for (unsigned lane = 0; lane < Builder::widthOf(words); lane += unsigned(C.wordsAcross))
        storeWords(b.lanesOf(words, lane, unsigned(C.wordsAcross)),
                   b.offset(Word, to, b.add(at, lane * C.rows())));
    });
  }

  /// Of one block's columns: the next ones come when all rows have been multiplied by these.
  void packRight(V *step) {
    e.emitOps(C.right);
    for (auto [number, product] : llvm::enumerate(C.products)) {
      V *to = rightPanel(number);
      e.setFetchesAhead(!isNextRightFetched(number));
      pack(product.getRhs(), product.getTransB() ? PackedSide::Turned : PackedSide::Down, false,
           [&](V *words, V *i, V *j) {
             V *k = b.add(b.mul(step, C.words()), i);
             V *panel = b.CreateUDiv(j, b.index(Width)), *inside = b.CreateURem(j, b.index(Width));
             V *at = b.add(b.mul(b.add(b.mul(panel, C.panelDepth()), k), Width), inside);
             storeWords(words, b.offset(Word, to, at));
           });
    }
    e.setFetchesAhead(true);
  }

  void storeWords(V *words, V *to) { b.CreateAlignedStore(words, to, llvm::Align(4)); }

  /// Has the words of a tile stored, vector by vector.
  void pack(Value tile, PackedSide::Order order, bool isLeft,
            llvm::function_ref<void(V *words, V *i, V *j)> store) {
    auto type = cast<tile::TileType>(tile.getType());
    e.withLoads(tile, [&](bool) {
      emitPack(
          b, C.how, {elementTypeOf(type), type.getRows(), type.getCols(), order, isLeft},
          [&](V *row, V *col, unsigned width) {
            return e.eval(tile, {row, col, width, type.getRows(), type.getCols()});
          },
          store);
    });
  }

  /// Products of one shape, for which tile registers are shaped once if their blocks are alike.
  void withTiles(int64_t rows, int64_t cols, llvm::function_ref<void()> products) {
    AreTilesShaped = C.how.byTiles && areTileBlocksAlike(rows, cols);
    if (AreTilesShaped)
      shapeTiles(b, rows, cols);
    products();
    if (AreTilesShaped)
      releaseTiles(b);
  }

  using SetStep = llvm::function_ref<void(V *step)>;

  /// Each panel of columns for all rows, while it is in the nearest cache.
  void multiply(V *col, V *depth, SetStep setStep) {
    withTiles(C.rows(), C.cols(), [&] {
      for (unsigned number = 0; number < C.products.size(); ++number) {
        FetchLater left = nextLeft(number, setStep);
        Fetch right = nextRight(number, col, setStep);
        int64_t whole = C.cols() / Width;
        b.loop(0, whole, 1,
               [&](V *panel) { multiplyPanel(number, col, panel, Width, depth, right, left); });
        if (int64_t rest = C.cols() % Width)
          multiplyPanel(number, col, b.index(whole), rest, depth, right, left);
      }
    });
  }

  /// Where the left sides of the next round begin, if they are plain memory with k along the rows.
  /// They are fetched where panels are so near that the second cache has room for them.
  FetchLater nextLeft(unsigned number, SetStep setStep) {
    auto load = C.product(number).getLhs().getDefiningOp<tile::LoadOp>();
    if (!load || C.leftOf(number) != number || C.isLeftTurned() || C.colDim < 0 ||
        !keepsPanelsNear(e.machine(), C.rows()))
      return {};
    setFirstBlock();
    setStep(NextStep);
    e.emitOps(C.left);
    Window window = e.windowOf(load);
    DType element = elementTypeOf(load.getResult().getType());
    return {window.origin, b.mul(window.rowStride, sizeOf(element)), nullptr};
  }

  /// Whether products fetch the right side that will be packed next: it is plain memory. Tile
  /// registers are loaded from the second cache so fast that fetches would be in the way.
  bool isNextRightFetched(unsigned number) {
    tile::MatmulAccOp product = C.product(number);
    return !C.how.byTiles && C.colDim >= 0 && product.getRhs().getDefiningOp<tile::LoadOp>() &&
           !product.getTransB();
  }
  /// That of the next columns, or of the first ones in the next round.
  Fetch nextRight(unsigned number, V *col, SetStep setStep) {
    if (!isNextRightFetched(number))
      return {};
    auto load = C.product(number).getRhs().getDefiningOp<tile::LoadOp>();
    V *below = b.add(col, 1), *isLast = b.CreateICmpEQ(below, NumCols), *first = b.index(0);
    setCol(b.CreateSelect(isLast, first, below));
    setStep(b.CreateSelect(isLast, NextStep, first));
    e.emitOps(C.right);
    Window window = e.windowOf(load);
    return {window.origin, elementTypeOf(load.getResult().getType()), window.rowStride};
  }

  void multiplyPanel(unsigned number, V *col, V *panel, int64_t cols, V *depth, Fetch right,
                     FetchLater left) {
    if (right.from)
      right.from = b.offset(memoryType(b, right.element), right.from, b.mul(panel, Width));
    Product product;
    product.how = C.how;
    product.rows = C.rows();
    product.cols = cols;
    product.depth = depth;
    product.unroll = C.how.unrolled(C.words());
    product.b = b.offset(Word, rightPanel(number), b.mul(panel, C.panelDepth() * Width));
    product.aRow = b.index(leftRow());
    product.aStep = leftStep();
    product.bStep = Width;
    product.cRow = C.cols();
    product.fetch = right;
    product.areTilesShaped = AreTilesShaped;
    product.startsAtZero = startsAtZero() ? IsFirstRound : nullptr;
    if (C.how.shiftsLeft()) {
      product.excess = buffer(number, Contraction::Excess, b.mul(panel, Width));
      emitExcess(b, product, product.excess);
    }
    auto sumsAt = [&](V *row, V *panel) {
      return b.offset(Sum, sums(number, row, col), b.mul(panel, Width));
    };
    V *rows = C.rowDim < 0 ? b.index(1) : NumRows;
    b.loop(b.index(0), rows, 1, [&](V *row) {
      V *below = b.add(row, 1), *isLast = b.CreateICmpEQ(below, rows);
      product.a = leftPanel(C.leftOf(number), row);
      product.c = sumsAt(row, panel);
      product.cNext = sumsAt(b.CreateSelect(isLast, b.index(0), below),
                             b.CreateSelect(isLast, b.add(panel, 1), panel));
      if (left.from)
        product.later = partOfLeft(left, row, col, panel);
      if (C.store)
        storeFinished(product, row, col, panel);
      product.fetch.part = row;
      product.fetch.parts = C.usualRows();
      emitProduct(b, e.machine(), product);
    });
  }

  /// The last round's sums go where they are stored, if that can be. The rows below come meanwhile,
  /// which are usually the next block's: products would wait for them.
  void storeFinished(Product &product, V *row, V *col, V *panel) {
    Place place = placeOf(row, col);
    V *isStored = b.CreateAnd(IsLastRound, place.takesSums);
    V *to = b.offset(Sum, place.origin, b.mul(panel, Width));
    product.to = b.CreateSelect(isStored, to, product.c);
    product.toRow = b.CreateSelect(isStored, place.rowStride, b.index(C.cols()));
    V *below = b.offset(Sum, to, b.mul(place.rowStride, C.rows()));
    V *stride = b.mul(place.rowStride, sizeOf(C.how.sum));
    FetchLater other = product.later;
    product.later = {below, stride, isStored};
    if (other.from)
      product.later = {b.CreateSelect(isStored, below, other.from),
                       b.CreateSelect(isStored, stride, other.rowStride),
                       b.CreateOr(isStored, other.isWanted)};
  }

  /// The last panels of a round have the next one's left sides fetched, each a few words of every
  /// row: so late that they are still in the second cache then.
  FetchLater partOfLeft(FetchLater left, V *row, V *col, V *panel) {
    constexpr int64_t wordBytes = 4;
    V *panels = b.index(llvm::divideCeil(C.cols(), Width));
    V *after = b.CreateSub(b.mul(b.CreateSub(NumCols, col), panels), b.add(panel, 1));
    V *isLate = b.CreateICmpSLT(after, b.index(llvm::divideCeil(C.panelDepth(), Width)));
    V *down = b.mul(b.mul(row, C.rows()), left.rowStride);
    V *first = b.add(down, b.mul(after, Width * wordBytes));
    return {b.offset(b.getInt8Ty(), left.from, first), left.rowStride, isLate};
  }

  //===--------------------------------------------------------------------===//
  // Right sides that are read where they lie
  //===--------------------------------------------------------------------===//

  /// Moves a matrix into one with rows and columns exchanged.
  void turn(V *from, int64_t rows, int64_t cols, V *to) {
    emitTranspose(
        b, rows, cols,
        [&](V *row, V *col, unsigned width) {
          V *at = b.offset(Sum, from, b.add(b.mul(row, cols), col));
          return loadElements(b, at, C.how.sum, width);
        },
        [&](V *vector, V *row, V *col) {
          storeElements(b, vector, b.offset(Sum, to, b.add(b.mul(row, rows), col)), C.how.sum);
        });
  }

  /// Iterations whose right sides are wholly in their tensor are one long product; the rest, at the
  /// tensor's edges, are loaded into their tile first.
  void stream(V *col, V *steps, llvm::function_ref<void(V *step)> setStep) {
    for (unsigned number = 0; number < C.products.size(); ++number) {
      auto load = C.product(number).getRhs().getDefiningOp<tile::LoadOp>();
      auto windowAt = [&](V *step) {
        setStep(step);
        e.emitOps(C.right);
        return e.windowOf(load);
      };
      V *beforeLast = b.CreateSub(steps, b.index(1)), *none = b.index(0);
      Window last = windowAt(beforeLast), first = windowAt(none);
      V *group = b.index(C.how.group);
      V *isPlain = b.allOf({first.isWhole, b.CreateICmpEQ(first.colStride, b.index(1)),
                            b.CreateICmpEQ(b.CreateSRem(first.rowStride, group), none)});
      V *whole = b.CreateSelect(last.isWhole, steps, beforeLast);
      V *plain = b.CreateSelect(isPlain, whole, none);
      streamRows(number, col, first.origin, b.CreateSDiv(first.rowStride, group), none, plain,
                 true);
      if (plain == steps) // no right side is ever cut
        continue;
      b.loop(plain, steps, 1, [&](V *step) {
        Matrix tile = e.matrix(load.getResult());
        e.loadInto(load, windowAt(step), tile);
        V *pitch = b.index(tile.rowStride / C.how.group);
        streamRows(number, col, tile.data, pitch, step, b.index(1), false);
      });
    }
  }

  /// A right side's rows by the left panels of so many iterations: sides are exchanged.
  Product streamed(V *steps) {
    Product product;
    product.how = C.how;
    product.streamedRows = streamedRowsFor(C.how);
    product.areTilesShaped = AreTilesShaped;
    product.cols = product.bStep = product.cRow = C.rows();
    product.wordsAcross = C.wordsAcross;
    product.depth = b.mul(steps, C.words());
    product.unroll = streamedWords(e.machine(), C.how, C.words(), C.wordsAcross);
    return product;
  }

  /// What the sums of a round are too large by, because what is streamed has something added: it is
  /// the same for all its rows.
  void sumLeft(V *steps) {
    Product product = streamed(steps);
    setFirstBlock();
    for (unsigned number = 0; number < C.products.size(); ++number)
      if (C.leftOf(number) == number)
        overRows([&](V *row) {
          product.b = leftPanel(number, row);
          emitExcess(b, product, excess(number, row));
        });
  }

  /// Some iterations of all rows of a right side, a few rows at a time: they are multiplied by
  /// every block's left side while they are near. The first ones of a round start the sums.
  void streamRows(unsigned number, V *col, V *from, V *pitch, V *step, V *steps, bool areFirst) {
    unsigned left = C.leftOf(number);
    Product product = streamed(steps);
    product.startsAtZero = areFirst && startsAtZero() ? IsFirstRound : nullptr;
    product.aRow = pitch;
    product.aStep = 1;
    b.chunks(C.cols(), unsigned(product.streamedRows), [&](V *n, unsigned rows) {
      product.rows = rows;
      product.a = b.offset(Word, from, b.mul(n, pitch));
      b.loop(b.index(0), C.rowDim < 0 ? b.index(1) : NumRows, 1, [&](V *row) {
        V *first = b.mul(b.mul(step, C.words()), C.rows());
        product.b = b.offset(Word, leftPanel(left, row), first);
        product.c = b.offset(Sum, sums(number, row, col), b.mul(n, C.rows()));
        product.excess = areFirst && C.how.shiftsLeft() ? excess(left, row) : nullptr;
        emitProduct(b, e.machine(), product);
      });
    });
  }

  //===--------------------------------------------------------------------===//
  // Panels
  //===--------------------------------------------------------------------===//

  int64_t leftRow() const { return C.isLeftTurned() ? 1 : C.leftPitch(); }
  int64_t leftStep() const { return C.isLeftTurned() ? C.rows() : 1; }
  V *leftPanel(unsigned product, V *row) {
    return buffer(product, Contraction::Left, b.mul(row, C.leftElements()));
  }
  V *rightPanel(unsigned product) { return buffer(product, Contraction::Right, b.index(0)); }
  V *excess(unsigned product, V *row) {
    return buffer(product, Contraction::Excess, b.mul(row, C.excessOfBlock()));
  }
  /// The sums of a block: its tile, contiguous.
  V *sums(unsigned product, V *row, V *col) {
    // If they are finished in one round, all columns use the same place, which stays near.
    V *number = b.add(b.mul(row, C.maxCols), b.CreateSelect(IsOneRound, b.index(0), col));
    return buffer(product, Contraction::Sums, b.mul(number, C.sumElements()));
  }
  V *buffer(unsigned product, Contraction::Buffer which, V *offset) {
    V *start = e.extra(C.loop, product * Contraction::NumBuffers + which);
    return b.offset(Word, start, offset); // sums are as large as words
  }

  KernelEmitter &e;
  Builder &b;
  Contraction C; // a copy: operations have no const interface
  llvm::Type *Sum, *Word;
  int64_t Width; ///< Columns of the right side that are multiplied at a time.
  V *FirstRow = nullptr, *NumRows = nullptr, *FirstCol = nullptr, *NumCols = nullptr;
  bool AreTilesShaped = false;
  V *IsFirstRound = nullptr, *IsLastRound = nullptr;
  V *Runs = nullptr;       ///< Whether the loop does.
  V *NextStep = nullptr;   ///< Where the next round begins, counted in this one; at most its last.
  V *IsOneRound = nullptr; ///< Whether sums are started and finished in the same round.
};

} // namespace

void emitContraction(KernelEmitter &e, const Contraction &contraction) {
  ContractionEmitter(e, contraction).emit();
}

} // namespace kiln::llvmir
