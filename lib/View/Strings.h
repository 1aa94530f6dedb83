//===- Strings.h - names that are written once -------------------------------------------===//
#ifndef KILN_LIB_VIEW_STRINGS_H
#define KILN_LIB_VIEW_STRINGS_H

#include "abi/Json.h"

#include <string>
#include <unordered_map>

namespace kiln::view {

/// Gives each text a number; the page gets the list. A text that is longer than anything one reads
/// in a table is cut.
class Strings {
public:
  size_t operator()(const std::string &text) {
    constexpr size_t most = 400;
    auto [known, isNew] =
        Numbers.try_emplace(text.size() > most ? text.substr(0, most) + "…" : text, List.size());
    if (isNew)
      List.push_back(known->first);
    return known->second;
  }
  const Json &list() const { return List; }

private:
  std::unordered_map<std::string, size_t> Numbers;
  Json List = Json::array();
};

} // namespace kiln::view

#endif // KILN_LIB_VIEW_STRINGS_H
