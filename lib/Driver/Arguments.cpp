//===- Arguments.cpp - from `--arg name=spec` to tensors and scalars -----------------===//
#include "Driver.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Target/Signature/Signature.h"
#include "kiln/runtime/npy.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace mlir;

namespace kiln {
namespace {

Status badSpec(const std::string &name, const std::string &message) {
  return Status(StatusCode::InvalidArgument, "argument '" + name + "': " + message);
}

/// `128x64:uniform`, taken apart.
struct TensorSpec {
  std::vector<int64_t> extents;
  std::string init; ///< Empty: normal for inputs, poison for outputs.
  std::string file;
};

Expected<TensorSpec> parseTensorSpec(const std::string &name, StringRef text) {
  TensorSpec spec;
  if (text.consume_front("file:")) {
    spec.file = text.str();
    return spec;
  }
  auto [shape, init] = text.split(':');
  spec.init = init.str();
  SmallVector<StringRef> parts;
  if (!shape.empty())
    shape.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t extent = 0;
    if (part.getAsInteger(10, extent) || extent < 0)
      return badSpec(
          name, "'" + shape.str() +
                    "' is no shape; write extents like 128x64, then perhaps :normal, :uniform, "
                    ":zeros, :ones, :iota, :shuffled, :poison or :0,1,70, or file:PATH.npy");
    spec.extents.push_back(extent);
  }
  return spec;
}

/// The extents a parameter has in this run: what the type fixes, the rest from the spec.
Expected<std::vector<int64_t>> resolveExtents(const std::string &name, ir::TensorType type,
                                              const std::vector<int64_t> &given) {
  if (given.empty()) {
    if (!type.hasStaticShape())
      return badSpec(name, "its extents are known at run time only; give them with --arg " + name +
                               "=" + (type.getRank() == 2 ? "ROWSxCOLS" : "NxNx..."));
    return std::vector<int64_t>(type.getShape());
  }
  if (int64_t(given.size()) != type.getRank())
    return badSpec(name, "has rank " + std::to_string(type.getRank()) + ", not " +
                             std::to_string(given.size()));
  for (auto [axis, extent] : llvm::enumerate(given))
    if (!type.isDynamicDim(axis) && type.getShape()[axis] != extent)
      return badSpec(name, "axis " + std::to_string(axis) + " is " +
                               std::to_string(type.getShape()[axis]) + " in the program, not " +
                               std::to_string(extent));
  return given;
}

/// `0,1,70`: numbers to repeat over a tensor.
std::optional<std::vector<double>> parseList(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  std::vector<double> numbers;
  for (StringRef part : parts)
    if (part.getAsDouble(numbers.emplace_back()))
      return std::nullopt;
  return numbers;
}

/// Fills a fresh contiguous tensor. Every argument has a generator of its own, so that adding one
/// does not change the others.
Status fill(const std::string &name, const Tensor &tensor, const std::string &text, uint64_t seed) {
  std::seed_seq sequence{seed, uint64_t(std::hash<std::string>{}(name))};
  std::mt19937_64 generator(sequence);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  bool isReal = isFloat(tensor.dtype());
  double factor = 1; // normal*0.1
  auto [init, scale] = StringRef(text).split('*');
  if (text.find('*') != std::string::npos &&
      (!isReal || (init != "normal" && init != "uniform") || scale.getAsDouble(factor)))
    return badSpec(name,
                   "'" + text + "': only normal and uniform floats are scaled, as in normal*0.1");
  std::vector<double> order;
  std::function<double(int64_t)> value;
  if (init == "normal")
    value = [&](int64_t) {
      return isReal ? factor * normal(generator) : std::floor(uniform(generator) * 17) - 8;
    };
  else if (init == "uniform")
    value = [&](int64_t) {
      return isReal ? factor * uniform(generator) : std::floor(uniform(generator) * 8);
    };
  else if (init == "zeros")
    value = [](int64_t) { return 0.0; };
  else if (init == "ones")
    value = [](int64_t) { return 1.0; };
  else if (init == "iota")
    value = [](int64_t i) { return double(i); };
  else if (init == "shuffled") {
    order.resize(size_t(tensor.numElements()));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator);
    value = [&](int64_t i) { return order[size_t(i)]; };
  } else if (std::optional<std::vector<double>> list = parseList(init); list)
    value = [list](int64_t i) { return (*list)[size_t(i) % list->size()]; };
  else if (init == "poison")
    return tensor.fillPoison();
  else
    return badSpec(
        name, "'" + text +
                  "' is no way to fill a tensor; use normal, uniform, zeros, ones, iota, shuffled, "
                  "poison or numbers such as 0,1,70");
  auto *bytes = static_cast<std::byte *>(tensor.data());
  for (int64_t i = 0, n = tensor.numElements(), size = sizeOf(tensor.dtype()); i < n; ++i)
    storeElement(tensor.dtype(), bytes + i * size, value(i));
  return Status::ok();
}

Expected<Argument> makeTensor(const std::string &name, ir::TensorType type, ir::Direction direction,
                              StringRef text, uint64_t seed) {
  Expected<TensorSpec> spec = parseTensorSpec(name, text);
  if (!spec)
    return spec.status();
  DType dtype = *dtypeOf(type.getElementType());
  if (!spec->file.empty()) {
    Expected<Tensor> loaded = readNpy(spec->file);
    if (!loaded)
      return loaded.status().withPrefix("argument '" + name + "'");
    Expected<std::vector<int64_t>> extents =
        resolveExtents(name, type, {loaded->extents().begin(), loaded->extents().end()});
    if (!extents)
      return extents.status();
    Expected<Tensor> converted = loaded->castTo(dtype);
    if (!converted)
      return converted.status().withPrefix("argument '" + name + "'");
    return Argument(*converted);
  }
  Expected<std::vector<int64_t>> extents = resolveExtents(name, type, spec->extents);
  if (!extents)
    return extents.status();
  Expected<Tensor> tensor = Tensor::empty(dtype, *extents);
  if (!tensor)
    return tensor.status().withPrefix("argument '" + name + "'");
  std::string init =
      spec->init.empty() ? (direction == ir::Direction::Out ? "poison" : "normal") : spec->init;
  if (Status status = fill(name, *tensor, init, seed); !status.isOk())
    return status;
  return Argument(*tensor);
}

Expected<Argument> makeScalar(const std::string &name, Type type, StringRef text) {
  DType dtype = *dtypeOf(type);
  if (text.empty())
    return badSpec(name, std::string("is a scalar of type ") + toString(dtype) +
                             "; give it with --arg " + name + "=VALUE");
  double real = 0;
  int64_t integer = 0;
  if (isFloat(dtype)) {
    if (text.getAsDouble(real))
      return badSpec(name, "'" + text.str() + "' is no number");
    return Argument(ScalarBits::fromDouble(dtype, real));
  }
  if (text.getAsInteger(10, integer))
    return badSpec(name, "'" + text.str() + "' is no integer");
  return Argument(ScalarBits::fromInt(dtype, integer));
}

} // namespace

Expected<std::vector<Argument>> makeArguments(ir::FuncOp entry, const ArgSpecs &specs,
                                              uint64_t seed) {
  std::vector<std::string> names = parameterNames(entry);
  names.resize(ir::numUserParameters(entry));
  for (const auto &[name, text] : specs)
    if (!llvm::is_contained(names, name))
      return Status(StatusCode::InvalidArgument,
                    "@" + entry.getSymName().str() + " has no argument '" + name + "'; it has " +
                        (names.empty() ? "none" : llvm::join(names, ", ")));
  std::vector<Argument> args;
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes().take_front(names.size()))) {
    auto given = specs.find(names[index]);
    std::string text = given == specs.end() ? "" : given->second;
    auto tensor = dyn_cast<ir::TensorType>(type);
    Expected<Argument> arg =
        tensor ? makeTensor(names[index], tensor,
                            entry.getArgDirection(index).value_or(ir::Direction::In), text, seed)
               : makeScalar(names[index], type, text);
    if (!arg)
      return arg.status();
    args.push_back(*arg);
  }
  return args;
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
