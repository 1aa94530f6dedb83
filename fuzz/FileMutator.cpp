//===- FileMutator.cpp - mutants of files that hold JSON -----------------------------===//
//
// Changes words and numbers rather than bytes, so that most mutants are still JSON and get past
// the parser.
//
//===----------------------------------------------------------------------------===//
#include <algorithm>
#include <random>
#include <string>

namespace {

class Mutator {
public:
  explicit Mutator(unsigned seed) : Random(seed) {}

  std::string mutate(std::string text) {
    const std::string original = text;
    for (size_t count = 1 + pick(3); count > 0; --count)
      mutateOnce(text, original);
    return text;
  }

private:
  size_t pick(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count ? count - 1 : 0)(Random);
  }

  /// A number or a word: what stands between punctuation.
  std::pair<size_t, size_t> token(const std::string &text) {
    static constexpr const char *kBetween = " \n\t,:[]{}\"";
    size_t begin = text.find_first_not_of(kBetween, pick(text.size()));
    if (begin == std::string::npos)
      return {0, std::min<size_t>(text.size(), 1)};
    return {begin, std::min(text.find_first_of(kBetween, begin), text.size()) - begin};
  }

  void mutateOnce(std::string &text, const std::string &other) {
    static constexpr const char *kWords[] = {"0",
                                             "-1",
                                             "1",
                                             "2",
                                             "5",
                                             "6",
                                             "255",
                                             "256",
                                             "65536",
                                             "4294967296",
                                             "9223372036854775807",
                                             "18446744073709551615",
                                             "18446744073709551616",
                                             "-9223372036854775808",
                                             "1e400",
                                             "0.5",
                                             "null",
                                             "true",
                                             "[]",
                                             "{}",
                                             "\"\"",
                                             "f32",
                                             "i1",
                                             "index",
                                             "..",
                                             "/",
                                             "[[[[[[[[",
                                             "\\u0000"};
    if (text.empty())
      text = other;
    auto [at, length] = token(text);
    switch (pick(7)) {
    case 0:
      text[pick(text.size())] = char(pick(256));
      break;
    case 1:
      text.resize(pick(text.size()));
      break;
    case 2:
      text.erase(at, 1 + pick(40));
      break;
    case 3:
      text.insert(at, other, pick(other.size()), pick(60));
      break;
    case 4: { // one token for another
      auto [from, size] = token(other);
      text.replace(at, length, other, from, size);
      break;
    }
    default:
      text.replace(at, length, kWords[pick(std::size(kWords))]);
    }
  }

  std::minstd_rand Random;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::string text(reinterpret_cast<const char *>(data), size);
  std::string mutant = Mutator(seed).mutate(text.empty() ? "{}" : text);
  mutant.resize(std::min(mutant.size(), maxSize));
  std::copy(mutant.begin(), mutant.end(), data);
  return mutant.size();
}
