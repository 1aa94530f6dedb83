//===- LayoutTesting.h - what the layout tests share ----------------------===//
#ifndef KILN_UNITTESTS_RUNTIME_LAYOUTTESTING_H
#define KILN_UNITTESTS_RUNTIME_LAYOUTTESTING_H

#include "kiln/layout/print.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace kiln::layout {

inline void PrintTo(const AnyLayout &layout, std::ostream *os) { *os << toString(layout); }

/// Reads what toString writes.
class LayoutParser {
public:
  explicit LayoutParser(std::string_view text)
      : Extents(text.substr(0, text.find(':'))), Strides(text.substr(text.find(':') + 1)) {}

  AnyLayout parse() {
    if (Extents.front() != '(')
      return *AnyLayout::mode(number(Extents), number(Strides));
    std::vector<AnyLayout> modes;
    do {
      Extents.remove_prefix(1); // "(" or ","
      Strides.remove_prefix(1);
      modes.push_back(parse());
    } while (Extents.front() == ',');
    Extents.remove_prefix(1); // ")"
    Strides.remove_prefix(1);
    return *AnyLayout::tuple(modes.data(), static_cast<int>(modes.size()));
  }

private:
  static int64_t number(std::string_view &text) {
    int64_t value = 0;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1))
      value = value * 10 + (text.front() - '0');
    return value;
  }

  std::string_view Extents, Strides;
};

inline AnyLayout parse(std::string_view text) { return LayoutParser(text).parse(); }

/// All offsets, in the order of the index.
inline std::vector<int64_t> offsets(const AnyLayout &layout) {
  std::vector<int64_t> result(size(layout));
  for (int64_t i = 0; i < size(layout); ++i)
    result[i] = layout(i);
  return result;
}

} // namespace kiln::layout

#endif // KILN_UNITTESTS_RUNTIME_LAYOUTTESTING_H
