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
static void normaliseStrides(Dims extents, DimArray &strides) {
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

Expected<Tensor> Tensor::view(void *data, DType dtype, Dims extents, Dims strides) {
  if (Status bad = checkShape(dtype, extents); !bad.isOk())
    return bad;
  if (strides.size() != extents.size())
    return invalid(std::to_string(strides.size()) + " strides given for rank " +
                   std::to_string(extents.size()));
  Expected<int64_t> bytes = checkSpan(dtype, extents, strides);
  if (!bytes)
    return bytes.status();
  if (!data && *bytes != 0)
    return invalid("null data pointer for " + std::string(toString(dtype)) + toString(extents));
  if (reinterpret_cast<uintptr_t>(data) >
      std::numeric_limits<uintptr_t>::max() - static_cast<uint64_t>(*bytes))
    return invalid("extents " + toString(extents) + " with strides " + toString(strides) +
                   " reach beyond the address space");
  return view(Buffer::wrap(data, static_cast<uint64_t>(*bytes)), 0, dtype, extents, strides);
}

Expected<Tensor> Tensor::view(std::shared_ptr<Buffer> buffer, uint64_t byteOffset, DType dtype,
                              Dims extents, Dims strides) {
  if (!buffer)
    return invalid("null buffer");
  if (Status bad = checkShape(dtype, extents); !bad.isOk())
    return bad;
  if (strides.size() != extents.size())
    return invalid(std::to_string(strides.size()) + " strides given for rank " +
                   std::to_string(extents.size()));
  Expected<int64_t> bytes = checkSpan(dtype, extents, strides);
  if (!bytes)
    return bytes.status();
  if (byteOffset > buffer->bytes() || static_cast<uint64_t>(*bytes) > buffer->bytes() - byteOffset)
    return invalid("a view of " + std::to_string(*bytes) + " bytes at byte " +
                   std::to_string(byteOffset) + " does not fit the buffer of " +
                   std::to_string(buffer->bytes()) + " bytes");

  Tensor tensor;
  tensor.Data = static_cast<std::byte *>(buffer->data());
  if (tensor.Data)
    tensor.Data += byteOffset;
  if (reinterpret_cast<uintptr_t>(tensor.Data) % static_cast<uintptr_t>(sizeOf(dtype)) != 0)
    return invalid("data pointer is not aligned to the " + std::to_string(sizeOf(dtype)) +
                   " bytes of " + toString(dtype));
  tensor.Buf = std::move(buffer);
  tensor.Type = dtype;
  tensor.Rank = static_cast<uint8_t>(extents.size());
  std::copy(extents.begin(), extents.end(), tensor.Extents.begin());
  std::copy(strides.begin(), strides.end(), tensor.Strides.begin());
  normaliseStrides(extents, tensor.Strides);
  return tensor;
}

uint64_t Tensor::byteOffset() const {
  return Data ? static_cast<uint64_t>(Data - static_cast<std::byte *>(Buf->data())) : 0;
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
  for (int i = 0; i < Rank; ++i)
    last += (Extents[i] - 1) * (Extents[i] > 1 ? Strides[i] : 0);
  return static_cast<uint64_t>((last + 1) * sizeOf(Type));
}

bool Tensor::isContiguous() const {
  if (numElements() == 0)
    return true;
  int64_t step = 1;
  for (int i = Rank; i-- > 0;) {
    if (Extents[i] > 1 && Strides[i] != step)
      return false;
    step *= Extents[i];
  }
  return true;
}

bool Tensor::isBroadcast() const {
  for (int i = 0; i < Rank; ++i)
    if (Extents[i] > 1 && Strides[i] == 0)
      return true;
  return false;
}

Expected<Tensor> Tensor::slice(Dims offsets, Dims sizes, Dims dropped) const {
  if (isNull())
    return invalid("slice of a null tensor");
  if (offsets.size() != Rank || sizes.size() != Rank)
    return invalid("slice of a rank-" + std::to_string(Rank) +
                   " tensor needs that many offsets and sizes; got " +
                   std::to_string(offsets.size()) + " and " + std::to_string(sizes.size()));
  bool empty = false;
  for (int i = 0; i < Rank; ++i) {
    if (offsets[i] < 0 || sizes[i] < 0 || offsets[i] > Extents[i] ||
        sizes[i] > Extents[i] - offsets[i])
      return invalid("slice [" + std::to_string(offsets[i]) + ", +" + std::to_string(sizes[i]) +
                     ") of axis " + std::to_string(i) + " is outside its extent " +
                     std::to_string(Extents[i]));
    empty |= sizes[i] == 0;
  }
  std::array<bool, KILN_MAX_RANK> drop{};
  for (int64_t axis : dropped) {
    if (axis < 0 || axis >= Rank || drop[axis])
      return invalid("dropped axis " + std::to_string(axis) + " is not an axis of rank " +
                     std::to_string(Rank) + ", or given twice");
    if (sizes[axis] != 1)
      return invalid("dropped axis " + std::to_string(axis) + " has size " +
                     std::to_string(sizes[axis]) + ", not 1");
    drop[axis] = true;
  }
  if (static_cast<int>(dropped.size()) == Rank)
    return invalid("a slice cannot drop every axis: tensors have rank 1 or more");

  Tensor result = *this;
  // An empty slice may start one past the end; keep its pointer inside the buffer.
  for (int i = 0; i < Rank && !empty; ++i)
    result.Data += offsets[i] * Strides[i] * sizeOf(Type);
  result.Rank = 0;
  result.Extents.fill(0);
  result.Strides.fill(0);
  for (int i = 0; i < Rank; ++i) {
    if (drop[i])
      continue;
    result.Extents[result.Rank] = sizes[i];
    result.Strides[result.Rank++] = Strides[i];
  }
  normaliseStrides(result.extents(), result.Strides);
  return result;
}

Expected<Tensor> Tensor::transpose(Dims perm) const {
  if (isNull())
    return invalid("transpose of a null tensor");
  std::array<bool, KILN_MAX_RANK> seen{};
  bool good = perm.size() == Rank;
  for (size_t i = 0; good && i < perm.size(); ++i) {
    good = perm[i] >= 0 && perm[i] < Rank && !seen[perm[i]];
    if (good)
      seen[perm[i]] = true;
  }
  if (!good)
    return invalid(kiln::toString(perm) + " is not a permutation of the axes of a rank-" +
                   std::to_string(Rank) + " tensor");
  Tensor result = *this;
  for (size_t i = 0; i < perm.size(); ++i) {
    result.Extents[i] = Extents[perm[i]];
    result.Strides[i] = Strides[perm[i]];
  }
  normaliseStrides(result.extents(), result.Strides);
  return result;
}

Expected<Tensor> Tensor::reshape(Dims extents) const {
  if (isNull())
    return invalid("reshape of a null tensor");
  if (!isContiguous())
    return invalid("reshape needs a contiguous tensor; " + str() + " has strides " +
                   kiln::toString(strides()));
  if (Status bad = checkShape(Type, extents); !bad.isOk())
    return bad;
  Tensor result = *this;
  result.Rank = static_cast<uint8_t>(extents.size());
  result.Extents.fill(0);
  std::copy(extents.begin(), extents.end(), result.Extents.begin());
  if (result.numElements() != numElements())
    return invalid("reshape of " + str() + " to " + kiln::toString(extents) +
                   " changes the number of elements");
  result.Strides = contiguousStrides(extents);
  return result;
}

Tensor Tensor::asReadOnly() const {
  Tensor result = *this;
  result.ReadOnly = true;
  return result;
}

Status Tensor::validate() const {
  if (isNull())
    return invalid("null tensor");
  if (Status bad = checkShape(Type, extents()); !bad.isOk())
    return bad;
  Expected<int64_t> bytes = checkSpan(Type, extents(), strides());
  if (!bytes)
    return bytes.status();
  if (!Data && *bytes != 0)
    return invalid("null data pointer");
  return Status::ok();
}

kiln_tensor Tensor::toAbi() const {
  kiln_tensor abi{};
  abi.data = Data;
  for (int i = 0; i < KILN_MAX_RANK; ++i) {
    abi.extents[i] = i < Rank ? Extents[i] : 1;
    abi.strides[i] = i < Rank ? Strides[i] : 0;
  }
  abi.dtype = static_cast<int32_t>(Type);
  abi.rank = Rank;
  if (isReadOnly())
    abi.flags |= KILN_TENSOR_READ_ONLY;
  if (isBroadcast())
    abi.flags |= KILN_TENSOR_BROADCAST;
  if (isContiguous())
    abi.flags |= KILN_TENSOR_CONTIGUOUS;
  return abi;
}

std::string Tensor::str() const {
  return isNull() ? "null tensor" : toString(Type) + kiln::toString(extents());
}
