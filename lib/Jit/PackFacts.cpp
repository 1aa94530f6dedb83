#include "ReadTensor.h"

namespace kiln {

uint64_t *packFacts(const TensorFacts &facts, uint64_t *words) {
  uint64_t staticDims = 0;
  for (int axis = 0; axis < facts.rank; ++axis)
    staticDims |= uint64_t(facts.extents[axis].has_value()) << axis;
  *words++ = uint64_t(facts.dtype) | uint64_t(facts.rank) << factbits::rank |
             (facts.leadingDim < 0 ? factbits::noLeading : uint64_t(facts.leadingDim))
                 << factbits::leading |
             uint64_t(facts.use32bit) << factbits::use32bit | staticDims << factbits::staticDims |
             uint64_t(facts.divisibility) << factbits::divisibility;
  for (int axis = 0; axis < facts.rank; ++axis) {
    if (!facts.extents[axis])
      continue;
    *words++ = uint64_t(*facts.extents[axis]);
    if (*facts.extents[axis] > 1)
      *words++ = uint64_t(facts.strides[axis].value_or(0));
  }
  return words;
}

std::vector<TensorFacts> unpackFacts(std::span<const uint64_t> words) {
  std::vector<TensorFacts> list;
  for (size_t at = 0; at < words.size();) {
    uint64_t word = words[at++];
    auto field = [&](int shift, uint64_t mask) { return word >> shift & mask; };
    TensorFacts &facts = list.emplace_back();
    facts.dtype = static_cast<DType>(field(0, 15));
    facts.rank = uint8_t(field(factbits::rank, 7));
    uint64_t leading = field(factbits::leading, 7);
    facts.leadingDim = leading == factbits::noLeading ? int8_t(-1) : int8_t(leading);
    facts.use32bit = field(factbits::use32bit, 1);
    facts.divisibility = uint32_t(field(factbits::divisibility, UINT32_MAX));
    for (int axis = 0; axis < facts.rank; ++axis) {
      if (!(field(factbits::staticDims, 31) >> axis & 1))
        continue;
      facts.extents[axis] = int64_t(words[at++]);
      if (*facts.extents[axis] > 1)
        facts.strides[axis] = int64_t(words[at++]);
    }
  }
  return list;
}

} // namespace kiln
