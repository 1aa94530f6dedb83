//===- Ops.h - what one can do inside kernels and roles -----------------------------===//
#ifndef KILN_LANGUAGE_OPS_H
#define KILN_LANGUAGE_OPS_H

#include "kiln/Language/Types.h"
#include "kiln/visibility.h"

#include <type_traits>
#include <utility>

KILN_EXPORTED_BEGIN
namespace kiln {

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Index operator+(IndexOperand a, IndexOperand b);
Index operator-(IndexOperand a, IndexOperand b);
Index operator*(IndexOperand a, IndexOperand b);
/// Rounds toward zero; the operands are normally not negative.
Index operator/(IndexOperand a, IndexOperand b);
Index operator%(IndexOperand a, IndexOperand b);
Index ceildiv(IndexOperand a, IndexOperand b);
Index min(IndexOperand a, IndexOperand b);
Index max(IndexOperand a, IndexOperand b);

Cond operator<(IndexOperand a, IndexOperand b);
Cond operator<=(IndexOperand a, IndexOperand b);
Cond operator>(IndexOperand a, IndexOperand b);
Cond operator>=(IndexOperand a, IndexOperand b);
Cond operator==(IndexOperand a, IndexOperand b);
Cond operator!=(IndexOperand a, IndexOperand b);

Cond operator&&(CondOperand a, CondOperand b);
Cond operator||(CondOperand a, CondOperand b);
Cond operator!(CondOperand a);

inline Index &operator+=(Index &a, IndexOperand b) { return a = IndexOperand(a, b.where) + b; }
inline Index &operator-=(Index &a, IndexOperand b) { return a = IndexOperand(a, b.where) - b; }
inline Index &operator*=(Index &a, IndexOperand b) { return a = IndexOperand(a, b.where) * b; }
inline Index &operator/=(Index &a, IndexOperand b) { return a = IndexOperand(a, b.where) / b; }
inline Index &operator%=(Index &a, IndexOperand b) { return a = IndexOperand(a, b.where) % b; }

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

namespace detail {

enum class ScalarOp { Add, Sub, Mul, Div, Lt, Le, Gt, Ge };

/// A scalar or a number of a known type.
struct AnyScalar {
  template <ElementTag T>
  AnyScalar(const ScalarOperand<T> &x)
      : value(x.value), number(x.number), isNumber(x.isNumber), type(T::dtype) {}
  AnyScalar(ValuePtr of, double literal, bool isLiteral, DType dtype)
      : value(of), number(literal), isNumber(isLiteral), type(dtype) {}
  ValuePtr value;
  double number;
  bool isNumber;
  DType type;
};
ValuePtr scalarOp(ScalarOp op, const AnyScalar &a, const AnyScalar &b, Where where);
ValuePtr convertScalar(ValuePtr scalar, DType to, Where where);
ValuePtr convertIndex(Index index, DType to, Where where);
Index scalarToIndex(ValuePtr scalar, Where where);
ValuePtr readElement(const TensorRef &tensor, const std::vector<Index> &at, DType type,
                     Where where);
ValuePtr getElement(const TensorRef &tensor, const std::vector<Index> &at, DType type, Where where);
void writeElement(const AnyScalar &value, const TensorRef &tensor, const std::vector<Index> &at,
                  Where where);
ValuePtr tileElement(const Tile &tile, Index row, Index col, DType type, Where where);

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
    return Scalar<T>::of(                                                                          \
        detail::scalarOp(detail::ScalarOp::name, ScalarOperand<T>(a), b, b.where));                \
  }                                                                                                \
  template <ElementTag T> Scalar<T> operator sign(detail::NumberOperand a, Scalar<T> b) {          \
    return Scalar<T>::of(detail::scalarOp(detail::ScalarOp::name, ScalarOperand<T>(a.number),      \
                                          ScalarOperand<T>(b), a.where));                          \
  }                                                                                                \
  template <ElementTag T> Scalar<T> &operator sign## = (Scalar<T> & a, detail::Beside<T> b) {      \
    return a = a sign b;                                                                           \
  }
KILN_SCALAR_ARITHMETIC(+, Add)
KILN_SCALAR_ARITHMETIC(-, Sub)
KILN_SCALAR_ARITHMETIC(*, Mul)
KILN_SCALAR_ARITHMETIC(/, Div)
#undef KILN_SCALAR_ARITHMETIC

#define KILN_SCALAR_COMPARISON(sign, name)                                                         \
  template <ElementTag T> Cond operator sign(Scalar<T> a, detail::Beside<T> b) {                   \
    return Cond::of(detail::scalarOp(detail::ScalarOp::name, ScalarOperand<T>(a), b, b.where));    \
  }
KILN_SCALAR_COMPARISON(<, Lt)
KILN_SCALAR_COMPARISON(<=, Le)
KILN_SCALAR_COMPARISON(>, Gt)
KILN_SCALAR_COMPARISON(>=, Ge)
#undef KILN_SCALAR_COMPARISON

/// A scalar as another element type: floats round to nearest, to an integer toward zero; an integer
/// type keeps the low bits of a wider one; i1 says whether the number is not zero.
template <ElementTag T, ElementTag From>
Scalar<T> cast(Scalar<From> scalar, Where where = Where::current()) {
  if constexpr (std::same_as<T, From>)
    return scalar;
  else
    return Scalar<T>::of(detail::convertScalar(scalar.value(), T::dtype, where));
}
/// An index as an element type, to compute with tiles: as a scalar of i64 would be.
template <ElementTag T> Scalar<T> cast(Index index, Where where = Where::current()) {
  return Scalar<T>::of(detail::convertIndex(index, T::dtype, where));
}
inline Scalar<f32> toF32(IndexOperand index) { return cast<f32>(index.index, index.where); }
inline Scalar<i32> toI32(IndexOperand index) { return cast<i32>(index.index, index.where); }

/// An integer scalar as an index.
template <ElementTag T> Index toIndex(Scalar<T> scalar, Where where = Where::current()) {
  static_assert(!isFloat(T::dtype), "an index comes from an integer");
  return detail::scalarToIndex(scalar.value(), where);
}

/// Reads one element of a tensor in a kernel.
template <ElementTag T>
Scalar<T> read(const TensorRef &tensor, std::vector<Index> at, Where where = Where::current()) {
  return Scalar<T>::of(detail::readElement(tensor, at, T::dtype, where));
}
/// Reads one element in an orchestration; waits for the tasks that produce it.
template <ElementTag T>
Scalar<T> get(const TensorRef &tensor, std::vector<Index> at, Where where = Where::current()) {
  return Scalar<T>::of(detail::getElement(tensor, at, T::dtype, where));
}
/// Writes one element of a tensor in a kernel.
template <ElementTag T>
void write(std::type_identity_t<ScalarOperand<T>> value, const TensorRef &tensor,
           std::vector<Index> at, Where where = Where::current()) {
  detail::writeElement(value, tensor, at, where);
}
template <ElementTag T, int R>
void write(std::type_identity_t<ScalarOperand<T>>, const In<T, R> &, std::vector<Index>,
           Where = Where::current()) = delete;

//===----------------------------------------------------------------------===//
// Tiles and tensors
//===----------------------------------------------------------------------===//

/// Rows and columns of a tile.
struct Shape {
  int64_t rows, cols;
};

/// What an element outside the tensor reads as.
enum class Pad { Zero, Min, Max };

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
Tile load(const TensorRef &tensor, std::vector<Index> at, Shape shape, LoadOptions options = {},
          Where where = Where::current());

/// Writes the elements of a tile that lie inside the tensor.
void store(const Tile &tile, const TensorRef &tensor, std::vector<Index> at,
           StoreOptions options = {}, Where where = Where::current());
template <ElementTag T, int R>
void store(const Tile &, const In<T, R> &, std::vector<Index>, StoreOptions = {},
           Where = Where::current()) = delete;

/// What one lane has of a tile: its share, where in the whole tile that begins, and the whole.
struct Part {
  Shape shape;
  Index row, col;
  Shape whole;
};
/// What this lane of a role has of a tile of this shape. A role without lanes has all of it, and
/// with Split::None every lane has.
Part part(Shape whole, Split split, Where where = Where::current());
/// What this lane pushes into a pipe, or pops from it.
Part part(Pipe pipe, Where where = Where::current());

/// Reads the part that this lane has of a tile; `at` and `valid` are those of the whole tile.
Tile load(const TensorRef &tensor, std::vector<Index> at, const Part &mine,
          LoadOptions options = {}, Where where = Where::current());
/// Writes the part that this lane has of a tile; `at` and `valid` are those of the whole tile.
void store(const Tile &tile, const TensorRef &tensor, std::vector<Index> at, const Part &mine,
           StoreOptions options = {}, Where where = Where::current());
template <ElementTag T, int R>
void store(const Tile &, const In<T, R> &, std::vector<Index>, const Part &, StoreOptions = {},
           Where = Where::current()) = delete;

/// Reads a tile whose row r is row at[...] + rows[rowsAt + r] of the tensor; where there is no such
/// row, the pad value. `rows` holds i32 or i64.
Tile gather_rows(const TensorRef &tensor, std::vector<Index> at, const TensorRef &rows,
                 std::vector<Index> rowsAt, Shape shape, LoadOptions options = {},
                 Where where = Where::current());
/// Writes the rows of a tile where gather_rows would read them.
void scatter_rows(const Tile &tile, const TensorRef &tensor, std::vector<Index> at,
                  const TensorRef &rows, std::vector<Index> rowsAt, StoreOptions options = {},
                  Where where = Where::current());
template <ElementTag T, int R>
void scatter_rows(const Tile &, const In<T, R> &, std::vector<Index>, const TensorRef &,
                  std::vector<Index>, StoreOptions = {}, Where = Where::current()) = delete;

/// A hint that this tile will be loaded soon.
void prefetch(const TensorRef &tensor, std::vector<Index> at, Shape shape,
              Where where = Where::current());

struct SliceOptions {
  std::vector<int64_t> drop = {}; ///< Axes of size 1 that the result does not have.
};
/// A box of a tensor, by reference: offsets and sizes, one per axis.
TensorRef slice(const TensorRef &tensor, std::vector<Index> offsets, std::vector<Index> sizes,
                SliceOptions options = {}, Where where = Where::current());
/// The axes of a tensor in another order, by reference.
TensorRef transpose(const TensorRef &tensor, std::vector<int64_t> permutation,
                    Where where = Where::current());
/// A contiguous tensor in another shape, by reference.
TensorRef reshape(const TensorRef &tensor, std::vector<Index> extents,
                  Where where = Where::current());
/// What must hold of the arguments whenever this orchestration, kernel or group is called or
/// launched, in extents and integers: `require(x.dim(1) % 64 == 0, "columns come in tiles of 64")`.
void require(Cond condition, const std::string &message, Where where = Where::current());
/// The same of what is known while the program is made, such as the size of a tile.
void require(bool condition, const std::string &message, Where where = Where::current());

/// Marks a tensor for the argument dump (levels 1 and 3).
void dump(const TensorRef &tensor, Where where = Where::current());

Tile full(DType type, Shape shape, double value, Where where = Where::current());
/// Each element is its index along an axis.
Tile iota(DType type, Shape shape, int axis, Where where = Where::current());
template <ElementTag T> Tile iota(Shape shape, int axis, Where where = Where::current()) {
  return iota(T::dtype, shape, axis, where);
}
/// Random bits (i32) or numbers uniform in [0, 1) (f32): Philox4x32-10 of a key and a counter. A
/// tile of n elements uses up (n + 3) / 4 counter values.
Tile random(DType type, Shape shape, Scalar<i64> key, Index counter,
            Where where = Where::current());
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
Tile matmul(TileArg a, TileArg b, MatmulFlags flags = no_trans, Where where = Where::current());
Tile matmul_acc(TileArg acc, TileArg a, TileArg b, MatmulFlags flags = no_trans,
                Where where = Where::current());

// The elementwise functions and operators: one for each row of the table. Operands broadcast; one
// of two may be a number.
#include "kiln/Dialect/Tile/Elementwise/FrontEnd.h.inc"

inline Tile &operator+=(Tile &a, TileOperand b) { return a = TileOperand(a, b.where) + b; }
inline Tile &operator-=(Tile &a, TileOperand b) { return a = TileOperand(a, b.where) - b; }
inline Tile &operator*=(Tile &a, TileOperand b) { return a = TileOperand(a, b.where) * b; }
inline Tile &operator/=(Tile &a, TileOperand b) { return a = TileOperand(a, b.where) / b; }

// Comparisons make tiles of i1; where chooses by them.
Tile operator<(TileOperand a, TileOperand b);
Tile operator<=(TileOperand a, TileOperand b);
Tile operator>(TileOperand a, TileOperand b);
Tile operator>=(TileOperand a, TileOperand b);
Tile operator==(TileOperand a, TileOperand b);
Tile operator!=(TileOperand a, TileOperand b);
/// Where the condition holds the first, elsewhere the second.
Tile where(TileArg condition, TileOperand a, TileOperand b);

/// Along axis 0 (rows become one) or 1 (columns become one).
Tile reduce_sum(TileArg x, int axis, Where where = Where::current());
Tile reduce_max(TileArg x, int axis, Where where = Where::current());
Tile reduce_min(TileArg x, int axis, Where where = Where::current());
Tile reduce_prod(TileArg x, int axis, Where where = Where::current());
/// The i32 index of the largest or smallest element; the first of equal ones.
Tile argmax(TileArg x, int axis, Where where = Where::current());
Tile argmin(TileArg x, int axis, Where where = Where::current());

/// Running sums along axis 0 (down the rows) or 1 (along the columns): each element becomes the sum
/// of those up to it.
Tile scan(TileArg x, int axis, Where where = Where::current());

/// How elements become one.
enum class Combine { Sum, Product, Max, Min };

struct ScanOptions {
  bool exclusive =
      false;            ///< The elements before each, without it; the first is 0, 1 or an extreme.
  bool reverse = false; ///< From the end.
};
/// The same with products, maxima or minima, or with options.
Tile scan(TileArg x, int axis, Combine how, ScanOptions options = {},
          Where where = Where::current());

/// Replaces the elements outside the first rows and columns.
Tile mask(TileArg x, Index rows, Index cols, Pad pad = Pad::Zero, Where where = Where::current());
/// Keeps the elements with column <= row + offset (causal); the others become the pad value.
Tile mask_diag(TileArg x, Index offset, Pad pad = Pad::Zero, Where where = Where::current());

/// x[index[r, c], c] along axis 0, x[r, index[r, c]] along axis 1.
Tile gather(TileArg x, TileArg index, int axis, Where where = Where::current());

/// Rows in order, and the i32 column each element had.
struct Sorted {
  Tile values, columns;
};
enum class Order { Ascending, Descending };
/// Stable; NaN comes last.
Sorted sort_rows(const Tile &x, Order order = Order::Ascending, Where where = Where::current());
/// The k largest elements of each row, the largest first.
Sorted topk_rows(const Tile &x, int64_t k, Where where = Where::current());

Tile transpose(TileArg x, Where where = Where::current());
/// The same elements, row by row, in another shape.
Tile reshape(TileArg x, Shape shape, Where where = Where::current());
/// A box of a tile.
Tile extract(TileArg x, Index row, Index col, Shape shape, Where where = Where::current());
/// `into` with a box of it replaced by x.
Tile insert(TileArg x, TileArg into, Index row, Index col, Where where = Where::current());
/// Tiles one after the other along an axis.
Tile concat(const std::vector<Tile> &tiles, int axis, Where where = Where::current());
/// One element of a tile.
template <ElementTag T>
Scalar<T> element(const Tile &x, Index row, Index col, Where where = Where::current()) {
  return Scalar<T>::of(detail::tileElement(x, row, col, T::dtype, where));
}
Tile cast(TileArg x, DType type, Where where = Where::current());
template <ElementTag T> Tile cast(TileArg x, Where where = Where::current()) {
  return cast(std::move(x), T::dtype, where);
}

//===----------------------------------------------------------------------===//
// Identity and pipes
//===----------------------------------------------------------------------===//

Index blockIdx(int dim, Where where = Where::current());
Index blockCount(int dim, Where where = Where::current());
Index lane(Where where = Where::current());
/// Waits until every block of the launch has got here; the launch needs syncStart.
void barrier(Where where = Where::current());

/// Puts a tile into a pipe; waits for a free slot. With a split, a lane pushes its own part.
void push(Pipe pipe, const Tile &tile, Where where = Where::current());
/// Takes the oldest tile out of a pipe; waits for a full slot. With a split, a lane gets its own
/// part.
Tile pop(Pipe pipe, Where where = Where::current());
/// The same for a pipe in which several tiles travel together, or none.
void push(Pipe pipe, const std::vector<Tile> &tiles, Where where = Where::current());
std::vector<Tile> pop_all(Pipe pipe, Where where = Where::current());
/// Releases the oldest popped slot. Write all frees of a pipe or none: with none the compiler
/// places them.
void free(Pipe pipe, Where where = Where::current());

} // namespace kiln
KILN_EXPORTED_END

#endif // KILN_LANGUAGE_OPS_H
