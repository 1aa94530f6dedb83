#include "TokenMutator.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace kiln::fuzz {

static bool isWordPart(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; }

/// Words with their sigil (`%x`, `@f`, `!tile.tile`, `tile.add`, `-12`), and single characters.
/// What lies between tokens is only space.
static SmallVector<StringRef> tokensOf(StringRef text) {
  SmallVector<StringRef> tokens;
  while (!(text = text.ltrim()).empty()) {
    size_t length = StringRef("%@!#^-").contains(text.front()) ? 1 : 0;
    while (length < text.size() && isWordPart(text[length]))
      ++length;
    tokens.push_back(text.take_front(std::max<size_t>(length, 1)));
    text = text.drop_front(tokens.back().size());
  }
  return tokens;
}

/// Names of values, functions, types: things of one kind can stand for one another.
static bool areAlike(StringRef a, StringRef b) {
  auto kind = [](char c) { return llvm::isDigit(c) ? '0' : llvm::isAlpha(c) ? 'a' : c; };
  return kind(a.front()) == kind(b.front());
}

std::string TokenMutator::otherNumber(StringRef token) {
  static constexpr const char *numbers[] = {
      "0", "1", "-1", "2", "3", "16", "64", "255", "256", "65536", "1000000000", "4294967296",
      "1.0e400", "nan", "?", "-2", "5", "6", "7", "0x7FC00000",
      // The ends of i64; the least one also stands for "dynamic" in MLIR's lists of indices.
      "9223372036854775807", "-9223372036854775808", "-9223372036854775807", "9223372036854775808"};
  int64_t value;
  if (pick(3) == 0 && !token.getAsInteger(10, value))
    return std::to_string(static_cast<uint64_t>(value) + pick(5) - 2);
  return numbers[pick(std::size(numbers))];
}

std::string TokenMutator::replacementFor(StringRef token, ArrayRef<StringRef> others) {
  StringRef digits = token;
  digits.consume_front("-");
  bool isNumber = !digits.empty() && llvm::isDigit(digits.front());
  if (isNumber && pick(4) != 0) {
    // A shape such as `4x8xf32` lexes as one token: change one of its numbers.
    SmallVector<StringRef> parts;
    token.split(parts, 'x');
    size_t changed = pick(parts.size());
    std::string number = otherNumber(parts[changed]);
    parts[changed] = number;
    return llvm::join(parts, "x");
  }
  SmallVector<StringRef> alike;
  for (StringRef other : others)
    if (areAlike(token, other))
      alike.push_back(other);
  if (!alike.empty() && pick(2) == 0)
    return alike[pick(alike.size())].str();
  return Words[pick(Words.size())];
}

std::string TokenMutator::mutateLines(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  StringRef line = lines[pick(lines.size())];
  switch (pick(3)) {
  case 0:
    lines.erase(lines.begin() + pick(lines.size()));
    break;
  case 1:
    lines.insert(lines.begin() + pick(lines.size() + 1), line);
    break;
  default:
    std::swap(lines[pick(lines.size())], lines[pick(lines.size())]);
    break;
  }
  return llvm::join(lines, "\n");
}

std::string TokenMutator::mutateOnce(StringRef text) {
  SmallVector<StringRef> tokens = tokensOf(text);
  if (tokens.empty())
    return Words[pick(Words.size())];
  if (pick(4) == 0)
    return mutateLines(text);
  StringRef token = tokens[pick(tokens.size())], other = tokens[pick(tokens.size())];
  std::string before(text.begin(), token.begin()), after(token.end(), text.end());
  switch (pick(6)) {
  case 0:
    return before + after;
  case 1:
    return before + token.str() + " " + token.str() + after;
  case 2:
    return before + " " + Words[pick(Words.size())] + " " + token.str() + after;
  case 3: {
    if (token.begin() > other.begin())
      std::swap(token, other);
    if (token.end() > other.begin())
      return text.str();
    return std::string(text.begin(), token.begin()) + other.str() +
           std::string(token.end(), other.begin()) + token.str() +
           std::string(other.end(), text.end());
  }
  default:
    return before + replacementFor(token, tokens) + after;
  }
}

std::string TokenMutator::mutate(StringRef text, unsigned seed) {
  Random.seed(seed);
  std::string mutant = text.str();
  for (size_t count = 1 + pick(4); count > 0; --count)
    mutant = mutateOnce(mutant);
  return mutant;
}

std::string TokenMutator::cross(StringRef text, StringRef other, unsigned seed) {
  Random.seed(seed);
  SmallVector<StringRef> lines, others;
  text.split(lines, '\n');
  other.split(others, '\n');
  size_t first = pick(others.size()), count = 1 + pick(std::min<size_t>(8, others.size() - first));
  lines.insert(lines.begin() + pick(lines.size() + 1), others.begin() + first,
               others.begin() + first + count);
  return llvm::join(lines, "\n");
}

} // namespace kiln::fuzz
