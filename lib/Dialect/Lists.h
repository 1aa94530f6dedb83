//===- Lists.h - a rule of both dialects' verifiers -------------------------------===//
#ifndef KILN_LIB_DIALECT_LISTS_H
#define KILN_LIB_DIALECT_LISTS_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/Operation.h"

namespace kiln {

/// A list such as `[%i, 0]` has one value for each entry that is not a constant. The custom syntax
/// cannot say anything else; the generic form and C++ builders can.
inline mlir::LogicalResult verifyList(mlir::Operation *op, llvm::StringRef what,
                                      llvm::ArrayRef<int64_t> constants, mlir::ValueRange values) {
  size_t dynamic = llvm::count_if(constants, mlir::ShapedType::isDynamic);
  if (dynamic != values.size())
    return op->emitOpError("has ") << values.size() << " values for the " << dynamic
                                   << " entries of its " << what << " that are not constant";
  return mlir::success();
}

} // namespace kiln

#endif // KILN_LIB_DIALECT_LISTS_H
