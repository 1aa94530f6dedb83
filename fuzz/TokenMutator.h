//===- TokenMutator.h - mutates textual IR token by token ----------------------------===//
//
// Bytes changed at random rarely get past a lexer. These mutations keep most of a program whole:
// they exchange, repeat or drop tokens and lines, put in words that the dialects know, and change
// numbers to the ones that break things.
//
// Threads: none; libFuzzer runs one input at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_FUZZ_TOKENMUTATOR_H
#define KILN_FUZZ_TOKENMUTATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <random>
#include <string>
#include <vector>

namespace kiln::fuzz {

class TokenMutator {
public:
  /// `words` are what may be put in anywhere: names of ops, types, keywords.
  explicit TokenMutator(std::vector<std::string> words) : Words(std::move(words)) {}

  /// `text` with one to four mutations, the same for the same seed.
  std::string mutate(llvm::StringRef text, unsigned seed);

  /// `text` with some lines of `other` in it.
  std::string cross(llvm::StringRef text, llvm::StringRef other, unsigned seed);

private:
  std::string mutateOnce(llvm::StringRef text);
  std::string mutateLines(llvm::StringRef text);
  /// What may stand in the place of `token`.
  std::string replacementFor(llvm::StringRef token, llvm::ArrayRef<llvm::StringRef> others);
  std::string otherNumber(llvm::StringRef token);
  /// A number from 0 to `count` - 1.
  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(Random); }

  std::vector<std::string> Words;
  std::minstd_rand Random;
};

} // namespace kiln::fuzz

#endif // KILN_FUZZ_TOKENMUTATOR_H
