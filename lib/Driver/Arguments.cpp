//===- Arguments.cpp - from `--arg name=spec` to tensors and scalars -----------------===//
#include "Driver.h"
#include "Terminal.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Program/Arguments.h"
#include "kiln/Program/Signature.h"
#include "kiln/runtime/arguments.h"

using namespace mlir;

namespace kiln {
namespace {

Expected<Argument> makeTensor(const std::string &name, ir::TensorType type, ir::Direction direction,
                              const std::string &text, uint64_t seed) {
  TensorParam param;
  param.name = name;
  param.dtype = *dtypeOf(type.getElementType());
  param.direction = static_cast<Direction>(direction);
  for (int64_t extent : type.getShape())
    param.extents.push_back(ShapedType::isDynamic(extent) ? dynamicExtent : extent);
  Expected<Tensor> tensor = makeTensorArgument(param, text, seed);
  return tensor ? Expected<Argument>(Argument(std::move(*tensor))) : tensor.status();
}

Expected<Argument> makeScalar(const std::string &name, Type type, const std::string &text) {
  Expected<ScalarBits> scalar = makeScalarArgument({name, *dtypeOf(type)}, text);
  return scalar ? Expected<Argument>(Argument(*scalar)) : scalar.status();
}

} // namespace

Expected<std::vector<Argument>> makeArguments(ir::FuncOp entry, const ArgSpecs &specs,
                                              uint64_t seed, LastArguments *last) {
  Expected<WholeArguments> whole = makeWholeArguments(entry, specs, seed, last);
  if (!whole)
    return whole.status();
  if (Status bad = checkRequirements(entry, whole->args); !bad.isOk())
    return bad;
  return std::move(whole->args);
}

Expected<WholeArguments> makeWholeArguments(ir::FuncOp entry, const ArgSpecs &specs, uint64_t seed,
                                            LastArguments *last) {
  std::vector<std::string> names = parameterNames(entry);
  names.resize(ir::numUserParameters(entry));
  for (const auto &[name, text] : specs)
    if (!llvm::is_contained(names, name))
      return Status(StatusCode::InvalidArgument,
                    "@" + entry.getSymName().str() + " has no argument '" + name + "'; it has " +
                        (names.empty() ? "none" : llvm::join(names, ", ")));
  WholeArguments made;
  Progress progress("making arguments", names.size());
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes().take_front(names.size()))) {
    auto given = specs.find(names[index]);
    std::string text = given == specs.end() ? "" : given->second;
    auto tensor = dyn_cast<ir::TensorType>(type);
    std::optional<int> axis = tensor ? takeAxis(text) : std::nullopt;
    if (axis && *axis >= tensor.getRank())
      return Status(StatusCode::InvalidArgument, "argument '" + names[index] + "': has no axis " +
                                                     std::to_string(*axis) + " to divide");
    progress.show(index, names[index]);
    made.axes.push_back(axis);
    auto known = last ? last->find(names[index]) : LastArguments::iterator();
    if (last && known != last->end() && known->second.first == text) {
      made.args.push_back(known->second.second);
      continue;
    }
    Expected<Argument> arg =
        tensor ? makeTensor(names[index], tensor,
                            entry.getArgDirection(index).value_or(ir::Direction::In), text, seed)
               : makeScalar(names[index], type, text);
    if (!arg)
      return arg.status();
    if (last)
      last->insert_or_assign(names[index], std::pair(text, *arg));
    made.args.push_back(*arg);
  }
  return made;
}

} // namespace kiln
