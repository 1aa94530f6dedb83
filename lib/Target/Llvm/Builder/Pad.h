//===- Pad.h - what an element outside reads as ----------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_PAD_H
#define KILN_LIB_TARGET_LLVM_BUILDER_PAD_H

#include "kiln/runtime/dtype.h"

#include "mlir/IR/Attributes.h"

namespace kiln::llvmir {

/// Null means zero; `min` and `max` are the infinities where the type has them, else its least and
/// greatest value.
ScalarBits padValue(mlir::Attribute pad, DType type);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_PAD_H
