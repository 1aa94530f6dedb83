#include "kiln/runtime/arguments.h"

#include "Fill.h"
#include "ParseNumber.h"

#include "kiln/runtime/npy.h"

#include <algorithm>
#include <unistd.h>

using namespace kiln;

static Status badSpec(const std::string &name, const std::string &message) {
  return Status(StatusCode::InvalidArgument, "argument '" + name + "': " + message);
}

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

namespace {

/// `128x64:uniform`, taken apart.
struct TensorSpec {
  std::vector<int64_t> extents;
  std::string init; ///< Empty: normal for inputs, poison for outputs.
  std::string file;
};

} // namespace

static Expected<TensorSpec> parseTensorSpec(const std::string &name, const std::string &text) {
  TensorSpec spec;
  if (text.starts_with("file:")) {
    spec.file = text.substr(5);
    return spec;
  }
  size_t colon = std::min(text.find(':'), text.size());
  std::string shape = text.substr(0, colon);
  if (colon < text.size())
    spec.init = text.substr(colon + 1);
  if (shape.empty())
    return spec;
  for (const std::string &part : split(shape, 'x')) {
    int64_t extent = 0;
    if (!parseAll(part, extent) || extent < 0)
      return badSpec(
          name, "'" + shape +
                    "' is no shape; write extents like 128x64, then perhaps :normal, :uniform, "
                    ":zeros, :ones, :iota, :shuffled, :poison or :0,1,70, or file:PATH.npy");
    spec.extents.push_back(extent);
  }
  return spec;
}

/// The extents a parameter has in this run: what the program fixes, the rest from the spec.
static Expected<std::vector<int64_t>> resolveExtents(const TensorParam &param,
                                                     const std::vector<int64_t> &given) {
  if (given.empty()) {
    if (std::count(param.extents.begin(), param.extents.end(), dynamicExtent) > 0)
      return badSpec(param.name, "its extents are known at run time only; give them with --arg " +
                                     param.name + "=" +
                                     (param.rank() == 2 ? "ROWSxCOLS" : "NxNx..."));
    return param.extents;
  }
  if (given.size() != param.extents.size())
    return badSpec(param.name, "has rank " + std::to_string(param.rank()) + ", not " +
                                   std::to_string(given.size()));
  for (size_t axis = 0; axis < given.size(); ++axis)
    if (param.extents[axis] != dynamicExtent && param.extents[axis] != given[axis])
      return badSpec(param.name, "axis " + std::to_string(axis) + " is " +
                                     std::to_string(param.extents[axis]) + " in the program, not " +
                                     std::to_string(given[axis]));
  return given;
}

/// What no memory can hold is refused before it is tried: Linux hands out more than it has, and
/// ends whoever uses it.
static Status checkMemory(const TensorParam &param, const std::vector<int64_t> &extents) {
  double memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  double bytes = double(sizeOf(param.dtype));
  for (int64_t extent : extents)
    bytes *= double(extent);
  if (bytes <= memory)
    return Status::ok();
  return badSpec(param.name, toString(Dims(extents)) + " has more bytes than this machine's " +
                                 std::to_string(uint64_t(memory)) + "; give it smaller extents");
}

Expected<Tensor> kiln::makeTensorArgument(const TensorParam &param, const std::string &text,
                                          uint64_t seed) {
  Expected<TensorSpec> spec = parseTensorSpec(param.name, text);
  if (!spec)
    return spec.status();
  if (!spec->file.empty()) {
    Expected<Tensor> loaded = readNpy(spec->file);
    if (!loaded)
      return loaded.status().withPrefix("argument '" + param.name + "'");
    Expected<std::vector<int64_t>> extents =
        resolveExtents(param, {loaded->extents().begin(), loaded->extents().end()});
    if (!extents)
      return extents.status();
    Expected<Tensor> converted = loaded->castTo(param.dtype);
    if (!converted)
      return converted.status().withPrefix("argument '" + param.name + "'");
    return converted;
  }
  Expected<std::vector<int64_t>> extents = resolveExtents(param, spec->extents);
  if (!extents)
    return extents.status();
  if (Status tooLarge = checkMemory(param, *extents); !tooLarge.isOk())
    return tooLarge;
  Expected<Tensor> tensor = Tensor::empty(param.dtype, *extents);
  if (!tensor)
    return tensor.status().withPrefix("argument '" + param.name + "'");
  std::string init = !spec->init.empty()                 ? spec->init
                     : param.direction == Direction::Out ? "poison"
                                                         : "normal";
  if (Status status = fillTensor(param.name, *tensor, init, seed); !status.isOk())
    return status;
  return tensor;
}

Expected<ScalarBits> kiln::makeScalarArgument(const ScalarParam &param, const std::string &text) {
  if (text.empty())
    return badSpec(param.name, std::string("is a scalar of type ") + toString(param.type) +
                                   "; give it with --arg " + param.name + "=VALUE");
  if (isFloat(param.type)) {
    double real = 0;
    if (!parseAll(text, real))
      return badSpec(param.name, "'" + text + "' is no number");
    return ScalarBits::fromDouble(param.type, real);
  }
  int64_t integer = 0;
  if (!parseAll(text, integer))
    return badSpec(param.name, "'" + text + "' is no integer");
  return ScalarBits::fromInt(param.type, integer);
}

//===----------------------------------------------------------------------===//
// Parts of ranks
//===----------------------------------------------------------------------===//

std::optional<int> kiln::takeAxis(std::string &spec) {
  size_t at = spec.rfind('@');
  int axis = 0;
  if (at == std::string::npos || spec.starts_with("file:@") ||
      !parseAll(std::string_view(spec).substr(at + 1), axis) || axis < 0)
    return std::nullopt;
  spec.resize(at);
  return axis;
}

/// Where a rank's part lies along an axis, and how much of it is there.
static std::pair<int64_t, int64_t> spanOf(int64_t extent, int64_t part, int32_t rank) {
  int64_t begin = std::min(extent, part * rank);
  return {begin, std::min(part, extent - begin)};
}

static Expected<Tensor> boxOf(const Tensor &tensor, int axis, int64_t begin, int64_t size) {
  std::vector<int64_t> offsets(static_cast<size_t>(tensor.rank()), 0);
  std::vector<int64_t> sizes(tensor.extents().begin(), tensor.extents().end());
  offsets[static_cast<size_t>(axis)] = begin;
  sizes[static_cast<size_t>(axis)] = size;
  return tensor.slice(offsets, sizes);
}

static Status copyTo(const Tensor &from, const Tensor &to) {
  Expected<std::vector<std::byte>> bytes = from.gatherBytes();
  return bytes ? to.scatterBytes(*bytes) : bytes.status();
}

Expected<Tensor> kiln::partOfRank(const Tensor &whole, std::optional<int> axis, int32_t rank,
                                  int32_t ranks, bool isOutput) {
  std::vector<int64_t> extents(whole.extents().begin(), whole.extents().end());
  if (axis)
    extents[static_cast<size_t>(*axis)] = (whole.extent(*axis) + ranks - 1) / ranks;
  Expected<Tensor> part = Tensor::empty(whole.dtype(), extents);
  if (!part)
    return part;
  if (Status bad = isOutput ? part->fillPoison() : part->fillZero(); !bad.isOk())
    return bad;
  Expected<std::pair<Tensor, Tensor>> both = realPart(*part, whole, axis, rank);
  if (!both)
    return both.status();
  if (Status bad = copyTo(both->second, both->first); !bad.isOk())
    return bad;
  return part;
}

Expected<std::pair<Tensor, Tensor>> kiln::realPart(const Tensor &part, const Tensor &whole,
                                                   std::optional<int> axis, int32_t rank) {
  if (!axis)
    return std::pair(part, whole);
  auto [begin, size] = spanOf(whole.extent(*axis), part.extent(*axis), rank);
  Expected<Tensor> mine = boxOf(part, *axis, 0, size), theirs = boxOf(whole, *axis, begin, size);
  if (!mine || !theirs)
    return mine ? theirs.status() : mine.status();
  return std::pair(*mine, *theirs);
}
