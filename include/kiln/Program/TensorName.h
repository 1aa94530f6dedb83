//===- TensorName.h - what messages call a tensor -------------------------------------===//
#ifndef KILN_PROGRAM_TENSORNAME_H
#define KILN_PROGRAM_TENSORNAME_H

#include "kiln/Dialect/Kiln/KilnDialect.h"

namespace kiln {

/// "'x'" for a parameter or an alloc, "a view of 'x'", or "the tensor" where nobody named it.
std::string describeTensor(mlir::Value tensor);

} // namespace kiln

#endif // KILN_PROGRAM_TENSORNAME_H
