#include "Json.h"

using namespace kiln;

std::string kiln::jsonText(const Json &json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Json kiln::parseJson(std::string_view text, int deepest) {
  if (deepest == anyDepth)
    return Json::parse(text, nullptr, /*allow_exceptions=*/false);
  auto isShallow = [=](int depth, Json::parse_event_t, Json &) { return depth < deepest; };
  return Json::parse(text, isShallow, /*allow_exceptions=*/false);
}
