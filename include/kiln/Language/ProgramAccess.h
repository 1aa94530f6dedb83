//===- ProgramAccess.h - the IR of a Program, for the compiler side -----------------===//
//
// Keeps MLIR out of the headers that users of the front end include.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_PROGRAMACCESS_H
#define KILN_LANGUAGE_PROGRAMACCESS_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Language/Program.h"

namespace kiln {

/// The recorded module; owned by the program.
mlir::ModuleOp moduleOf(Program &program);

/// A registry with everything a Kiln program can contain.
void registerKilnDialects(mlir::DialectRegistry &registry);

/// Collects the errors MLIR reports while it lives, notes appended, as Status values with the
/// user's location.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, std::vector<Status> &errors);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace kiln

#endif // KILN_LANGUAGE_PROGRAMACCESS_H
