//===- kiln/runtime/tensor.h - buffers and strided views of them ---------===//
//
// What: `Buffer`, a piece of memory with an identity, and `Tensor`, a strided view of one:
//   element type, extents, strides. A Tensor is a handle: copies see the same memory, as in the
//   language.
//
// Ownership: Tensors share their Buffer; the last one frees it. A Buffer either owns its memory
//   or wraps the caller's, which then must outlive every Tensor over it and every task that was
//   given one.
//
// Threads: handles are values. The reference count is thread safe; the bytes are not guarded by
//   anything: while tasks are in flight only the engine knows who may touch them.
//
// Invariants of every non-null Tensor (the factories check, so nobody else need to): rank 1..5,
//   extents >= 0, strides >= 0, every byte offset fits 63 bits and lies inside the buffer, data
//   aligned to the element. The stride of an axis of extent <= 1 means nothing and is normalised
//   to the contiguous one.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_TENSOR_H
#define KILN_RUNTIME_TENSOR_H

#include "kiln/abi.h"
#include "kiln/runtime/dtype.h"
#include "kiln/runtime/status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kiln {

class Buffer {
  /// Who has one may make a buffer: those of this class.
  struct Key {};

public:
  /// Fresh memory, 64-byte aligned, contents unspecified.
  static Expected<std::shared_ptr<Buffer>> allocate(uint64_t bytes);
  /// The caller's memory. `release`, if given, runs exactly once when the last Tensor lets go.
  static std::shared_ptr<Buffer> wrap(void *data, uint64_t bytes,
                                      std::function<void()> release = {});

  Buffer(Key, void *data, uint64_t bytes, bool owns, std::function<void()> release);
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  /// Unique in this process, never reused, never 0.
  uint64_t id() const { return Id; }
  void *data() const { return Data; }
  uint64_t bytes() const { return Bytes; }
  bool ownsMemory() const { return Owns; }

private:
  uint64_t Id;
  void *Data;
  uint64_t Bytes;
  bool Owns;
  std::function<void()> Release;
};

/// A list of extents, strides or indices: a braced list, a vector or an array.
class Dims : public std::span<const int64_t> {
public:
  using std::span<const int64_t>::span;
  Dims(std::initializer_list<int64_t> list) : span(list.begin(), list.size()) {}
  Dims(const std::vector<int64_t> &list) : span(list.data(), list.size()) {}
  Dims(std::span<const int64_t> list) : span(list) {}
};

/// "[2, 3]"
std::string toString(Dims dims);

class Tensor {
public:
  /// The null tensor: rank 0, no memory. Not valid as an argument anywhere.
  Tensor() = default;

  /// A fresh row-major tensor, contents unspecified.
  static Expected<Tensor> empty(DType dtype, Dims extents);
  /// The caller's memory. Without strides: row-major.
  static Expected<Tensor> view(void *data, DType dtype, Dims extents);
  static Expected<Tensor> view(void *data, DType dtype, Dims extents, Dims strides);
  /// A view of part of an existing buffer, checked to lie inside it.
  static Expected<Tensor> view(std::shared_ptr<Buffer> buffer, uint64_t byteOffset, DType dtype,
                               Dims extents, Dims strides);

  bool isNull() const { return !Buf; }
  DType dtype() const { return static_cast<DType>(View.dtype); }
  int rank() const { return View.rank; }
  int64_t extent(int axis) const { return View.extents[axis]; }
  int64_t stride(int axis) const { return View.strides[axis]; }
  Dims extents() const { return Dims(View.extents, View.rank); }
  Dims strides() const { return Dims(View.strides, View.rank); }
  /// Element [0, ..., 0].
  void *data() const { return View.data; }
  template <typename T> T *dataAs() const { return reinterpret_cast<T *>(View.data); }
  const std::shared_ptr<Buffer> &buffer() const { return Buf; }
  /// Lets go of the buffer: the tensor is null afterwards.
  std::shared_ptr<Buffer> releaseBuffer() && { return std::move(Buf); }
  /// Bytes from the start of the buffer to element [0, ..., 0].
  uint64_t byteOffset() const;

  int64_t numElements() const;
  /// numElements() x element size: the size of the gathered payload.
  uint64_t numBytes() const { return static_cast<uint64_t>(numElements() * sizeOf(dtype())); }
  /// Bytes from element [0, ..., 0] to the end of the last element; 0 when there are no elements.
  uint64_t spanBytes() const;
  bool isContiguous() const { return isNull() || View.flags & KILN_TENSOR_CONTIGUOUS; }
  /// Some axis of extent > 1 has stride 0.
  bool isBroadcast() const { return View.flags & KILN_TENSOR_BROADCAST; }
  bool isReadOnly() const { return View.flags & KILN_TENSOR_READ_ONLY; }

  // Views. They share the buffer.
  /// Elements [offsets, offsets + sizes); axes in `dropped` must have size 1 and disappear.
  Expected<Tensor> slice(Dims offsets, Dims sizes, Dims dropped = {}) const;
  /// Axis i of the result is axis perm[i] of this tensor.
  Expected<Tensor> transpose(Dims perm) const;
  /// Same elements, other extents; contiguous tensors only.
  Expected<Tensor> reshape(Dims extents) const;
  /// The same view, marked as one nobody may store to.
  Tensor asReadOnly() const;

  /// Everything in the invariants above, plus non-null. Factories have checked already; this is for
  /// the entry points that must say which argument was bad.
  Status validate() const;

  /// The elements in row-major order, without gaps. OutOfMemory when the copy does not fit (a
  /// broadcast tensor may have far more elements than bytes behind them).
  Expected<std::vector<std::byte>> gatherBytes() const;
  /// The inverse: `bytes` must be exactly numBytes() long. Fails on a read-only tensor.
  Status scatterBytes(std::span<const std::byte> bytes) const;
  /// A fresh contiguous tensor of another element type, converted element by element.
  Expected<Tensor> castTo(DType dtype) const;

  // One element, index checked.
  Expected<double> get(Dims indices) const;
  Expected<int64_t> getInt(Dims indices) const;
  Status set(Dims indices, double value) const;
  Status setInt(Dims indices, int64_t value) const;
  Expected<void *> elementAddress(Dims indices) const;

  /// Makes unwritten results visible: NaN for floats, bytes 0xA5 for integers, 1 for i1 (whose byte
  /// must stay 0 or 1).
  Status fillPoison() const;
  Status fillZero() const;

  /// The descriptor kernels see. The tensor must outlive its use.
  const kiln_tensor &toAbi() const { return View; }

  /// "f32[64, 128]"
  std::string str() const;

private:
  /// Of a view that is known to lie inside the buffer; the alignment is checked.
  static Expected<Tensor> viewChecked(std::shared_ptr<Buffer> buffer, uint64_t byteOffset,
                                      DType dtype, Dims extents, Dims strides);
  int64_t elementBytes() const { return sizeOf(dtype()); }
  /// Brings strides without meaning, axes beyond the rank and flags in order; to be called after
  /// any change.
  void settle();

  std::shared_ptr<Buffer> Buf;
  kiln_tensor View{}; // what kernels see: a task takes it over as it is
  bool ReadOnly = false;
};

} // namespace kiln

#endif // KILN_RUNTIME_TENSOR_H
