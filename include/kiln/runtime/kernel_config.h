//===- kiln/runtime/kernel_config.h - kernel_config.json and .py ---------===//
//
// What: the table of a bundle's kernels for tools and for other runtimes, as JSON and as a Python
//   module with equal contents: RUNTIME_CONFIG, ORCHESTRATION, KERNELS.
//
// Contents: each kernel has func_id, name, source, core_type; `signature`, the direction of each
//   *tensor* in task order; for each of them `const`, whether nothing in the program writes it, and
//   `boxes`, what a block touches of it (BlockBox::str(), or null); `scalars`, a list of {name,
//   type}; `requires`, if there are any, a list of {condition, message}, in words. A kernel without
//   a signature has none of these keys. The .py needs nothing but Python 3:
//   it imports ArgDirection from simpler.task_interface where that exists, else defines it; it
//   mentions ArgDirection only when some kernel has a signature (the orchestration's own signature
//   is then given too, and left out of both files otherwise).
//
// Ownership and threads: plain values in, text or files out; callable from anywhere.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_KERNEL_CONFIG_H
#define KILN_RUNTIME_KERNEL_CONFIG_H

#include "kiln/runtime/signature.h"
#include "kiln/runtime/status.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kiln {

struct KernelConfigEntry {
  int32_t funcId = 0;
  std::string name;
  /// Path relative to the bundle.
  std::string source;
  std::string coreType;
  std::optional<Signature> signature;
};

struct OrchestrationConfig {
  std::string source;
  std::string functionName;
  /// The entry's own tensors and scalars.
  std::optional<Signature> signature;
};

using ConfigValue = std::variant<std::string, int64_t, bool>;

struct KernelConfig {
  /// RUNTIME_CONFIG, in this order; keys must be unique.
  std::vector<std::pair<std::string, ConfigValue>> runtime;
  OrchestrationConfig orchestration;
  std::vector<KernelConfigEntry> kernels;

  /// Unique names and ids, verified signatures, text that is valid UTF-8.
  Status verify() const;
};

/// The text of the two files. Both verify first.
Expected<std::string> renderKernelConfigJson(const KernelConfig &config);
Expected<std::string> renderKernelConfigPython(const KernelConfig &config);

/// Writes kernel_config.json and kernel_config.py into an existing directory; each appears whole or
/// not at all.
Status writeKernelConfig(const KernelConfig &config, const std::string &directory);

} // namespace kiln

#endif // KILN_RUNTIME_KERNEL_CONFIG_H
