//===- Types.h - the values a program is written with -------------------------------===//
//
// Handles to what is being recorded: indices, scalars, tiles, tensors, pipes, tasks. The user's C++
// runs once and every operation on a handle records IR (tracing). Handles are small values; they
// own nothing, belong to the Program that is being traced, and are used on the thread that traces
// it. A mistake is recorded with the user's line and tracing goes on with a poisoned handle, so one
// run shows all mistakes.
//
// These headers need nothing of the library but the C functions of kiln/record_c.h: every rule of
// the language is behind those, where Python finds it, too.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_TYPES_H
#define KILN_LANGUAGE_TYPES_H

#include "kiln/record_c.h"
#include "kiln/runtime/dtype.h"

#include <concepts>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace kiln {

/// The user's line, captured where a function of the front end is called.
using Where = std::source_location;

// Element types, as C++ types: In<bf16>, zeros<f32>(...).
struct f32 {
  static constexpr DType dtype = DType::F32;
};
struct f16 {
  static constexpr DType dtype = DType::F16;
};
struct bf16 {
  static constexpr DType dtype = DType::BF16;
};
struct f8E4M3FN {
  static constexpr DType dtype = DType::F8E4M3FN;
};
struct f8E5M2 {
  static constexpr DType dtype = DType::F8E5M2;
};
struct i8 {
  static constexpr DType dtype = DType::I8;
};
struct i16 {
  static constexpr DType dtype = DType::I16;
};
struct i32 {
  static constexpr DType dtype = DType::I32;
};
struct i64 {
  static constexpr DType dtype = DType::I64;
};
struct i1 {
  static constexpr DType dtype = DType::I1;
};

template <typename T>
concept ElementTag = requires {
  { T::dtype } -> std::convertible_to<DType>;
};

/// How a tile is handed to the lanes of a role.
enum class Split { None, UpDown, LeftRight };

/// A role of a core group.
struct CoreRole {
  const char *name;
};
inline constexpr CoreRole aic{"aic"}, aiv{"aiv"}, dma{"dma"}, compute{"compute"};

/// A value of the program, as the recorder numbers them. 0: nothing was recorded, because of a
/// mistake, which has been reported.
using ValueNumber = uint64_t;

/// An integer that is known now (a C++ integer) or when the program runs.
class Index {
public:
  template <std::integral I> Index(I constant) : Constant(static_cast<int64_t>(constant)) {}
  static Index of(ValueNumber value) { return Index(value, nullptr); }
  bool isConstant() const { return Val == 0; }
  int64_t constant() const { return Constant; }
  ValueNumber value() const { return Val; }

private:
  Index(ValueNumber value, std::nullptr_t) : Val(value) {}
  ValueNumber Val = 0;
  int64_t Constant = 0;
};

/// Whether something holds, known when the program runs.
class Cond {
public:
  static Cond of(ValueNumber value) { return Cond(value); }
  ValueNumber value() const { return Val; }

private:
  explicit Cond(ValueNumber value) : Val(value) {}
  ValueNumber Val;
};

/// A scalar parameter or an element of a tensor, with its type.
template <ElementTag T> class Scalar {
public:
  static Scalar of(ValueNumber value) { return Scalar(value); }
  ValueNumber value() const { return Val; }

private:
  explicit Scalar(ValueNumber value) : Val(value) {}
  ValueNumber Val;
};

/// A two-dimensional value of static shape.
class Tile {
public:
  int64_t rows() const { return Rows; }
  int64_t cols() const { return Cols; }
  DType dtype() const { return Type; }

  /// For the front end's own code.
  static Tile of(ValueNumber value, int64_t rows, int64_t cols, DType type) {
    return Tile(value, rows, cols, type);
  }
  ValueNumber value() const { return Val; }

private:
  Tile(ValueNumber value, int64_t rows, int64_t cols, DType type)
      : Val(value), Rows(rows), Cols(cols), Type(type) {}
  ValueNumber Val;
  int64_t Rows, Cols;
  DType Type;
};

enum class Access { In, Out, InOut };

class ElementRef;

/// A tensor in global memory. Parameters are In, Out or InOut; what alloc makes is InOut.
class TensorRef {
public:
  /// The extent of an axis; a constant if the program fixes it.
  Index dim(int axis, Where where = Where::current()) const;
  int rank() const { return Rank; }
  DType dtype() const { return Type; }
  Access access() const { return Kind; }
  /// One element, to compare in a predicate: `flags[{i}] > 0`.
  ElementRef operator[](std::vector<Index> at) const;

  static TensorRef of(ValueNumber value, DType type, int rank, Access use) {
    return TensorRef(value, type, rank, use);
  }
  ValueNumber value() const { return Val; }

protected:
  TensorRef(ValueNumber value, DType type, int rank, Access use)
      : Val(value), Type(type), Rank(rank), Kind(use) {}

private:
  ValueNumber Val;
  DType Type;
  int Rank;
  Access Kind;
};

template <ElementTag T, int R, Access Use> class Parameter : public TensorRef {
public:
  static constexpr DType element = T::dtype;
  static constexpr int defaultRank = R;
  static constexpr Access use = Use;
  static Parameter of(ValueNumber value, int rank) { return Parameter(value, rank); }

private:
  Parameter(ValueNumber value, int rank) : TensorRef(value, T::dtype, rank, Use) {}
};
template <ElementTag T, int R = 2> using In = Parameter<T, R, Access::In>;
template <ElementTag T, int R = 2> using Out = Parameter<T, R, Access::Out>;
template <ElementTag T, int R = 2> using InOut = Parameter<T, R, Access::InOut>;

/// An element of a tensor, named but not read.
class ElementRef {
public:
  ElementRef(TensorRef tensor, std::vector<Index> at) : Tensor(tensor), At(std::move(at)) {}
  const TensorRef &tensor() const { return Tensor; }
  const std::vector<Index> &at() const { return At; }

private:
  TensorRef Tensor;
  std::vector<Index> At;
};
inline ElementRef TensorRef::operator[](std::vector<Index> at) const {
  return ElementRef(*this, std::move(at));
}

/// What decides, when its turn comes, whether a task runs: an integer element against a constant.
struct ElementTest {
  enum Compare { Eq, Ne, Lt, Le, Gt, Ge };
  ElementRef element;
  Compare compare;
  int64_t constant;
};
inline ElementTest operator==(ElementRef e, int64_t c) {
  return {std::move(e), ElementTest::Eq, c};
}
inline ElementTest operator!=(ElementRef e, int64_t c) {
  return {std::move(e), ElementTest::Ne, c};
}
inline ElementTest operator<(ElementRef e, int64_t c) { return {std::move(e), ElementTest::Lt, c}; }
inline ElementTest operator<=(ElementRef e, int64_t c) {
  return {std::move(e), ElementTest::Le, c};
}
inline ElementTest operator>(ElementRef e, int64_t c) { return {std::move(e), ElementTest::Gt, c}; }
inline ElementTest operator>=(ElementRef e, int64_t c) {
  return {std::move(e), ElementTest::Ge, c};
}

/// A bounded FIFO of tiles between two roles of a group.
class Pipe {
public:
  static Pipe of(ValueNumber value) { return Pipe(value); }
  ValueNumber value() const { return Val; }

private:
  explicit Pipe(ValueNumber value) : Val(value) {}
  ValueNumber Val;
};

/// A launched task, for explicit dependencies.
class TaskRef {
public:
  static TaskRef of(ValueNumber value) { return TaskRef(value); }
  ValueNumber value() const { return Val; }

private:
  explicit TaskRef(ValueNumber value) : Val(value) {}
  ValueNumber Val;
};

// Operands. An operator cannot take a defaulted Where, but the conversion of its first operand can.

struct IndexOperand {
  IndexOperand(Index value, Where here = Where::current()) : index(value), where(here) {}
  template <std::integral I>
  IndexOperand(I constant, Where here = Where::current()) : index(constant), where(here) {}
  Index index;
  Where where;
};

struct CondOperand {
  CondOperand(Cond value, Where here = Where::current()) : cond(value), where(here) {}
  Cond cond;
  Where where;
};

/// A scalar, or a number that takes its type.
template <ElementTag T> struct ScalarOperand {
  ScalarOperand(Scalar<T> scalar, Where here = Where::current())
      : value(scalar.value()), where(here) {}
  template <typename N>
    requires std::integral<N> || std::floating_point<N>
  ScalarOperand(N literal, Where here = Where::current())
      : number(static_cast<double>(literal)), isNumber(true), where(here) {}
  ValueNumber value = 0;
  double number = 0;
  bool isNumber = false;
  Where where;
};

struct TileOperand {
  TileOperand(const Tile &tile, Where here = Where::current())
      : value(tile.value()), rows(tile.rows()), cols(tile.cols()), type(tile.dtype()), isTile(true),
        where(here) {}
  /// A tile without a name was made in the expression that the operand stands in.
  TileOperand(Tile &&tile, Where here = Where::current())
      : TileOperand(static_cast<const Tile &>(tile), here) {
    isTemporary = true;
  }
  template <ElementTag T>
  TileOperand(Scalar<T> scalar, Where here = Where::current())
      : value(scalar.value()), type(T::dtype), where(here) {}
  /// A number takes the element type of the tile it meets.
  template <typename N>
    requires std::integral<N> || std::floating_point<N>
  TileOperand(N literal, Where here = Where::current())
      : number(static_cast<double>(literal)), isNumber(true), where(here) {}

  ValueNumber value = 0;
  int64_t rows = 1, cols = 1;
  DType type = DType::F32;
  double number = 0;
  bool isTile = false, isNumber = false, isTemporary = false;
  Where where;
};

/// A tile that a function takes, with a name or without one.
struct TileArg {
  TileArg(const Tile &named) : tile(named) {}
  TileArg(Tile &&made) : tile(made), isTemporary(true) {}
  int64_t rows() const { return tile.rows(); }
  int64_t cols() const { return tile.cols(); }
  DType dtype() const { return tile.dtype(); }
  ValueNumber value() const { return tile.value(); }
  Tile tile;
  bool isTemporary = false;
};

} // namespace kiln

#endif // KILN_LANGUAGE_TYPES_H
