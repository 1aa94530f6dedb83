//===- Arguments.h - what an entry is run with --------------------------------------===//
//
// Reads the IR only; any thread that may read the module may call it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PROGRAM_ARGUMENTS_H
#define KILN_PROGRAM_ARGUMENTS_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/runtime/native_program.h"

#include <span>
#include <variant>

namespace kiln {

/// An argument of an entry, in parameter order.
using Argument = std::variant<Tensor, ScalarBits>;

/// Arguments as a task carries them: tensors, then scalars, each with the type of its parameter.
struct TaskArguments {
  std::vector<Tensor> tensors;
  std::vector<ScalarBits> scalars;
};
/// Arguments of the right types in the order of a task.
TaskArguments inTaskOrder(ir::FuncOp entry, std::span<const Argument> args);

/// The parameters in the order in which the function declares them, each by its place in a task.
std::vector<ParamRef> parametersOf(ir::FuncOp func);

/// Deep copies.
Expected<std::vector<Argument>> copyArguments(std::span<const Argument> args);

/// Whether `entry` can be run with these arguments; InvalidArgument, with the parameter's name, or
/// with what is required, if not.
Status checkArguments(ir::FuncOp entry, std::span<const Argument> args);
/// Whether arguments of the right types are what the prepared `entry` requires.
Status checkRequirements(ir::FuncOp entry, std::span<const Argument> args);

} // namespace kiln

#endif // KILN_PROGRAM_ARGUMENTS_H
