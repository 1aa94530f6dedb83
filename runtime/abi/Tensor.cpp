#include "kiln/runtime/tensor.h"

#include "CheckedMath.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace kiln;

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

std::string kiln::toString(Dims dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

/// Element type, rank and extents; the number of elements must fit 63 bits, in bytes too.
static Status checkShape(DType dtype, Dims extents) {
  if (!isValidDType(static_cast<int64_t>(dtype)))
    return invalid("element type " + std::to_string(static_cast<int>(dtype)) + " does not exist");
  if (!info(dtype).isElement)
    return invalid(std::string(toString(dtype)) +
                   " is a scalar type, not an element type of tensors");
  if (extents.empty() || extents.size() > KILN_MAX_RANK)
    return invalid("rank " + std::to_string(extents.size()) +
                   " is not supported: tensors have rank 1 to " + std::to_string(KILN_MAX_RANK));
  int64_t bytes = sizeOf(dtype);
  bool hasZero = false, overflow = false;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] < 0)
      return invalid("extent " + std::to_string(extents[i]) + " of axis " + std::to_string(i) +
                     " is negative");
    hasZero |= extents[i] == 0;
    overflow |= !checkedMul(bytes, extents[i], bytes);
  }
  if (overflow && !hasZero)
    return invalid("extents " + toString(extents) + " of " + toString(dtype) + " overflow 64 bits");
  return Status::ok();
}

/// Bytes from the first element to the end of the last. Fails on negative strides and on overflow.
static Expected<int64_t> checkSpan(DType dtype, Dims extents, Dims strides) {
  bool hasElements = true;
  for (size_t i = 0; i < extents.size(); ++i) {
    hasElements &= extents[i] != 0;
    if (extents[i] > 1 && strides[i] < 0) // the stride of a shorter axis means nothing
      return invalid("stride " + std::to_string(strides[i]) + " of axis " + std::to_string(i) +
                     " is negative; copy the tensor or reverse the axis in the program");
  }
  if (!hasElements)
    return int64_t{0};
  int64_t elements = 1;
  bool fits = true;
  for (size_t i = 0; i < extents.size() && fits; ++i) {
    int64_t step = 0;
    fits = extents[i] == 1 ||
           (checkedMul(extents[i] - 1, strides[i], step) && checkedAdd(elements, step, elements));
  }
  int64_t bytes;
  if (!fits || !checkedMul(elements, sizeOf(dtype), bytes))
    return invalid("extents " + toString(extents) + " with strides " + toString(strides) + " of " +
                   toString(dtype) + " overflow 64 bits");
  return bytes;
}

using DimArray = std::array<int64_t, KILN_MAX_RANK>;

/// Row-major strides. Extents of 0 count as 1, as in numpy, so that strides stay meaningful.
static DimArray contiguousStrides(Dims extents) {
  DimArray strides{};
  int64_t step = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    strides[i] = step;
    // Only a tensor without elements can overflow here: its strides are never used.
    if (!checkedMul(step, std::max<int64_t>(extents[i], 1), step))
      step = 1;
  }
  return strides;
}

/// Strides of axes of extent <= 1 become those a row-major tensor would have there.
static void normaliseStrides(Dims extents, int64_t *strides) {
  int64_t step = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    if (extents[i] <= 1)
      strides[i] = step;
    if (!checkedMul(strides[i], std::max<int64_t>(extents[i], 1), step))
      step = 1;
  }
}

Expected<Tensor> Tensor::empty(DType dtype, Dims extents) {
  if (Status bad = checkShape(dtype, extents); !bad.isOk())
    return bad;
  DimArray strides = contiguousStrides(extents);
  Expected<int64_t> bytes = checkSpan(dtype, extents, Dims(strides.data(), extents.size()));
  if (!bytes)
    return bytes.status();
  Expected<std::shared_ptr<Buffer>> buffer = Buffer::allocate(static_cast<uint64_t>(*bytes));
  if (!buffer)
    return buffer.status().withPrefix(std::string(toString(dtype)) + toString(extents));
  return view(*buffer, 0, dtype, extents, Dims(strides.data(), extents.size()));
}

Expected<Tensor> Tensor::view(void *data, DType dtype, Dims extents) {
  if (extents.size() > KILN_MAX_RANK)
    return checkShape(dtype, extents);
  DimArray strides = contiguousStrides(extents);
  return view(data, dtype, extents, Dims(strides.data(), extents.size()));
}

/// The bytes of a view, from its first to its last; an error if there is no such view.
static Expected<int64_t> checkView(DType dtype, Dims extents, Dims strides) {
  if (Status bad = checkShape(dtype, extents); !bad.isOk())
    return bad;
  if (strides.size() != extents.size())
    return invalid(std::to_string(strides.size()) + " strides given for rank " +
                   std::to_string(extents.size()));
  return checkSpan(dtype, extents, strides);
}

Expected<Tensor> Tensor::view(void *data, DType dtype, Dims extents, Dims strides) {
  Expected<int64_t> bytes = checkView(dtype, extents, strides);
  if (!bytes)
    return bytes.status();
  if (!data && *bytes != 0)
    return invalid("null data pointer for " + std::string(toString(dtype)) + toString(extents));
  if (reinterpret_cast<uintptr_t>(data) >
      std::numeric_limits<uintptr_t>::max() - static_cast<uint64_t>(*bytes))
    return invalid("extents " + toString(extents) + " with strides " + toString(strides) +
                   " reach beyond the address space");
  return viewChecked(Buffer::wrap(data, static_cast<uint64_t>(*bytes)), 0, dtype, extents, strides);
}

Expected<Tensor> Tensor::view(std::shared_ptr<Buffer> buffer, uint64_t byteOffset, DType dtype,
                              Dims extents, Dims strides) {
  if (!buffer)
    return invalid("null buffer");
  Expected<int64_t> bytes = checkView(dtype, extents, strides);
  if (!bytes)
    return bytes.status();
  if (byteOffset > buffer->bytes() || static_cast<uint64_t>(*bytes) > buffer->bytes() - byteOffset)
    return invalid("a view of " + std::to_string(*bytes) + " bytes at byte " +
                   std::to_string(byteOffset) + " does not fit the buffer of " +
                   std::to_string(buffer->bytes()) + " bytes");
  return viewChecked(std::move(buffer), byteOffset, dtype, extents, strides);
}

Expected<Tensor> Tensor::viewChecked(std::shared_ptr<Buffer> buffer, uint64_t byteOffset,
                                     DType dtype, Dims extents, Dims strides) {
  Tensor tensor;
  if (auto *data = static_cast<std::byte *>(buffer->data()))
    tensor.View.data = data + byteOffset;
  if (reinterpret_cast<uintptr_t>(tensor.data()) % static_cast<uintptr_t>(sizeOf(dtype)) != 0)
    return invalid("data pointer is not aligned to the " + std::to_string(sizeOf(dtype)) +
                   " bytes of " + toString(dtype));
  tensor.Buf = std::move(buffer);
  tensor.View.dtype = static_cast<int32_t>(dtype);
  tensor.View.rank = static_cast<uint16_t>(extents.size());
  std::copy(extents.begin(), extents.end(), tensor.View.extents);
  std::copy(strides.begin(), strides.end(), tensor.View.strides);
  tensor.settle();
  return tensor;
}

void Tensor::settle() {
  int64_t *extents = View.extents, *strides = View.strides;
  for (int i = rank(); i < KILN_MAX_RANK; ++i) {
    extents[i] = 1;
    strides[i] = 0;
  }
  normaliseStrides(this->extents(), strides);
  bool isBroadcast = false, isContiguous = true, isEmpty = false;
  uint64_t step = 1; // may wrap around when some extent is 0, and is not needed then
  for (int i = rank(); i-- > 0;) {
    isBroadcast |= extents[i] > 1 && strides[i] == 0;
    isContiguous &= extents[i] <= 1 || static_cast<uint64_t>(strides[i]) == step;
    isEmpty |= extents[i] == 0;
    step *= static_cast<uint64_t>(extents[i]);
  }
  isBroadcast &= !isEmpty; // no two indices share an element, whatever the strides are
  View.flags = static_cast<uint16_t>((ReadOnly || isBroadcast ? KILN_TENSOR_READ_ONLY : 0) |
                                     (isBroadcast ? KILN_TENSOR_BROADCAST : 0) |
                                     (isContiguous || isEmpty ? KILN_TENSOR_CONTIGUOUS : 0));
}

uint64_t Tensor::byteOffset() const {
  return data() ? static_cast<uint64_t>(dataAs<std::byte>() - static_cast<std::byte *>(Buf->data()))
                : 0;
}

int64_t Tensor::numElements() const {
  if (isNull())
    return 0;
  int64_t count = 1;
  for (int64_t extent : extents())
    if (extent == 0)
      return 0;
  for (int64_t extent : extents())
    count *= extent;
  return count;
}

uint64_t Tensor::spanBytes() const {
  if (numElements() == 0)
    return 0;
  int64_t last = 0;
  for (int i = 0; i < rank(); ++i)
    last += (extent(i) - 1) * (extent(i) > 1 ? stride(i) : 0);
  return static_cast<uint64_t>((last + 1) * elementBytes());
}

Expected<Tensor> Tensor::slice(Dims offsets, Dims sizes, Dims dropped) const {
  if (isNull())
    return invalid("slice of a null tensor");
  if (static_cast<int>(offsets.size()) != rank() || static_cast<int>(sizes.size()) != rank())
    return invalid("slice of a rank-" + std::to_string(rank()) +
                   " tensor needs that many offsets and sizes; got " +
                   std::to_string(offsets.size()) + " and " + std::to_string(sizes.size()));
  bool empty = false;
  for (int i = 0; i < rank(); ++i) {
    if (offsets[i] < 0 || sizes[i] < 0 || offsets[i] > extent(i) ||
        sizes[i] > extent(i) - offsets[i])
      return invalid("slice [" + std::to_string(offsets[i]) + ", +" + std::to_string(sizes[i]) +
                     ") of axis " + std::to_string(i) + " is outside its extent " +
                     std::to_string(extent(i)));
    empty |= sizes[i] == 0;
  }
  std::array<bool, KILN_MAX_RANK> drop{};
  for (int64_t axis : dropped) {
    if (axis < 0 || axis >= rank() || drop[axis])
      return invalid("dropped axis " + std::to_string(axis) + " is not an axis of rank " +
                     std::to_string(rank()) + ", or given twice");
    if (sizes[axis] != 1)
      return invalid("dropped axis " + std::to_string(axis) + " has size " +
                     std::to_string(sizes[axis]) + ", not 1");
    drop[axis] = true;
  }
  if (static_cast<int>(dropped.size()) == rank())
    return invalid("a slice cannot drop every axis: tensors have rank 1 or more");

  Tensor result = *this;
  // An empty slice may start one past the end; keep its pointer inside the buffer.
  int64_t start = 0;
  for (int i = 0; i < rank() && !empty; ++i)
    start += offsets[i] * stride(i) * elementBytes();
  kiln_tensor &view = result.View;
  if (start != 0)
    view.data = dataAs<std::byte>() + start;
  view.rank = 0;
  for (int i = 0; i < rank(); ++i) {
    if (drop[i])
      continue;
    view.extents[view.rank] = sizes[i];
    view.strides[view.rank++] = stride(i);
  }
  result.settle();
  return result;
}

Expected<Tensor> Tensor::transpose(Dims perm) const {
  if (isNull())
    return invalid("transpose of a null tensor");
  std::array<bool, KILN_MAX_RANK> seen{};
  bool good = static_cast<int>(perm.size()) == rank();
  for (size_t i = 0; good && i < perm.size(); ++i) {
    good = perm[i] >= 0 && perm[i] < rank() && !seen[perm[i]];
    if (good)
      seen[perm[i]] = true;
  }
  if (!good)
    return invalid(kiln::toString(perm) + " is not a permutation of the axes of a rank-" +
                   std::to_string(rank()) + " tensor");
  Tensor result = *this;
  for (size_t i = 0; i < perm.size(); ++i) {
    result.View.extents[i] = extent(static_cast<int>(perm[i]));
    result.View.strides[i] = stride(static_cast<int>(perm[i]));
  }
  result.settle();
  return result;
}

Expected<Tensor> Tensor::reshape(Dims extents) const {
  if (isNull())
    return invalid("reshape of a null tensor");
  if (!isContiguous())
    return invalid("reshape needs a contiguous tensor; " + str() + " has strides " +
                   kiln::toString(strides()));
  if (Status bad = checkShape(dtype(), extents); !bad.isOk())
    return bad;
  Tensor result = *this;
  result.View.rank = static_cast<uint16_t>(extents.size());
  std::copy(extents.begin(), extents.end(), result.View.extents);
  if (result.numElements() != numElements())
    return invalid("reshape of " + str() + " to " + kiln::toString(extents) +
                   " changes the number of elements");
  DimArray strides = contiguousStrides(extents);
  std::copy(strides.begin(), strides.end(), result.View.strides);
  result.settle();
  return result;
}

Tensor Tensor::asReadOnly() const {
  Tensor result = *this;
  result.ReadOnly = true;
  result.settle();
  return result;
}

Status Tensor::validate() const {
  if (isNull())
    return invalid("null tensor");
  if (Status bad = checkShape(dtype(), extents()); !bad.isOk())
    return bad;
  Expected<int64_t> bytes = checkSpan(dtype(), extents(), strides());
  if (!bytes)
    return bytes.status();
  if (!data() && *bytes != 0)
    return invalid("null data pointer");
  return Status::ok();
}

std::string Tensor::str() const {
  return isNull() ? "null tensor" : toString(dtype()) + kiln::toString(extents());
}
