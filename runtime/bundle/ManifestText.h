//===- ManifestText.h - how bundle.json is written ------------------------------------===//
#ifndef KILN_RUNTIME_BUNDLE_MANIFESTTEXT_H
#define KILN_RUNTIME_BUNDLE_MANIFESTTEXT_H

#include "abi/Json.h"

#include <string>

namespace kiln {

/// The fields, then a checksum over the text without it, in place of any that is there.
std::string manifestText(Json json);

} // namespace kiln

#endif // KILN_RUNTIME_BUNDLE_MANIFESTTEXT_H
