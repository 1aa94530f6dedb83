#include "Json.h"

#include <algorithm>

using namespace kiln;

std::string kiln::jsonText(const Json &json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

/// What members may cost in all: a second, or 46 000 in one object.
static constexpr uint64_t mostLookups = uint64_t{1} << 30;

std::string kiln::whyNotParsed(std::string_view text) {
  uint64_t members[mostNestedJson + 1] = {}, lookups = 0; // of the object at each depth
  int depth = 0;
  bool isInText = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isInText && c == '\\')
      ++i;
    else if (c == '"')
      isInText = !isInText;
    else if (isInText)
      continue;
    else if (c == '[' || c == '{') {
      if (++depth > mostNestedJson)
        return "it is nested more than " + std::to_string(mostNestedJson) + " levels deep";
      members[std::max(depth, 0)] = 0;
    } else if (c == ']' || c == '}')
      --depth;
    else if (c == ':' && (lookups += members[std::max(depth, 0)]++) > mostLookups)
      return "its objects have too many members";
  }
  return "";
}

Json kiln::parseJson(std::string_view text) {
  if (!whyNotParsed(text).empty())
    return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}
