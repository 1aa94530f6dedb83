//===- Environment.h - variables that change what Kiln does --------------===//
//
// What: reading variables of the environment. Unset and empty are the same; a value that means
//   nothing is an error that names the variable, the value and what would be allowed, never
//   ignored. Internal to the runtime and the JIT.
//
// Threads: any, as long as nobody changes the environment.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_ENVIRONMENT_H
#define KILN_RUNTIME_ABI_ENVIRONMENT_H

#include "kiln/runtime/status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kiln {

/// The value; empty if it is not set.
std::string textFromEnvironment(const char *name);
/// 0 or 1; `otherwise` if it is not set.
Expected<bool> flagFromEnvironment(const char *name, bool otherwise);
/// A whole number, decimal or after 0x; nothing if it is not set.
Expected<std::optional<uint64_t>> numberFromEnvironment(const char *name);

} // namespace kiln

#endif // KILN_RUNTIME_ABI_ENVIRONMENT_H
