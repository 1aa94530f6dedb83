// What reads and writes a Tensor's elements; its shape is Tensor.cpp's business.
#include "kiln/runtime/tensor.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>

using namespace kiln;

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

/// Calls `run(offset)` with the element offset of each innermost row, in row-major order.
template <typename Run> static void forEachRow(const Tensor &tensor, Run run) {
  if (tensor.numElements() == 0)
    return;
  int outer = tensor.rank() - 1;
  std::array<int64_t, KILN_MAX_RANK> index{};
  int64_t offset = 0;
  while (true) {
    run(offset);
    int axis = outer - 1;
    for (; axis >= 0; --axis) {
      offset += tensor.stride(axis);
      if (++index[axis] < tensor.extent(axis))
        break;
      offset -= tensor.stride(axis) * tensor.extent(axis);
      index[axis] = 0;
    }
    if (axis < 0)
      return;
  }
}

/// Copies between the tensor's elements and dense memory; `store` says in which direction.
static void copyElements(const Tensor &tensor, std::byte *dense, bool store) {
  if (tensor.numElements() == 0)
    return;
  auto *base = tensor.dataAs<std::byte>();
  auto move = [&](std::byte *element, uint64_t bytes) {
    if (store)
      std::memcpy(element, dense, bytes);
    else
      std::memcpy(dense, element, bytes);
    dense += bytes;
  };
  if (tensor.isContiguous())
    return move(base, tensor.numBytes());
  int64_t size = sizeOf(tensor.dtype());
  int64_t count = tensor.extent(tensor.rank() - 1), stride = tensor.stride(tensor.rank() - 1);
  forEachRow(tensor, [&](int64_t offset) {
    if (stride == 1 || count == 1)
      return move(base + offset * size, static_cast<uint64_t>(count * size));
    for (int64_t i = 0; i < count; ++i)
      move(base + (offset + i * stride) * size, static_cast<uint64_t>(size));
  });
}

Expected<std::vector<std::byte>> Tensor::gatherBytes() const {
  // Overcommitting systems grant absurd requests and kill the process later: refuse those without
  // asking.
  constexpr uint64_t maxGather = uint64_t{1} << 40;
  std::vector<std::byte> bytes;
  bool granted = numBytes() <= maxGather;
  try {
    if (granted)
      bytes.resize(numBytes());
  } catch (const std::exception &) {
    granted = false;
  }
  if (!granted)
    return Status(StatusCode::OutOfMemory,
                  "cannot gather the " + std::to_string(numBytes()) + " bytes of " + str());
  copyElements(*this, bytes.data(), /*store=*/false);
  return bytes;
}

Status Tensor::scatterBytes(std::span<const std::byte> bytes) const {
  if (Status bad = validate(); !bad.isOk())
    return bad;
  if (isReadOnly())
    return invalid("store to the read-only tensor " + str());
  if (bytes.size() != numBytes())
    return invalid(str() + " holds " + std::to_string(numBytes()) + " bytes, not " +
                   std::to_string(bytes.size()));
  copyElements(*this, const_cast<std::byte *>(bytes.data()), /*store=*/true);
  return Status::ok();
}

Expected<Tensor> Tensor::castTo(DType dtype) const {
  if (Status bad = validate(); !bad.isOk())
    return bad;
  Expected<Tensor> result = empty(dtype, extents());
  if (!result)
    return result;
  Expected<std::vector<std::byte>> gathered = gatherBytes();
  if (!gathered)
    return gathered.status();
  const std::byte *source = gathered->data();
  auto *target = result->dataAs<std::byte>();
  int64_t from = sizeOf(this->dtype()), to = sizeOf(dtype), count = numElements();
  bool viaInteger =
      !isFloat(this->dtype()); // exact for i64, and integers wrap instead of saturating
  for (int64_t i = 0; i < count; ++i) {
    if (viaInteger)
      storeElementInt(dtype, target + i * to, loadElementInt(this->dtype(), source + i * from));
    else
      storeElement(dtype, target + i * to, loadElement(this->dtype(), source + i * from));
  }
  return result;
}

Expected<void *> Tensor::elementAddress(Dims indices) const {
  if (Status bad = validate(); !bad.isOk())
    return bad;
  if (static_cast<int>(indices.size()) != rank())
    return invalid(std::to_string(indices.size()) + " indices given for " + str());
  int64_t offset = 0;
  for (int i = 0; i < rank(); ++i) {
    if (indices[i] < 0 || indices[i] >= extent(i))
      return invalid("index " + kiln::toString(indices) + " is outside " + str());
    offset += indices[i] * stride(i);
  }
  return static_cast<void *>(dataAs<std::byte>() + offset * elementBytes());
}

Expected<double> Tensor::get(Dims indices) const {
  Expected<void *> address = elementAddress(indices);
  if (!address)
    return address.status();
  return loadElement(this->dtype(), *address);
}

Expected<int64_t> Tensor::getInt(Dims indices) const {
  Expected<void *> address = elementAddress(indices);
  if (!address)
    return address.status();
  return loadElementInt(this->dtype(), *address);
}

Status Tensor::set(Dims indices, double value) const {
  Expected<void *> address = elementAddress(indices);
  if (!address)
    return address.status();
  if (isReadOnly())
    return invalid("store to the read-only tensor " + str());
  storeElement(this->dtype(), *address, value);
  return Status::ok();
}

Status Tensor::setInt(Dims indices, int64_t value) const {
  Expected<void *> address = elementAddress(indices);
  if (!address)
    return address.status();
  if (isReadOnly())
    return invalid("store to the read-only tensor " + str());
  storeElementInt(this->dtype(), *address, value);
  return Status::ok();
}

/// So many elements side by side: twice as many with each copy.
static void fillRun(std::byte *at, int64_t count, const std::byte *element, int64_t size) {
  if (count > 0)
    std::memcpy(at, element, static_cast<size_t>(size));
  for (int64_t done = 1; done < count; done *= 2)
    std::memcpy(at + done * size, at, static_cast<size_t>(std::min(done, count - done) * size));
}

static Status fillPattern(const Tensor &tensor, const std::byte *element) {
  if (Status bad = tensor.validate(); !bad.isOk())
    return bad;
  if (tensor.isReadOnly())
    return invalid("store to the read-only tensor " + tensor.str());
  auto *base = tensor.dataAs<std::byte>();
  int64_t size = sizeOf(tensor.dtype());
  if (tensor.isContiguous()) {
    fillRun(base, tensor.numElements(), element, size);
    return Status::ok();
  }
  int64_t count = tensor.extent(tensor.rank() - 1), stride = tensor.stride(tensor.rank() - 1);
  forEachRow(tensor, [&](int64_t offset) {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(base + (offset + i * stride) * size, element, static_cast<size_t>(size));
  });
  return Status::ok();
}

Status Tensor::fillPoison() const {
  std::array<std::byte, 8> element;
  element.fill(std::byte{0xa5});
  if (isFloat(this->dtype()))
    storeElement(this->dtype(), element.data(), std::numeric_limits<double>::quiet_NaN());
  else if (this->dtype() == DType::I1)
    element[0] = std::byte{1};
  return fillPattern(*this, element.data());
}

Status Tensor::fillZero() const {
  std::array<std::byte, 8> zero{};
  return fillPattern(*this, zero.data());
}
