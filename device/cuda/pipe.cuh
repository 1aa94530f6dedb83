//===- pipe.cuh - rings of tiles from the copying warp to the computing lanes ------------===//
//
// A ring of slots in shared memory. Each slot has two barriers: `full` ends a phase when the tiles
// have arrived, `empty` when every warp of every lane has freed them. Each end counts the slots it
// has used and the parity of the round; both survive from block to block, so nothing is set up
// again between blocks.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "shared.cuh"

namespace kiln {

template <typename...> struct Tiles {};
/// What a pop gives: `get<k>(slot)`.
template <typename First, typename... Rest> struct Tiles<First, Rest...> {
  First first;
  Tiles<Rest...> rest;
};
template <int k, typename... T> __device__ auto get(const Tiles<T...> &tiles) {
  if constexpr (k == 0)
    return tiles.first;
  else
    return get<k - 1>(tiles.rest);
}

/// Which slot comes next, and the parity of its phase: in one register, which rounds of twice as
/// many slots go through.
template <int slots> struct Cursor {
  int at = 0;

  __device__ int slot() const { return at < slots ? at : at - slots; }
  __device__ unsigned parity() const { return at >= slots; }
  __device__ void advance() { at = at + 1 == 2 * slots ? 0 : at + 1; }
};

/// Which of a cluster of two this block is.
inline __device__ int blockInPair() { return int(blockIdx.x % 2); }

inline __host__ __device__ constexpr int alignedTo1024(int bytes) {
  return (bytes + 1023) / 1024 * 1024;
}

/// The tiles of a slot, one behind the other.
template <typename First, typename... Rest>
__device__ Tiles<First, Rest...> tilesAt(SharedAddress at) {
  if constexpr (sizeof...(Rest) == 0)
    return {First{at}, {}};
  else
    return {First{at}, tilesAt<Rest...>(at + alignedTo1024(First::bytes))};
}

template <typename X> struct RemoveConstReference {
  using Type = X;
};
template <typename X> struct RemoveConstReference<const X &> {
  using Type = X;
};
template <typename X> using Plain = typename RemoveConstReference<X>::Type;

/// One thread arrives for its warp, after the warp has met. In checked builds every thread arrives
/// by itself: racecheck does not follow what the threads of a warp have told each other.
#ifdef KILN_BOUND_WAITS
inline constexpr bool everyThreadArrives = true;
#else
inline constexpr bool everyThreadArrives = false;
#endif

/// What of a slot is filled: all, or first what nobody before writes and the rest later.
enum class Fill { All, Unwritten, Rest };

/// By a whole warp: starts the transfers that fill a free slot, and copies what the copy engine
/// cannot. The slot's phase does not end with what is unwritten. `begin(request, tile)` starts a
/// transfer.
template <typename Begin, typename... R>
__device__ void fillSlot(SharedAddress slot, SharedAddress done, Fill fill, Begin begin,
                         const R &...requests) {
  auto isBegun = [&](const auto &request) {
    bool isUnwritten = Plain<decltype(request)>::isUnwritten;
    return request.usesEngine() && (fill == Fill::All || (fill == Fill::Unwritten) == isUnwritten);
  };
  bool isCopied = false;
  unsigned bytes = 0;
  SharedAddress at = slot;
  auto copy = [&](const auto &request) {
    using Tile = typename Plain<decltype(request)>::Tile;
    if (isBegun(request)) {
      bytes += Tile::bytes;
    } else if (!request.usesEngine() && fill != Fill::Unwritten) [[unlikely]] {
      request.copy(Tile{at});
      isCopied = true;
    }
    at += alignedTo1024(Tile::bytes);
  };
  (copy(requests), ...);
  if (isCopied)
    publishToAsyncUnits();
  __syncwarp();
  if (everyThreadArrives && threadInWarp() != 0 && fill != Fill::Unwritten)
    barrier::arrive(done);
  if (threadInWarp() == 0) {
    if (fill == Fill::Unwritten)
      barrier::expect(done, bytes);
    else
      barrier::arriveExpecting(done, bytes);
    at = slot;
    auto start = [&](const auto &request) {
      using Request = Plain<decltype(request)>;
      using Tile = typename Request::Tile;
      if constexpr (Request::isForEngine)
        if (isBegun(request))
          begin(request, Tile{at});
      at += alignedTo1024(Tile::bytes);
    };
    (start(requests), ...);
  }
}

/// `blocks` fill the slots of one another (pairs.cuh), or one fills its own.
template <int blocks, int slots, int lanes, typename... T> struct PipeOf {
  static constexpr int slotBytes = (alignedTo1024(T::bytes) + ... + 0);
  static constexpr int ringBytes = slots * slotBytes;
  static constexpr int barrierBytes = 2 * slots * 8;

  SharedAddress ring, barriers;
  const char *name; ///< For reports.
  Cursor<slots> pushed, popped, freed;
  int ahead = 0;         ///< Slots whose unwritten tiles were begun before they are pushed.
  bool hasOther = false; ///< Whether another block, too, frees and fills its slots at present.

  __device__ PipeOf(SharedAddress ring, SharedAddress barriers, const char *name)
      : ring(ring), barriers(barriers), name(name) {}
  __device__ SharedAddress full(int slot) const { return barriers + 8 * slot; }
  __device__ SharedAddress empty(int slot) const { return barriers + 8 * (slots + slot); }

  /// By one thread, before anybody uses the pipe.
  __device__ void init() const {
    for (int slot = 0; slot < slots; ++slot) {
      barrier::init(full(slot), everyThreadArrives ? kWarp : 1);
      barrier::init(empty(slot), blocks * lanes * kWarpgroup / (everyThreadArrives ? 1 : kWarp));
    }
  }

  __device__ bool hasRoom() const { return ahead < slots; }
  /// By a whole warp, while the kernels before this one may still run: begins what they do not
  /// write of the next push. The phase of the slot does not end before that.
  template <typename... R> __device__ void runAhead(const R &...requests) {
    if (!hasRoom())
      return;
    fillSlot(ring + ahead * slotBytes, full(ahead), Fill::Unwritten, beginOf(ahead), requests...);
    ++ahead;
  }

  /// By a whole warp: waits for a free slot and starts the transfers that fill it.
  template <typename... R> __device__ void push(const R &...requests) {
    static_assert((isSame<typename R::Tile, T> && ...), "what is pushed is what the pipe carries");
    barrier::wait(empty(pushed.slot()), pushed.parity() ^ 1, Waits::ForSpace, name, pushed.slot());
    bool wasBegun = ahead > 0; // the first slots, in their order
    ahead -= wasBegun;
    fillSlot(ring + pushed.slot() * slotBytes, full(pushed.slot()),
             wasBegun ? Fill::Rest : Fill::All, beginOf(pushed.slot()), requests...);
    pushed.advance();
  }

  /// By a whole lane: waits for the next tiles, which stay until they are freed.
  __device__ Tiles<T...> pop() {
    barrier::wait(full(popped.slot()), popped.parity(), Waits::ForTiles, name, popped.slot());
    SharedAddress at = ring + popped.slot() * slotBytes;
    popped.advance();
    return tilesAt<T...>(at);
  }

  /// Frees the oldest tiles that were popped, in each of the blocks. Where there is no other block
  /// this one's barrier gets the arrivals of both.
  __device__ void free() {
    __syncwarp();
    auto arrive = [&](int block) {
      if constexpr (blocks == 1)
        barrier::arrive(empty(freed.slot()));
      else
        barrier::arriveIn(hasOther ? block : blockInPair(), empty(freed.slot()));
    };
    if constexpr (everyThreadArrives)
      for (int block = 0; block < blocks; ++block)
        arrive(block);
    else if (threadInWarp() < blocks)
      arrive(threadInWarp());
    freed.advance();
  }

private:
  __device__ auto beginOf(int slot) const {
    return [done = full(slot), slot](const auto &request, auto to) {
      if constexpr (Plain<decltype(request)>::isPaired)
        request.start(to, done, slot);
      else
        request.start(to, done);
    };
  }
};

template <int slots, int lanes, typename... T> using Pipe = PipeOf<1, slots, lanes, T...>;
/// Its slots are in two blocks, each of which the lanes of both free.
template <int slots, int lanes, typename... T> using PairedPipe = PipeOf<2, slots, lanes, T...>;

//===-- All blocks ----------------------------------------------------------------------===//

/// Waits until every block of the launch has got here; all of them run at once. `arrivals` counts
/// all that ever came, and starts at 0.
struct GridBarrier {
  u64 *arrivals;
  i64 each;         ///< Who come, in one round.
  u64 expected = 0; ///< In all rounds so far.

  /// By all threads of a lane.
  __device__ void meet(i64 lane) {
    expected += u64(each);
    barrier::meet(1 + int(lane));
    if (threadInGroup() == 0)
      wait();
    barrier::meet(1 + int(lane));
  }
  /// By the warp that copies.
  __device__ void meetByWarp() {
    expected += u64(each);
    __syncwarp();
    if (threadInWarp() == 0)
      wait();
    __syncwarp();
    ptx::fenceProxyAsync(); // the copy engine sees it too
  }

private:
  __device__ void wait() const {
    __threadfence();
    atomicAdd(arrivals, u64(1));
#ifdef KILN_BOUND_WAITS
    Deadline deadline;
#endif
    while (*const_cast<volatile u64 *>(arrivals) < expected) {
      __nanosleep(64);
#ifdef KILN_BOUND_WAITS
      if (deadline.isOver())
        giveUp(Waits::ForBlocks, "", 0, {"", int(threadIdx.x / 128)});
#endif
    }
    __threadfence();
  }
};

//===-- Blocks that are handed out ------------------------------------------------------===//

/// Where blocks take unequally long, who is done takes the next one. The copying role does, as soon
/// as it has asked for all of the block before, and tells the lanes: a ring of numbers.
template <int lanes> struct Handout {
  static constexpr int slots = 2;
  static constexpr unsigned none = ~0u; ///< No launch has so many blocks.

  SharedAddress barriers;
  u64 *taken;         ///< How many beyond those that the launch started with; 0 at first.
  unsigned blocks;    ///< Of the launch.
  Cursor<slots> said; ///< Told or heard so far.

  __device__ Handout(SharedAddress barriers, u64 *taken, i64 blocks)
      : barriers(barriers), taken(taken), blocks(unsigned(blocks)) {}
  __device__ SharedAddress full(int slot) const { return barriers + 8 * slot; }
  __device__ SharedAddress empty(int slot) const { return barriers + 8 * (slots + slot); }
  __device__ SharedAddress number(int slot) const { return barriers + 16 * slots + 4 * slot; }

  /// By one thread, before anybody uses it.
  __device__ void init() const {
    for (int slot = 0; slot < slots; ++slot) {
      barrier::init(full(slot), 1);
      barrier::init(empty(slot), kComers);
    }
  }

  /// By the copying warp: the block that the launch gave it, and one that nobody has. From `blocks`
  /// on there is none.
  __device__ unsigned first() { return tell(blockIdx.x); }
  __device__ unsigned next() {
    unsigned before = 0;
    if (threadInWarp() == 0 && gridDim.x < blocks) // else each was started
      before = unsigned(atomicAdd(taken, u64(1)));
    return tell(gridDim.x + __shfl_sync(0xffffffffu, before, 0));
  }
  /// By a whole lane: the block that the copying role told it, if there is one.
  __device__ bool hear(unsigned &next) {
    barrier::wait(full(said.slot()), said.parity(), Waits::ForTiles, "(blocks)", said.slot());
    __syncwarp(); // nobody misses the phase
    next = none;
    if (threadInWarp() == 0) {
      ptx::loadShared(number(said.slot()), next);
      barrier::arrive(empty(said.slot()), kComersOfLane / lanes);
    }
    next = __shfl_sync(0xffffffffu, next, 0);
    said.advance();
    return next != none;
  }

private:
  __device__ unsigned tell(unsigned next) {
    barrier::wait(empty(said.slot()), said.parity() ^ 1, Waits::ForSpace, "(blocks)", said.slot());
    __syncwarp();
    if (threadInWarp() == 0) {
      ptx::storeShared(number(said.slot()), next < blocks ? next : none);
      barrier::arrive(full(said.slot()));
    }
    said.advance();
    return next;
  }
};

//===-- Blocks --------------------------------------------------------------------------===//

struct Block {
  i64 index[3];
};

/// Of numbers that are not negative: 64-bit division takes as long as a short row.
inline __device__ i64 quotient(i64 a, i64 b) {
  return ((a | b) >> 32) == 0 ? i64(unsigned(a) / unsigned(b)) : a / b;
}
/// Where the launch has no more blocks than 32 bits can say.
inline __device__ unsigned quotient(unsigned a, i64 b) { return a / unsigned(b); }

/// The block with this number. With `rows` > 1 so many rows of the grid's first two axes are walked
/// together, column by column: blocks that run at once then share what they read.
template <int rows, typename N> __device__ Block blockInGrid(N number, const i64 (&grid)[3]) {
  if (grid[1] == 1 && grid[2] == 1)
    return {{i64(number), 0, 0}};
  // What needs no division, which takes a tenth of a microsecond before the first copy, has none.
  N outer = grid[2] == 1 ? 0 : quotient(number, grid[0] * grid[1]),
    within = number - outer * N(grid[0] * grid[1]);
  if constexpr (rows == 1) {
    N row = quotient(within, grid[1]);
    return {{i64(row), i64(within - row * N(grid[1])), i64(outer)}};
  }
  N band = grid[0] <= rows ? 0 : quotient(within, rows * grid[1]),
    inBand = within - band * N(rows * grid[1]);
  N height = N(smaller<i64>(rows, grid[0] - i64(band) * rows)), col = quotient(inBand, height);
  return {{i64(band * rows + inBand - col * height), i64(col), i64(outer)}};
}

/// The same, where a role begins with the block.
template <int rows, typename N> __device__ Block blockAt(N number, const i64 (&grid)[3]) {
  Block block = blockInGrid<rows>(number, grid);
#ifdef KILN_BOUND_WAITS
  for (int axis = 0; axis < 3; ++axis)
    blockOfWarpgroup()[axis] = block.index[axis];
#endif
  return block;
}

/// The blocks of a multiprocessor, one after the other. Where the first one is has been found when
/// the walk begins, so that it can be while the kernels before this one end.
template <int rows> struct Walk {
  const i64 (&grid)[3];
  i64 blocks; ///< Of the launch.
  i64 number = blockIdx.x;
  Block block;

  __device__ __forceinline__ Walk(const i64 (&grid)[3], i64 blocks)
      : grid(grid), blocks(blocks), block(blockAt<rows>(number, grid)) {
#pragma unroll
    for (i64 &index : block.index)
      ptx::pin(index);
  }
  __device__ __forceinline__ bool isInside() const { return number < blocks; }
  __device__ __forceinline__ void next() {
    number += gridDim.x;
    block = blockAt<rows>(number, grid);
  }
};

} // namespace kiln
