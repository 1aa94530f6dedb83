//===- RunFiles.h - the files in which a run tells about itself -----------------===//
//
// What: the files that `kiln view` shows beside a dump: run.json, code.json and others, which
//   docs/view.md describes. Internal to the runtime and the compiler.
//
// Threads: any; a folder belongs to one run at a time.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_RUNFILES_H
#define KILN_RUNTIME_ABI_RUNFILES_H

#include "kiln/runtime/status.h"

#include "abi/Json.h"

#include <cstdint>
#include <ctime>
#include <string>

namespace kiln {

/// Makes the folder if it is not there, and removes the files that an earlier run left about
/// itself, also those that it was killed over.
Status beginRunFolder(const std::string &folder);

/// Writes one of the files, whole or not at all. The folder is made if it is not there.
Status writeRunFile(const std::string &folder, const std::string &name, const Json &json,
                    int indent = 2);

/// A text that is longer is not one that somebody reads, and is left out of the files.
inline constexpr uint64_t maxShownTextBytes = 4 << 20;

/// "2026-11-18 23:05:00", in UTC.
std::string utcText(std::time_t time);
/// The same of now, as run.json has it: with " UTC" behind it.
std::string startTime();

} // namespace kiln

#endif // KILN_RUNTIME_ABI_RUNFILES_H
