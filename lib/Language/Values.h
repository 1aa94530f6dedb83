//===- Values.h - what the recorder computes with ---------------------------------------===//
//
// Handles to values of the program that is being recorded, as the functions of this folder pass
// them to each other. They are small and own nothing. After a mistake, which has been reported, a
// handle is poisoned: it has no value, but still a type and a shape, so that recording goes on and
// one run shows all mistakes.
//
// Other languages, C++ among them, see none of this: they have numbers for values
// (kiln/record_c.h), and Record/Items.h reads their arguments.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_LANGUAGE_VALUES_H
#define KILN_LIB_LANGUAGE_VALUES_H

#include "kiln/record_c.h"
#include "kiln/runtime/dtype.h"
#include "kiln/runtime/status.h"

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::record {

/// The user's line.
using Where = kiln_where;

/// A value of the recorded IR; null: poisoned.
using ValuePtr = const void *;

/// How a tile is handed to the lanes of a role.
enum class Split { None, UpDown, LeftRight };
/// What an element outside the tensor reads as.
enum class Pad { Zero, Min, Max };
enum class Order { Ascending, Descending };
/// How elements become one.
enum class Combine { Sum, Product, Max, Min };
enum class Access { In, Out, InOut };

/// Ranks along one axis of a mesh; an extent below 0 is as many as there are ranks for.
struct RankGroup {
  int64_t axis = 0;
  std::vector<int64_t> extents;
  std::vector<std::string> names;
};

/// A role of a core group.
struct CoreRole {
  std::string_view name;
};

/// Rows and columns of a tile.
struct Shape {
  int64_t rows, cols;
};

/// An integer that is known now or when the program runs.
class Index {
public:
  template <std::integral I> Index(I constant) : Constant(static_cast<int64_t>(constant)) {}
  static Index of(ValuePtr value) { return Index(value, nullptr); }
  bool isConstant() const { return !Val; }
  int64_t constant() const { return Constant; }
  ValuePtr value() const { return Val; }

private:
  Index(ValuePtr value, std::nullptr_t) : Val(value) {}
  ValuePtr Val = nullptr;
  int64_t Constant = 0;
};
using Indices = std::vector<Index>;

/// Whether something holds, known when the program runs.
struct Cond {
  ValuePtr value;
};

/// A scalar of the program.
struct Scalar {
  ValuePtr value;
  DType type;
};

/// A scalar of the program, or a number that takes the type of what it meets.
struct Number {
  ValuePtr value = nullptr;
  DType type = DType::F32; ///< Of a scalar.
  double number = 0;
  bool isNumber = false;
};

/// A two-dimensional value of static shape.
class Tile {
public:
  Tile(ValuePtr value, int64_t rows, int64_t cols, DType type)
      : Val(value), Rows(rows), Cols(cols), Type(type) {}
  int64_t rows() const { return Rows; }
  int64_t cols() const { return Cols; }
  DType dtype() const { return Type; }
  ValuePtr value() const { return Val; }

private:
  ValuePtr Val;
  int64_t Rows, Cols;
  DType Type;
};

/// A tile that a function takes; a temporary was made in the expression that it stands in.
struct TileArg : Tile {
  TileArg(const Tile &tile, bool temporary = false) : Tile(tile), isTemporary(temporary) {}
  bool isTemporary;
};

/// A tile, a scalar or a number, which takes the element type of the tile it meets.
struct TileOperand {
  ValuePtr value = nullptr;
  int64_t rows = 1, cols = 1;
  DType type = DType::F32;
  double number = 0;
  bool isTile = false, isNumber = false, isTemporary = false;
};

/// A tensor in global memory. Parameters are In, Out or InOut; what alloc makes is InOut.
class TensorRef {
public:
  TensorRef(ValuePtr value, DType type, int rank, Access use)
      : Val(value), Type(type), Rank(rank), Kind(use) {}
  int rank() const { return Rank; }
  DType dtype() const { return Type; }
  Access access() const { return Kind; }
  ValuePtr value() const { return Val; }

private:
  ValuePtr Val;
  DType Type;
  int Rank;
  Access Kind;
};

/// What decides, when its turn comes, whether a task runs: an integer element against a constant.
struct ElementTest {
  enum Compare { Eq, Ne, Lt, Le, Gt, Ge };
  TensorRef tensor;
  Indices at;
  Compare compare;
  int64_t constant;
};

/// A bounded FIFO of tiles between two roles of a group.
struct Pipe {
  ValuePtr value;
};
/// A tile that travels through a pipe.
struct PipeTile {
  DType type;
  Shape shape;
};

/// A launched task, for explicit dependencies.
struct TaskRef {
  ValuePtr value;
};
/// An argument of a launch: a tensor, an index, a scalar or a number.
struct LaunchArg {
  ValuePtr value = nullptr;
  double number = 0;
  bool isNumber = false;
};

/// What one lane has of a tile: its share, where in the whole tile that begins, and the whole.
struct Part {
  Shape shape;
  Index row, col;
  Shape whole;
};

/// A value that loops and branches carry, whatever it is.
struct Wire {
  ValuePtr value = nullptr; ///< Null: poisoned, or a constant index.
  /// OfNothing: what would have made it was not recorded.
  enum Kind { OfTile, OfIndex, OfScalar, OfTask, OfNothing } kind = OfTile;
  DType type = DType::F32;
  int64_t rows = 1, cols = 1;
  int64_t constant = 0; ///< Of an index without a value.
};
using Wires = std::vector<Wire>;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

struct LoadOptions {
  Pad pad = Pad::Zero;
  Indices valid = {};   ///< Rows and columns that count; empty: the whole tile.
  bool outside = false; ///< The tile may miss the tensor; then all of it is the pad.
};
struct StoreOptions {
  Indices valid = {};
  bool atomicAdd = false;
};
struct ScanOptions {
  bool exclusive = false; ///< The elements before each, without it.
  bool reverse = false;   ///< From the end.
};
struct LoopOptions {
  int64_t stages = 0;    ///< > 0: a pipelined loop with so many iterations in flight.
  bool parallel = false; ///< Iterations are independent.
  bool unroll = false;
};
/// What a kernel asks for where the compiler divides it over roles and lanes. It chooses what is
/// not said.
struct KernelOptions {
  std::optional<Split> split = {}; ///< How the lanes of a role share the work.
  int64_t lanes = 0;               ///< How many lanes share it; 0: as many as there are.
  int64_t slots = 0;               ///< Of each pipe between the roles; 0: the machine's default.
  int64_t stages = 0;              ///< Of the loops that say nothing of their own.
};
/// How a kernel is launched.
struct LaunchOptions {
  Indices grid = {};                         ///< Up to three; empty: one block.
  std::vector<TaskRef> deps = {};            ///< Besides what the tensors imply.
  bool syncStart = false;                    ///< All blocks at once.
  std::optional<ElementTest> predicate = {}; ///< Runs only if this holds.
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// A parameter of a function that is to be recorded. Where a front end has more names than types,
/// or more types than names, those that are too many stand alone.
struct ParamSpec {
  enum Kind { OfTensor, OfScalar, OfIndex };
  std::optional<std::string> name = {};
  std::optional<Kind> kind = {};
  DType type = DType::Index;
  int rank = 0;
  Access access = Access::In;
  std::vector<int64_t> extents = {}; ///< -1 where one is known at run time only.
};

} // namespace kiln::record

#endif // KILN_LIB_LANGUAGE_VALUES_H
