//===- kiln/layout/print.h - layouts as text ------------------------------===//
//
// What: shape:stride as text, for tests and tools. Host only; kiln/layout.h does not include it.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_LAYOUT_PRINT_H
#define KILN_LAYOUT_PRINT_H

#include "kiln/layout.h"

#include <string>

namespace kiln::layout {

namespace detail {
inline std::string numbersOf(const AnyLayout &layout, bool strides) {
  if (layout.isMode())
    return std::to_string(strides ? layout.stride() : layout.extent());
  std::string text;
  for (int i = 0; i < rank(layout); ++i)
    text += (i == 0 ? "(" : ",") + numbersOf(layout.mode(i), strides);
  return text + ")";
}
} // namespace detail

/// "(2,(1,6)):(1,(6,2))"
inline std::string toString(const AnyLayout &layout) {
  return detail::numbersOf(layout, false) + ":" + detail::numbersOf(layout, true);
}

} // namespace kiln::layout

#endif // KILN_LAYOUT_PRINT_H
