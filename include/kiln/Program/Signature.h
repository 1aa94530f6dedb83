//===- Signature.h - from functions to signatures ----------------------------------===//
//
// The one place where a kernel's parameter list becomes the order a task carries: tensors first,
// then scalars. Everything that registers, launches, dumps or describes a kernel goes through it,
// so that counts and orders cannot differ. Reads the IR only; any thread that may read the module
// may call it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PROGRAM_SIGNATURE_H
#define KILN_PROGRAM_SIGNATURE_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/runtime/dtype.h"
#include "kiln/runtime/signature.h"

#include "llvm/ADT/BitVector.h"

namespace kiln {

/// The runtime's element type for an IR type; index is DType::Index. Null for anything else.
std::optional<DType> dtypeOf(mlir::Type type);

/// Which parameters of a function are tensors and which are scalars, each in parameter order. Pipes
/// are neither.
struct ParameterOrder {
  llvm::SmallVector<unsigned> tensors, scalars;
};
ParameterOrder parameterOrder(ir::FuncOp func);

/// Parameter names as the runtime knows them: given names, made unique, "arg<i>" where there is
/// none.
std::vector<std::string> parameterNames(ir::FuncOp func);

/// The parameters that a kernel, or what it calls, marks for the dump.
llvm::BitVector markedParameters(ir::FuncOp kernel);

/// The signature of a kernel, group or orchestration. Directions must have been inferred
/// (kiln-infer-directions). Fails if the function has more than 255 tensors or scalars.
Expected<Signature> signatureOf(ir::FuncOp func);

/// "aic" or "aiv" for a role, "mix" for a group, "incore" for a kernel not split yet.
std::string coreTypeOf(ir::FuncOp func);

/// What reports call a pipe: `to_aic` after the role that pops from it, `to_aic_0`, `to_aic_1`
/// where a group has several.
std::string pipeName(tile::PipeOp pipe);

/// The function a run starts with: `name` if given; else an orchestration, else a group, else a
/// kernel, of those that no other function calls or launches; the first in the module if there are
/// several, which then are all in `candidates`, the chosen one first.
Expected<ir::FuncOp> findEntry(mlir::ModuleOp module, llvm::StringRef name = {},
                               llvm::SmallVectorImpl<ir::FuncOp> *candidates = nullptr);

/// A location as the runtime reports it: the innermost file:line:col.
SourceLoc sourceLocOf(mlir::Location loc);

} // namespace kiln

#endif // KILN_PROGRAM_SIGNATURE_H
