#include "kiln/Program/Arguments.h"

#include "kiln/Dialect/Kiln/Contracts.h"
#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln {

TaskArguments inTaskOrder(ir::FuncOp entry, std::span<const Argument> args) {
  ParameterOrder order = parameterOrder(entry);
  TaskArguments ordered;
  llvm::erase_if(order.tensors, [&](unsigned number) {
    return number >= args.size(); // what passes added is not the caller's to give
  });
  for (unsigned number : order.tensors)
    ordered.tensors.push_back(std::get<Tensor>(args[number]));
  for (unsigned number : order.scalars)
    ordered.scalars.push_back(
        {std::get<ScalarBits>(args[number]).bits, *dtypeOf(entry.getArgumentTypes()[number])});
  return ordered;
}

std::vector<ParamRef> parametersOf(ir::FuncOp func) {
  ParameterOrder order = parameterOrder(func);
  std::map<unsigned, ParamRef> declared;
  for (auto [place, number] : llvm::enumerate(order.tensors))
    declared[number] = {true, static_cast<uint16_t>(place)};
  for (auto [place, number] : llvm::enumerate(order.scalars))
    declared[number] = {false, static_cast<uint16_t>(place)};
  std::vector<ParamRef> parameters;
  for (auto [number, param] : declared)
    parameters.push_back(param);
  return parameters;
}

static Status checkTensor(ir::TensorType type, const Tensor &tensor) {
  if (Status bad = tensor.validate(); !bad.isOk())
    return bad;
  bool fits = tensor.dtype() == *dtypeOf(type.getElementType()) && tensor.rank() == type.getRank();
  for (int axis = 0; fits && axis < tensor.rank(); ++axis) {
    fits &= type.isDynamicDim(axis) || type.getShape()[axis] == tensor.extent(axis);
    // The stride of an axis with one element or none means nothing.
    fits &= type.getStrides().empty() || ShapedType::isDynamic(type.getStrides()[axis]) ||
            tensor.extent(axis) <= 1 || type.getStrides()[axis] == tensor.stride(axis);
  }
  if (fits)
    return Status::ok();
  std::string expected;
  llvm::raw_string_ostream(expected) << type;
  return Status(StatusCode::InvalidArgument, "expected " + expected + ", got " + tensor.str() +
                                                 " with strides " + toString(tensor.strides()));
}

static Status checkArgument(Type type, const Argument &arg) {
  if (auto tensorType = dyn_cast<ir::TensorType>(type)) {
    const auto *tensor = std::get_if<Tensor>(&arg);
    return tensor ? checkTensor(tensorType, *tensor)
                  : Status(StatusCode::InvalidArgument, "expected a tensor, got a scalar");
  }
  const auto *scalar = std::get_if<ScalarBits>(&arg);
  if (!scalar)
    return Status(StatusCode::InvalidArgument, "expected a scalar, got a tensor");
  DType wanted = *dtypeOf(type);
  bool isWide = wanted == DType::Index && scalar->type == DType::I64;
  if (scalar->type == wanted || isWide)
    return Status::ok();
  return Status(StatusCode::InvalidArgument, std::string("expected a scalar of type ") +
                                                 toString(wanted) + ", got " +
                                                 toString(scalar->type));
}

Status checkArguments(ir::FuncOp entry, std::span<const Argument> args) {
  std::string who = "@" + entry.getSymName().str();
  SourceLoc loc = sourceLocOf(entry.getLoc());
  if (entry.hasPipeParameter())
    return Status(StatusCode::InvalidArgument,
                  who + " has a pipe parameter and cannot be run by itself", loc);
  // What passes added is not the caller's to give.
  if (unsigned wanted = ir::numUserParameters(entry); args.size() != wanted)
    return Status(StatusCode::InvalidArgument,
                  who + " takes " + std::to_string(wanted) + " arguments, got " +
                      std::to_string(args.size()),
                  loc);
  std::vector<std::string> names = parameterNames(entry);
  for (auto [number, arg] : llvm::enumerate(args))
    if (Status bad = checkArgument(entry.getArgumentTypes()[number], arg); !bad.isOk())
      return bad.withPrefix(who + ", argument '" + names[number] + "'").withLocation(loc);
  return checkRequirements(entry, args);
}

Status checkRequirements(ir::FuncOp entry, std::span<const Argument> args) {
  if (ir::requirementsIn(entry).empty())
    return Status::ok();
  Expected<Signature> signature = signatureOf(entry);
  if (!signature)
    return signature.status();
  TaskArguments ordered = inTaskOrder(entry, args);
  return signature->checkRequirements(ordered.tensors, ordered.scalars);
}

Expected<std::vector<Argument>> copyArguments(std::span<const Argument> args) {
  std::vector<Argument> copies;
  for (const Argument &arg : args) {
    auto *tensor = std::get_if<Tensor>(&arg);
    if (!tensor) {
      copies.push_back(arg);
      continue;
    }
    Expected<Tensor> copy = Tensor::empty(tensor->dtype(), tensor->extents());
    if (!copy)
      return copy.status();
    Expected<std::vector<std::byte>> bytes = tensor->gatherBytes();
    if (!bytes)
      return bytes.status();
    if (Status status = copy->scatterBytes(*bytes); !status.isOk())
      return status;
    copies.push_back(*copy);
  }
  return copies;
}

} // namespace kiln
