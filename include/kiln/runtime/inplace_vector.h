//===- kiln/runtime/inplace_vector.h - a vector with room for a few ------===//
//
// What: a vector that keeps its first N elements inside itself, so that building a task with a few
//   arguments does not touch the heap. Grows like any vector beyond that.
//
// Ownership: its elements. Threads: a value like any other.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_INPLACE_VECTOR_H
#define KILN_RUNTIME_INPLACE_VECTOR_H

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace kiln {

template <typename T, size_t N> class InplaceVector {
public:
  InplaceVector() = default;
  InplaceVector(const InplaceVector &other) { append(other); }
  InplaceVector(InplaceVector &&other) noexcept { steal(other); }
  InplaceVector &operator=(const InplaceVector &other) {
    if (this != &other) {
      clear();
      append(other);
    }
    return *this;
  }
  InplaceVector &operator=(InplaceVector &&other) noexcept {
    if (this != &other) {
      release();
      steal(other);
    }
    return *this;
  }
  ~InplaceVector() { release(); }

  size_t size() const { return Size; }
  bool empty() const { return Size == 0; }
  T *begin() { return Elements; }
  T *end() { return Elements + Size; }
  const T *begin() const { return Elements; }
  const T *end() const { return Elements + Size; }
  T &operator[](size_t i) { return Elements[i]; }
  const T &operator[](size_t i) const { return Elements[i]; }
  operator std::span<const T>() const { return {Elements, Size}; }

  void push_back(T value) { emplace_back(std::move(value)); }
  /// Made of these in its place. They may be parts of an element.
  template <typename... Parts> void emplace_back(Parts &&...parts) {
    if (Size < Capacity) {
      new (Elements + Size) T{std::forward<Parts>(parts)...};
    } else {
      T value{std::forward<Parts>(parts)...};
      grow();
      new (Elements + Size) T(std::move(value));
    }
    ++Size;
  }
  void clear() {
    std::destroy_n(Elements, Size);
    Size = 0;
  }

private:
  T *inlineElements() { return reinterpret_cast<T *>(Inline); }
  bool isInline() const { return Elements == reinterpret_cast<const T *>(Inline); }

  void append(const InplaceVector &other) {
    for (const T &value : other)
      push_back(value);
  }
  void steal(InplaceVector &other) {
    if (!other.isInline()) {
      Elements = std::exchange(other.Elements, other.inlineElements());
      Capacity = std::exchange(other.Capacity, N);
      Size = std::exchange(other.Size, 0);
      return;
    }
    std::uninitialized_move_n(other.Elements, other.Size, Elements);
    Size = other.Size;
    other.clear();
  }
  /// Back to the state of a new one.
  void release() {
    clear();
    if (!isInline())
      std::allocator<T>().deallocate(Elements, Capacity);
    Elements = inlineElements();
    Capacity = N;
  }
  void grow() {
    T *larger = std::allocator<T>().allocate(2 * Capacity);
    std::uninitialized_move_n(Elements, Size, larger);
    size_t size = Size, capacity = 2 * Capacity;
    release();
    Elements = larger;
    Size = size;
    Capacity = capacity;
  }

  T *Elements = inlineElements();
  size_t Size = 0, Capacity = N;
  alignas(T) std::byte Inline[N * sizeof(T)];
};

} // namespace kiln

#endif // KILN_RUNTIME_INPLACE_VECTOR_H
