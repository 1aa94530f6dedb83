// What the kernels that Kiln writes for Ascend are written with: tiles, tensors and pipes over
// PTO-ISA's instructions and simpler's arguments. Include paths: PTO-ISA's include/, and the
// headers of simpler's runtime. See docs/ascend.md.
//
// Everything here runs on one unit of the core that the instruction belongs to; what orders units,
// the kernels say themselves.
#pragma once

#include <cstdint>
#include <type_traits>

// The runtime does not set the register that get_subblockid() reads; the lane is in the arguments.
#if !defined(__CPU_SIM) && !defined(__COSTMODEL)
[[block_local]] static int32_t kiln_lane;
#define get_subblockid() kiln_lane
#define KILN_SET_LANE(args) kiln_lane = get_sub_block_id(args)
#else
#define KILN_SET_LANE(args) (void)(args)
#endif

#include <pto/pto-inst.hpp>

#include <tensor.h>
// After the tensor, because it needs its names.
#include <intrinsic.h>

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__ [aicore]
#endif
#define KILN_INLINE static __aicore__ inline

namespace kiln {

using namespace pto;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

KILN_INLINE int64_t floorDiv(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
KILN_INLINE int64_t ceilDiv(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient * b != a && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}
template <typename T> KILN_INLINE T smaller(T a, T b) { return a < b ? a : b; }
template <typename T> KILN_INLINE T larger(T a, T b) { return a < b ? b : a; }
/// From 0 to `most`.
KILN_INLINE int64_t clip(int64_t value, int64_t most) {
  return value < 0 ? 0 : value < most ? value : most;
}
/// The bits of a scalar argument.
template <typename T> KILN_INLINE T scalar(__gm__ int64_t *args, int place) {
  union {
    int64_t bits;
    T value;
  } slot;
  slot.bits = args[place];
  return slot.value;
}

//===----------------------------------------------------------------------===//
// Blocks and tensors
//===----------------------------------------------------------------------===//

/// Blocks are numbered row by row. The extents of the grid are the last three scalars.
struct Block {
  int64_t number, index[3], count[3];
  __aicore__ Block(__gm__ int64_t *args, int place) {
    number = get_block_idx(args);
    for (int i = 0; i < 3; ++i)
      count[i] = args[place + i];
    index[0] = number / (count[1] * count[2]);
    index[1] = number / count[2] % count[1];
    index[2] = number % count[2];
  }
};

template <typename T, int Rank> struct Tensor {
  __gm__ T *data;
  int64_t extents[Rank], strides[Rank];
};
template <typename T, int Rank>
KILN_INLINE Tensor<T, Rank> tensor(__gm__ int64_t *args, int place) {
  __gm__ ChipTensor *given = reinterpret_cast<__gm__ ChipTensor *>(args[place]);
  Tensor<T, Rank> result;
  result.data = reinterpret_cast<__gm__ T *>(given->buffer.addr) + given->start_offset;
  for (int i = 0; i < Rank; ++i) {
    result.extents[i] = given->shapes[i];
    result.strides[i] = given->strides[i];
  }
  return result;
}
template <typename T, int Rank>
KILN_INLINE T element(const Tensor<T, Rank> &from, const int64_t (&at)[Rank]) {
  int64_t offset = 0;
  for (int i = 0; i < Rank; ++i)
    offset += at[i] * from.strides[i];
  return from.data[offset];
}

template <typename T>
using GlobalRows =
    GlobalTensor<T, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<1, 1, 1, -1, 1>, pto::Layout::ND>;

/// The part of a tensor that a tile covers: no more rows and columns than are there.
template <typename T> struct Window {
  __gm__ T *data;
  int64_t rows, cols, stride;
  __aicore__ bool isEmpty() const { return rows <= 0 || cols <= 0; }
  __aicore__ GlobalRows<T> rowsOf() const {
    return GlobalRows<T>(data, pto::Shape<1, 1, 1, -1, -1>(rows, cols),
                         pto::Stride<1, 1, 1, -1, 1>(stride));
  }
};
/// Of the last two axes; of a vector, one row.
template <int R, int C, typename T, int Rank>
KILN_INLINE Window<T> window(const Tensor<T, Rank> &of, const int64_t (&at)[Rank], int64_t rows = R,
                             int64_t cols = C) {
  Window<T> result{of.data, clip(rows, R), clip(cols, C), of.extents[Rank - 1]};
  for (int i = 0; i < Rank; ++i)
    result.data += at[i] * of.strides[i];
  result.cols = clip(of.extents[Rank - 1] - at[Rank - 1], result.cols);
  if constexpr (Rank > 1) {
    result.rows = clip(of.extents[Rank - 2] - at[Rank - 2], result.rows);
    result.stride = of.strides[Rank - 2];
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

constexpr int alignTo(int value, int block) { return (value + block - 1) / block * block; }
/// Elements in 32 bytes.
template <typename T> constexpr int perBlock = 32 / static_cast<int>(sizeof(T));
/// The side of the blocks that the matrix unit reads.
template <typename T> constexpr int matrixBlock = perBlock<T> > 16 ? perBlock<T> : 16;

/// In the vector unit's memory, row by row; `VR` and `VC` are -1 where they are known at run time.
template <typename T, int R, int C, int VR = R, int VC = C, PadValue P = PadValue::Zero>
using VecPart = Tile<TileType::Vec, T, R, alignTo(C, perBlock<T>), BLayout::RowMajor, VR, VC,
                     SLayout::NoneBox, 512, P>;
template <typename T, int R, int C> using Vec = VecPart<T, R, C>;
/// One column, whose elements follow one another: the bytes of the row Vec<T, 1, R>.
template <typename T, int R>
using Column = Tile<TileType::Vec, T, alignTo(R, perBlock<T>), 1, BLayout::ColMajor, R, 1>;
/// A tile whose rows are reduced to a column: counted as that is, though the last may not be there.
template <typename T, int R, int C>
using Reduced = Tile<TileType::Vec, T, alignTo(R, perBlock<T>), alignTo(C, perBlock<T>),
                     BLayout::RowMajor, R, C, SLayout::NoneBox, 512, PadValue::Zero>;
/// One bit for each element of a tile.
template <int R, int C>
using Mask = Tile<TileType::Vec, uint8_t, R, alignTo(C / 8, 32), BLayout::RowMajor, R, C / 8>;

template <typename T, int R, int C, int VR = R, int VC = C>
using MatPart = Tile<TileType::Mat, T, alignTo(R, matrixBlock<T>), alignTo(C, matrixBlock<T>),
                     BLayout::ColMajor, VR, VC, SLayout::RowMajor, 512>;
template <typename T, int R, int C> using Mat = MatPart<T, R, C>;
/// What a Mat<T, C, R> holds, with rows and columns exchanged: the same bytes.
template <typename T, int R, int C>
using Transposed = Tile<TileType::Mat, T, alignTo(R, matrixBlock<T>), alignTo(C, matrixBlock<T>),
                        BLayout::RowMajor, R, C, SLayout::ColMajor, 512>;
#if defined(__CPU_SIM)
template <typename T, int R, int C>
using Left = Tile<TileType::Left, T, alignTo(R, matrixBlock<T>), alignTo(C, matrixBlock<T>),
                  BLayout::ColMajor, R, C, SLayout::RowMajor, 512>;
#else // the order of its blocks is the machine's
template <typename T, int R, int C>
using Left = TileLeft<T, alignTo(R, matrixBlock<T>), alignTo(C, matrixBlock<T>), R, C>;
#endif
template <typename T, int R, int C>
using Right = Tile<TileType::Right, T, alignTo(R, matrixBlock<T>), alignTo(C, matrixBlock<T>),
                   BLayout::RowMajor, R, C, SLayout::ColMajor, 512>;
template <typename T, int R, int C, int VR = R, int VC = C>
using AccPart = Tile<TileType::Acc, T, alignTo(R, 16), alignTo(C, 16), BLayout::ColMajor, VR, VC,
                     SLayout::RowMajor, 1024>;
template <typename T, int R, int C> using Acc = AccPart<T, R, C>;

/// A Vec in the blocks of the matrix unit: what is pushed straight into that one's memory.
template <typename T, int R, int C>
using VecNz = Tile<TileType::Vec, T, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor, 512>;

/// Makes `view` another view of the bytes of a tile.
template <typename View, typename Of> KILN_INLINE void bind(View &view, Of &tile) {
  view.data() = (typename View::TileDType)tile.data();
}

//===----------------------------------------------------------------------===//
// To and from global memory
//===----------------------------------------------------------------------===//

/// What is outside the tensor stays as it was; mask() fills it.
template <typename T, int R, int C> KILN_INLINE void load(Vec<T, R, C> &tile, Window<T> from) {
  if (from.isEmpty())
    return; // no instruction may have nothing to do
  VecPart<T, R, C, -1, -1> part(from.rows, from.cols);
  bind(part, tile);
  GlobalRows<T> rows = from.rowsOf();
  TLOAD(part, rows);
}

/// What is outside the tensor becomes zero.
template <typename T, int R, int C> KILN_INLINE void load(Mat<T, R, C> &tile, Window<T> from) {
  if (from.rows < R || from.cols < C) {
    MatPart<T, alignTo(R, matrixBlock<T>), alignTo(C, matrixBlock<T>)> all;
    bind(all, tile);
    TEXPANDS(all, T(0));
    pipe_barrier(PIPE_MTE2);
  }
  if (from.isEmpty())
    return;
  MatPart<T, R, C, -1, -1> part(from.rows, from.cols);
  bind(part, tile);
  GlobalRows<T> rows = from.rowsOf();
  TLOAD(part, rows);
}

template <AtomicType How, typename Part, typename Tile, typename T>
KILN_INLINE void storePart(Tile &tile, Window<T> to) {
  if (to.isEmpty())
    return;
  Part part(to.rows, to.cols);
  bind(part, tile);
  GlobalRows<T> rows = to.rowsOf();
  if constexpr (How == AtomicType::AtomicNone)
    TSTORE(rows, part);
  else
    TSTORE<Part, GlobalRows<T>, How>(rows, part);
}
template <AtomicType How = AtomicType::AtomicNone, typename T, int R, int C>
KILN_INLINE void store(Vec<T, R, C> &tile, Window<T> to) {
  storePart<How, VecPart<T, R, C, -1, -1>>(tile, to);
}
template <AtomicType How = AtomicType::AtomicNone, typename T, int R, int C>
KILN_INLINE void store(Acc<T, R, C> &tile, Window<T> to) {
  storePart<How, AccPart<T, R, C, -1, -1>>(tile, to);
}

/// All of a tile for the matrix unit, with what fills its blocks.
template <typename T, int R, int C> KILN_INLINE void fill(Mat<T, R, C> &tile, T value) {
  MatPart<T, alignTo(R, matrixBlock<T>), alignTo(C, matrixBlock<T>)> all;
  bind(all, tile);
  TEXPANDS(all, value);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

template <PadValue P, typename T> KILN_INLINE T padValue() {
  if constexpr (P == PadValue::Zero)
    return T(0);
  else if constexpr (!std::is_integral_v<T>)
    return T(P == PadValue::Min ? -__builtin_inff() : __builtin_inff());
  else
    return P == PadValue::Min ? T(T(1) << (sizeof(T) * 8 - 1)) : T(~(T(1) << (sizeof(T) * 8 - 1)));
}

/// 0, 1, 2, ... along a row, or a column that lies as one, written by the scalar unit.
template <typename T, int C> KILN_INLINE void count(Vec<T, 1, C> &tile) {
  for (int i = 0; i < C; ++i)
    tile.SetValue(i, T(i));
  // What it writes is on its way when it goes on. Nobody else uses these flags.
  set_flag(PIPE_S, PIPE_V, EVENT_ID0);
  set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_S, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
}

/// `from`, and beyond so many rows and columns the value `P`; the two may be one.
template <PadValue P, typename T, int R, int C>
KILN_INLINE void mask(Vec<T, R, C> &to, Vec<T, R, C> &from, int64_t rows, int64_t cols) {
  VecPart<T, R, C, R, C, P> all;
  bind(all, to);
  if (to.data() != from.data()) {
    VecPart<T, R, C, R, C, P> source;
    bind(source, from);
    TMOV(all, source);
    pipe_barrier(PIPE_V);
  }
  if (rows >= R && cols >= C)
    return;
  if (rows <= 0 || cols <= 0) {
    TEXPANDS(all, padValue<P, T>());
    return;
  }
  VecPart<T, R, C, -1, -1, P> part(clip(rows, R), clip(cols, C));
  bind(part, to);
  TFILLPAD_INPLACE(all, part);
}

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

/// A pipe between a matrix core and its two vector cores takes both of them for each handshake.
/// Where a kernel uses one, the other is its shadow: it takes part in the handshake and moves
/// nothing.
template <TileSplitAxis Split, typename Pipe, typename Tile>
KILN_INLINE void push(Pipe &pipe, Tile &tile, [[maybe_unused]] bool isShadow = false) {
#if !defined(__CPU_SIM)
  if (isShadow) {
    if (Pipe::shouldWaitFree(pipe.prod.tileIndex))
      pipe.prod.allocate();
    ++pipe.prod.tileIndex;
    pipe.prod.record();
    return;
  }
#endif
  TPUSH<Pipe, Tile, Split>(pipe, tile);
}
/// The tile is copied to its address.
template <TileSplitAxis Split, typename Pipe, typename Tile>
KILN_INLINE void pop(Pipe &pipe, Tile &tile, uint32_t address) {
  pipe.fifo.C2V_CONSUMER_BUF = address;
  pipe.fifo.V2C_CONSUMER_BUF = address;
  TPOP<Pipe, Tile, Split>(pipe, tile);
}

/// The tile stays where it is, in its slot.
template <TileSplitAxis Split, typename Pipe, typename Tile>
KILN_INLINE void pop(Pipe &pipe, Tile &tile) {
  TPOP<Pipe, Tile, Split>(pipe, tile);
}

/// A ring of a core for itself, in its own memory: a push copies, and a popped tile is the slot.
template <int Slots, int Stride> struct OwnSlots {
  uint32_t ring;
  int pushed = 0, popped = 0;
  template <typename Tile> __aicore__ void push(Tile &tile) {
    Tile slot;
    TASSIGN(slot, ring + pushed++ % Slots * Stride);
    TMOV(slot, tile);
  }
  template <typename Tile> __aicore__ void pop(Tile &tile) {
    TASSIGN(tile, ring + popped++ % Slots * Stride);
  }
};

/// A ring of a core for itself, in global memory: `lane` has its share of each slot.
template <typename T, int R, int C, int Slots, int Stride> struct OwnPipe {
  __gm__ T *ring;
  int64_t rowStride;
  int pushed = 0, popped = 0;
  __aicore__ GlobalRows<T> slot(int number) const {
    return GlobalRows<T>(ring + number % Slots * (Stride / static_cast<int>(sizeof(T))),
                         pto::Shape<1, 1, 1, -1, -1>(R, C), pto::Stride<1, 1, 1, -1, 1>(rowStride));
  }
  template <typename Tile> __aicore__ void push(Tile &tile) {
    GlobalRows<T> rows = slot(pushed++);
    TSTORE(rows, tile);
  }
  template <typename Tile> __aicore__ void pop(Tile &tile) {
    GlobalRows<T> rows = slot(popped++);
    TLOAD(tile, rows);
  }
};

} // namespace kiln
