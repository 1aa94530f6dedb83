//===- combine.cuh - what ranks exchanged, combined in their order
//-----------------------------===//
//
// `parts` is [ranks, count], `into` [count]. Every element is combined by one thread, from the
// first rank to the last, so every run gives the same bits; floats of 16 and 8 bits in f32, rounded
// once.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "global.cuh"

namespace kiln {

struct CombineArgs {
  Tensor parts, into;
  i64 grid[3];
};

struct CombineSum {
  template <typename T> static __device__ T of(T a, T b) { return add(a, b); }
};
struct CombineProd {
  template <typename T> static __device__ T of(T a, T b) { return times(a, b); }
};
struct CombineMax {
  template <typename T> static __device__ T of(T a, T b) { return larger(a, b); }
};
struct CombineMin {
  template <typename T> static __device__ T of(T a, T b) { return smaller(a, b); }
};

template <typename T, typename How> __device__ void combineRanks(const CombineArgs &args) {
  const T *parts = static_cast<const T *>(args.parts.data);
  T *into = static_cast<T *>(args.into.data);
  i64 ranks = args.parts.extents[0], count = args.parts.extents[1];
  i64 first = i64(blockIdx.x) * blockDim.x + threadIdx.x, step = i64(gridDim.x) * blockDim.x;
  for (i64 i = first; i < count; i += step) {
    auto all = widen(parts[i]);
    for (i64 rank = 1; rank < ranks; ++rank)
      all = How::of(all, widen(parts[rank * count + i]));
    into[i] = convert<T>(all);
  }
}

} // namespace kiln
