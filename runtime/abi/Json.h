//===- Json.h - JSON as text: made and read in one place -----------------------------------===//
//
// Names, messages and paths come from users, so their bytes need not be UTF-8; what is written is
// JSON all the same. What is read comes from files that anybody may have written.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_JSON_H
#define KILN_RUNTIME_ABI_JSON_H

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace kiln {

/// Objects keep the order in which their members were written.
using Json = nlohmann::ordered_json;

/// Bytes that are no UTF-8 are replaced. An `indent` of `onOneLine` is for machines alone.
inline constexpr int onOneLine = -1;
std::string jsonText(const Json &json, int indent = 2);

/// How deep lists and objects may be nested; no file of ours comes near. Whoever copies, writes or
/// destroys JSON goes down as deep as it is.
inline constexpr int mostNestedJson = 64;

/// Why a text is not parsed, be it JSON or not: "it is nested more than 64 levels deep", or "its
/// objects have too many members". A member is looked for among those before it, so a million of
/// them in one object would take an hour. Empty if it is parsed.
std::string whyNotParsed(std::string_view text);

/// `is_discarded()` if the text is no JSON, or not parsed.
Json parseJson(std::string_view text);

} // namespace kiln

#endif // KILN_RUNTIME_ABI_JSON_H
