//===- kiln/runtime/dump_marks.h - memory a program wants to see dumped --===//
//
// What: the tensors an orchestration has marked, and whether another one is a view of their memory.
//   One place for everybody who executes orchestrations.
//
// Ownership: holds the tensors. Threads: one at a time.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DUMP_MARKS_H
#define KILN_RUNTIME_DUMP_MARKS_H

#include "kiln/runtime/tensor.h"

#include <algorithm>
#include <vector>

namespace kiln {

class DumpMarks {
public:
  void add(const Tensor &tensor) { Marked.push_back(tensor); }
  bool isEmpty() const { return Marked.empty(); }

  /// Whether `tensor` may share memory with one that is marked. Address ranges do: at worst too
  /// much is dumped.
  bool contains(const Tensor &tensor) const {
    return std::any_of(Marked.begin(), Marked.end(), [&](const Tensor &other) {
      return tensor.buffer() == other.buffer() &&
             tensor.byteOffset() < other.byteOffset() + other.spanBytes() &&
             other.byteOffset() < tensor.byteOffset() + tensor.spanBytes();
    });
  }

private:
  std::vector<Tensor> Marked;
};

} // namespace kiln

#endif // KILN_RUNTIME_DUMP_MARKS_H
