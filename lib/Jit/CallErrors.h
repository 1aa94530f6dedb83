//===- CallErrors.h - what is wrong with a call, in words --------------------------------===//
//
// Kept away from the call path, which must not build strings.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_JIT_CALLERRORS_H
#define KILN_LIB_JIT_CALLERRORS_H

#include "ReadTensor.h"
#include "kiln/runtime/signature.h"

namespace kiln {

/// "argument 'x' <message>"
Status argumentError(const std::string &name, const std::string &message);
Status tensorError(TensorProblem problem, const kiln_call_arg &arg, const std::string &name);
Status scalarError(const kiln_call_arg &arg, DType type, const std::string &name);
Status wrongCount(const Signature &signature, std::span<const std::string> names, size_t given);
Status wrongType(const Signature &signature, size_t tensor, const TensorFacts &facts);
Status wrongExtent(const Signature &signature, size_t tensor, int axis, const kiln_tensor &given);
Status readOnlyOutput(const Signature &signature, size_t tensor, const kiln_tensor &given);
Status kernelError(const Signature &signature, int32_t code, const std::string &message,
                   const SourceLoc &loc);

} // namespace kiln

#endif // KILN_LIB_JIT_CALLERRORS_H
