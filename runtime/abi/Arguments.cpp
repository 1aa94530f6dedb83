#include "kiln/runtime/arguments.h"

#include "kiln/runtime/npy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <unistd.h>

using namespace kiln;

static Status badSpec(const std::string &name, const std::string &message) {
  return Status(StatusCode::InvalidArgument, "argument '" + name + "': " + message);
}

/// The number that is all of `text`.
template <typename T> static bool parseAll(std::string_view text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
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

/// `0,1,70`: numbers to repeat over a tensor.
static std::optional<std::vector<double>> parseList(const std::string &text) {
  std::vector<double> numbers;
  for (const std::string &part : split(text, ','))
    if (!parseAll(part, numbers.emplace_back()))
      return std::nullopt;
  return numbers;
}

/// How many random numbers a tensor has; one with more elements repeats them in another order.
static constexpr int64_t maxRandomNumbers = 1 << 16;

/// Fills elements from `made` on with pieces of those before, each from a random place and of
/// random length: copying is a hundred times as fast as making random numbers.
static void repeatPieces(std::byte *bytes, int64_t made, int64_t numElements, int64_t size,
                         std::mt19937_64 &generator) {
  constexpr uint64_t longest = 4096;
  for (int64_t done = made; done < numElements;) {
    int64_t count = std::min(int64_t(generator() % longest) + 1, numElements - done);
    int64_t from = int64_t(generator() % uint64_t(made - count + 1));
    std::memcpy(bytes + done * size, bytes + from * size, size_t(count * size));
    done += count;
  }
}

/// Fills elements from `made` on with those before, over and over.
static void repeat(std::byte *bytes, int64_t made, int64_t numElements, int64_t size) {
  for (int64_t done = made, count; done < numElements; done += count) {
    count = std::min(done, numElements - done); // of whole periods, but at the end
    std::memcpy(bytes + done * size, bytes, size_t(count * size));
  }
}

/// Fills a fresh contiguous tensor. Every argument has a generator of its own, so that adding one
/// does not change the others.
static Status fill(const std::string &name, const Tensor &tensor, const std::string &text,
                   uint64_t seed) {
  std::seed_seq sequence{seed, uint64_t(std::hash<std::string>{}(name))};
  std::mt19937_64 generator(sequence);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  bool isReal = isFloat(tensor.dtype());
  double factor = 1; // normal*0.1
  size_t star = std::min(text.find('*'), text.size());
  std::string init = text.substr(0, star);
  if (star < text.size() && (!isReal || (init != "normal" && init != "uniform") ||
                             !parseAll(std::string_view(text).substr(star + 1), factor)))
    return badSpec(name,
                   "'" + text + "': only normal and uniform floats are scaled, as in normal*0.1");
  std::vector<double> order;
  std::function<double(int64_t)> value;
  bool isRandom = init == "normal" || init == "uniform";
  int64_t numElements = tensor.numElements(), period = numElements;
  if (init == "normal")
    value = [&](int64_t) {
      return isReal ? factor * normal(generator) : std::floor(uniform(generator) * 17) - 8;
    };
  else if (init == "uniform")
    value = [&](int64_t) {
      return isReal ? factor * uniform(generator) : std::floor(uniform(generator) * 8);
    };
  else if (init == "zeros" || init == "ones") {
    period = 1;
    value = [isOne = init == "ones"](int64_t) { return isOne ? 1.0 : 0.0; };
  } else if (init == "iota")
    value = [](int64_t i) { return double(i); };
  else if (init == "shuffled") {
    order.resize(size_t(tensor.numElements()));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator);
    value = [&](int64_t i) { return order[size_t(i)]; };
  } else if (std::optional<std::vector<double>> list = parseList(init); list) {
    period = int64_t(list->size());
    value = [list](int64_t i) { return (*list)[size_t(i)]; };
  } else if (init == "poison")
    return tensor.fillPoison();
  else
    return badSpec(
        name, "'" + text +
                  "' is no way to fill a tensor; use normal, uniform, zeros, ones, iota, shuffled, "
                  "poison or numbers such as 0,1,70");
  auto *bytes = static_cast<std::byte *>(tensor.data());
  int64_t size = sizeOf(tensor.dtype());
  int64_t made = std::min(numElements, isRandom ? maxRandomNumbers : period);
  for (int64_t i = 0; i < made; ++i)
    storeElement(tensor.dtype(), bytes + i * size, value(i));
  if (isRandom)
    repeatPieces(bytes, made, numElements, size, generator);
  else
    repeat(bytes, made, numElements, size);
  return Status::ok();
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
  if (Status status = fill(param.name, *tensor, init, seed); !status.isOk())
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
