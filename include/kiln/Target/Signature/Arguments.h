//===- Arguments.h - what an entry is run with --------------------------------------===//
//
// Reads the IR only; any thread that may read the module may call it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_SIGNATURE_ARGUMENTS_H
#define KILN_TARGET_SIGNATURE_ARGUMENTS_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/runtime/tensor.h"

#include "llvm/ADT/BitVector.h"

#include <span>
#include <variant>

namespace kiln {

/// An argument of an entry, in parameter order.
using Argument = std::variant<Tensor, ScalarBits>;

/// Whether `entry` can be run with these arguments; InvalidArgument, with the parameter's name, if
/// not.
Status checkArguments(ir::FuncOp entry, std::span<const Argument> args);

/// The parameters that a kernel, or what it calls, marks for the dump.
llvm::BitVector markedParameters(ir::FuncOp kernel);

} // namespace kiln

#endif // KILN_TARGET_SIGNATURE_ARGUMENTS_H
