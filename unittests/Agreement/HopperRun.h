//===- HopperRun.h - running textual IR on a GPU, real or emulated, in tests
//-------------------===//
#ifndef KILN_UNITTESTS_AGREEMENT_HOPPERRUN_H
#define KILN_UNITTESTS_AGREEMENT_HOPPERRUN_H

#include "kiln/Machine/Machine.h"
#include "kiln/Platform/Platform.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace kiln::test {

/// Null where there is no GPU, and none is emulated (docs/hopper-backend.md).
inline const Platform *hopperHere() {
  static const Platform *found = [] {
    const Platform *platform = findPlatform("h200");
    return platform && platform->usableHere().isOk() ? platform : nullptr;
  }();
  return found;
}

/// Compiles a program as it is written and runs it. Unsupported: it cannot be compiled, and the
/// compiler said why. The passes `without` are left out.
inline Status runOnHopper(mlir::ModuleOp program, llvm::StringRef entry,
                          std::span<const Argument> args, std::vector<std::string> without = {}) {
  mlir::OwningOpRef<mlir::ModuleOp> compiled = program.clone();
  std::string errors;
  mlir::ScopedDiagnosticHandler quiet(program.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      errors += diagnostic.str() + "\n";
  });
  mlir::PassManager passes(program.getContext());
  PipelineOptions pipeline;
  pipeline.machine = hopperHere()->machine();
  pipeline.without = std::move(without);
  buildPipeline(passes, pipeline);
  if (failed(passes.run(*compiled)))
    return Status(errors.empty() ? StatusCode::Internal : StatusCode::Unsupported, errors);
  RunRequest request{*compiled, compiled->lookupSymbol<ir::FuncOp>(entry), args, "program"};
  RunReport report;
  return hopperHere()->run(request, report);
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_AGREEMENT_HOPPERRUN_H
