#include "Json.h"

using namespace kiln;

std::string kiln::jsonText(const Json &json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

bool kiln::isNestedTooDeep(std::string_view text) {
  int depth = 0;
  bool isInText = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isInText && c == '\\')
      ++i;
    else if (c == '"')
      isInText = !isInText;
    else if (!isInText && (c == '[' || c == '{') && ++depth > mostNestedJson)
      return true;
    else if (!isInText && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

Json kiln::parseJson(std::string_view text) {
  if (isNestedTooDeep(text))
    return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}
