#include "PlaceMarks.h"

#include "kiln/Program/Signature.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln::torch {

/// Begins a mark. No line of Python has it: strings are written with escapes.
static constexpr char kMark = '\x01';

std::string PlaceMarks::mark(const Twine &line, Location loc) {
  Places.push_back(sourceLocOf(loc));
  return (line + Twine(kMark) + Twine(Places.size() - 1)).str();
}

std::vector<SourceLoc> PlaceMarks::take(std::string &text) const {
  std::vector<SourceLoc> places;
  std::string plain;
  for (StringRef rest = text; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    auto [words, number] = line.split(kMark);
    size_t place = 0;
    places.push_back(number.getAsInteger(10, place) ? SourceLoc() : Places[place]);
    plain += words.str() + '\n';
    rest = after;
  }
  text = std::move(plain);
  return places;
}

} // namespace kiln::torch
