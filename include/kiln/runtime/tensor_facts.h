//===- tensor_facts.h - what compiled code may know of a call's tensors -----------------===//
//
// What: `TensorFacts`: everything about one tensor argument that may influence code, and nothing
//   else; `FactSet`, the kinds of facts that a code generator declares it may read. The JIT makes
//   the key of an artifact from the declared facts of a call's tensors, and the compiler is handed
//   those only. So what is not in the key is not in the code, by construction.
//
// Threads: values and pure functions.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_TENSOR_FACTS_H
#define KILN_RUNTIME_TENSOR_FACTS_H

#include "kiln/runtime/dtype.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

/// The kinds of facts, besides element type and rank, which every code generator may read.
enum class Fact : uint8_t {
  Leading,   ///< Which axis has the constant stride 1.
  Offsets32, ///< Byte offsets fit 32 bits.
  Static,    ///< Extents and strides that the caller pinned.
  Divisible  ///< What the leading extent and the other strides are multiples of.
};
inline constexpr size_t numFacts = size_t(Fact::Divisible) + 1;
/// "leading", "offsets32", "static", "divisible": as it stands in a key.
const char *toString(Fact fact);

/// Some of the kinds.
class FactSet {
public:
  constexpr FactSet(std::initializer_list<Fact> facts) {
    for (Fact fact : facts)
      Bits |= bit(fact);
  }
  static constexpr FactSet all() {
    return {Fact::Leading, Fact::Offsets32, Fact::Static, Fact::Divisible};
  }

  constexpr bool contains(Fact fact) const { return Bits & bit(fact); }
  constexpr FactSet with(Fact fact) const { return FactSet(uint8_t(Bits | bit(fact))); }
  constexpr FactSet without(Fact fact) const { return FactSet(uint8_t(Bits & ~bit(fact))); }
  friend bool operator==(const FactSet &, const FactSet &) = default;
  /// The names, with spaces between them.
  std::string str() const;

private:
  constexpr explicit FactSet(uint8_t bits) : Bits(bits) {}
  static constexpr uint8_t bit(Fact fact) { return uint8_t(1u << unsigned(fact)); }
  uint8_t Bits = 0;
};

/// The inverse of FactSet::str(). Nothing if a name is none.
std::optional<FactSet> parseFactSet(std::string_view text);

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
  /// Without the facts of other kinds than these.
  TensorFacts only(FactSet kinds) const;
  /// The kinds of which there are facts.
  FactSet kinds() const;
  /// As it stands in a key: "f32 rank 2 leading 1 offsets32 static 0:128:64 divisible 8".
  std::string str() const;
};

/// The inverse of str(): the part after the element type may come in any order. Nothing if the text
/// is not of that form.
std::optional<TensorFacts> parseTensorFacts(std::string_view text);

} // namespace kiln

#endif // KILN_RUNTIME_TENSOR_FACTS_H
