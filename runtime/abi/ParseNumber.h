// What: reads a number from text that must be nothing but that number.

#ifndef KILN_RUNTIME_ABI_PARSENUMBER_H
#define KILN_RUNTIME_ABI_PARSENUMBER_H

#include <charconv>
#include <string_view>

namespace kiln {

/// Whether all of `text` is a number, which `value` then is.
template <typename T> bool parseAll(std::string_view text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace kiln

#endif // KILN_RUNTIME_ABI_PARSENUMBER_H
