//===- DumpFormat.h - the names in a manifest ----------------------------===//
//
// What: the manifest's constants and an entry as JSON, as `kiln dump --json` prints it. The writer
//   renders the same text faster (DumpManifest.cpp); a test compares the two. Internal to the
//   dump; pure.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DUMP_DUMPFORMAT_H
#define KILN_RUNTIME_DUMP_DUMPFORMAT_H

#include "abi/Json.h"
#include "kiln/runtime/dump.h"

namespace kiln::dumpformat {

inline constexpr const char *formatName = "kiln-tensor-dump";
inline constexpr int formatVersion = 2;
inline constexpr const char *subdirectory = "tensor_dump";
inline constexpr const char *manifestFile = "tensor_dump.json";
inline constexpr const char *payloadFile = "tensor_dump.bin";

/// Levels that depend on marks; see DumpOptions.
inline constexpr int onlyMarked = 1, payloadOfMarked = 3;

Json toJson(const DumpEntry &entry);

/// The value as its own JSON type. JSON has no NaN and no infinities: those are strings.
Json scalarValue(const ScalarBits &scalar);

/// One line of JSON. Names that are not UTF-8 are repaired rather than refused: a dump must not
/// fail over them.
std::string toText(const Json &json);

} // namespace kiln::dumpformat

#endif // KILN_RUNTIME_DUMP_DUMPFORMAT_H
