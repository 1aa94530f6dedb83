//===- Tensors.cpp - recording allocations, views and accesses to memory ---------===//
#include "Tracer.h"

using namespace mlir;

namespace kiln {

Index TensorRef::dim(int axis, Where where) const {
  ProgramImpl *tracer = ProgramImpl::current("dim", where);
  Value tensor = tracer ? tracer->use(value(), "tensor", where) : Value();
  if (!tensor)
    return 0;
  auto type = cast<ir::TensorType>(tensor.getType());
  if (axis < 0 || axis >= type.getRank()) {
    tracer->error(where, "dim(" + std::to_string(axis) + ") of a tensor of rank " +
                             std::to_string(type.getRank()));
    return 0;
  }
  if (!type.isDynamicDim(axis))
    return type.getShape()[axis];
  return Index::of(Value(ir::DimOp::create(tracer->builder, tracer->loc(where), tensor, axis))
                       .getAsOpaquePointer());
}

//===----------------------------------------------------------------------===//
// Allocations and views
//===----------------------------------------------------------------------===//

TensorRef alloc(const std::string &name, DType type, std::vector<Index> extents, Where where) {
  TensorRef failed = TensorRef::of(nullptr, type, int(extents.size()), Access::InOut);
  ProgramImpl *tracer = ProgramImpl::inOrchestration("alloc", where);
  if (!tracer)
    return failed;
  if (extents.empty() || extents.size() > size_t(ir::kMaxRank)) {
    tracer->error(where,
                  "alloc of rank " + std::to_string(extents.size()) + "; a tensor has rank 1 to 5");
    return failed;
  }
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  if (!tracer->mixed(extents, where, shape, sizes))
    return failed;
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 0) {
      tracer->error(where, "alloc with the negative extent " + std::to_string(extent));
      return failed;
    }
  DiagnosticCollector collector(&tracer->context, tracer->errors);
  auto tensor = ir::TensorType::getChecked([&] { return mlir::emitError(tracer->loc(where)); },
                                           &tracer->context, ArrayRef<int64_t>(shape),
                                           tracer->typeOf(type), ArrayRef<int64_t>());
  if (!tensor)
    return failed;
  auto op = ir::AllocOp::create(tracer->builder, tracer->loc(where), tensor, sizes,
                                tracer->builder.getStringAttr(name));
  return TensorRef::of(Value(op).getAsOpaquePointer(), type, int(extents.size()), Access::InOut);
}

/// A view of `tensor`, with what is known of it.
static TensorRef viewOf(const TensorRef &tensor, Value view) {
  auto type = cast<ir::TensorType>(view.getType());
  return TensorRef::of(view.getAsOpaquePointer(), tensor.dtype(), int(type.getRank()),
                       tensor.access());
}

/// Extents given by the user, as a type and its run-time values; null if a mistake was reported.
static ir::TensorType shapeOf(ProgramImpl *tracer, const char *what, DType type,
                              const std::vector<Index> &extents, SmallVectorImpl<int64_t> &shape,
                              SmallVectorImpl<Value> &values, Where where) {
  if (!tracer->mixed(extents, where, shape, values))
    return {};
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 0) {
      tracer->error(where,
                    std::string(what) + " with the negative extent " + std::to_string(extent));
      return {};
    }
  DiagnosticCollector collector(&tracer->context, tracer->errors);
  return ir::TensorType::getChecked([&] { return mlir::emitError(tracer->loc(where)); },
                                    &tracer->context, ArrayRef<int64_t>(shape),
                                    tracer->typeOf(type), ArrayRef<int64_t>());
}

TensorRef slice(const TensorRef &tensor, std::vector<Index> offsets, std::vector<Index> sizes,
                SliceOptions options, Where where) {
  TensorRef failed = TensorRef::of(nullptr, tensor.dtype(),
                                   tensor.rank() - int(options.drop.size()), tensor.access());
  ProgramImpl *tracer = ProgramImpl::current("slice", where);
  Value from = tracer ? tracer->use(tensor.value(), "tensor", where) : Value();
  if (!from)
    return failed;
  if (int(offsets.size()) != tensor.rank() || int(sizes.size()) != tensor.rank()) {
    tracer->error(where, "slice of a tensor of rank " + std::to_string(tensor.rank()) +
                             " takes one offset and one size per axis");
    return failed;
  }
  SmallVector<int64_t> at, extents, kept;
  SmallVector<Value> atValues, extentValues;
  if (!tracer->mixed(offsets, where, at, atValues) ||
      !shapeOf(tracer, "slice", tensor.dtype(), sizes, extents, extentValues, where))
    return failed;
  for (auto [axis, extent] : llvm::enumerate(extents))
    if (!llvm::is_contained(options.drop, int64_t(axis)))
      kept.push_back(extent);
  if (kept.empty()) {
    tracer->error(where, "slice drops every axis; for one element use read or get");
    return failed;
  }
  OpBuilder &builder = tracer->builder;
  return viewOf(tensor,
                ir::SliceOp::create(builder, tracer->loc(where),
                                    ir::TensorType::get(kept, tracer->typeOf(tensor.dtype())), from,
                                    atValues, extentValues, builder.getDenseI64ArrayAttr(at),
                                    builder.getDenseI64ArrayAttr(extents),
                                    builder.getDenseI64ArrayAttr(options.drop)));
}

TensorRef transpose(const TensorRef &tensor, std::vector<int64_t> permutation, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("transpose", where);
  Value from = tracer ? tracer->use(tensor.value(), "tensor", where) : Value();
  if (!from)
    return tensor;
  std::vector<int64_t> sorted = permutation;
  llvm::sort(sorted);
  if (int(sorted.size()) != tensor.rank() ||
      !llvm::equal(sorted, llvm::seq<int64_t>(sorted.size()))) {
    tracer->error(where, "transpose of a tensor of rank " + std::to_string(tensor.rank()) +
                             " takes each of its axes once");
    return TensorRef::of(nullptr, tensor.dtype(), tensor.rank(), tensor.access());
  }
  SmallVector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(cast<ir::TensorType>(from.getType()).getShape()[axis]);
  return viewOf(tensor,
                ir::TransposeOp::create(tracer->builder, tracer->loc(where),
                                        ir::TensorType::get(shape, tracer->typeOf(tensor.dtype())),
                                        from, permutation));
}

TensorRef reshape(const TensorRef &tensor, std::vector<Index> extents, Where where) {
  TensorRef failed = TensorRef::of(nullptr, tensor.dtype(), int(extents.size()), tensor.access());
  ProgramImpl *tracer = ProgramImpl::current("reshape", where);
  Value from = tracer ? tracer->use(tensor.value(), "tensor", where) : Value();
  SmallVector<int64_t> shape;
  SmallVector<Value> values;
  ir::TensorType type =
      from ? shapeOf(tracer, "reshape", tensor.dtype(), extents, shape, values, where)
           : ir::TensorType();
  if (!type)
    return failed;
  return viewOf(tensor, ir::ReshapeOp::create(tracer->builder, tracer->loc(where), type, from,
                                              values, tracer->builder.getDenseI64ArrayAttr(shape)));
}

void require(Cond condition, const std::string &message, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("require", where);
  if (!tracer)
    return;
  if (tracer->isIn({ir::FuncKind::Role}))
    return tracer->error(where, "require belongs to the group, of which this role is a part, or to "
                                "whatever launches it");
  if (Value value = tracer->use(condition.value(), "condition", where))
    ir::RequireOp::create(tracer->builder, tracer->loc(where), value, message);
}

void require(bool condition, const std::string &message, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("require", where);
  if (tracer && !condition)
    tracer->error(where, "required, and does not hold: " + message);
}

void dump(const TensorRef &tensor, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("dump", where);
  if (Value value = tracer ? tracer->use(tensor.value(), "tensor", where) : Value())
    ir::DumpOp::create(tracer->builder, tracer->loc(where), value);
}

//===----------------------------------------------------------------------===//
// Tiles of tensors
//===----------------------------------------------------------------------===//

/// The operands of `at` and `valid` in the form the ops take; false if a mistake was reported.
struct AccessIndices {
  SmallVector<int64_t> at, valid;
  SmallVector<Value> atValues, validValues;
  bool collect(ProgramImpl *tracer, const TensorRef &tensor, const std::vector<Index> &indices,
               const std::vector<Index> &validExtents, Where where) {
    if (int(indices.size()) != tensor.rank()) {
      tracer->error(where, "a tensor of rank " + std::to_string(tensor.rank()) +
                               " takes one index per axis, not " + std::to_string(indices.size()));
      return false;
    }
    if (!validExtents.empty() && validExtents.size() != 2) {
      tracer->error(where, "valid takes rows and columns");
      return false;
    }
    return tracer->mixed(indices, where, at, atValues) &&
           tracer->mixed(validExtents, where, valid, validValues);
  }
  DenseI64ArrayAttr validAttr(ProgramImpl *tracer) const {
    return valid.empty() ? DenseI64ArrayAttr() : tracer->builder.getDenseI64ArrayAttr(valid);
  }
};

static DenseI64ArrayAttr arrayAttr(ProgramImpl *tracer, ArrayRef<int64_t> values) {
  return tracer->builder.getDenseI64ArrayAttr(values);
}

/// The tile, if it can be written into this tensor.
static Value useForStore(ProgramImpl *tracer, const char *what, const Tile &tile,
                         const TensorRef &tensor, Where where) {
  if (tensor.access() == Access::In) {
    tracer->error(where, std::string(what) + " into an In tensor; make the parameter Out or InOut");
    return {};
  }
  if (tile.dtype() != tensor.dtype()) {
    tracer->error(where, std::string(what) + " of a tile of " + toString(tile.dtype()) +
                             " into a tensor of " + toString(tensor.dtype()) + "; cast<" +
                             toString(tensor.dtype()) + ">(...) it first");
    return {};
  }
  return tracer->use(tile.value(), "tile", where);
}

static tile::AtomicKindAttr atomicAttr(ProgramImpl *tracer, const StoreOptions &options) {
  return options.atomicAdd ? tile::AtomicKindAttr::get(&tracer->context, tile::AtomicKind::Add)
                           : tile::AtomicKindAttr();
}

Tile load(const TensorRef &tensor, std::vector<Index> at, Shape shape, LoadOptions options,
          Where where) {
  Tile failed = ProgramImpl::poison(tensor.dtype(), shape.rows, shape.cols);
  ProgramImpl *tracer = ProgramImpl::inKernel("load", where);
  Value from = tracer ? tracer->use(tensor.value(), "tensor", where) : Value();
  AccessIndices indices;
  if (!from || !tracer->checkShape(shape, where) ||
      !indices.collect(tracer, tensor, at, options.valid, where))
    return failed;
  auto op = tile::LoadOp::create(
      tracer->builder, tracer->loc(where), tracer->tileType(tensor.dtype(), shape.rows, shape.cols),
      from, indices.atValues, arrayAttr(tracer, indices.at), indices.validValues,
      indices.validAttr(tracer), tracer->padAttr(options.pad), options.outside);
  return tracer->handle(op);
}

void store(const Tile &tile, const TensorRef &tensor, std::vector<Index> at, StoreOptions options,
           Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("store", where);
  Value value = tracer ? useForStore(tracer, "store", tile, tensor, where) : Value();
  Value to = value ? tracer->use(tensor.value(), "tensor", where) : Value();
  AccessIndices indices;
  if (!to || !indices.collect(tracer, tensor, at, options.valid, where))
    return;
  tile::StoreOp::create(tracer->builder, tracer->loc(where), value, to, indices.atValues,
                        arrayAttr(tracer, indices.at), indices.validValues,
                        indices.validAttr(tracer), atomicAttr(tracer, options));
}

/// Moves an access of a whole tile to the part that a lane has: its indices, and the rows and
/// columns that count. Whether the part may miss the tensor, which the whole tile may only hang
/// over.
static bool moveToPart(const TensorRef &tensor, const Part &mine, std::vector<Index> &at,
                       std::vector<Index> &valid, Where where) {
  auto isZero = [](Index index) { return index.isConstant() && index.constant() == 0; };
  bool byRows = !isZero(mine.row);
  if ((!byRows && isZero(mine.col)) || int(at.size()) != tensor.rank()) // which the access reports
    return false;
  IndexOperand start(byRows ? mine.row : mine.col, where);
  Index &index = at[tensor.rank() == 1 ? 0 : tensor.rank() - (byRows ? 2 : 1)];
  Index end = tensor.dim(int(&index - at.data()), where), whole = index;
  index = isZero(whole) ? start.index : IndexOperand(whole, where) + start;
  if (valid.size() == 2) {
    Index &count = valid[byRows ? 0 : 1];
    count = max(IndexOperand(count, where) - start, IndexOperand(0, where));
  }
  int64_t extent = byRows ? mine.whole.rows : mine.whole.cols;
  return !whole.isConstant() || !end.isConstant() || whole.constant() < 0 ||
         whole.constant() > end.constant() - extent;
}

Tile load(const TensorRef &tensor, std::vector<Index> at, const Part &mine, LoadOptions options,
          Where where) {
  options.outside |= moveToPart(tensor, mine, at, options.valid, where);
  return load(tensor, std::move(at), mine.shape, std::move(options), where);
}

void store(const Tile &tile, const TensorRef &tensor, std::vector<Index> at, const Part &mine,
           StoreOptions options, Where where) {
  if (moveToPart(tensor, mine, at, options.valid, where)) {
    // Nothing counts of a part that begins behind the end.
    if (options.valid.empty())
      options.valid = {mine.shape.rows, mine.shape.cols};
    size_t axis = mine.shape.rows == mine.whole.rows ? 1 : 0;
    size_t along = tensor.rank() == 1 ? 0 : tensor.rank() - 2 + axis;
    Index left =
        IndexOperand(tensor.dim(int(along), where), where) - IndexOperand(at[along], where);
    options.valid[axis] = max(min(IndexOperand(options.valid[axis], where), left), 0);
  }
  store(tile, tensor, std::move(at), std::move(options), where);
}

/// What a gather or scatter adds: the tensor of row numbers and where in it to begin.
struct RowNumbers {
  Value tensor;
  SmallVector<int64_t> at;
  SmallVector<Value> atValues;
  bool collect(ProgramImpl *tracer, const TensorRef &rows, const std::vector<Index> &indices,
               Where where) {
    tensor = tracer->use(rows.value(), "tensor", where);
    if (int(indices.size()) == rows.rank())
      return tensor && tracer->mixed(indices, where, at, atValues);
    tracer->error(where, "row numbers of rank " + std::to_string(rows.rank()) +
                             " take one index per axis, not " + std::to_string(indices.size()));
    return false;
  }
};

Tile gather_rows(const TensorRef &tensor, std::vector<Index> at, const TensorRef &rows,
                 std::vector<Index> rowsAt, Shape shape, LoadOptions options, Where where) {
  Tile failed = ProgramImpl::poison(tensor.dtype(), shape.rows, shape.cols);
  ProgramImpl *tracer = ProgramImpl::inKernel("gather_rows", where);
  Value from = tracer ? tracer->use(tensor.value(), "tensor", where) : Value();
  AccessIndices indices;
  RowNumbers numbers;
  if (from && options.outside) {
    tracer->error(where, "gather_rows takes no .outside: rows that are not there are the pad "
                         "already, and columns must be there");
    return failed;
  }
  if (!from || !tracer->checkShape(shape, where) ||
      !indices.collect(tracer, tensor, at, options.valid, where) ||
      !numbers.collect(tracer, rows, rowsAt, where))
    return failed;
  return tracer->handle(tile::GatherRowsOp::create(
      tracer->builder, tracer->loc(where), tracer->tileType(tensor.dtype(), shape.rows, shape.cols),
      from, indices.atValues, arrayAttr(tracer, indices.at), numbers.tensor, numbers.atValues,
      arrayAttr(tracer, numbers.at), indices.validValues, indices.validAttr(tracer),
      tracer->padAttr(options.pad)));
}

void scatter_rows(const Tile &tile, const TensorRef &tensor, std::vector<Index> at,
                  const TensorRef &rows, std::vector<Index> rowsAt, StoreOptions options,
                  Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("scatter_rows", where);
  Value value = tracer ? useForStore(tracer, "scatter_rows", tile, tensor, where) : Value();
  AccessIndices indices;
  RowNumbers numbers;
  Value to = value ? tracer->use(tensor.value(), "tensor", where) : Value();
  if (!to || !indices.collect(tracer, tensor, at, options.valid, where) ||
      !numbers.collect(tracer, rows, rowsAt, where))
    return;
  tile::ScatterRowsOp::create(tracer->builder, tracer->loc(where), value, to, indices.atValues,
                              arrayAttr(tracer, indices.at), numbers.tensor, numbers.atValues,
                              arrayAttr(tracer, numbers.at), indices.validValues,
                              indices.validAttr(tracer), atomicAttr(tracer, options));
}

void prefetch(const TensorRef &tensor, std::vector<Index> at, Shape shape, Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("prefetch", where);
  Value from = tracer ? tracer->use(tensor.value(), "tensor", where) : Value();
  AccessIndices indices;
  if (from && tracer->checkShape(shape, where) && indices.collect(tracer, tensor, at, {}, where))
    tile::PrefetchOp::create(tracer->builder, tracer->loc(where), from, indices.atValues,
                             arrayAttr(tracer, indices.at), shape.rows, shape.cols);
}

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

namespace detail {

/// An element of a tensor of this type; false if a mistake was reported.
struct ElementAccess {
  Value tensor;
  SmallVector<int64_t> at;
  SmallVector<Value> atValues;
  bool collect(ProgramImpl *tracer, const char *what, const TensorRef &from,
               const std::vector<Index> &indices, DType type, Where where) {
    tensor = tracer->use(from.value(), "tensor", where);
    if (!tensor)
      return false;
    if (int(indices.size()) != from.rank()) {
      tracer->error(where, std::string(what) + " of a tensor of rank " +
                               std::to_string(from.rank()) + " takes one index per axis, not " +
                               std::to_string(indices.size()));
      return false;
    }
    if (type != from.dtype()) {
      tracer->error(where, std::string(what) + "<" + toString(type) + "> of a tensor of " +
                               toString(from.dtype()));
      return false;
    }
    return tracer->mixed(indices, where, at, atValues);
  }
};

template <typename Op>
static ValuePtr readWith(ProgramImpl *tracer, const char *what, const TensorRef &tensor,
                         const std::vector<Index> &at, DType type, Where where) {
  ElementAccess access;
  if (!tracer || !access.collect(tracer, what, tensor, at, type, where))
    return nullptr;
  return Value(Op::create(tracer->builder, tracer->loc(where), tracer->typeOf(type), access.tensor,
                          access.atValues, tracer->builder.getDenseI64ArrayAttr(access.at)))
      .getAsOpaquePointer();
}

ValuePtr readElement(const TensorRef &tensor, const std::vector<Index> &at, DType type,
                     Where where) {
  return readWith<ir::ReadOp>(ProgramImpl::inKernel("read", where), "read", tensor, at, type,
                              where);
}
ValuePtr getElement(const TensorRef &tensor, const std::vector<Index> &at, DType type,
                    Where where) {
  return readWith<ir::GetOp>(ProgramImpl::inOrchestration("get", where), "get", tensor, at, type,
                             where);
}

void writeElement(const AnyScalar &value, const TensorRef &tensor, const std::vector<Index> &at,
                  Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("write", where);
  if (!tracer)
    return;
  if (tensor.access() == Access::In)
    return tracer->error(where, "write into an In tensor; make the parameter Out or InOut");
  ElementAccess access;
  Value scalar = useScalar(tracer, value, where);
  if (scalar && access.collect(tracer, "write", tensor, at, value.type, where))
    ir::WriteOp::create(tracer->builder, tracer->loc(where), scalar, access.tensor, access.atValues,
                        tracer->builder.getDenseI64ArrayAttr(access.at));
}

} // namespace detail
} // namespace kiln
