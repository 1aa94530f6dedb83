//===- tensor_facts.h - what compiled code may know of a call's tensors -----------------===//
//
// What: `TensorFacts`: everything about one tensor argument that may influence code, and nothing
//   else. The JIT makes the key of an artifact from the facts of a call's tensors, and the compiler
//   is handed those facts only. So what is not in the key is not in the code, by construction.
//
// Threads: values and pure functions.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_TENSOR_FACTS_H
#define KILN_RUNTIME_TENSOR_FACTS_H

#include "kiln/runtime/dtype.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

struct TensorFacts {
  DType dtype = DType::F32;
  uint8_t rank = 1;
  /// The axis whose stride is the constant 1; -1 if there is none.
  int8_t leadingDim = -1;
  /// Every byte offset inside the tensor fits a signed 32-bit integer.
  bool use32bit = false;
  /// The extent of the leading dimension and all other strides are multiples of this.
  uint32_t divisibility = 1;
  /// Pinned by mark_static; none for axes that are dynamic.
  std::array<std::optional<int64_t>, KILN_MAX_RANK> extents = {};
  /// None also where a pinned extent is 0 or 1: such a stride means nothing.
  std::array<std::optional<int64_t>, KILN_MAX_RANK> strides = {};

  friend bool operator==(const TensorFacts &, const TensorFacts &) = default;
  /// As it stands in a key: "f32 rank 2 leading 1 offsets32 static 0:128:64 divisible 8".
  std::string str() const;
};

/// The inverse of str(): the part after the element type may come in any order. Nothing if the text
/// is not of that form.
std::optional<TensorFacts> parseTensorFacts(std::string_view text);

} // namespace kiln

#endif // KILN_RUNTIME_TENSOR_FACTS_H
