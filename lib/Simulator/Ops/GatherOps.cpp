// Rows from and to anywhere in a tensor, elements from anywhere in a tile, and the order of rows.
#include "TileOps.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace kiln::simulator {
namespace {

//===----------------------------------------------------------------------===//
// Rows of tensors
//===----------------------------------------------------------------------===//

/// One row of a tile, and where it lies in the tensor.
struct PlacedRow {
  int64_t row;    ///< Of the tile.
  int64_t number; ///< As the row numbers have it.
  Access access;
};

/// The rows of the tile that lie in the tensor. A negative row number is no row.
template <typename Op>
Expected<std::vector<PlacedRow>> placeRows(Interpreter &in, Op op, int64_t rows) {
  std::vector<int64_t> rowValid, colValid;
  if (op.getStaticValid()) {
    std::vector<int64_t> valid = in.indices(*op.getStaticValid(), op.getValid());
    rowValid = {1, valid[0]};
    colValid = {1, valid[1]};
  }
  const Tensor &table = in.tensor(op.getRows()), &tensor = in.tensor(op.getTensor());
  Agent *agent = in.place().agent;
  Access numbers{op,       op.getRows(),
                 table,    in.indices(op.getStaticRowIndices(), op.getRowIndices()),
                 rowValid, agent};
  Expected<TilePtr> loaded =
      in.memory().load(numbers, 1, rows, ScalarBits::fromInt(table.dtype(), -1));
  if (!loaded)
    return loaded.status();
  std::vector<int64_t> indices = in.indices(op.getStaticIndices(), op.getIndices());
  int rowAxis = tensor.rank() - 2;
  int64_t base = indices[rowAxis];
  std::vector<PlacedRow> placed;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t number = (*loaded)->ints[row];
    bool isOutside = number < 0 || llvm::AddOverflow(base, number, indices[rowAxis]) ||
                     indices[rowAxis] < 0 || indices[rowAxis] >= tensor.extent(rowAxis);
    if (!isOutside)
      placed.push_back({row, number, Access{op, op.getTensor(), tensor, indices, colValid, agent}});
  }
  return placed;
}

Status gatherRows(Interpreter &in, tile::GatherRowsOp op) {
  tile::TileType type = op.getResult().getType();
  ScalarBits pad = padValue(op.getPadAttr(), *dtypeOf(type.getElementType()));
  Expected<std::vector<PlacedRow>> placed = placeRows(in, op, type.getRows());
  if (!placed)
    return placed.status();
  NewTile result = splat(type.getRows(), type.getCols(), pad);
  if (in.memory().watcher())
    result->origins.assign(type.getRows() * type.getCols(), Origin::padding(op));
  for (const PlacedRow &row : *placed) {
    Expected<TilePtr> loaded = in.memory().load(row.access, 1, type.getCols(), pad);
    if (!loaded)
      return loaded.status();
    paste(**loaded, *result, row.row, 0);
  }
  return setResult(in, op, result);
}

Status scatterRows(Interpreter &in, tile::ScatterRowsOp op) {
  TilePtr tile = in.tile(op.getTile());
  bool isAtomicAdd = op.getAtomic().has_value();
  Expected<std::vector<PlacedRow>> placed = placeRows(in, op, tile->rows);
  if (!placed)
    return placed.status();
  llvm::DenseSet<int64_t> written;
  for (const PlacedRow &row : *placed)
    if (!written.insert(row.number).second && !isAtomicAdd)
      return fault("row number " + std::to_string(row.number) + " occurs twice; row " +
                   std::to_string(row.row) + " of the tile would overwrite an earlier one");
  for (const PlacedRow &row : *placed)
    if (Status bad = in.memory().store(row.access, *extractBox(*tile, row.row, 0, 1, tile->cols),
                                       isAtomicAdd);
        !bad.isOk())
      return bad;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Elements of tiles
//===----------------------------------------------------------------------===//

Status gather(Interpreter &in, tile::GatherOp op) {
  TilePtr tile = in.tile(op.getOperand()), index = in.tile(op.getIndex());
  int64_t extent = op.getAxis() == 0 ? tile->rows : tile->cols;
  for (auto [at, value] : llvm::enumerate(index->ints))
    if (value < 0 || value >= extent)
      return fault("index " + std::to_string(value) + ", element [" +
                   std::to_string(int64_t(at) / index->cols) + ", " +
                   std::to_string(int64_t(at) % index->cols) +
                   "] of the indices, is outside the extent " + std::to_string(extent));
  NewTile result = makeTile(op.getResult());
  auto placeOf = [&](int64_t r, int64_t c) { // in the tile
    int64_t at = index->ints[r * index->cols + c];
    return op.getAxis() == 0 ? at * tile->cols + c : r * tile->cols + at;
  };
  withElementType(tile->dtype, [&](auto zero) {
    using T = decltype(zero);
    fill<T>(*result, [&](int64_t r, int64_t c) { return tile->elements<T>()[placeOf(r, c)]; });
  });
  result->bounds = tile->bounds;
  if (!tile->origins.empty() || !index->origins.empty())
    for (int64_t r = 0; r < result->rows; ++r)
      for (int64_t c = 0; c < result->cols; ++c)
        result->origins.push_back(
            join(tile->originAt(placeOf(r, c)), index->originAt(r * index->cols + c)));
  return setResult(in, op, result);
}

/// Whether `a` comes before `b` whatever the direction, because `b` alone is NaN.
bool isNaNLast(float a, float b) { return std::isnan(b) && !std::isnan(a); }
bool isNaNLast(int64_t, int64_t) { return false; }

/// Sets both results of an op that orders rows: the values and the columns they had, as many as
/// fit.
template <typename Op> Status orderRows(Interpreter &in, Op op, bool isDescending) {
  TilePtr tile = in.tile(op.getOperand());
  NewTile values = makeTile(op.getValues()), columns = makeTile(op.getIndices());
  withElementType(tile->dtype, [&](auto zero) {
    using T = decltype(zero);
    std::vector<int64_t> order(tile->cols);
    for (int64_t row = 0; row < tile->rows; ++row) {
      const T *from = tile->elements<T>().data() + row * tile->cols;
      std::iota(order.begin(), order.end(), 0);
      llvm::stable_sort(order, [&](int64_t a, int64_t b) {
        return isNaNLast(from[a], from[b]) ||
               (isDescending ? from[a] > from[b] : from[a] < from[b]);
      });
      for (int64_t col = 0; col < values->cols; ++col) {
        values->elements<T>()[row * values->cols + col] = from[order[col]];
        columns->ints[row * values->cols + col] = order[col];
        if (!tile->origins.empty())
          values->origins.push_back(tile->originAt(row * tile->cols + order[col]));
      }
    }
  });
  values->bounds = tile->bounds;
  Status done = setResult(in, op, values);
  columns->origins = values->origins;
  in.set(op.getIndices(), TilePtr(std::move(columns)));
  return done;
}

Status sortRows(Interpreter &in, tile::SortRowsOp op) {
  return orderRows(in, op, op.getDescending());
}
Status topkRows(Interpreter &in, tile::TopkRowsOp op) { return orderRows(in, op, true); }

} // namespace

void addGatherOps(OpTable &table) {
  table.add<tile::GatherRowsOp, gatherRows>();
  table.add<tile::ScatterRowsOp, scatterRows>();
  table.add<tile::GatherOp, gather>();
  table.add<tile::SortRowsOp, sortRows>();
  table.add<tile::TopkRowsOp, topkRows>();
}

} // namespace kiln::simulator
