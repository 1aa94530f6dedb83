#include "CallErrors.h"

namespace kiln {

Status argumentError(const std::string &name, const std::string &message) {
  return Status(StatusCode::InvalidArgument, "argument '" + name + "' " + message);
}

/// "extents [2, 3], strides [3, 1]", as the caller gave them.
static std::string layoutOf(const kiln_call_arg &arg) {
  std::string text = "extents " + toString(Dims(arg.extents, arg.rank));
  if (arg.strides)
    text += ", strides " + toString(Dims(arg.strides, arg.rank));
  return text;
}

static std::string describe(TensorProblem problem, const kiln_call_arg &arg) {
  Marks marks = Marks::unpack(arg.marks);
  switch (problem) {
  case TensorProblem::None:
    break;
  case TensorProblem::NotATensor:
    return "is a tensor in the program; a number was given";
  case TensorProblem::Stated:
    return arg.value.problem ? arg.value.problem : "could not be read, and does not say why";
  case TensorProblem::BadDType:
    return "has no element type of a tensor: " + std::to_string(arg.dtype);
  case TensorProblem::BadRank:
    return "has rank " + std::to_string(arg.rank) + "; tensors have rank 1 to " +
           std::to_string(KILN_MAX_RANK);
  case TensorProblem::NoExtents:
    return "has no extents";
  case TensorProblem::Negative:
    return "has a negative extent or stride: " + layoutOf(arg);
  case TensorProblem::TooLarge:
    return "reaches beyond the address space: " + layoutOf(arg);
  case TensorProblem::NullData:
    return "has a null data pointer";
  case TensorProblem::Misaligned:
    return "has data that is not aligned to its elements of " +
           std::to_string(sizeOf(DType(arg.dtype))) + " bytes";
  case TensorProblem::OnGpu:
    return "is in the memory of GPU " + std::to_string((arg.flags >> KILN_ARG_GPU_SHIFT) - 1) +
           ", but the program runs on the CPU";
  case TensorProblem::BadMarks:
    return "has marks that do not fit its rank " + std::to_string(arg.rank);
  case TensorProblem::NotLeading:
    return "is marked to have stride 1 along axis " + std::to_string(marks.leadingDim) +
           ", and has not: " + layoutOf(arg);
  case TensorProblem::NotDivisible:
    return "is marked divisible by " + std::to_string(marks.divisibility) +
           ", but its leading extent or another stride is not: " + layoutOf(arg);
  }
  return "cannot be used";
}

Status tensorError(TensorProblem problem, const kiln_call_arg &arg, const std::string &name) {
  return argumentError(name, describe(problem, arg));
}

Status scalarError(const kiln_call_arg &arg, DType type, const std::string &name) {
  std::string wanted = std::string("is a number of type ") + toString(type) + "; ";
  switch (arg.kind) {
  case KILN_ARG_INTEGER:
    return argumentError(name, wanted + std::to_string(arg.value.integer) + " does not fit");
  case KILN_ARG_REAL:
    return argumentError(name, wanted + "a real number was given");
  default:
    return argumentError(name, wanted + "a tensor was given");
  }
}

Status wrongCount(const Signature &signature, std::span<const std::string> names, size_t given) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  return Status(StatusCode::InvalidArgument,
                "'" + signature.name + "' takes " + std::to_string(names.size()) + " arguments (" +
                    list + "), " + std::to_string(given) + " were given");
}

static std::string typeOf(const TensorParam &param) {
  std::string text = std::string(toString(param.dtype)) + "[";
  for (size_t i = 0; i < param.extents.size(); ++i)
    text += (i ? ", " : "") +
            (param.extents[i] == dynamicExtent ? "?" : std::to_string(param.extents[i]));
  return text + "]";
}

Status wrongType(const Signature &signature, size_t tensor, const TensorFacts &facts) {
  return argumentError(signature.argName(tensor),
                       "is " + typeOf(signature.tensors[tensor]) + " in the program; given: " +
                           toString(facts.dtype) + " of rank " + std::to_string(facts.rank));
}

Status wrongExtent(const Signature &signature, size_t tensor, int axis, const kiln_tensor &given) {
  return argumentError(signature.argName(tensor),
                       "is " + typeOf(signature.tensors[tensor]) + " in the program, so axis " +
                           std::to_string(axis) + " has " +
                           std::to_string(signature.tensors[tensor].extents[size_t(axis)]) +
                           " elements; given: extents " +
                           toString(Dims(given.extents, given.rank)));
}

Status readOnlyOutput(const Signature &signature, size_t tensor, const kiln_tensor &given) {
  std::string name = signature.argName(tensor);
  if (given.flags & KILN_TENSOR_BROADCAST)
    return argumentError(name, "is written, but has a zero stride: strides " +
                                   toString(Dims(given.strides, given.rank)));
  return argumentError(name, "is written, but is read-only");
}

Status kernelError(const Signature &signature, int32_t code, const std::string &message,
                   const SourceLoc &loc) {
  std::string text = "'" + signature.name + "' failed";
  size_t numArgs = signature.tensors.size() + signature.scalars.size();
  if (code >= KILN_FAIL_ARG_BASE && size_t(code - KILN_FAIL_ARG_BASE) < numArgs)
    text += " because of argument '" + signature.argName(size_t(code - KILN_FAIL_ARG_BASE)) + "'";
  else if (message.empty())
    text += " with code " + std::to_string(code);
  if (!message.empty())
    text += ": " + message;
  return Status(StatusCode::KernelFailed, text, loc);
}

} // namespace kiln
