//===- Passes.h - the compiler's passes ---------------------------------------------===//
#ifndef KILN_TRANSFORMS_PASSES_H
#define KILN_TRANSFORMS_PASSES_H

#include "kiln/Dialect/Sync/SyncDialect.h"
#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

#define GEN_PASS_DECL
#include "kiln/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "kiln/Transforms/Passes.h.inc"

struct Machine;

/// Whether groups of roles that a machine does not have become kernels there: one role executes
/// all of a kernel, as it is or with others that copy for it.
bool mergesForeignGroups(const Machine &machine);

struct PipelineOptions {
  const Machine *machine = nullptr; ///< Null: only what every backend needs; kernels stay whole.
  std::string lastPass;             ///< Stop after it; empty: run all.
  bool report = false;              ///< Remarks: what passes did and why not more.
  bool prove = true;                ///< Fail where the pipes of a group are refuted.
  bool mergeGroups = true; ///< On a machine with one role: one function for a group, if possible.
  std::string entry = {};  ///< The function that a run starts with, if it is known.
  std::string memoryMap = {};            ///< Where the memory plan is written, if there is one.
  std::vector<std::string> without = {}; ///< Passes to leave out; see passesToLeaveOut().
};

/// The passes that only make programs faster, so that one can measure what each is worth.
std::vector<std::string> passesToLeaveOut();

/// The passes in their order (docs/compiler.md), for all tools. Without a machine: those after
/// which every backend can execute a program as it was written. Idempotent, so it may be applied at
/// any stage. False if there is no pass named `lastPass`; `names` gets those there are.
bool buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options,
                   std::vector<std::string> *names = nullptr);

/// buildPipeline without a machine.
void buildPreparePipeline(mlir::OpPassManager &pm);

/// Registers `--kiln-prepare` and `--kiln-pipeline`; the passes themselves are registered by
/// registerKilnPasses().
void registerKilnPipelines();

} // namespace kiln

#endif // KILN_TRANSFORMS_PASSES_H
