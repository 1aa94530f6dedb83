#include "Fill.h"

#include "Parallel.h"
#include "ParseNumber.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <vector>

using namespace kiln;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

namespace {
/// Fills the elements from `begin` to `end`.
using FillRange = std::function<void(int64_t begin, int64_t end)>;
} // namespace

/// Below this many elements a thread costs more than it saves.
static constexpr int64_t elementsPerPiece = 1 << 18;

static void fillInParallel(int64_t count, const FillRange &fill) {
  auto pieces = size_t((count + elementsPerPiece - 1) / elementsPerPiece);
  parallelFor(
      pieces, 0,
      [&](size_t piece) {
        int64_t begin = int64_t(piece) * elementsPerPiece;
        fill(begin, std::min(count, begin + elementsPerPiece));
      },
      "filling");
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// Scrambles 64 bits: every bit of the input changes about half of the output.
static uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

namespace {

/// Random bits for every place, in any order.
class RandomBits {
public:
  RandomBits(const std::string &name, uint64_t seed) : key(scramble(seed)) {
    for (char c : name)
      key = scramble(key ^ uint8_t(c));
  }
  uint64_t at(int64_t place) const {
    return scramble(key + uint64_t(place) * 0x9e3779b97f4a7c15); // the golden ratio, as 64 bits
  }

private:
  uint64_t key;
};

} // namespace

/// The number that a normally distributed one is below with probability `p`, for 0 < p <= 1/2:
/// Newton's method on the logarithm of the probability, which is concave, so that it converges from
/// any start.
static double lowerNormalQuantile(double p) {
  double x = 0, wanted = std::log(p);
  for (int step = 0; step < 30; ++step) {
    double below = 0.5 * std::erfc(-x / std::numbers::sqrt2);
    double density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    double change = (wanted - std::log(below)) * below / density;
    x += change;
    if (std::abs(change) < 1e-14)
      break;
  }
  return x;
}

/// How many equal parts probabilities are cut into.
static constexpr int64_t parts = 1 << 16;

/// The same for a probability of so many half parts; the tails end a quarter of a part before the
/// ends. Remembered, because small tensors ask for few of them, but again and again.
static double normalQuantile(int64_t halfParts) {
  static std::atomic<double> known[2 * parts + 1]; // 0: not yet, or the median, which is quick
  double found = known[halfParts].load(std::memory_order_relaxed);
  if (found != 0)
    return found;
  double p = std::clamp(double(halfParts) / (2 * parts), 0.25 / parts, 1 - 0.25 / parts);
  found = p <= 0.5 ? lowerNormalQuantile(p) : -lowerNormalQuantile(1 - p);
  known[halfParts].store(found, std::memory_order_relaxed);
  return found;
}

/// A distribution as the function from probabilities to numbers, which is all that filling needs of
/// it.
namespace {
class Distribution {
public:
  Distribution(bool isNormal, double factor, double shift)
      : isNormal(isNormal), factor(factor), shift(shift) {}

  /// The number in the middle of a part.
  double middle(int64_t part) const { return factor * quantile(2 * part + 1) + shift; }
  /// The number where a part begins, or where the last one ends.
  double edge(int64_t part) const { return factor * quantile(2 * part) + shift; }

  bool operator==(const Distribution &) const = default;

private:
  double quantile(int64_t halfParts) const {
    return isNormal ? normalQuantile(halfParts) : double(halfParts) / (2 * parts);
  }

  bool isNormal;
  double factor, shift;
};

/// What every part stands for, looked up where there are so many questions that a table pays. A
/// thread keeps its last table: one tensor after the other is filled in the same way.
template <typename T> class PartTable {
public:
  PartTable(DType dtype, const Distribution &numbers, int64_t size, int64_t questions,
            std::function<T(int64_t)> function)
      : function(std::move(function)) {
    thread_local Table last;
    thread_local std::optional<std::pair<DType, Distribution>> lastOf;
    if (lastOf == std::pair(dtype, numbers)) {
      table = last;
    } else if (questions >= size) {
      table = last = make(size);
      lastOf = {dtype, numbers};
    }
  }
  T operator[](int64_t part) const { return table ? (*table)[size_t(part)] : function(part); }

private:
  using Table = std::shared_ptr<const std::vector<T>>;

  Table make(int64_t size) const {
    auto made = std::make_shared<std::vector<T>>(size_t(size));
    fillInParallel(size, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part)
        (*made)[size_t(part)] = function(part);
    });
    return made;
  }

  std::function<T(int64_t)> function;
  Table table; ///< Null: there are too few questions.
};
} // namespace

/// Floats of 32 bits: a part at random, and a place between its edges, so that two equal ones are
/// rare.
static void fillF32(const Tensor &tensor, const RandomBits &random, const Distribution &numbers) {
  int64_t count = tensor.numElements();
  PartTable<double> edges(tensor.dtype(), numbers, parts + 1, count,
                          [&](int64_t part) { return numbers.edge(part); });
  auto *data = static_cast<float *>(tensor.data());
  fillInParallel(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      uint64_t bits = random.at(i);
      auto part = int64_t(bits >> 48);
      double low = edges[part];
      data[i] = float(low + (edges[part + 1] - low) * (double(uint32_t(bits)) * 0x1p-32));
    }
  });
}

/// Floats of 16 or 8 bits, which cannot tell more numbers apart than there are parts.
template <typename Bits>
static void fillSmallFloats(const Tensor &tensor, const RandomBits &random,
                            const Distribution &numbers) {
  int64_t count = tensor.numElements();
  PartTable<Bits> encoded(tensor.dtype(), numbers, parts, count, [&](int64_t part) {
    Bits bits = 0;
    storeElement(tensor.dtype(), &bits, numbers.middle(part));
    return bits;
  });
  auto *data = static_cast<Bits *>(tensor.data());
  fillInParallel(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      data[i] = encoded[int64_t(random.at(i) >> 48)];
  });
}

static void fillFloats(const Tensor &tensor, const RandomBits &random,
                       const Distribution &numbers) {
  switch (sizeOf(tensor.dtype())) {
  case 4:
    return fillF32(tensor, random, numbers);
  case 2:
    return fillSmallFloats<uint16_t>(tensor, random, numbers);
  default:
    return fillSmallFloats<uint8_t>(tensor, random, numbers);
  }
}

/// Integers from `first` on, `count` of them equally likely.
static void fillIntegers(const Tensor &tensor, const RandomBits &random, int64_t first,
                         uint64_t count) {
  auto *bytes = static_cast<std::byte *>(tensor.data());
  DType dtype = tensor.dtype();
  fillInParallel(tensor.numElements(), [&, size = sizeOf(dtype)](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      storeElementInt(dtype, bytes + i * size,
                      first + int64_t(((random.at(i) >> 32) * count) >> 32));
  });
}

static void fillRandom(const Tensor &tensor, const RandomBits &random, bool isNormal, double factor,
                       double shift) {
  if (isFloat(tensor.dtype()))
    fillFloats(tensor, random, {isNormal, factor, shift});
  else if (isNormal)
    fillIntegers(tensor, random, -8, 17);
  else
    fillIntegers(tensor, random, 0, 8);
}

//===----------------------------------------------------------------------===//
// Numbers that are not random
//===----------------------------------------------------------------------===//

/// `numbers`, over and over: a piece of a few thousand elements, copied as often as it takes.
static void repeat(const Tensor &tensor, const std::vector<double> &numbers) {
  auto size = size_t(sizeOf(tensor.dtype()));
  int64_t period = int64_t(numbers.size()), piece = period * (1 + 4096 / period);
  std::vector<std::byte> encoded(size * size_t(piece));
  for (int64_t i = 0; i < piece; ++i)
    storeElement(tensor.dtype(), &encoded[size * size_t(i)], numbers[size_t(i % period)]);
  auto *bytes = static_cast<std::byte *>(tensor.data());
  fillInParallel(tensor.numElements(), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t from = begin % piece, count = std::min(end - begin, piece - from);
      std::memcpy(bytes + size * size_t(begin), &encoded[size * size_t(from)],
                  size * size_t(count));
      begin += count;
    }
  });
}

/// 0, 1, 2 and so on, for each place or in an order at random.
static void fillNumbered(const Tensor &tensor, const RandomBits *shuffledBy) {
  std::vector<int64_t> order(size_t(tensor.numElements()));
  std::iota(order.begin(), order.end(), 0);
  if (shuffledBy)
    for (int64_t i = tensor.numElements(); i-- > 1;)
      std::swap(order[size_t(i)], order[size_t(shuffledBy->at(i) % uint64_t(i + 1))]);
  auto *bytes = static_cast<std::byte *>(tensor.data());
  for (int64_t i = 0, size = sizeOf(tensor.dtype()); i < tensor.numElements(); ++i)
    storeElement(tensor.dtype(), bytes + i * size, double(order[size_t(i)]));
}

/// `0,1,70`: numbers to repeat over a tensor.
static std::optional<std::vector<double>> parseList(std::string_view text) {
  std::vector<double> numbers;
  while (true) {
    size_t comma = std::min(text.find(','), text.size());
    if (!parseAll(text.substr(0, comma), numbers.emplace_back()))
      return std::nullopt;
    if (comma == text.size())
      return numbers;
    text.remove_prefix(comma + 1);
  }
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static Status badFill(const std::string &name, const std::string &message) {
  return Status(StatusCode::InvalidArgument, "argument '" + name + "': " + message);
}

Status kiln::fillTensor(const std::string &name, const Tensor &tensor, const std::string &init,
                        uint64_t seed) {
  // The way, and for random floats a factor and what is added: normal*0.1+1.
  std::string_view rest = init;
  double factor = 1, shift = 0;
  bool isChanged = false, isNumber = true;
  auto takeBehind = [&](size_t mark, double &number) {
    if (mark == std::string_view::npos)
      return;
    isChanged = true;
    isNumber &= parseAll(rest.substr(mark + 1), number);
    rest = rest.substr(0, mark);
  };
  size_t plus = rest.rfind('+');
  bool isExponent = plus != std::string_view::npos && plus > 0 && rest[plus - 1] == 'e';
  takeBehind(isExponent ? std::string_view::npos : plus, shift);
  takeBehind(rest.find('*'), factor);
  std::string way(rest);
  bool isRandom = way == "normal" || way == "uniform";
  if (isChanged && (!isFloat(tensor.dtype()) || !isRandom || !isNumber))
    return badFill(name, "'" + init +
                             "': only normal and uniform floats are scaled and shifted, as in "
                             "normal*0.1 or normal*0.1+1");
  RandomBits random(name, seed);
  if (isRandom)
    fillRandom(tensor, random, way == "normal", factor, shift);
  else if (way == "zeros")
    repeat(tensor, {0});
  else if (way == "ones")
    repeat(tensor, {1});
  else if (way == "iota" || way == "shuffled")
    fillNumbered(tensor, way == "shuffled" ? &random : nullptr);
  else if (way == "poison")
    return tensor.fillPoison();
  else if (std::optional<std::vector<double>> list = parseList(way))
    repeat(tensor, *list);
  else
    return badFill(
        name, "'" + init +
                  "' is no way to fill a tensor; use normal, uniform, zeros, ones, iota, shuffled, "
                  "poison or numbers such as 0,1,70");
  return Status::ok();
}
