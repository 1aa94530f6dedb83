#include "GlobalMemory.h"

#include "Interpreter.h"
#include "Watcher.h"

#include "kiln/Program/TensorName.h"

#include <algorithm>
#include <cstring>

namespace kiln::simulator {

std::string describe(mlir::Value name, const Tensor &tensor) {
  return describeTensor(name) + " (" + tensor.str() + ")";
}

static Status checkWritable(const Access &access) {
  if (access.tensor.isReadOnly())
    return fault("stores to " + describe(access.name, access.tensor) + ", which is read-only here");
  return Status::ok();
}

Status checkElement(const Access &access) {
  for (int axis = 0; axis < access.tensor.rank(); ++axis)
    if (int64_t index = access.indices[axis]; index < 0 || index >= access.tensor.extent(axis))
      return fault("element " + toString(Dims(access.indices)) + " is outside " +
                   describe(access.name, access.tensor));
  return Status::ok();
}

std::byte *addressOf(const Access &access) {
  int64_t offset = 0;
  for (int axis = 0; axis < access.tensor.rank(); ++axis)
    offset += access.indices[axis] * access.tensor.stride(axis);
  return access.tensor.dataAs<std::byte>() + offset * sizeOf(access.tensor.dtype());
}

Footprint footprintOf(const Access &access) {
  return {addressOf(access), 1, 1, 0, 0, sizeOf(access.tensor.dtype())};
}

Expected<ScalarBits> GlobalMemory::read(const Access &access) {
  if (Status bad = checkElement(access); !bad.isOk())
    return bad;
  DType dtype = access.tensor.dtype();
  const std::byte *address = addressOf(access);
  if (Watch)
    Watch->memoryIsAccessed(access, footprintOf(access), AccessKind::Read);
  return isFloat(dtype) ? ScalarBits::fromDouble(dtype, loadElement(dtype, address))
                        : ScalarBits::fromInt(dtype, loadElementInt(dtype, address));
}

Status GlobalMemory::write(const Access &access, ScalarBits value) {
  if (Status bad = checkElement(access); !bad.isOk())
    return bad;
  if (Status bad = checkWritable(access); !bad.isOk())
    return bad;
  if (Watch)
    Watch->memoryIsAccessed(access, footprintOf(access), AccessKind::Write);
  DType dtype = access.tensor.dtype();
  if (isFloat(dtype))
    storeElement(dtype, addressOf(access), value.asDouble());
  else
    storeElementInt(dtype, addressOf(access), value.asInt());
  return Status::ok();
}

namespace {

/// The part of a tile that lies inside its tensor: rows [top, bottom) and columns [left, right).
struct Window {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  std::byte *origin = nullptr;          ///< Of element [top, left].
  int64_t rowStride = 0, colStride = 0; ///< Bytes.
  int rowAxis = -1, colAxis = -1;       ///< Of the tensor.

  std::byte *at(int64_t row, int64_t col) const {
    return origin + (row - top) * rowStride + (col - left) * colStride;
  }
  int64_t cols() const { return right - left; }
  Footprint footprint(DType dtype) const {
    return {origin,        bottom - top, cols(),  rowStride, colStride,
            sizeOf(dtype), rowAxis,      colAxis, top,       left};
  }
};

} // namespace

/// Cuts a tile down to its tensor and its valid extents; it may hang over on any side. Nothing is
/// left of a tile with empty valid extents, of one at the start of an empty axis, or of one that
/// may miss its tensor and does; any other that misses it is a fault.
static Expected<Window> clip(const Access &access, int64_t rows, int64_t cols) {
  const Tensor &tensor = access.tensor;
  int rank = tensor.rank();
  // A tensor of rank 1 is a row, unless the tile is a column.
  int colAxis = rank == 1 && rows != 1 ? -1 : rank - 1, rowAxis = colAxis == -1 ? 0 : rank - 2;
  Window window;
  window.bottom = access.valid.empty() ? rows : std::clamp<int64_t>(access.valid[0], 0, rows);
  window.right = access.valid.empty() ? cols : std::clamp<int64_t>(access.valid[1], 0, cols);
  bool isEmpty = window.bottom == 0 || window.right == 0;
  Access first = access; // the first element that is covered
  for (int axis = 0; axis < rank; ++axis) {
    int64_t index = access.indices[axis], extent = tensor.extent(axis);
    int64_t covered = axis == rowAxis ? rows : axis == colAxis ? cols : 1;
    bool isOutside = index >= extent || index <= -covered;
    if (isOutside && !access.mayMiss && !isEmpty && !(index == 0 && extent == 0))
      return fault("a tile of " + std::to_string(rows) + "x" + std::to_string(cols) + " at " +
                   toString(Dims(access.indices)) + " lies wholly outside " +
                   describe(access.name, tensor));
    if (isOutside) {
      isEmpty = true;
      continue;
    }
    int64_t from = std::max<int64_t>(-index, 0), to = extent - index;
    if (axis == rowAxis) {
      window.top = from;
      window.bottom = std::min(window.bottom, to);
    } else if (axis == colAxis) {
      window.left = from;
      window.right = std::min(window.right, to);
    }
    first.indices[axis] = index + from;
  }
  if (isEmpty || window.top >= window.bottom || window.left >= window.right)
    return Window();
  int64_t size = sizeOf(tensor.dtype());
  window.origin = addressOf(first);
  window.rowStride = rowAxis >= 0 ? tensor.stride(rowAxis) * size : 0;
  window.colStride = colAxis >= 0 ? tensor.stride(colAxis) * size : 0;
  window.rowAxis = rowAxis;
  window.colAxis = colAxis;
  return window;
}

static void loadRow(DType dtype, const Window &window, int64_t row, float *to) {
  if (dtype == DType::F32 && window.colStride == sizeof(float)) { // the usual case, and fast
    std::memcpy(to + window.left, window.at(row, window.left), window.cols() * sizeof(float));
    return;
  }
  for (int64_t col = window.left; col < window.right; ++col)
    to[col] = static_cast<float>(loadElement(dtype, window.at(row, col)));
}

static void loadRow(DType dtype, const Window &window, int64_t row, int64_t *to) {
  for (int64_t col = window.left; col < window.right; ++col)
    to[col] = loadElementInt(dtype, window.at(row, col));
}

Expected<TilePtr> GlobalMemory::load(const Access &access, int64_t rows, int64_t cols,
                                     ScalarBits pad) {
  Expected<Window> window = clip(access, rows, cols);
  if (!window)
    return window.status();
  DType dtype = access.tensor.dtype();
  if (Watch)
    Watch->memoryIsAccessed(access, window->footprint(dtype), AccessKind::Read);
  bool isWhole = window->bottom - window->top == rows && window->cols() == cols;
  auto tile = isWhole ? std::make_shared<Tile>(rows, cols, dtype) : splat(rows, cols, pad);
  tile->bounds = boundsOf(dtype);
  if (Watch && !isWhole)
    tile->origins.assign(rows * cols, Origin::padding(access.op));
  withElementType(dtype, [&](auto zero) {
    for (int64_t row = window->top; row < window->bottom; ++row) {
      loadRow(dtype, *window, row, tile->elements<decltype(zero)>().data() + row * cols);
      if (!tile->origins.empty())
        std::fill_n(tile->origins.begin() + row * cols + window->left, window->cols(), Origin());
    }
  });
  if (Watch)
    Watch->tileIsLoaded(window->footprint(dtype), *tile);
  return TilePtr(std::move(tile));
}

static float sum(DType dtype, const void *address, float value) {
  return static_cast<float>(loadElement(dtype, address)) + value;
}

static int64_t sum(DType dtype, const void *address, int64_t value) {
  auto total = static_cast<uint64_t>(loadElementInt(dtype, address)) + static_cast<uint64_t>(value);
  return canonical(dtype, static_cast<int64_t>(total));
}

static void put(DType dtype, void *address, float value) { storeElement(dtype, address, value); }
static void put(DType dtype, void *address, int64_t value) {
  storeElementInt(dtype, address, value);
}

Status GlobalMemory::store(const Access &access, const Tile &tile, bool isAtomicAdd) {
  if (Status bad = checkWritable(access); !bad.isOk())
    return bad;
  Expected<Window> window = clip(access, tile.rows, tile.cols);
  if (!window)
    return window.status();
  if (Watch) {
    Footprint at = window->footprint(tile.dtype);
    AccessKind kind = isAtomicAdd ? AccessKind::AtomicAdd : AccessKind::Write;
    Watch->memoryIsAccessed(access, at, kind);
    Watch->tileIsStored(access, at, kind, tile);
  }
  withElementType(tile.dtype, [&](auto zero) {
    const auto &elements = tile.elements<decltype(zero)>();
    for (int64_t row = window->top; row < window->bottom; ++row)
      for (int64_t col = window->left; col < window->right; ++col) {
        auto value = elements[row * tile.cols + col];
        void *address = window->at(row, col);
        put(tile.dtype, address, isAtomicAdd ? sum(tile.dtype, address, value) : value);
      }
  });
  return Status::ok();
}

} // namespace kiln::simulator
