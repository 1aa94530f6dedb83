#include "kiln/runtime/tensor_facts.h"

#include "ParseNumber.h"

namespace kiln {

const char *toString(Fact fact) {
  static constexpr const char *names[numFacts] = {"leading", "offsets32", "static", "divisible"};
  return names[size_t(fact)];
}

std::string FactSet::str() const {
  std::string text;
  for (size_t number = 0; number < numFacts; ++number)
    if (contains(Fact(number)))
      text += (text.empty() ? "" : " ") + std::string(toString(Fact(number)));
  return text;
}

TensorFacts TensorFacts::only(FactSet kinds) const {
  TensorFacts kept = *this;
  if (!kinds.contains(Fact::Leading))
    kept.leadingDim = -1;
  if (!kinds.contains(Fact::Offsets32))
    kept.use32bit = false;
  if (!kinds.contains(Fact::Static))
    kept.extents = kept.strides = {};
  if (!kinds.contains(Fact::Divisible))
    kept.divisibility = 1;
  return kept;
}

FactSet TensorFacts::kinds() const {
  FactSet found{};
  for (size_t number = 0; number < numFacts; ++number)
    if (TensorFacts without = only(FactSet::all().without(Fact(number))); without != *this)
      found = found.with(Fact(number));
  return found;
}

std::string TensorFacts::str() const {
  std::string text = std::string(toString(dtype)) + " rank " + std::to_string(rank);
  if (leadingDim >= 0)
    text += " leading " + std::to_string(leadingDim);
  if (use32bit)
    text += " offsets32";
  for (int axis = 0; axis < rank; ++axis) {
    if (!extents[axis])
      continue;
    text += " static " + std::to_string(axis) + ":" + std::to_string(*extents[axis]);
    if (strides[axis])
      text += ":" + std::to_string(*strides[axis]);
  }
  if (divisibility != 1)
    text += " divisible " + std::to_string(divisibility);
  return text;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

/// Words of a text, one after the other.
class Words {
public:
  explicit Words(std::string_view text) : Rest(text) {}
  std::string_view next() {
    size_t begin = std::min(Rest.find_first_not_of(' '), Rest.size());
    size_t end = std::min(Rest.find(' ', begin), Rest.size());
    std::string_view word = Rest.substr(begin, end - begin);
    Rest.remove_prefix(end);
    return word;
  }

private:
  std::string_view Rest;
};

std::optional<int64_t> parseNumber(std::string_view text) {
  int64_t value = 0;
  return parseAll(text, value) && value >= 0 ? std::optional(value) : std::nullopt;
}

/// "0:128:64": axis, extent and, if there is one that means something, stride.
bool parseStatic(std::string_view text, TensorFacts &facts) {
  std::array<std::optional<int64_t>, 3> parts;
  size_t count = 0;
  for (size_t begin = 0; begin <= text.size(); ++count) {
    size_t end = std::min(text.find(':', begin), text.size());
    std::optional<int64_t> number = parseNumber(text.substr(begin, end - begin));
    if (!number || count == parts.size())
      return false;
    parts[count] = number;
    begin = end + 1;
  }
  auto [axis, extent, stride] = parts;
  if (!extent || *axis >= facts.rank || facts.extents[*axis] || (*extent > 1) != stride.has_value())
    return false;
  facts.extents[*axis] = extent;
  facts.strides[*axis] = stride;
  return true;
}

bool parseFact(std::string_view name, Words &words, TensorFacts &facts) {
  if (name == "offsets32")
    return facts.use32bit = true;
  if (name == "static")
    return parseStatic(words.next(), facts);
  std::optional<int64_t> number = parseNumber(words.next());
  if (!number)
    return false;
  if (name == "leading" && *number < facts.rank) {
    facts.leadingDim = int8_t(*number);
    return true;
  }
  if (name == "divisible" && *number >= 1 && *number <= UINT32_MAX) {
    facts.divisibility = uint32_t(*number);
    return true;
  }
  return false;
}

} // namespace

std::optional<FactSet> parseFactSet(std::string_view text) {
  Words words(text);
  FactSet set{};
  for (std::string_view name = words.next(); !name.empty(); name = words.next()) {
    size_t number = 0;
    while (number < numFacts && name != toString(Fact(number)))
      ++number;
    if (number == numFacts)
      return std::nullopt;
    set = set.with(Fact(number));
  }
  return set;
}

std::optional<TensorFacts> parseTensorFacts(std::string_view text) {
  Words words(text);
  TensorFacts facts;
  std::optional<DType> dtype = parseDType(words.next());
  if (!dtype || !info(*dtype).isElement || words.next() != "rank")
    return std::nullopt;
  std::optional<int64_t> rank = parseNumber(words.next());
  if (!rank || *rank < 1 || *rank > KILN_MAX_RANK)
    return std::nullopt;
  facts.dtype = *dtype;
  facts.rank = uint8_t(*rank);
  for (std::string_view name = words.next(); !name.empty(); name = words.next())
    if (!parseFact(name, words, facts))
      return std::nullopt;
  return facts;
}

} // namespace kiln
