//===- Requirements.h - from kiln.require to what signatures carry ------------------------===//
//
// Reads the IR only; any thread that may read the module may call it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PROGRAM_REQUIREMENTS_H
#define KILN_PROGRAM_REQUIREMENTS_H

#include "kiln/Program/Signature.h"

namespace kiln {

/// What `func` requires of its arguments, which are numbered as in `order`. Conditions that always
/// hold are left out. Fails where a condition has more parts than a signature carries.
Expected<std::vector<Requirement>> requirementsOf(ir::FuncOp func, const ParameterOrder &order);

/// "main requires x.dim(1) % 64 == 0: columns come in tiles of 64", in any stage of the program.
std::string describe(ir::RequireOp require);

} // namespace kiln

#endif // KILN_PROGRAM_REQUIREMENTS_H
