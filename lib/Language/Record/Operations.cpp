//===- Operations.cpp - what the recorder can record -------------------------------------===//
#include "Items.h"

#include <map>

namespace kiln::record {

/// Two numbers, of which one is a scalar of the program, with its type.
static std::pair<detail::AnyScalar, detail::AnyScalar> pairOf(const AnyNumber &a,
                                                              const AnyNumber &b) {
  if (a.isNumber && b.isNumber)
    throw BadArgument("takes at least one scalar of the program");
  DType type = a.isNumber ? b.type : a.type;
  auto any = [&](const AnyNumber &x) {
    return detail::AnyScalar(x.value, x.number, x.isNumber, x.isNumber ? type : x.type);
  };
  return {any(a), any(b)};
}

static void addIndices(std::vector<Operation> &list) {
#define KILN_OF_INDICES(name, summary, sign)                                                       \
  list.push_back(operation("index." name, summary, {"a", "b"}, [](Index a, Index b, Where where) { \
    return IndexOperand(a, where) sign IndexOperand(b, where);                                     \
  }));
  KILN_OF_INDICES("add", "a + b", +)
  KILN_OF_INDICES("sub", "a - b", -)
  KILN_OF_INDICES("mul", "a * b", *)
  KILN_OF_INDICES("div", "a / b, rounded toward zero", /)
  KILN_OF_INDICES("rem", "What remains of a after division by b.", %)
  KILN_OF_INDICES("lt", "a < b", <)
  KILN_OF_INDICES("le", "a <= b", <=)
  KILN_OF_INDICES("gt", "a > b", >)
  KILN_OF_INDICES("ge", "a >= b", >=)
  KILN_OF_INDICES("eq", "a == b", ==)
  KILN_OF_INDICES("ne", "a != b", !=)
#undef KILN_OF_INDICES
  list.push_back(operation("index.ceildiv", "a / b, rounded up", {"a", "b"},
                           [](Index a, Index b, Where w) { return ceildiv({a, w}, {b, w}); }));
  list.push_back(operation("index.min", "The smaller of two.", {"a", "b"},
                           [](Index a, Index b, Where w) { return kiln::min({a, w}, {b, w}); }));
  list.push_back(operation("index.max", "The larger of two.", {"a", "b"},
                           [](Index a, Index b, Where w) { return kiln::max({a, w}, {b, w}); }));
  list.push_back(operation("index.cast", "An index as a scalar.", {"index", "dtype"},
                           [](Index index, DType type, Where where) {
                             return MadeScalar{detail::convertIndex(index, type, where), type};
                           }));
  list.push_back(operation("condition.and", "Both hold.", {"a", "b"}, [](Cond a, Cond b, Where w) {
    return CondOperand(a, w) && CondOperand(b, w);
  }));
  list.push_back(
      operation("condition.or", "At least one holds.", {"a", "b"},
                [](Cond a, Cond b, Where w) { return CondOperand(a, w) || CondOperand(b, w); }));
  list.push_back(operation("condition.not", "It does not hold.", {"a"},
                           [](Cond a, Where w) { return !CondOperand(a, w); }));
}

static void addScalars(std::vector<Operation> &list) {
  using Op = detail::ScalarOp;
#define KILN_OF_SCALARS(name, summary, op)                                                         \
  list.push_back(                                                                                  \
      operation("scalar." name, summary, {"a", "b"}, [](AnyNumber a, AnyNumber b, Where where) {   \
        auto [x, y] = pairOf(a, b);                                                                \
        return MadeScalar{detail::scalarOp(op, x, y, where), x.type};                              \
      }));
  KILN_OF_SCALARS("add", "a + b", Op::Add)
  KILN_OF_SCALARS("sub", "a - b", Op::Sub)
  KILN_OF_SCALARS("mul", "a * b", Op::Mul)
  KILN_OF_SCALARS("div", "a / b", Op::Div)
#undef KILN_OF_SCALARS
#define KILN_OF_SCALARS(name, summary, op)                                                         \
  list.push_back(                                                                                  \
      operation("scalar." name, summary, {"a", "b"}, [](AnyNumber a, AnyNumber b, Where where) {   \
        auto [x, y] = pairOf(a, b);                                                                \
        return Cond::of(detail::scalarOp(op, x, y, where));                                        \
      }));
  KILN_OF_SCALARS("lt", "a < b", Op::Lt)
  KILN_OF_SCALARS("le", "a <= b", Op::Le)
  KILN_OF_SCALARS("gt", "a > b", Op::Gt)
  KILN_OF_SCALARS("ge", "a >= b", Op::Ge)
#undef KILN_OF_SCALARS
  list.push_back(operation("scalar.cast", "A scalar as another element type.", {"scalar", "dtype"},
                           [](AnyNumber scalar, DType type, Where where) {
                             if (scalar.isNumber)
                               throw BadArgument("takes a scalar of the program");
                             if (scalar.type == type)
                               return MadeScalar{scalar.value, type};
                             return MadeScalar{detail::convertScalar(scalar.value, type, where),
                                               type};
                           }));
  list.push_back(operation("scalar.index", "An integer scalar as an index.", {"scalar"},
                           [](AnyNumber scalar, Where where) {
                             if (scalar.isNumber || isFloat(scalar.type))
                               throw BadArgument("takes an integer scalar of the program");
                             return detail::scalarToIndex(scalar.value, where);
                           }));
  list.push_back(operation(
      "read", "Reads one element of a tensor in a kernel.", {"tensor", "at"},
      [](TensorRef tensor, Indices at, Where where) {
        return MadeScalar{detail::readElement(tensor, at, tensor.dtype(), where), tensor.dtype()};
      }));
  list.push_back(operation(
      "get", "Reads one element in an orchestration; waits for the tasks that produce it.",
      {"tensor", "at"}, [](TensorRef tensor, Indices at, Where where) {
        return MadeScalar{detail::getElement(tensor, at, tensor.dtype(), where), tensor.dtype()};
      }));
  list.push_back(operation(
      "write", "Writes one element of a tensor in a kernel.", {"value", "tensor", "at"},
      [](AnyNumber value, TensorRef tensor, Indices at, Where where) {
        DType type = value.isNumber ? tensor.dtype() : value.type;
        detail::writeElement({value.value, value.number, value.isNumber, type}, tensor, at, where);
      }));
  list.push_back(operation(
      "element", "One element of a tile.", {"tile", "row", "col"},
      [](Tile tile, Index row, Index col, Where where) {
        return MadeScalar{detail::tileElement(tile, row, col, tile.dtype(), where), tile.dtype()};
      }));
}

static void addTensors(std::vector<Operation> &list) {
  list.push_back(operation(
      "dim", "The extent of an axis.", {"tensor", "axis"},
      [](TensorRef tensor, int64_t axis, Where where) { return tensor.dim(int(axis), where); }));
  list.push_back(operation(
      "load", "Reads a tile at these indices, one per axis; the tile covers the trailing two.",
      {"tensor", "at", "shape", "pad?", "valid?", "outside?"},
      [](TensorRef tensor, Indices at, Shape shape, Pad pad, Indices valid, bool outside,
         Where where) {
        return load(tensor, at, shape, LoadOptions{pad, valid, outside}, where);
      }));
  list.push_back(operation(
      "store", "Writes the elements of a tile that lie inside the tensor.",
      {"tile", "tensor", "at", "valid?", "atomic_add?"},
      [](Tile tile, TensorRef tensor, Indices at, Indices valid, bool atomicAdd, Where where) {
        store(tile, tensor, at, StoreOptions{valid, atomicAdd}, where);
      }));
  list.push_back(operation(
      "part", "The rows and columns of this lane's part of a tile, and where it begins.",
      {"shape", "split"}, [](Recorder &recorder, Shape shape, Split split, Where where) {
        Part mine = part(shape, split, where);
        for (Index each : {Index(mine.shape.rows), Index(mine.shape.cols), mine.row, mine.col})
          give(recorder, each);
      }));
  list.push_back(
      operation("pipe_part", "The same of what this lane pushes into a pipe or pops from it.",
                {"pipe"}, [](Recorder &recorder, Pipe pipe, Where where) {
                  Part mine = part(pipe, where);
                  for (Index each : {Index(mine.shape.rows), Index(mine.shape.cols), mine.row,
                                     mine.col, Index(mine.whole.rows), Index(mine.whole.cols)})
                    give(recorder, each);
                }));
  list.push_back(operation(
      "load_part",
      "Reads the part that this lane has of a tile; `at` and `valid` are those of the whole.",
      {"tensor", "at", "part", "pad?", "valid?", "outside?"},
      [](TensorRef tensor, Indices at, Part mine, Pad pad, Indices valid, bool outside,
         Where where) { return load(tensor, at, mine, LoadOptions{pad, valid, outside}, where); }));
  list.push_back(operation(
      "store_part",
      "Writes the part that this lane has of a tile; `at` and `valid` are those of the whole.",
      {"tile", "tensor", "at", "part", "valid?", "atomic_add?"},
      [](Tile tile, TensorRef tensor, Indices at, Part mine, Indices valid, bool atomicAdd,
         Where where) { store(tile, tensor, at, mine, StoreOptions{valid, atomicAdd}, where); }));
  list.push_back(operation("gather_rows",
                           "Reads a tile whose row r is row at + rows[rows_at + r] of the tensor; "
                           "where there is no such "
                           "row, the pad value.",
                           {"tensor", "at", "rows", "rows_at", "shape", "pad?", "valid?"},
                           [](TensorRef tensor, Indices at, TensorRef rows, Indices rowsAt,
                              Shape shape, Pad pad, Indices valid, Where where) {
                             return gather_rows(tensor, at, rows, rowsAt, shape,
                                                LoadOptions{pad, valid}, where);
                           }));
  list.push_back(operation(
      "scatter_rows", "Writes the rows of a tile where gather_rows would read them.",
      {"tile", "tensor", "at", "rows", "rows_at", "valid?", "atomic_add?"},
      [](Tile tile, TensorRef tensor, Indices at, TensorRef rows, Indices rowsAt, Indices valid,
         bool atomicAdd, Where where) {
        scatter_rows(tile, tensor, at, rows, rowsAt, StoreOptions{valid, atomicAdd}, where);
      }));
  list.push_back(operation("prefetch", "A hint that this tile will be loaded soon.",
                           {"tensor", "at", "shape"},
                           [](TensorRef tensor, Indices at, Shape shape, Where where) {
                             prefetch(tensor, at, shape, where);
                           }));
  list.push_back(operation(
      "slice", "A box of a tensor, by reference: offsets and sizes, one per axis.",
      {"tensor", "offsets", "sizes", "drop?"},
      [](TensorRef tensor, Indices offsets, Indices sizes, std::vector<int64_t> drop, Where where) {
        return slice(tensor, offsets, sizes, SliceOptions{drop}, where);
      }));
  list.push_back(operation("tensor.transpose",
                           "The axes of a tensor in another order, by reference.",
                           {"tensor", "permutation"},
                           [](TensorRef tensor, std::vector<int64_t> permutation, Where where) {
                             return transpose(tensor, permutation, where);
                           }));
  list.push_back(operation("tensor.reshape", "A contiguous tensor in another shape, by reference.",
                           {"tensor", "extents"},
                           [](TensorRef tensor, Indices extents, Where where) {
                             return reshape(tensor, extents, where);
                           }));
  list.push_back(operation("require", "What must hold of the arguments of this function.",
                           {"condition", "message"},
                           [](Cond condition, std::string message, Where where) {
                             require(condition, message, where);
                           }));
  list.push_back(operation("dump", "Marks a tensor for the argument dump (levels 1 and 3).",
                           {"tensor"}, [](TensorRef tensor, Where where) { dump(tensor, where); }));
}

static void addTiles(std::vector<Operation> &list) {
  list.push_back(operation("full", "A tile of one number.", {"dtype", "shape", "value"},
                           [](DType type, Shape shape, double value, Where where) {
                             return full(type, shape, value, where);
                           }));
  list.push_back(operation("iota", "Each element is its index along an axis.",
                           {"dtype", "shape", "axis"},
                           [](DType type, Shape shape, int64_t axis, Where where) {
                             return iota(type, shape, int(axis), where);
                           }));
  list.push_back(operation(
      "random",
      "Random bits (i32) or numbers uniform in [0, 1) (f32), of a key (i64) and a counter.",
      {"dtype", "shape", "key", "counter"},
      [](DType type, Shape shape, AnyNumber key, Index counter, Where where) {
        if (key.isNumber || key.type != DType::I64)
          throw BadArgument("takes a key that is a scalar of i64");
        return random(type, shape, Scalar<i64>::of(key.value), counter, where);
      }));
  auto flags = [](bool a, bool b) { return MatmulFlags((a ? trans_a : 0) | (b ? trans_b : 0)); };
  list.push_back(operation("matmul", "The product of two tiles, either of them transposed.",
                           {"a", "b", "trans_a?", "trans_b?"},
                           [flags](Tile a, Tile b, bool transA, bool transB, Where where) {
                             return matmul(a, b, flags(transA, transB), where);
                           }));
  list.push_back(operation(
      "matmul_acc", "acc + the product of two tiles.", {"acc", "a", "b", "trans_a?", "trans_b?"},
      [flags](Tile acc, Tile a, Tile b, bool transA, bool transB, Where where) {
        return matmul_acc(acc, a, b, flags(transA, transB), where);
      }));
#include "kiln/Dialect/Tile/Elementwise/Record.inc"
#define KILN_COMPARISON(name, summary, sign)                                                       \
  list.push_back(operation(name, summary, {"lhs", "rhs"},                                          \
                           [](TileOperand lhs, TileOperand rhs) { return lhs sign rhs; }));
  KILN_COMPARISON("lt", "lhs < rhs, as a tile of i1", <)
  KILN_COMPARISON("le", "lhs <= rhs, as a tile of i1", <=)
  KILN_COMPARISON("gt", "lhs > rhs, as a tile of i1", >)
  KILN_COMPARISON("ge", "lhs >= rhs, as a tile of i1", >=)
  KILN_COMPARISON("eq", "lhs == rhs, as a tile of i1", ==)
  KILN_COMPARISON("ne", "lhs != rhs, as a tile of i1", !=)
#undef KILN_COMPARISON
  list.push_back(operation(
      "where", "Where the condition holds the first, elsewhere the second.",
      {"condition", "a", "b"},
      [](Tile condition, TileOperand a, TileOperand b) { return where(condition, a, b); }));
#define KILN_REDUCTION(function, summary)                                                          \
  list.push_back(operation(#function, summary, {"x", "axis"}, [](Tile x, int64_t axis, Where w) {  \
    return function(x, int(axis), w);                                                              \
  }));
  KILN_REDUCTION(reduce_sum, "Sums along axis 0 (rows become one) or 1 (columns become one).")
  KILN_REDUCTION(reduce_max, "The largest along an axis.")
  KILN_REDUCTION(reduce_min, "The smallest along an axis.")
  KILN_REDUCTION(reduce_prod, "Products along an axis.")
  KILN_REDUCTION(argmax, "The i32 index of the largest element; the first of equal ones.")
  KILN_REDUCTION(argmin, "The i32 index of the smallest element; the first of equal ones.")
#undef KILN_REDUCTION
  list.push_back(
      operation("scan", "Running sums, products, maxima or minima along an axis.",
                {"x", "axis", "combine?", "exclusive?", "reverse?"},
                [](Tile x, int64_t axis, Combine how, bool exclusive, bool reverse, Where where) {
                  return scan(x, int(axis), how, ScanOptions{exclusive, reverse}, where);
                }));
}

static void addRearranging(std::vector<Operation> &list) {
  list.push_back(operation("mask", "Replaces the elements outside the first rows and columns.",
                           {"x", "rows", "cols", "pad?"},
                           [](Tile x, Index rows, Index cols, Pad pad, Where where) {
                             return mask(x, rows, cols, pad, where);
                           }));
  list.push_back(operation(
      "mask_diag",
      "Keeps the elements with column <= row + offset; the others become the pad value.",
      {"x", "offset", "pad?"},
      [](Tile x, Index offset, Pad pad, Where where) { return mask_diag(x, offset, pad, where); }));
  list.push_back(
      operation("gather", "x[index[r, c], c] along axis 0, x[r, index[r, c]] along axis 1.",
                {"x", "index", "axis"}, [](Tile x, Tile index, int64_t axis, Where where) {
                  return gather(x, index, int(axis), where);
                }));
  list.push_back(operation(
      "sort_rows", "Rows in order, and the i32 column each element had. Stable; NaN comes last.",
      {"x", "order?"},
      [](Tile x, Order order, Where where) { return sort_rows(x, order, where); }));
  list.push_back(operation(
      "topk_rows", "The k largest elements of each row, the largest first, and their columns.",
      {"x", "k"}, [](Tile x, int64_t k, Where where) { return topk_rows(x, k, where); }));
  list.push_back(operation("tile.transpose", "Rows become columns.", {"x"},
                           [](Tile x, Where where) { return transpose(x, where); }));
  list.push_back(
      operation("tile.reshape", "The same elements, row by row, in another shape.", {"x", "shape"},
                [](Tile x, Shape shape, Where where) { return reshape(x, shape, where); }));
  list.push_back(operation("extract", "A box of a tile.", {"x", "row", "col", "shape"},
                           [](Tile x, Index row, Index col, Shape shape, Where where) {
                             return extract(x, row, col, shape, where);
                           }));
  list.push_back(operation("insert", "`into` with a box of it replaced by x.",
                           {"x", "into", "row", "col"},
                           [](Tile x, Tile into, Index row, Index col, Where where) {
                             return insert(x, into, row, col, where);
                           }));
  list.push_back(operation("concat", "Tiles one after the other along an axis.", {"tiles", "axis"},
                           [](std::vector<Tile> tiles, int64_t axis, Where where) {
                             return concat(tiles, int(axis), where);
                           }));
  list.push_back(operation("tile.cast", "A tile as another element type.", {"x", "dtype"},
                           [](Tile x, DType type, Where where) { return cast(x, type, where); }));
}

static void addRoles(std::vector<Operation> &list) {
  list.push_back(operation("block_idx", "The block of the launch, along a dimension of its grid.",
                           {"dim?"},
                           [](int64_t dim, Where where) { return blockIdx(int(dim), where); }));
  list.push_back(operation("block_count", "How many blocks the launch has along a dimension.",
                           {"dim?"},
                           [](int64_t dim, Where where) { return blockCount(int(dim), where); }));
  list.push_back(
      operation("lane", "The lane of the role.", {}, [](Where where) { return lane(where); }));
  list.push_back(operation(
      "barrier", "Waits until every block of the launch has got here; the launch needs sync_start.",
      {}, [](Where where) { barrier(where); }));
  list.push_back(operation(
      "pipe",
      "A pipe from one role to another. Several tiles travel together; none make it a token.",
      {"name", "from", "to", "payload", "split?", "slots?"},
      [](std::string name, CoreRole from, CoreRole to, std::vector<PipeTile> payload, Split split,
         int64_t slots,
         Where where) { return pipe(name, from, to, payload, PipeOptions{split, slots}, where); }));
  list.push_back(operation(
      "push",
      "Puts tiles into a pipe; waits for a free slot. With a split, a lane pushes its own part.",
      {"pipe", "tiles"},
      [](Pipe to, std::vector<Tile> tiles, Where where) { push(to, tiles, where); }));
  list.push_back(operation("pop", "Takes the oldest tile out of a pipe; waits for a full slot.",
                           {"pipe"}, [](Pipe from, Where where) { return pop(from, where); }));
  list.push_back(operation("pop_all",
                           "The same for a pipe in which several tiles travel together, or none.",
                           {"pipe"}, [](Pipe from, Where where) { return pop_all(from, where); }));
  list.push_back(operation("free",
                           "Releases the oldest popped slot; with none the compiler places them.",
                           {"pipe"}, [](Pipe of, Where where) { free(of, where); }));
}

static void addLaunches(std::vector<Operation> &list) {
  list.push_back(operation("alloc", "An intermediate tensor; lives to the end of its block.",
                           {"name", "dtype", "extents"},
                           [](std::string name, DType type, Indices extents, Where where) {
                             return alloc(name, type, extents, where);
                           }));
  list.push_back(
      operation("submit", "Launches a kernel or group.",
                {"kernel", "arguments", "grid?", "deps?", "sync_start?", "predicate?"},
                [](Recorder &recorder, KernelName kernel, std::vector<LaunchArg> arguments,
                   Indices grid, std::vector<TaskRef> deps, bool syncStart,
                   std::optional<ElementTest> predicate, Where where) {
                  return submit(recorder.kernelOf(kernel.name), arguments,
                                SubmitOptions{grid, deps, syncStart, predicate}, where);
                }));
  list.push_back(
      operation("join", "A task that does nothing but wait for others.", {"tasks"},
                [](std::vector<TaskRef> tasks, Where where) { return join(tasks, where); }));
}

static std::vector<Operation> makeOperations() {
  std::vector<Operation> list;
  addIndices(list);
  addScalars(list);
  addTensors(list);
  addTiles(list);
  addRearranging(list);
  addRoles(list);
  addLaunches(list);
  addFrameOperations(list);
  return list;
}

const std::vector<Operation> &operations() {
  static const std::vector<Operation> list = makeOperations();
  return list;
}

} // namespace kiln::record
