// Tiles from and to tensors: the part of a tile that lies inside its tensor, with vector loads and
// stores where that is all of it, and masked ones where it is not.
#include "KernelEmitter.h"

#include "kiln/Program/PadValue.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/IR/Intrinsics.h"

using namespace mlir;

namespace kiln::llvmir {

namespace {

/// The axes of a tensor that the rows and the columns of a tile run along; -1: none.
struct TileAxes {
  int row, col;
  int64_t rows, cols;

  TileAxes(int rank, int64_t rows, int64_t cols) : rows(rows), cols(cols) {
    // A tensor of rank 1 is a row, unless the tile is a column.
    col = rank == 1 && rows != 1 ? -1 : rank - 1;
    row = col == -1 ? 0 : rank - 2;
  }
  int64_t covered(int axis) const { return axis == row ? rows : axis == col ? cols : 1; }
};

} // namespace

Window KernelEmitter::window(Operation *op, Value name, ArrayRef<llvm::Value *> indices,
                             ArrayRef<llvm::Value *> valid, int64_t rows, int64_t cols,
                             Placement known) {
  const TensorView &tensor = this->tensor(name);
  int rank = tensor.extents.size();
  TileAxes axes(rank, rows, cols);
  int rowAxis = axes.row, colAxis = axes.col;
  llvm::Value *zero = b.index(0);
  auto clamp = [&](llvm::Value *extent, int64_t most) {
    return b.max(zero, b.min(extent, b.index(most)));
  };
  Window w;
  w.top = w.left = zero;
  w.bottom = valid.empty() ? b.index(rows) : clamp(valid[0], rows);
  w.right = valid.empty() ? b.index(cols) : clamp(valid[1], cols);
  llvm::Value *isEmpty = b.CreateOr(b.CreateICmpEQ(w.bottom, zero), b.CreateICmpEQ(w.right, zero));
  llvm::Value *offset = zero;
  Values touches; // on each axis
  for (int axis = 0; axis < rank; ++axis) {
    llvm::Value *index = indices[axis], *extent = tensor.extents[axis];
    int64_t covered = axes.covered(axis);
    llvm::Value *isOutside =
        b.CreateOr(b.CreateICmpSGE(index, extent), b.CreateICmpSLE(index, b.index(-covered)));
    llvm::Value *isNothing = b.CreateAnd(b.CreateICmpEQ(index, zero), b.CreateICmpEQ(extent, zero));
    touches.push_back(b.CreateOr(b.CreateNot(isOutside), b.CreateOr(isEmpty, isNothing)));
    if (!known.isNeverEmpty)
      isEmpty = b.CreateOr(isEmpty, isOutside);
    if (!known.isNeverCut) {
      llvm::Value *from = b.max(b.CreateNeg(index), zero), *to = b.CreateSub(extent, index);
      if (axis == rowAxis) {
        w.top = from;
        w.bottom = b.min(w.bottom, to);
      } else if (axis == colAxis) {
        w.left = from;
        w.right = b.min(w.right, to);
      }
    }
    offset = b.add(offset, b.mul(index, tensor.strides[axis]));
  }
  if (!known.mayMiss) {
    Message message("a tile of " + std::to_string(rows) + "x" + std::to_string(cols) + " at ");
    message << indices << std::string(" lies wholly outside ");
    checkAll(touches, op, describe(message, name));
  }
  w.bottom = b.CreateSelect(isEmpty, zero, w.bottom);
  w.right = b.CreateSelect(isEmpty, zero, w.right);
  w.isWhole = b.allOf({b.CreateICmpEQ(w.top, zero), b.CreateICmpEQ(w.bottom, b.index(rows)),
                       b.CreateICmpEQ(w.left, zero), b.CreateICmpEQ(w.right, b.index(cols))});
  w.isNeverCut = known.isNeverCut;
  w.origin = b.offset(memoryType(b, tensor.type), tensor.data, offset);
  w.rowStride = rowAxis >= 0 ? tensor.strides[rowAxis] : zero;
  w.colStride = colAxis >= 0 ? tensor.strides[colAxis] : zero;
  return w;
}

/// A tile that starts at multiples of its size, in a tensor whose extents are such multiples, is
/// never cut.
template <typename Op> static Placement placementOf(const IndexFacts &facts, Op op, TileAxes axes) {
  Placement known{true, true};
  auto next = op.getIndices().begin();
  for (auto [axis, index] : llvm::enumerate(op.getStaticIndices())) {
    int64_t covered = axes.covered(axis);
    int64_t divisor = ShapedType::isDynamic(index) ? facts.divisorOf(*next++) : index;
    known.isNeverCut &=
        divisor % covered == 0 && facts.divisorOfExtent(op.getTensor(), axis) % covered == 0;
    known.isNeverEmpty &= facts.isNeverEmpty(op.getTensor(), axis, op);
  }
  return known;
}

template <typename Op> static Window windowFor(KernelEmitter &e, Op op, tile::TileType type) {
  Values valid;
  Placement known;
  if constexpr (std::is_same_v<Op, tile::LoadOp>)
    known.mayMiss = op.getOutside();
  if (op.getStaticValid())
    valid = e.indices(*op.getStaticValid(), op.getValid());
  else if (!known.mayMiss) // what is known of places supposes that the tile touches its tensor
    known = placementOf(e.facts(), op,
                        TileAxes(op.getStaticIndices().size(), type.getRows(), type.getCols()));
  return e.window(op, op.getTensor(), e.indices(op.getStaticIndices(), op.getIndices()), valid,
                  type.getRows(), type.getCols(), known);
}

/// How far an index moves from one block of a launch to the next: it is the number of a block, or
/// so many times that; 0 if it stays, nothing if that is not plain to see.
static std::optional<int64_t> stepOfBlocks(Value index) {
  Operation *op = index.getDefiningOp();
  if (!op || getConstantIntValue(index))
    return 0;
  if (isa<tile::BlockIdxOp>(op))
    return 1;
  auto product = dyn_cast<arith::MulIOp>(op);
  if (!product)
    return std::nullopt;
  for (auto [x, y] : {std::pair(product.getLhs(), product.getRhs()),
                      std::pair(product.getRhs(), product.getLhs())})
    if (std::optional<int64_t> times = getConstantIntValue(y);
        times && x.getDefiningOp<tile::BlockIdxOp>())
      return times;
  return std::nullopt;
}

/// How many elements of its tensor further on the same load will read in the next iteration of the
/// loop around it, or in the next block of the launch; null if that is not plain to see.
static llvm::Value *distanceToNext(KernelEmitter &e, tile::LoadOp op) {
  Builder &b = e.b;
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (loop ? !loop.isDefinedOutsideOfLoop(op.getTensor()) : !isa<ir::FuncOp>(op->getParentOp()))
    return nullptr;
  llvm::Value *distance = nullptr;
  const TensorView &tensor = e.tensor(op.getTensor());
  auto next = op.getIndices().begin();
  for (auto [axis, index] : llvm::enumerate(op.getStaticIndices())) {
    if (!ShapedType::isDynamic(index))
      continue;
    Value value = *next++;
    llvm::Value *along = nullptr;
    if (!loop) {
      std::optional<int64_t> step = stepOfBlocks(value);
      if (!step)
        return nullptr;
      if (*step)
        along = b.mul(tensor.strides[axis], *step);
    } else if (value == loop.getInductionVar()) {
      along = b.mul(e.scalar(loop.getStep()), tensor.strides[axis]);
    } else if (!loop.isDefinedOutsideOfLoop(value)) {
      return nullptr;
    }
    if (along)
      distance = distance ? b.add(distance, along) : along;
  }
  return distance;
}

Window KernelEmitter::windowOf(tile::LoadOp op) {
  Window window = windowFor(*this, op, op.getResult().getType());
  window.ahead = distanceToNext(*this, op);
  window.isFetchedNear = Plan.fitsNearest(op);
  return window;
}

llvm::Value *KernelEmitter::loadDirect(const Window &w, const Cursor &at, DType type) {
  llvm::Type *memory = memoryType(b, type);
  llvm::Value *number = at.down ? b.add(at.row, b.mul(at.col, w.colStride))
                                : b.add(b.mul(at.row, w.rowStride), at.col);
  llvm::Value *source = b.offset(memory, w.origin, number);
  constexpr int64_t line = 64;
  int64_t bytes = int64_t(at.width) * sizeOf(type);
  if (w.ahead && !at.down && bytes % line == 0)
    for (int64_t offset = 0; offset < bytes; offset += line)
      emitPrefetch(b, b.offset(memory, source, b.add(w.ahead, offset / sizeOf(type))),
                   w.isFetchedNear);
  return b.CreateAlignedLoad(Builder::vectorOf(memory, at.width), source,
                             llvm::Align(sizeOf(type)));
}

namespace {

/// Which lanes under a cursor lie in a window, and where they are.
struct Lanes {
  llvm::Value *mask;
  llvm::Value *first;  ///< The address of lane 0.
  llvm::Value *stride; ///< From lane to lane.
};

Lanes lanesOf(Builder &b, const Window &w, const Cursor &at, llvm::Type *memory) {
  llvm::Value *along = at.down ? at.row : at.col, *across = at.down ? at.col : at.row;
  llvm::Value *begin = at.down ? w.top : w.left, *end = at.down ? w.bottom : w.right;
  llvm::Value *low = at.down ? w.left : w.top, *high = at.down ? w.right : w.bottom;
  llvm::Value *offset = b.add(b.mul(at.row, w.rowStride), b.mul(at.col, w.colStride));
  Lanes lanes{b.splat(at.width, w.isWhole), b.offset(memory, w.origin, offset),
              at.down ? w.rowStride : w.colStride};
  if (w.isNeverCut)
    return lanes;
  llvm::Value *numbers = b.CreateAdd(b.splat(at.width, along), b.lanes(at.width));
  llvm::Value *isInside = b.CreateAnd(b.CreateICmpSGE(across, low), b.CreateICmpSLT(across, high));
  llvm::Value *mask = b.CreateAnd(b.CreateICmpSGE(numbers, b.splat(at.width, begin)),
                                  b.CreateICmpSLT(numbers, b.splat(at.width, end)));
  lanes.mask = b.CreateAnd(mask, b.splat(at.width, isInside));
  return lanes;
}

llvm::Value *addresses(Builder &b, const Lanes &lanes, unsigned width, llvm::Type *memory) {
  llvm::Value *offsets = b.CreateMul(b.lanes(width), b.splat(width, lanes.stride));
  return b.CreateGEP(memory, lanes.first, offsets);
}

} // namespace

llvm::Value *KernelEmitter::loadMasked(const Window &w, const Cursor &at, DType type,
                                       llvm::Value *pad) {
  llvm::Type *memory = memoryType(b, type), *vector = Builder::vectorOf(memory, at.width);
  llvm::Align align(sizeOf(type));
  Lanes lanes = lanesOf(b, w, at, memory);
  llvm::Value *rest = llvm::Constant::getNullValue(vector);
  Values loaded = b.choose(
      b.CreateICmpEQ(lanes.stride, b.index(1)),
      [&] { return Values{b.CreateMaskedLoad(vector, lanes.first, align, lanes.mask, rest)}; },
      [&] {
        return Values{b.CreateMaskedGather(vector, addresses(b, lanes, at.width, memory), align,
                                           lanes.mask, rest)};
      });
  return b.CreateSelect(lanes.mask, decode(b, loaded[0], type), b.splat(at.width, pad));
}

void KernelEmitter::storeMasked(llvm::Value *value, const Window &w, const Cursor &at, DType type) {
  llvm::Type *memory = memoryType(b, type);
  llvm::Align align(sizeOf(type));
  Lanes lanes = lanesOf(b, w, at, memory);
  llvm::Value *stored = encode(b, value, type);
  b.branch(
      b.CreateICmpEQ(lanes.stride, b.index(1)),
      [&] { b.CreateMaskedStore(stored, lanes.first, align, lanes.mask); },
      [&] {
        b.CreateMaskedScatter(stored, addresses(b, lanes, at.width, memory), align, lanes.mask);
      });
}

void KernelEmitter::loadInto(tile::LoadOp op, const Window &w, Matrix to) {
  tile::TileType type = op.getResult().getType();
  DType element = elementTypeOf(type);
  bool isDown = type.getCols() == 1 && type.getRows() > 1;
  llvm::Value *stride = isDown ? w.rowStride : w.colStride;
  b.branch(
      b.CreateAnd(w.isWhole, b.CreateICmpEQ(stride, b.index(1))),
      [&] {
        overElements(type.getRows(), type.getCols(), false, [&](const Cursor &at) {
          llvm::Value *target = b.add(b.mul(at.row, to.rowStride), at.col);
          b.CreateAlignedStore(loadDirect(w, at, element),
                               b.offset(memoryType(b, element), to.data, target),
                               llvm::Align(sizeOf(element)));
        });
      },
      [&] {
        llvm::Value *pad = constant(b, padValue(op.getPadAttr(), element));
        overElements(type.getRows(), type.getCols(), false, [&](const Cursor &at) {
          llvm::Value *target = b.add(b.mul(at.row, to.rowStride), at.col);
          storeElements(b, loadMasked(w, at, element, pad),
                        b.offset(memoryType(b, element), to.data, target), element);
        });
      });
}

namespace {

void load(KernelEmitter &e, tile::LoadOp op) {
  if (!e.plan().isDeferred(op.getResult()))
    e.loadInto(op, e.windowOf(op), e.matrix(op.getResult()));
}

/// Adds to one element of global memory so that no other addition is lost.
void atomicAdd(KernelEmitter &e, llvm::Value *address, llvm::Value *value, DType type) {
  Builder &b = e.b;
  auto *bits = b.getIntNTy(8 * sizeOf(type));
  llvm::Align align(sizeOf(type));
  llvm::BasicBlock *again = b.block("again"), *done = b.block("done");
  auto *start = b.CreateAlignedLoad(bits, address, align);
  start->setAtomic(llvm::AtomicOrdering::Monotonic);
  llvm::BasicBlock *before = b.GetInsertBlock();
  b.CreateBr(again);
  b.SetInsertPoint(again);
  llvm::PHINode *old = b.CreatePHI(bits, 2);
  old->addIncoming(start, before);
  llvm::Value *held = decode(b, b.CreateBitCast(old, memoryType(b, type)), type);
  llvm::Value *sum =
      isFloat(type) ? round(b, b.CreateFAdd(held, value), type) : b.CreateAdd(held, value);
  llvm::Value *wanted = b.CreateBitCast(encode(b, sum, type), bits);
  llvm::Value *tried =
      b.CreateAtomicCmpXchg(address, old, wanted, align, llvm::AtomicOrdering::Monotonic,
                            llvm::AtomicOrdering::Monotonic);
  old->addIncoming(b.CreateExtractValue(tried, 0), b.GetInsertBlock());
  b.CreateCondBr(b.CreateExtractValue(tried, 1), done, again);
  b.SetInsertPoint(done);
}

void storeAtomic(KernelEmitter &e, tile::StoreOp op, const Window &w) {
  Builder &b = e.b;
  tile::TileType type = op.getTile().getType();
  DType element = elementTypeOf(type);
  // One element at a time: contention, not arithmetic, is what costs.
  e.withLoads(
      op.getTile(),
      [&](bool) {
        b.loop(w.top, w.bottom, 1, [&](llvm::Value *row) {
          b.loop(w.left, w.right, 1, [&](llvm::Value *col) {
            Cursor at{row, col, 1, type.getRows(), type.getCols()};
            llvm::Value *value = b.CreateExtractElement(e.eval(op.getTile(), at), uint64_t(0));
            llvm::Value *offset = b.add(b.mul(row, w.rowStride), b.mul(col, w.colStride));
            atomicAdd(e, b.offset(memoryType(b, element), w.origin, offset), value, element);
          });
        });
      },
      nullptr, &w);
}

/// Whether a tile should be stored past the caches: its tensor is larger than they keep for whoever
/// reads it, and every vector is a whole piece of a line. Saves reading what is overwritten.
llvm::Value *isStreamed(KernelEmitter &e, tile::StoreOp op, const Window &w) {
  constexpr int64_t manyBytes = int64_t(32) << 20;
  Builder &b = e.b;
  tile::TileType type = op.getTile().getType();
  const TensorView &tensor = e.tensor(op.getTensor());
  int64_t size = sizeOf(tensor.type), vector = kWidth * size;
  if (!e.machine().isX86 || vector < 32 || type.getCols() % kWidth != 0)
    return b.getFalse();
  llvm::Value *bytes = b.index(size);
  for (llvm::Value *extent : tensor.extents)
    bytes = b.mul(bytes, extent);
  llvm::Value *start = b.CreatePtrToInt(w.origin, b.getInt64Ty());
  llvm::Value *misaligned =
      b.CreateAnd(b.CreateOr(start, b.mul(w.rowStride, size)), b.index(vector - 1));
  return b.CreateAnd(b.CreateICmpSGE(bytes, b.index(manyBytes)),
                     b.CreateICmpEQ(misaligned, b.index(0)));
}

} // namespace

Window KernelEmitter::windowOf(tile::StoreOp op) {
  return windowFor(*this, op, op.getTile().getType());
}

llvm::Value *KernelEmitter::isStoredPlainly(tile::StoreOp op, const Window &w) {
  return b.allOf(
      {w.isWhole, b.CreateICmpEQ(w.colStride, b.index(1)), b.CreateNot(isStreamed(*this, op, w))});
}

namespace {

/// Stores a tile that lies wholly inside its tensor, with its rows contiguous.
void storeWhole(KernelEmitter &e, tile::StoreOp op, const Window &w) {
  Builder &b = e.b;
  tile::TileType type = op.getTile().getType();
  DType element = elementTypeOf(type);
  auto storeAll = [&](bool streams) {
    if (streams && op == e.plan().delayedStore())
      return e.delayStore(w.origin);
    e.overElements(type.getRows(), type.getCols(), false, [&](const Cursor &at) {
      llvm::Value *offset = at.down ? at.row : b.add(b.mul(at.row, w.rowStride), at.col);
      llvm::Value *to = b.offset(memoryType(b, element), w.origin, offset);
      llvm::Value *value = e.eval(op.getTile(), at);
      streams ? streamElements(b, value, to, element) : storeElements(b, value, to, element);
    });
    if (streams)
      e.setStreams();
  };
  b.branch(isStreamed(e, op, w), [&] { storeAll(true); }, [&] { storeAll(false); });
}

void store(KernelEmitter &e, tile::StoreOp op) {
  Builder &b = e.b;
  tile::TileType type = op.getTile().getType();
  DType element = elementTypeOf(type);
  Window w = e.windowOf(op);
  if (op.getAtomic())
    return storeAtomic(e, op, w);
  bool isDown = type.getCols() == 1 && type.getRows() > 1;
  llvm::Value *isPlain =
      b.CreateAnd(w.isWhole, b.CreateICmpEQ(isDown ? w.rowStride : w.colStride, b.index(1)));
  e.withLoads(
      op.getTile(),
      [&](bool isFast) {
        if (isFast)
          return storeWhole(e, op, w);
        e.overElements(type.getRows(), type.getCols(), false, [&](const Cursor &at) {
          e.storeMasked(e.eval(op.getTile(), at), w, at, element);
        });
      },
      isPlain, &w, op);
}

void prefetch(KernelEmitter &, tile::PrefetchOp) {} // the hardware prefetcher sees it coming

//===----------------------------------------------------------------------===//
// Rows anywhere
//===----------------------------------------------------------------------===//

/// Runs `body(row, window)` for the rows of a tile that lie in the tensor, the window being that of
/// the one row; `otherwise(row)` for the others.
template <typename Op>
void overRows(KernelEmitter &e, Op op, tile::TileType type,
              llvm::function_ref<void(llvm::Value *, const Window &)> body,
              llvm::function_ref<void(llvm::Value *)> otherwise) {
  Builder &b = e.b;
  Values valid, colValid;
  if (op.getStaticValid()) {
    valid = e.indices(*op.getStaticValid(), op.getValid());
    colValid = {b.index(1), valid[1]};
  }
  // The row numbers are a row of their own: 1 x rows of the table.
  Values rowValid;
  if (!valid.empty())
    rowValid = {b.index(1), valid[0]};
  Window numbers =
      e.window(op, op.getRows(), e.indices(op.getStaticRowIndices(), op.getRowIndices()), rowValid,
               1, type.getRows());
  DType wide = e.tensor(op.getRows()).type;
  const TensorView &tensor = e.tensor(op.getTensor());
  int rowAxis = tensor.extents.size() - 2;
  Values indices = e.indices(op.getStaticIndices(), op.getIndices());
  llvm::Value *base = indices[rowAxis], *zero = b.index(0);
  b.loop(0, type.getRows(), 1, [&](llvm::Value *row) {
    llvm::Value *isKnown =
        b.allOf({b.CreateICmpSLT(numbers.top, numbers.bottom), b.CreateICmpSGE(row, numbers.left),
                 b.CreateICmpSLT(row, numbers.right)});
    Values number = b.choose(
        isKnown,
        [&] {
          llvm::Value *at =
              b.offset(memoryType(b, wide), numbers.origin, b.mul(row, numbers.colStride));
          llvm::Value *bits =
              b.CreateAlignedLoad(memoryType(b, wide), at, llvm::Align(sizeOf(wide)));
          return Values{b.CreateSExt(bits, b.getInt64Ty())};
        },
        [&] { return Values{b.index(-1)}; });
    llvm::Value *sum =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_with_overflow, base, number[0]);
    llvm::Value *place = b.CreateExtractValue(sum, 0);
    llvm::Value *isInside =
        b.allOf({b.CreateICmpSGE(number[0], zero), b.CreateNot(b.CreateExtractValue(sum, 1)),
                 b.CreateICmpSGE(place, zero), b.CreateICmpSLT(place, tensor.extents[rowAxis])});
    b.branch(
        isInside,
        [&] {
          Values here = indices;
          here[rowAxis] = place;
          body(row, e.window(op, op.getTensor(), here, colValid, 1, type.getCols()));
        },
        [&] { otherwise(row); });
  });
}

void gatherRows(KernelEmitter &e, tile::GatherRowsOp op) {
  Builder &b = e.b;
  tile::TileType type = op.getResult().getType();
  DType element = elementTypeOf(type);
  llvm::Value *pad = constant(b, padValue(op.getPadAttr(), element));
  llvm::Value *to = e.address(op.getResult());
  llvm::Type *memory = memoryType(b, element);
  auto fillRow = [&](llvm::Value *row, llvm::function_ref<llvm::Value *(const Cursor &)> make) {
    b.chunks(type.getCols(), kWidth, [&](llvm::Value *col, unsigned width) {
      Cursor at{b.index(0), col, width, 1, type.getCols()};
      llvm::Value *target = b.offset(memory, to, b.add(b.mul(row, type.getCols()), col));
      storeElements(b, make(at), target, element);
    });
  };
  overRows(
      e, op, type,
      [&](llvm::Value *row, const Window &w) {
        b.branch(
            b.CreateAnd(w.isWhole, b.CreateICmpEQ(w.colStride, b.index(1))),
            [&] {
              fillRow(row, [&](const Cursor &at) {
                return loadElements(b, b.offset(memory, w.origin, at.col), element, at.width);
              });
            },
            [&] {
              fillRow(row, [&](const Cursor &at) { return e.loadMasked(w, at, element, pad); });
            });
      },
      [&](llvm::Value *row) {
        fillRow(row, [&](const Cursor &at) { return b.splat(at.width, pad); });
      });
}

void scatterRows(KernelEmitter &e, tile::ScatterRowsOp op) {
  Builder &b = e.b;
  tile::TileType type = op.getTile().getType();
  DType element = elementTypeOf(type);
  llvm::Value *from = e.address(op.getTile());
  llvm::Type *memory = memoryType(b, element);
  overRows(
      e, op, type,
      [&](llvm::Value *row, const Window &w) {
        llvm::Value *start = b.offset(memory, from, b.mul(row, type.getCols()));
        if (op.getAtomic())
          return b.loop(w.left, b.CreateSelect(b.CreateICmpSLT(w.top, w.bottom), w.right, w.left),
                        1, [&](llvm::Value *col) {
                          llvm::Value *one =
                              loadElements(b, b.offset(memory, start, col), element, 1);
                          atomicAdd(e, b.offset(memory, w.origin, b.mul(col, w.colStride)),
                                    b.CreateExtractElement(one, uint64_t(0)), element);
                        });
        b.chunks(type.getCols(), kWidth, [&](llvm::Value *col, unsigned width) {
          Cursor at{b.index(0), col, width, 1, type.getCols()};
          e.storeMasked(loadElements(b, b.offset(memory, start, col), element, width), w, at,
                        element);
        });
      },
      [](llvm::Value *) {});
}

} // namespace

void addMemoryOps(OpTable &table) {
  table.add<tile::LoadOp, load>();
  table.add<tile::StoreOp, store>();
  table.add<tile::PrefetchOp, prefetch>();
  table.add<tile::GatherRowsOp, gatherRows>();
  table.add<tile::ScatterRowsOp, scatterRows>();
}

} // namespace kiln::llvmir
