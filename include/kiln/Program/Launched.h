//===- Launched.h - what of a program runs as a kernel ----------------------------------===//
//
// The one place that says which functions a target has to write kernels for.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PROGRAM_LAUNCHED_H
#define KILN_PROGRAM_LAUNCHED_H

#include "kiln/Dialect/Kiln/KilnDialect.h"

namespace kiln {

/// The kernels and groups that run by themselves, in the order of the module: what its
/// orchestrations launch; without an orchestration, what no group calls.
std::vector<ir::FuncOp> launchedFunctions(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_PROGRAM_LAUNCHED_H
