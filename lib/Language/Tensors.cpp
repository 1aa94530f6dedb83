//===- Tensors.cpp - recording allocations, views and accesses to memory ---------===//
#include "Record/Items.h"

using namespace mlir;

namespace kiln::record {

Index dim(const TensorRef &of, int64_t axis) {
  Tracer *tracer = Tracer::current("dim");
  Value tensor = tracer ? tracer->use(of.value(), "tensor") : Value();
  if (!tensor)
    return 0;
  auto type = cast<ir::TensorType>(tensor.getType());
  if (axis < 0 || axis >= type.getRank()) {
    tracer->error("dim(" + std::to_string(axis) + ") of a tensor of rank " +
                  std::to_string(type.getRank()));
    return 0;
  }
  if (!type.isDynamicDim(axis))
    return type.getShape()[axis];
  return Index::of(
      Value(ir::DimOp::create(tracer->builder, tracer->loc(), tensor, axis)).getAsOpaquePointer());
}

//===----------------------------------------------------------------------===//
// Allocations and views
//===----------------------------------------------------------------------===//

static TensorRef alloc(const std::string &name, DType type, const Indices &extents) {
  TensorRef failed = TensorRef(nullptr, type, int(extents.size()), Access::InOut);
  Tracer *tracer = Tracer::inOrchestration("alloc");
  if (!tracer)
    return failed;
  if (extents.empty() || extents.size() > size_t(ir::kMaxRank)) {
    tracer->error("alloc of rank " + std::to_string(extents.size()) + "; a tensor has rank 1 to 5");
    return failed;
  }
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  if (!tracer->mixed(extents, shape, sizes))
    return failed;
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 0) {
      tracer->error("alloc with the negative extent " + std::to_string(extent));
      return failed;
    }
  DiagnosticCollector collector(&tracer->context, tracer->errors);
  auto tensor = ir::TensorType::getChecked([&] { return mlir::emitError(tracer->loc()); },
                                           &tracer->context, ArrayRef<int64_t>(shape),
                                           tracer->typeOf(type), ArrayRef<int64_t>());
  if (!tensor)
    return failed;
  auto op = ir::AllocOp::create(tracer->builder, tracer->loc(), tensor, sizes,
                                tracer->builder.getStringAttr(name));
  return TensorRef(Value(op).getAsOpaquePointer(), type, int(extents.size()), Access::InOut);
}

/// A view of `tensor`, with what is known of it.
static TensorRef viewOf(const TensorRef &tensor, Value view) {
  auto type = cast<ir::TensorType>(view.getType());
  return TensorRef(view.getAsOpaquePointer(), tensor.dtype(), int(type.getRank()), tensor.access());
}

/// Extents given by the user, as a type and its run-time values; null if a mistake was reported.
static ir::TensorType shapeOf(Tracer *tracer, const char *what, DType type, const Indices &extents,
                              SmallVectorImpl<int64_t> &shape, SmallVectorImpl<Value> &values) {
  if (!tracer->mixed(extents, shape, values))
    return {};
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 0) {
      tracer->error(std::string(what) + " with the negative extent " + std::to_string(extent));
      return {};
    }
  DiagnosticCollector collector(&tracer->context, tracer->errors);
  return ir::TensorType::getChecked([&] { return mlir::emitError(tracer->loc()); },
                                    &tracer->context, ArrayRef<int64_t>(shape),
                                    tracer->typeOf(type), ArrayRef<int64_t>());
}

static TensorRef slice(const TensorRef &tensor, const Indices &offsets, const Indices &sizes,
                       const std::vector<int64_t> &drop) {
  TensorRef failed =
      TensorRef(nullptr, tensor.dtype(), tensor.rank() - int(drop.size()), tensor.access());
  Tracer *tracer = Tracer::current("slice");
  Value from = tracer ? tracer->use(tensor.value(), "tensor") : Value();
  if (!from)
    return failed;
  if (int(offsets.size()) != tensor.rank() || int(sizes.size()) != tensor.rank()) {
    tracer->error("slice of a tensor of rank " + std::to_string(tensor.rank()) +
                  " takes one offset and one size per axis");
    return failed;
  }
  SmallVector<int64_t> at, extents, kept;
  SmallVector<Value> atValues, extentValues;
  if (!tracer->mixed(offsets, at, atValues) ||
      !shapeOf(tracer, "slice", tensor.dtype(), sizes, extents, extentValues))
    return failed;
  for (auto [axis, extent] : llvm::enumerate(extents))
    if (!llvm::is_contained(drop, int64_t(axis)))
      kept.push_back(extent);
  if (kept.empty()) {
    tracer->error("slice drops every axis; for one element use read or get");
    return failed;
  }
  OpBuilder &builder = tracer->builder;
  return viewOf(
      tensor, ir::SliceOp::create(
                  builder, tracer->loc(), ir::TensorType::get(kept, tracer->typeOf(tensor.dtype())),
                  from, atValues, extentValues, builder.getDenseI64ArrayAttr(at),
                  builder.getDenseI64ArrayAttr(extents), builder.getDenseI64ArrayAttr(drop)));
}

static TensorRef transpose(const TensorRef &tensor, const std::vector<int64_t> &permutation) {
  Tracer *tracer = Tracer::current("transpose");
  Value from = tracer ? tracer->use(tensor.value(), "tensor") : Value();
  if (!from)
    return tensor;
  std::vector<int64_t> sorted = permutation;
  llvm::sort(sorted);
  if (int(sorted.size()) != tensor.rank() ||
      !llvm::equal(sorted, llvm::seq<int64_t>(sorted.size()))) {
    tracer->error("transpose of a tensor of rank " + std::to_string(tensor.rank()) +
                  " takes each of its axes once");
    return TensorRef(nullptr, tensor.dtype(), tensor.rank(), tensor.access());
  }
  SmallVector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(cast<ir::TensorType>(from.getType()).getShape()[axis]);
  return viewOf(tensor,
                ir::TransposeOp::create(tracer->builder, tracer->loc(),
                                        ir::TensorType::get(shape, tracer->typeOf(tensor.dtype())),
                                        from, permutation));
}

static TensorRef reshape(const TensorRef &tensor, const Indices &extents) {
  TensorRef failed = TensorRef(nullptr, tensor.dtype(), int(extents.size()), tensor.access());
  Tracer *tracer = Tracer::current("reshape");
  Value from = tracer ? tracer->use(tensor.value(), "tensor") : Value();
  SmallVector<int64_t> shape;
  SmallVector<Value> values;
  ir::TensorType type =
      from ? shapeOf(tracer, "reshape", tensor.dtype(), extents, shape, values) : ir::TensorType();
  if (!type)
    return failed;
  return viewOf(tensor, ir::ReshapeOp::create(tracer->builder, tracer->loc(), type, from, values,
                                              tracer->builder.getDenseI64ArrayAttr(shape)));
}

static void require(Cond condition, const std::string &message) {
  Tracer *tracer = Tracer::current("require");
  if (!tracer)
    return;
  if (tracer->isIn({ir::FuncKind::Role}))
    return tracer->error("require belongs to the group, of which this role is a part, or to "
                         "whatever launches it");
  if (Value value = tracer->use(condition.value, "condition"))
    ir::RequireOp::create(tracer->builder, tracer->loc(), value, message);
}

static void requireKnown(bool condition, const std::string &message) {
  Tracer *tracer = Tracer::current("require");
  if (tracer && !condition)
    tracer->error("required, and does not hold: " + message);
}

static void dump(const TensorRef &tensor) {
  Tracer *tracer = Tracer::current("dump");
  if (Value value = tracer ? tracer->use(tensor.value(), "tensor") : Value())
    ir::DumpOp::create(tracer->builder, tracer->loc(), value);
}

//===----------------------------------------------------------------------===//
// Tiles of tensors
//===----------------------------------------------------------------------===//

/// The operands of `at` and `valid` in the form the ops take; false if a mistake was reported.
struct AccessIndices {
  SmallVector<int64_t> at, valid;
  SmallVector<Value> atValues, validValues;
  bool collect(Tracer *tracer, const TensorRef &tensor, const Indices &indices,
               const Indices &validExtents) {
    if (int(indices.size()) != tensor.rank()) {
      tracer->error("a tensor of rank " + std::to_string(tensor.rank()) +
                    " takes one index per axis, not " + std::to_string(indices.size()));
      return false;
    }
    if (!validExtents.empty() && validExtents.size() != 2) {
      tracer->error("valid takes rows and columns");
      return false;
    }
    return tracer->mixed(indices, at, atValues) && tracer->mixed(validExtents, valid, validValues);
  }
  DenseI64ArrayAttr validAttr(Tracer *tracer) const {
    return valid.empty() ? DenseI64ArrayAttr() : tracer->builder.getDenseI64ArrayAttr(valid);
  }
};

static DenseI64ArrayAttr arrayAttr(Tracer *tracer, ArrayRef<int64_t> values) {
  return tracer->builder.getDenseI64ArrayAttr(values);
}

/// The tile, if it can be written into this tensor.
static Value useForStore(Tracer *tracer, const char *what, const Tile &tile,
                         const TensorRef &tensor) {
  if (tensor.access() == Access::In) {
    tracer->error(std::string(what) + " into an In tensor; make the parameter Out or InOut");
    return {};
  }
  if (tile.dtype() != tensor.dtype()) {
    tracer->error(std::string(what) + " of a tile of " + toString(tile.dtype()) +
                  " into a tensor of " + toString(tensor.dtype()) + "; cast<" +
                  toString(tensor.dtype()) + ">(...) it first");
    return {};
  }
  return tracer->use(tile.value(), "tile");
}

static tile::AtomicKindAttr atomicAttr(Tracer *tracer, const StoreOptions &options) {
  return options.atomicAdd ? tile::AtomicKindAttr::get(&tracer->context, tile::AtomicKind::Add)
                           : tile::AtomicKindAttr();
}

static Tile load(const TensorRef &tensor, const Indices &at, Shape shape,
                 const LoadOptions &options) {
  Tile failed = Tracer::poison(tensor.dtype(), shape.rows, shape.cols);
  Tracer *tracer = Tracer::inKernel("load");
  Value from = tracer ? tracer->use(tensor.value(), "tensor") : Value();
  AccessIndices indices;
  if (!from || !tracer->checkShape(shape) || !indices.collect(tracer, tensor, at, options.valid))
    return failed;
  auto op = tile::LoadOp::create(
      tracer->builder, tracer->loc(), tracer->tileType(tensor.dtype(), shape.rows, shape.cols),
      from, indices.atValues, arrayAttr(tracer, indices.at), indices.validValues,
      indices.validAttr(tracer), tracer->padAttr(options.pad), options.outside);
  return tracer->handle(op);
}

static void store(const Tile &tile, const TensorRef &tensor, const Indices &at,
                  const StoreOptions &options) {
  Tracer *tracer = Tracer::inKernel("store");
  Value value = tracer ? useForStore(tracer, "store", tile, tensor) : Value();
  Value to = value ? tracer->use(tensor.value(), "tensor") : Value();
  AccessIndices indices;
  if (!to || !indices.collect(tracer, tensor, at, options.valid))
    return;
  tile::StoreOp::create(tracer->builder, tracer->loc(), value, to, indices.atValues,
                        arrayAttr(tracer, indices.at), indices.validValues,
                        indices.validAttr(tracer), atomicAttr(tracer, options));
}

/// Moves an access of a whole tile to the part that a lane has: its indices, and the rows and
/// columns that count. Whether the part may miss the tensor, which the whole tile may only hang
/// over.
static bool moveToPart(const TensorRef &tensor, const Part &mine, Indices &at, Indices &valid) {
  auto isZero = [](Index index) { return index.isConstant() && index.constant() == 0; };
  bool byRows = !isZero(mine.row);
  if ((!byRows && isZero(mine.col)) || int(at.size()) != tensor.rank()) // which the access reports
    return false;
  Index start = byRows ? mine.row : mine.col;
  Index &index = at[tensor.rank() == 1 ? 0 : tensor.rank() - (byRows ? 2 : 1)];
  Index end = dim(tensor, &index - at.data()), whole = index;
  index = isZero(whole) ? start : add(whole, start);
  if (valid.size() == 2) {
    Index &count = valid[byRows ? 0 : 1];
    count = max(subtract(count, start), 0);
  }
  int64_t extent = byRows ? mine.whole.rows : mine.whole.cols;
  return !whole.isConstant() || !end.isConstant() || whole.constant() < 0 ||
         whole.constant() > end.constant() - extent;
}

static Tile loadPart(const TensorRef &tensor, Indices at, const Part &mine, LoadOptions options) {
  options.outside |= moveToPart(tensor, mine, at, options.valid);
  return load(tensor, at, mine.shape, options);
}

static void storePart(const Tile &tile, const TensorRef &tensor, Indices at, const Part &mine,
                      StoreOptions options) {
  if (moveToPart(tensor, mine, at, options.valid)) {
    // Nothing counts of a part that begins behind the end.
    if (options.valid.empty())
      options.valid = {mine.shape.rows, mine.shape.cols};
    size_t axis = mine.shape.rows == mine.whole.rows ? 1 : 0;
    size_t along = tensor.rank() == 1 ? 0 : tensor.rank() - 2 + axis;
    Index left = subtract(dim(tensor, int64_t(along)), at[along]);
    options.valid[axis] = max(min(options.valid[axis], left), 0);
  }
  store(tile, tensor, at, options);
}

/// What a gather or scatter adds: the tensor of row numbers and where in it to begin.
struct RowNumbers {
  Value tensor;
  SmallVector<int64_t> at;
  SmallVector<Value> atValues;
  bool collect(Tracer *tracer, const TensorRef &rows, const Indices &indices) {
    tensor = tracer->use(rows.value(), "tensor");
    if (int(indices.size()) == rows.rank())
      return tensor && tracer->mixed(indices, at, atValues);
    tracer->error("row numbers of rank " + std::to_string(rows.rank()) +
                  " take one index per axis, not " + std::to_string(indices.size()));
    return false;
  }
};

static Tile gatherRows(const TensorRef &tensor, const Indices &at, const TensorRef &rows,
                       const Indices &rowsAt, Shape shape, const LoadOptions &options) {
  Tile failed = Tracer::poison(tensor.dtype(), shape.rows, shape.cols);
  Tracer *tracer = Tracer::inKernel("gather_rows");
  Value from = tracer ? tracer->use(tensor.value(), "tensor") : Value();
  AccessIndices indices;
  RowNumbers numbers;
  if (from && options.outside) {
    tracer->error("gather_rows takes no .outside: rows that are not there are the pad "
                  "already, and columns must be there");
    return failed;
  }
  if (!from || !tracer->checkShape(shape) || !indices.collect(tracer, tensor, at, options.valid) ||
      !numbers.collect(tracer, rows, rowsAt))
    return failed;
  return tracer->handle(tile::GatherRowsOp::create(
      tracer->builder, tracer->loc(), tracer->tileType(tensor.dtype(), shape.rows, shape.cols),
      from, indices.atValues, arrayAttr(tracer, indices.at), numbers.tensor, numbers.atValues,
      arrayAttr(tracer, numbers.at), indices.validValues, indices.validAttr(tracer),
      tracer->padAttr(options.pad)));
}

static void scatterRows(const Tile &tile, const TensorRef &tensor, const Indices &at,
                        const TensorRef &rows, const Indices &rowsAt, const StoreOptions &options) {
  Tracer *tracer = Tracer::inKernel("scatter_rows");
  Value value = tracer ? useForStore(tracer, "scatter_rows", tile, tensor) : Value();
  AccessIndices indices;
  RowNumbers numbers;
  Value to = value ? tracer->use(tensor.value(), "tensor") : Value();
  if (!to || !indices.collect(tracer, tensor, at, options.valid) ||
      !numbers.collect(tracer, rows, rowsAt))
    return;
  tile::ScatterRowsOp::create(tracer->builder, tracer->loc(), value, to, indices.atValues,
                              arrayAttr(tracer, indices.at), numbers.tensor, numbers.atValues,
                              arrayAttr(tracer, numbers.at), indices.validValues,
                              indices.validAttr(tracer), atomicAttr(tracer, options));
}

static void prefetch(const TensorRef &tensor, const Indices &at, Shape shape) {
  Tracer *tracer = Tracer::inKernel("prefetch");
  Value from = tracer ? tracer->use(tensor.value(), "tensor") : Value();
  AccessIndices indices;
  if (from && tracer->checkShape(shape) && indices.collect(tracer, tensor, at, {}))
    tile::PrefetchOp::create(tracer->builder, tracer->loc(), from, indices.atValues,
                             arrayAttr(tracer, indices.at), shape.rows, shape.cols);
}

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

/// An element of a tensor of this type; false if a mistake was reported.
struct ElementAccess {
  Value tensor;
  SmallVector<int64_t> at;
  SmallVector<Value> atValues;
  bool collect(Tracer *tracer, const char *what, const TensorRef &from, const Indices &indices,
               DType type) {
    tensor = tracer->use(from.value(), "tensor");
    if (!tensor)
      return false;
    if (int(indices.size()) != from.rank()) {
      tracer->error(std::string(what) + " of a tensor of rank " + std::to_string(from.rank()) +
                    " takes one index per axis, not " + std::to_string(indices.size()));
      return false;
    }
    if (type != from.dtype()) {
      tracer->error(std::string(what) + "<" + toString(type) + "> of a tensor of " +
                    toString(from.dtype()));
      return false;
    }
    return tracer->mixed(indices, at, atValues);
  }
};

/// `wanted` is the type that the program takes the element for.
template <typename Op>
static Scalar readWith(Tracer *tracer, const char *what, const TensorRef &tensor, const Indices &at,
                       std::optional<DType> wanted) {
  DType type = wanted.value_or(tensor.dtype());
  ElementAccess access;
  if (!tracer || !access.collect(tracer, what, tensor, at, type))
    return {nullptr, type};
  Value made = Op::create(tracer->builder, tracer->loc(), tracer->typeOf(type), access.tensor,
                          access.atValues, tracer->builder.getDenseI64ArrayAttr(access.at));
  return {made.getAsOpaquePointer(), type};
}

static Scalar read(const TensorRef &tensor, const Indices &at, std::optional<DType> wanted) {
  return readWith<ir::ReadOp>(Tracer::inKernel("read"), "read", tensor, at, wanted);
}
static Scalar get(const TensorRef &tensor, const Indices &at, std::optional<DType> wanted) {
  return readWith<ir::GetOp>(Tracer::inOrchestration("get"), "get", tensor, at, wanted);
}

static void write(const Number &value, const TensorRef &tensor, const Indices &at,
                  std::optional<DType> wanted) {
  Tracer *tracer = Tracer::inKernel("write");
  if (!tracer)
    return;
  if (tensor.access() == Access::In)
    return tracer->error("write into an In tensor; make the parameter Out or InOut");
  DType type = wanted.value_or(value.isNumber ? tensor.dtype() : value.type);
  ElementAccess access;
  Value scalar = tracer->use(value, type);
  if (scalar && access.collect(tracer, "write", tensor, at, type))
    ir::WriteOp::create(tracer->builder, tracer->loc(), scalar, access.tensor, access.atValues,
                        tracer->builder.getDenseI64ArrayAttr(access.at));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static void addAccesses(std::vector<RecordedOp> &list) {
  list.push_back(operation(
      "load", "Reads a tile at these indices, one per axis; the tile covers the trailing two.",
      {"tensor", "at", "shape", "pad?", "valid?", "outside?"},
      [](const TensorRef &tensor, const Indices &at, Shape shape, Pad pad, const Indices &valid,
         bool outside) { return load(tensor, at, shape, {pad, valid, outside}); }));
  list.push_back(operation("store", "Writes the elements of a tile that lie inside the tensor.",
                           {"tile", "tensor", "at", "valid?", "atomic_add?"},
                           [](const Tile &tile, const TensorRef &tensor, const Indices &at,
                              const Indices &valid,
                              bool atomicAdd) { store(tile, tensor, at, {valid, atomicAdd}); }));
  list.push_back(operation(
      "load_part",
      "Reads the part that this lane has of a tile; `at` and `valid` are those of the whole.",
      {"tensor", "at", "part", "pad?", "valid?", "outside?"},
      [](const TensorRef &tensor, const Indices &at, const Part &mine, Pad pad,
         const Indices &valid,
         bool outside) { return loadPart(tensor, at, mine, {pad, valid, outside}); }));
  list.push_back(operation(
      "store_part",
      "Writes the part that this lane has of a tile; `at` and `valid` are those of the whole.",
      {"tile", "tensor", "at", "part", "valid?", "atomic_add?"},
      [](const Tile &tile, const TensorRef &tensor, const Indices &at, const Part &mine,
         const Indices &valid,
         bool atomicAdd) { storePart(tile, tensor, at, mine, {valid, atomicAdd}); }));
  list.push_back(operation(
      "gather_rows",
      "Reads a tile whose row r is row at + rows[rows_at + r] of the tensor; where there is no "
      "such row, the pad value.",
      {"tensor", "at", "rows", "rows_at", "shape", "pad?", "valid?", "outside?"},
      [](const TensorRef &tensor, const Indices &at, const TensorRef &rows, const Indices &rowsAt,
         Shape shape, Pad pad, const Indices &valid, bool outside) {
        return gatherRows(tensor, at, rows, rowsAt, shape, {pad, valid, outside});
      }));
  list.push_back(operation(
      "scatter_rows", "Writes the rows of a tile where gather_rows would read them.",
      {"tile", "tensor", "at", "rows", "rows_at", "valid?", "atomic_add?"},
      [](const Tile &tile, const TensorRef &tensor, const Indices &at, const TensorRef &rows,
         const Indices &rowsAt, const Indices &valid,
         bool atomicAdd) { scatterRows(tile, tensor, at, rows, rowsAt, {valid, atomicAdd}); }));
  list.push_back(operation("prefetch", "A hint that this tile will be loaded soon.",
                           {"tensor", "at", "shape"}, prefetch));
  list.push_back(operation("read", "Reads one element of a tensor in a kernel.",
                           {"tensor", "at", "dtype?"}, read));
  list.push_back(operation(
      "get", "Reads one element in an orchestration; waits for the tasks that produce it.",
      {"tensor", "at", "dtype?"}, get));
  list.push_back(operation("write", "Writes one element of a tensor in a kernel.",
                           {"value", "tensor", "at", "dtype?"}, write));
}

void addTensorOperations(std::vector<RecordedOp> &list) {
  list.push_back(operation("dim", "The extent of an axis.", {"tensor", "axis"}, dim));
  list.push_back(operation("alloc", "An intermediate tensor; lives to the end of its block.",
                           {"name", "dtype", "extents"}, alloc));
  list.push_back(operation("slice",
                           "A box of a tensor, by reference: offsets and sizes, one per axis.",
                           {"tensor", "offsets", "sizes", "drop?"}, slice));
  list.push_back(operation("tensor.transpose",
                           "The axes of a tensor in another order, by reference.",
                           {"tensor", "permutation"}, transpose));
  list.push_back(operation("tensor.reshape", "A contiguous tensor in another shape, by reference.",
                           {"tensor", "extents"}, reshape));
  list.push_back(operation("require", "What must hold of the arguments of this function.",
                           {"condition", "message"}, require));
  list.push_back(operation("require.known", "What must hold, and is known while recording.",
                           {"condition", "message"}, requireKnown));
  list.push_back(operation("dump", "Marks a tensor for the argument dump (levels 1 and 3).",
                           {"tensor"}, dump));
  addAccesses(list);
}

} // namespace kiln::record
