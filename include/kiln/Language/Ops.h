//===- Ops.h - what one can do inside kernels and roles -----------------------------===//
#ifndef KILN_LANGUAGE_OPS_H
#define KILN_LANGUAGE_OPS_H

#include "kiln/Language/Record.h"

#include <type_traits>
#include <utility>

namespace kiln {

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

#define KILN_INDEX_ARITHMETIC(function, name)                                                      \
  inline Index function(IndexOperand a, IndexOperand b) {                                          \
    return detail::recordIndex("index." name, {a.index, b.index}, a.where);                        \
  }
KILN_INDEX_ARITHMETIC(operator+, "add")
KILN_INDEX_ARITHMETIC(operator-, "sub")
KILN_INDEX_ARITHMETIC(operator*, "mul")
/// Rounds toward zero; the operands are normally not negative.
KILN_INDEX_ARITHMETIC(operator/, "div")
KILN_INDEX_ARITHMETIC(operator%, "rem")
KILN_INDEX_ARITHMETIC(ceildiv, "ceildiv")
KILN_INDEX_ARITHMETIC(min, "min")
KILN_INDEX_ARITHMETIC(max, "max")
#undef KILN_INDEX_ARITHMETIC

#define KILN_INDEX_COMPARISON(sign, name)                                                          \
  inline Cond operator sign(IndexOperand a, IndexOperand b) {                                      \
    return Cond::of(detail::recordValue("index." name, {a.index, b.index}, a.where));              \
  }
KILN_INDEX_COMPARISON(<, "lt")
KILN_INDEX_COMPARISON(<=, "le")
KILN_INDEX_COMPARISON(>, "gt")
KILN_INDEX_COMPARISON(>=, "ge")
KILN_INDEX_COMPARISON(==, "eq")
KILN_INDEX_COMPARISON(!=, "ne")
#undef KILN_INDEX_COMPARISON

inline Cond operator&&(CondOperand a, CondOperand b) {
  return Cond::of(detail::recordValue("condition.and", {a.cond, b.cond}, a.where));
}
inline Cond operator||(CondOperand a, CondOperand b) {
  return Cond::of(detail::recordValue("condition.or", {a.cond, b.cond}, a.where));
}
inline Cond operator!(CondOperand a) {
  return Cond::of(detail::recordValue("condition.not", {a.cond}, a.where));
}

inline Index &operator+=(Index &a, IndexOperand b) { return a = IndexOperand(a, b.where) + b; }
inline Index &operator-=(Index &a, IndexOperand b) { return a = IndexOperand(a, b.where) - b; }
inline Index &operator*=(Index &a, IndexOperand b) { return a = IndexOperand(a, b.where) * b; }
inline Index &operator/=(Index &a, IndexOperand b) { return a = IndexOperand(a, b.where) / b; }
inline Index &operator%=(Index &a, IndexOperand b) { return a = IndexOperand(a, b.where) % b; }

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

namespace detail {

/// What may stand beside a scalar. The first operand of an operator must be exact, so that tiles,
/// scalars and numbers never compete; a number on the left is an operand of its own.
template <ElementTag T> using Beside = std::type_identity_t<ScalarOperand<T>>;
struct NumberOperand {
  template <typename N>
    requires std::integral<N> || std::floating_point<N>
  NumberOperand(N literal, Where here = Where::current())
      : number(static_cast<double>(literal)), where(here) {}
  double number;
  Where where;
};

} // namespace detail

#define KILN_SCALAR_ARITHMETIC(sign, name)                                                         \
  template <ElementTag T> Scalar<T> operator sign(Scalar<T> a, detail::Beside<T> b) {              \
    return Scalar<T>::of(detail::recordValue("scalar." name, {a, b}, b.where));                    \
  }                                                                                                \
  template <ElementTag T> Scalar<T> operator sign(detail::NumberOperand a, Scalar<T> b) {          \
    return Scalar<T>::of(detail::recordValue("scalar." name, {a.number, b}, a.where));             \
  }                                                                                                \
  template <ElementTag T> Scalar<T> &operator sign## = (Scalar<T> & a, detail::Beside<T> b) {      \
    return a = a sign b;                                                                           \
  }
KILN_SCALAR_ARITHMETIC(+, "add")
KILN_SCALAR_ARITHMETIC(-, "sub")
KILN_SCALAR_ARITHMETIC(*, "mul")
KILN_SCALAR_ARITHMETIC(/, "div")
#undef KILN_SCALAR_ARITHMETIC

#define KILN_SCALAR_COMPARISON(sign, name)                                                         \
  template <ElementTag T> Cond operator sign(Scalar<T> a, detail::Beside<T> b) {                   \
    return Cond::of(detail::recordValue("scalar." name, {a, b}, b.where));                         \
  }
KILN_SCALAR_COMPARISON(<, "lt")
KILN_SCALAR_COMPARISON(<=, "le")
KILN_SCALAR_COMPARISON(>, "gt")
KILN_SCALAR_COMPARISON(>=, "ge")
#undef KILN_SCALAR_COMPARISON

/// A scalar as another element type: floats round to nearest, to an integer toward zero; an integer
/// type keeps the low bits of a wider one; i1 says whether the number is not zero.
template <ElementTag T, ElementTag From>
Scalar<T> cast(Scalar<From> scalar, Where where = Where::current()) {
  if constexpr (std::same_as<T, From>)
    return scalar;
  else
    return Scalar<T>::of(detail::recordValue("scalar.cast", {scalar, T::dtype}, where));
}
/// An index as an element type, to compute with tiles: as a scalar of i64 would be.
template <ElementTag T> Scalar<T> cast(Index index, Where where = Where::current()) {
  return Scalar<T>::of(detail::recordValue("index.cast", {index, T::dtype}, where));
}
inline Scalar<f32> toF32(IndexOperand index) { return cast<f32>(index.index, index.where); }
inline Scalar<i32> toI32(IndexOperand index) { return cast<i32>(index.index, index.where); }

/// An integer scalar as an index.
template <ElementTag T> Index toIndex(Scalar<T> scalar, Where where = Where::current()) {
  static_assert(!isFloat(T::dtype), "an index comes from an integer");
  return detail::recordIndex("scalar.index", {scalar}, where);
}

/// Reads one element of a tensor in a kernel.
template <ElementTag T>
Scalar<T> read(const TensorRef &tensor, std::vector<Index> at, Where where = Where::current()) {
  return Scalar<T>::of(detail::recordValue("read", {tensor, detail::List(at), T::dtype}, where));
}
/// Reads one element in an orchestration; waits for the tasks that produce it.
template <ElementTag T>
Scalar<T> get(const TensorRef &tensor, std::vector<Index> at, Where where = Where::current()) {
  return Scalar<T>::of(detail::recordValue("get", {tensor, detail::List(at), T::dtype}, where));
}
/// Writes one element of a tensor in a kernel.
template <ElementTag T>
void write(std::type_identity_t<ScalarOperand<T>> value, const TensorRef &tensor,
           std::vector<Index> at, Where where = Where::current()) {
  detail::recordNothing("write", {value, tensor, detail::List(at), T::dtype}, where);
}
template <ElementTag T, int R>
void write(std::type_identity_t<ScalarOperand<T>>, const In<T, R> &, std::vector<Index>,
           Where = Where::current()) = delete;

inline Index TensorRef::dim(int axis, Where where) const {
  return detail::recordIndex("dim", {*this, axis}, where);
}

//===----------------------------------------------------------------------===//
// Tiles and tensors
//===----------------------------------------------------------------------===//

/// Rows and columns of a tile.
struct Shape {
  int64_t rows, cols;
};

/// What an element outside the tensor reads as.
enum class Pad { Zero, Min, Max };

namespace detail {
inline const char *wordOf(Pad pad) {
  constexpr const char *words[] = {"zero", "min", "max"}; // in the order of the enum
  return words[static_cast<int>(pad)];
}
inline List listOf(Shape shape) { return {shape.rows, shape.cols}; }
} // namespace detail

struct LoadOptions {
  Pad pad = Pad::Zero;
  std::vector<Index> valid = {}; ///< Rows and columns that count; empty: the whole tile.
  bool outside = false;          ///< The tile may miss the tensor; then all of it is the pad.
};

struct StoreOptions {
  std::vector<Index> valid = {};
  bool atomicAdd = false;
};

/// Reads a tile at these indices, one per axis; the tile covers the trailing two.
inline Tile load(const TensorRef &tensor, std::vector<Index> at, Shape shape,
                 LoadOptions options = {}, Where where = Where::current()) {
  return detail::recordTile("load",
                            {tensor, detail::List(at), detail::listOf(shape),
                             detail::wordOf(options.pad), detail::List(options.valid),
                             options.outside},
                            where);
}

/// Writes the elements of a tile that lie inside the tensor.
inline void store(const Tile &tile, const TensorRef &tensor, std::vector<Index> at,
                  StoreOptions options = {}, Where where = Where::current()) {
  detail::recordNothing(
      "store", {tile, tensor, detail::List(at), detail::List(options.valid), options.atomicAdd},
      where);
}
template <ElementTag T, int R>
void store(const Tile &, const In<T, R> &, std::vector<Index>, StoreOptions = {},
           Where = Where::current()) = delete;

/// What one lane has of a tile: its share, where in the whole tile that begins, and the whole.
struct Part {
  Shape shape;
  Index row, col;
  Shape whole;
};

namespace detail {
inline List listOf(const Part &part) {
  return {part.shape.rows, part.shape.cols, part.row, part.col, part.whole.rows, part.whole.cols};
}
/// Of the rows and columns of a part, where it begins, and the whole.
inline Part partOf(const Recorded &made, Shape whole) {
  if (!made.ok)
    return {whole, 0, 0, whole};
  return {{made.results[0].number, made.results[1].number},
          indexOf(made.results[2]),
          indexOf(made.results[3]),
          whole};
}
} // namespace detail

/// What this lane of a role has of a tile of this shape. A role without lanes has all of it, and
/// with Split::None every lane has.
inline Part part(Shape whole, Split split, Where where = Where::current()) {
  return detail::partOf(detail::recordAll("part", {detail::listOf(whole), split}, where), whole);
}
/// What this lane pushes into a pipe, or pops from it.
inline Part part(Pipe pipe, Where where = Where::current()) {
  detail::Recorded made = detail::recordAll("pipe_part", {pipe}, where);
  return detail::partOf(made, made.ok ? Shape{made.results[4].number, made.results[5].number}
                                      : Shape{1, 1});
}

/// Reads the part that this lane has of a tile; `at` and `valid` are those of the whole tile.
inline Tile load(const TensorRef &tensor, std::vector<Index> at, const Part &mine,
                 LoadOptions options = {}, Where where = Where::current()) {
  return detail::recordTile("load_part",
                            {tensor, detail::List(at), detail::listOf(mine),
                             detail::wordOf(options.pad), detail::List(options.valid),
                             options.outside},
                            where);
}
/// Writes the part that this lane has of a tile; `at` and `valid` are those of the whole tile.
inline void store(const Tile &tile, const TensorRef &tensor, std::vector<Index> at,
                  const Part &mine, StoreOptions options = {}, Where where = Where::current()) {
  detail::recordNothing("store_part",
                        {tile, tensor, detail::List(at), detail::listOf(mine),
                         detail::List(options.valid), options.atomicAdd},
                        where);
}
template <ElementTag T, int R>
void store(const Tile &, const In<T, R> &, std::vector<Index>, const Part &, StoreOptions = {},
           Where = Where::current()) = delete;

/// Reads a tile whose row r is row at[...] + rows[rowsAt + r] of the tensor; where there is no such
/// row, the pad value. `rows` holds i32 or i64.
inline Tile gather_rows(const TensorRef &tensor, std::vector<Index> at, const TensorRef &rows,
                        std::vector<Index> rowsAt, Shape shape, LoadOptions options = {},
                        Where where = Where::current()) {
  return detail::recordTile("gather_rows",
                            {tensor, detail::List(at), rows, detail::List(rowsAt),
                             detail::listOf(shape), detail::wordOf(options.pad),
                             detail::List(options.valid), options.outside},
                            where);
}
/// Writes the rows of a tile where gather_rows would read them.
inline void scatter_rows(const Tile &tile, const TensorRef &tensor, std::vector<Index> at,
                         const TensorRef &rows, std::vector<Index> rowsAt,
                         StoreOptions options = {}, Where where = Where::current()) {
  detail::recordNothing("scatter_rows",
                        {tile, tensor, detail::List(at), rows, detail::List(rowsAt),
                         detail::List(options.valid), options.atomicAdd},
                        where);
}
template <ElementTag T, int R>
void scatter_rows(const Tile &, const In<T, R> &, std::vector<Index>, const TensorRef &,
                  std::vector<Index>, StoreOptions = {}, Where = Where::current()) = delete;

/// A hint that this tile will be loaded soon.
inline void prefetch(const TensorRef &tensor, std::vector<Index> at, Shape shape,
                     Where where = Where::current()) {
  detail::recordNothing("prefetch", {tensor, detail::List(at), detail::listOf(shape)}, where);
}

struct SliceOptions {
  std::vector<int64_t> drop = {}; ///< Axes of size 1 that the result does not have.
};
/// A box of a tensor, by reference: offsets and sizes, one per axis.
inline TensorRef slice(const TensorRef &tensor, std::vector<Index> offsets,
                       std::vector<Index> sizes, SliceOptions options = {},
                       Where where = Where::current()) {
  return detail::recordTensor(
      "slice", {tensor, detail::List(offsets), detail::List(sizes), detail::List(options.drop)},
      tensor.access(), where);
}
/// The axes of a tensor in another order, by reference.
inline TensorRef transpose(const TensorRef &tensor, std::vector<int64_t> permutation,
                           Where where = Where::current()) {
  return detail::recordTensor("tensor.transpose", {tensor, detail::List(permutation)},
                              tensor.access(), where);
}
/// A contiguous tensor in another shape, by reference.
inline TensorRef reshape(const TensorRef &tensor, std::vector<Index> extents,
                         Where where = Where::current()) {
  return detail::recordTensor("tensor.reshape", {tensor, detail::List(extents)}, tensor.access(),
                              where);
}
/// What must hold of the arguments whenever this orchestration, kernel or group is called or
/// launched, in extents and integers: `require(x.dim(1) % 64 == 0, "columns come in tiles of 64")`.
inline void require(Cond condition, const std::string &message, Where where = Where::current()) {
  detail::recordNothing("require", {condition, message}, where);
}
/// The same of what is known while the program is made, such as the size of a tile.
inline void require(bool condition, const std::string &message, Where where = Where::current()) {
  detail::recordNothing("require.known", {condition, message}, where);
}

/// Marks a tensor for the argument dump (levels 1 and 3).
inline void dump(const TensorRef &tensor, Where where = Where::current()) {
  detail::recordNothing("dump", {tensor}, where);
}

inline Tile full(DType type, Shape shape, double value, Where where = Where::current()) {
  return detail::recordTile("full", {type, detail::listOf(shape), value}, where);
}
/// Each element is its index along an axis.
inline Tile iota(DType type, Shape shape, int axis, Where where = Where::current()) {
  return detail::recordTile("iota", {type, detail::listOf(shape), axis}, where);
}
template <ElementTag T> Tile iota(Shape shape, int axis, Where where = Where::current()) {
  return iota(T::dtype, shape, axis, where);
}
/// Random bits (i32) or numbers uniform in [0, 1) (f32): Philox4x32-10 of a key and a counter. A
/// tile of n elements uses up (n + 3) / 4 counter values.
inline Tile random(DType type, Shape shape, Scalar<i64> key, Index counter,
                   Where where = Where::current()) {
  return detail::recordTile("random", {type, detail::listOf(shape), key, counter}, where);
}
template <ElementTag T>
Tile random(Shape shape, Scalar<i64> key, Index counter, Where where = Where::current()) {
  return random(T::dtype, shape, key, counter, where);
}
template <ElementTag T> Tile zeros(int64_t rows, int64_t cols, Where where = Where::current()) {
  return full(T::dtype, {rows, cols}, 0, where);
}
template <ElementTag T> Tile zeros(Shape shape, Where where = Where::current()) {
  return full(T::dtype, shape, 0, where);
}

enum MatmulFlags { no_trans = 0, trans_a = 1, trans_b = 2 };
constexpr MatmulFlags operator|(MatmulFlags a, MatmulFlags b) {
  return static_cast<MatmulFlags>(int(a) | int(b));
}
namespace detail {
/// What a function composed of ops made of its argument. If that has no name, the result is part of
/// the same expression, so that two pops in it are still found.
inline Tile madeOf(Tile result, const TileArg &x, Where where) {
  return x.isTemporary ? recordTile("tile.made_of", {TileArg(result), x}, where) : result;
}
} // namespace detail

inline Tile matmul(TileArg a, TileArg b, MatmulFlags flags = no_trans,
                   Where where = Where::current()) {
  return detail::recordTile("matmul", {a, b, (flags & trans_a) != 0, (flags & trans_b) != 0},
                            where);
}
inline Tile matmul_acc(TileArg acc, TileArg a, TileArg b, MatmulFlags flags = no_trans,
                       Where where = Where::current()) {
  return detail::recordTile("matmul_acc",
                            {acc, a, b, (flags & trans_a) != 0, (flags & trans_b) != 0}, where);
}

// The elementwise functions and operators: one for each row of the table. Operands broadcast; one
// of two may be a number.
#include "kiln/Dialect/Tile/Elementwise/FrontEnd.h.inc"

inline Tile &operator+=(Tile &a, TileOperand b) { return a = TileOperand(a, b.where) + b; }
inline Tile &operator-=(Tile &a, TileOperand b) { return a = TileOperand(a, b.where) - b; }
inline Tile &operator*=(Tile &a, TileOperand b) { return a = TileOperand(a, b.where) * b; }
inline Tile &operator/=(Tile &a, TileOperand b) { return a = TileOperand(a, b.where) / b; }

// Comparisons make tiles of i1; where chooses by them.
inline Tile operator<(TileOperand a, TileOperand b) {
  return detail::recordTile("lt", {a, b}, a.where);
}
inline Tile operator<=(TileOperand a, TileOperand b) {
  return detail::recordTile("le", {a, b}, a.where);
}
inline Tile operator>(TileOperand a, TileOperand b) {
  return detail::recordTile("gt", {a, b}, a.where);
}
inline Tile operator>=(TileOperand a, TileOperand b) {
  return detail::recordTile("ge", {a, b}, a.where);
}
inline Tile operator==(TileOperand a, TileOperand b) {
  return detail::recordTile("eq", {a, b}, a.where);
}
inline Tile operator!=(TileOperand a, TileOperand b) {
  return detail::recordTile("ne", {a, b}, a.where);
}
/// Where the condition holds the first, elsewhere the second.
inline Tile where(TileArg condition, TileOperand a, TileOperand b) {
  return detail::recordTile("where", {condition, a, b}, a.where);
}

/// Along axis 0 (rows become one) or 1 (columns become one).
inline Tile reduce_sum(TileArg x, int axis, Where where = Where::current()) {
  return detail::recordTile("reduce_sum", {x, axis}, where);
}
inline Tile reduce_max(TileArg x, int axis, Where where = Where::current()) {
  return detail::recordTile("reduce_max", {x, axis}, where);
}
inline Tile reduce_min(TileArg x, int axis, Where where = Where::current()) {
  return detail::recordTile("reduce_min", {x, axis}, where);
}
inline Tile reduce_prod(TileArg x, int axis, Where where = Where::current()) {
  return detail::recordTile("reduce_prod", {x, axis}, where);
}
/// The i32 index of the largest or smallest element; the first of equal ones.
inline Tile argmax(TileArg x, int axis, Where where = Where::current()) {
  return detail::recordTile("argmax", {x, axis}, where);
}
inline Tile argmin(TileArg x, int axis, Where where = Where::current()) {
  return detail::recordTile("argmin", {x, axis}, where);
}

/// Running sums along axis 0 (down the rows) or 1 (along the columns): each element becomes the sum
/// of those up to it.
inline Tile scan(TileArg x, int axis, Where where = Where::current()) {
  return detail::recordTile("scan", {x, axis}, where);
}

/// How elements become one.
enum class Combine { Sum, Product, Max, Min };
namespace detail {
inline const char *wordOf(Combine how) {
  constexpr const char *words[] = {"sum", "product", "max", "min"}; // in the order of the enum
  return words[static_cast<int>(how)];
}
} // namespace detail

struct ScanOptions {
  bool exclusive =
      false;            ///< The elements before each, without it; the first is 0, 1 or an extreme.
  bool reverse = false; ///< From the end.
};
/// The same with products, maxima or minima, or with options.
inline Tile scan(TileArg x, int axis, Combine how, ScanOptions options = {},
                 Where where = Where::current()) {
  return detail::recordTile(
      "scan", {x, axis, detail::wordOf(how), options.exclusive, options.reverse}, where);
}

/// Replaces the elements outside the first rows and columns.
inline Tile mask(TileArg x, Index rows, Index cols, Pad pad = Pad::Zero,
                 Where where = Where::current()) {
  return detail::recordTile("mask", {x, rows, cols, detail::wordOf(pad)}, where);
}
/// Keeps the elements with column <= row + offset (causal); the others become the pad value.
inline Tile mask_diag(TileArg x, Index offset, Pad pad = Pad::Zero,
                      Where where = Where::current()) {
  return detail::recordTile("mask_diag", {x, offset, detail::wordOf(pad)}, where);
}

/// x[index[r, c], c] along axis 0, x[r, index[r, c]] along axis 1.
inline Tile gather(TileArg x, TileArg index, int axis, Where where = Where::current()) {
  return detail::recordTile("gather", {x, index, axis}, where);
}

/// Rows in order, and the i32 column each element had.
struct Sorted {
  Tile values, columns;
};
enum class Order { Ascending, Descending };
namespace detail {
inline Sorted sortedOf(const Recorded &made, const Tile &x) {
  return made.ok ? Sorted{tileOf(made.results[0]), tileOf(made.results[1])} : Sorted{x, x};
}
} // namespace detail
/// Stable; NaN comes last.
inline Sorted sort_rows(const Tile &x, Order order = Order::Ascending,
                        Where where = Where::current()) {
  const char *word = order == Order::Ascending ? "ascending" : "descending";
  return detail::sortedOf(detail::recordAll("sort_rows", {x, word}, where), x);
}
/// The k largest elements of each row, the largest first.
inline Sorted topk_rows(const Tile &x, int64_t k, Where where = Where::current()) {
  return detail::sortedOf(detail::recordAll("topk_rows", {x, k}, where), x);
}

inline Tile transpose(TileArg x, Where where = Where::current()) {
  return detail::recordTile("tile.transpose", {x}, where);
}
/// The same elements, row by row, in another shape.
inline Tile reshape(TileArg x, Shape shape, Where where = Where::current()) {
  return detail::recordTile("tile.reshape", {x, detail::listOf(shape)}, where);
}
/// A box of a tile.
inline Tile extract(TileArg x, Index row, Index col, Shape shape, Where where = Where::current()) {
  return detail::recordTile("extract", {x, row, col, detail::listOf(shape)}, where);
}
/// `into` with a box of it replaced by x.
inline Tile insert(TileArg x, TileArg into, Index row, Index col, Where where = Where::current()) {
  return detail::recordTile("insert", {x, into, row, col}, where);
}
/// Tiles one after the other along an axis.
inline Tile concat(const std::vector<Tile> &tiles, int axis, Where where = Where::current()) {
  return detail::recordTile("concat", {detail::List(tiles), axis}, where);
}
/// One element of a tile.
template <ElementTag T>
Scalar<T> element(const Tile &x, Index row, Index col, Where where = Where::current()) {
  return Scalar<T>::of(detail::recordValue("element", {x, row, col, T::dtype}, where));
}
inline Tile cast(TileArg x, DType type, Where where = Where::current()) {
  return detail::recordTile("tile.cast", {x, type}, where);
}
template <ElementTag T> Tile cast(TileArg x, Where where = Where::current()) {
  return cast(std::move(x), T::dtype, where);
}

//===----------------------------------------------------------------------===//
// Identity and pipes
//===----------------------------------------------------------------------===//

inline Index blockIdx(int dim, Where where = Where::current()) {
  return detail::recordIndex("block_idx", {dim}, where);
}
inline Index blockCount(int dim, Where where = Where::current()) {
  return detail::recordIndex("block_count", {dim}, where);
}
inline Index lane(Where where = Where::current()) { return detail::recordIndex("lane", {}, where); }
/// Waits until every block of the launch has got here; the launch needs syncStart.
inline void barrier(Where where = Where::current()) { detail::recordNothing("barrier", {}, where); }

/// Puts a tile into a pipe; waits for a free slot. With a split, a lane pushes its own part.
inline void push(Pipe pipe, const Tile &tile, Where where = Where::current()) {
  detail::recordNothing("push", {pipe, detail::List{tile}}, where);
}
/// Takes the oldest tile out of a pipe; waits for a full slot. With a split, a lane gets its own
/// part.
inline Tile pop(Pipe pipe, Where where = Where::current()) {
  return detail::recordTile("pop", {pipe}, where);
}
/// The same for a pipe in which several tiles travel together, or none.
inline void push(Pipe pipe, const std::vector<Tile> &tiles, Where where = Where::current()) {
  detail::recordNothing("push", {pipe, detail::List(tiles)}, where);
}
inline std::vector<Tile> pop_all(Pipe pipe, Where where = Where::current()) {
  std::vector<Tile> tiles;
  detail::Recorded made = detail::recordAll("pop_all", {pipe}, where);
  for (int32_t index = 0; index < made.count; ++index)
    tiles.push_back(detail::tileOf(made.results[index]));
  return tiles;
}
/// Releases the oldest popped slot. Write all frees of a pipe or none: with none the compiler
/// places them.
inline void free(Pipe pipe, Where where = Where::current()) {
  detail::recordNothing("free", {pipe}, where);
}

} // namespace kiln

#endif // KILN_LANGUAGE_OPS_H
