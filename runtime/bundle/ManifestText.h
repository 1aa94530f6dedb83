//===- ManifestText.h - how bundle.json is written ------------------------------------===//
#ifndef KILN_RUNTIME_BUNDLE_MANIFESTTEXT_H
#define KILN_RUNTIME_BUNDLE_MANIFESTTEXT_H

#include <nlohmann/json.hpp>

#include <string>

namespace kiln {

/// The fields, then a checksum over the text without it, in place of any that is there.
std::string manifestText(nlohmann::ordered_json json);

} // namespace kiln

#endif // KILN_RUNTIME_BUNDLE_MANIFESTTEXT_H
