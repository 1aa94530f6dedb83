//===- Orchestration.h - a program's control plane as C++ ---------------------------===//
//
// What launches the tasks of a program, as one readable C++ file against the runtime's public API
// (kiln/runtime/orchestration.h), together with what a loader has to know of the kernels it
// launches. See docs/orchestration.md. Reads the IR only.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_ORCHESTRATION_ORCHESTRATION_H
#define KILN_TARGET_ORCHESTRATION_ORCHESTRATION_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/runtime/kernel_config.h"
#include "kiln/runtime/signature.h"

#include <map>
#include <string>
#include <vector>

namespace kiln {

/// What a launch of a kernel or group stands for in the `simpler` runtime: the numbers of the
/// kernels of its cores, -1 for none, and how many vector cores a block has.
struct SimplerTask {
  std::string name;
  int32_t aic = -1, aiv = -1;
  int vectorCores = 0;
};

struct OrchestrationOptions {
  /// What the file calls the program; empty: the module's name, else "program".
  std::string program;
  /// The function to start with; empty: as findEntry chooses.
  std::string entry;
  /// Write for the `simpler` runtime, on device/ascend/kiln_orchestration.h, instead of Kiln's own:
  /// the tasks that may be launched.
  std::optional<std::vector<SimplerTask>> simpler = {};
};

/// An emitted orchestration.
struct OrchestrationResult {
  std::string code;
  /// The file's entry, a C symbol of type kiln::orch::Entry.
  std::string entrySymbol;
  /// Kernels in order of first use, a group followed by its roles; a kernel's id is its place.
  std::vector<std::string> kernels;
  std::map<std::string, int32_t> funcNameToId;
  std::map<std::string, std::string> funcNameToCoreType;
  std::map<std::string, Signature> funcNameToSignature;
  Signature orchestrationSignature;

  /// All of it, as tools read it: code, func_name_to_id, func_name_to_core_type,
  /// func_name_to_signature, orchestration_signature.
  std::string json() const;
  /// What kernel_config.json and .py say. Sources are paths in the bundle.
  KernelConfig kernelConfig(const std::string &platform, const std::string &orchestrationSource,
                            const std::string &kernelSource) const;
};

/// Emits the entry of a prepared module (see buildPreparePipeline) and the orchestrations it calls.
/// An entry that is a kernel or a group becomes an orchestration of one task of one block.
Expected<OrchestrationResult> emitOrchestration(mlir::ModuleOp module,
                                                const OrchestrationOptions &options = {});

} // namespace kiln

#endif // KILN_TARGET_ORCHESTRATION_ORCHESTRATION_H
