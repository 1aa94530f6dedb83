//===- InlineList.h - a short list of plain values -----------------------===//
//
// What: a growable list that keeps its first N elements inside itself. For the tensor map, where
//   nearly every list has one or two elements and a heap block would be one more cache miss.
//
// Ownership: its elements, which are plain data. Threads: none. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_INLINELIST_H
#define KILN_RUNTIME_ENGINE_INLINELIST_H

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kiln {

template <typename T, uint32_t N> class InlineList {
  static_assert(std::is_trivially_copyable_v<T>, "an InlineList copies its elements as bytes");

public:
  InlineList() {}
  ~InlineList() {
    if (isOnHeap())
      delete[] Heap;
  }
  InlineList(const InlineList &) = delete;
  InlineList &operator=(const InlineList &) = delete;

  uint32_t size() const { return Size; }
  bool isEmpty() const { return Size == 0; }
  T *begin() { return isOnHeap() ? Heap : Inline; }
  T *end() { return begin() + Size; }
  T &operator[](uint32_t i) { return begin()[i]; }

  void push(const T &value) {
    if (Size == Capacity)
      grow();
    begin()[Size++] = value;
  }
  /// Keeps the memory.
  void clear() { Size = 0; }
  /// The last element takes the place of element `i`.
  void eraseUnordered(uint32_t i) {
    begin()[i] = begin()[Size - 1];
    --Size;
  }
  template <typename Drop> void eraseIf(Drop drop) {
    T *to = begin();
    for (T &value : *this)
      if (!drop(value))
        *to++ = value;
    Size = static_cast<uint32_t>(to - begin());
  }

private:
  bool isOnHeap() const { return Capacity != N; }
  void grow() {
    T *larger = new T[size_t{2} * Capacity];
    std::copy(begin(), end(), larger);
    if (isOnHeap())
      delete[] Heap;
    Heap = larger;
    Capacity *= 2;
  }

  uint32_t Size = 0, Capacity = N;
  union {
    T Inline[N];
    T *Heap;
  };
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_INLINELIST_H
