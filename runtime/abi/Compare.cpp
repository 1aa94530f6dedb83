#include "kiln/runtime/compare.h"

#include "Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace kiln;

namespace {

/// The elements of a tensor in row-major order: where they are, or gathered.
class Elements {
public:
  static Expected<Elements> of(const Tensor &tensor) {
    Elements elements(tensor);
    if (tensor.isContiguous()) {
      elements.First = tensor.dataAs<std::byte>();
      return elements;
    }
    Expected<std::vector<std::byte>> bytes = tensor.gatherBytes();
    if (!bytes)
      return bytes.status();
    elements.Gathered = std::move(*bytes);
    elements.First = elements.Gathered.data();
    return elements;
  }

  size_t size() const { return Size; }
  double number(size_t i) const { return loadElement(Type, First + i * Bytes); }
  int64_t integer(size_t i) const { return loadElementInt(Type, First + i * Bytes); }

private:
  explicit Elements(const Tensor &tensor)
      : Type(tensor.dtype()), Bytes(size_t(sizeOf(tensor.dtype()))),
        Size(size_t(tensor.numElements())) {}

  DType Type;
  size_t Bytes, Size;
  std::vector<std::byte> Gathered;
  const std::byte *First = nullptr;
};

/// What was found of elements beside one another.
struct Found {
  double largest = 0; ///< Difference; NaN if one is.
  int64_t nanInBoth = 0;
  double excess = 0; ///< By which the worst element is out of tolerance; 0: none is.
  size_t worst = 0;  ///< The first such element.

  void differ(double difference, double by, size_t i) {
    if (difference > largest || std::isnan(difference))
      largest = difference;
    if (by > excess) {
      excess = by;
      worst = i;
    }
  }
  void join(const Found &later) {
    nanInBoth += later.nanInBoth;
    differ(later.largest, later.excess, later.worst);
  }
};

} // namespace

/// Looks at all elements on all cores, piece by piece; what comes of the pieces is put together in
/// their order, so the answer is always the same. `look(begin, end, result)` must not throw.
template <typename Result, typename Look>
static Result inPieces(size_t count, Result nothing, const Look &look) {
  constexpr size_t piece = size_t{1} << 16;
  std::vector<Result> results((count + piece - 1) / piece, nothing);
  parallelFor(results.size(), 0,
              [&](size_t i) { look(i * piece, std::min(count, (i + 1) * piece), results[i]); });
  for (const Result &result : results)
    nothing.join(result);
  return nothing;
}

static Difference notComparable() {
  Difference result;
  result.ok = false;
  result.largest = NAN;
  return result;
}

static std::string textOf(double value) {
  if (std::isnan(value))
    return "NaN"; // whose sign, which printf shows, means nothing
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// Where an element is that is counted in row-major order.
static std::vector<int64_t> indicesOf(size_t element, Dims extents) {
  std::vector<int64_t> indices(extents.size());
  for (size_t axis = extents.size(); axis-- > 0; element /= size_t(extents[axis]))
    indices[axis] = int64_t(element % size_t(extents[axis]));
  return indices;
}

/// What is said of it; `textAt` gives an element as text.
template <typename TextAt>
static Difference describe(const Found &found, const Tensor &have, const Elements &haves,
                           const Elements &wants, const TextAt &textAt) {
  Difference result;
  result.largest = found.largest;
  result.nanInBoth = found.nanInBoth;
  result.ok = found.excess == 0;
  if (!result.ok) {
    result.at = indicesOf(found.worst, have.extents());
    result.element = toString(Dims(result.at));
    result.have = textAt(haves, found.worst);
    result.want = textAt(wants, found.worst);
  }
  return result;
}

Difference kiln::compareFloats(const Tensor &have, const Tensor &want, double rtol, double atol,
                               bool nanIsEqual) {
  Expected<Elements> haves = Elements::of(have), wants = Elements::of(want);
  if (!haves || !wants)
    return notComparable();
  auto look = [&](size_t begin, size_t end, Found &found) {
    for (size_t i = begin; i < end; ++i) {
      double x = haves->number(i), y = wants->number(i);
      if (x == y)
        continue;
      if (nanIsEqual && std::isnan(x) && std::isnan(y)) {
        ++found.nanInBoth;
        continue;
      }
      double difference = std::fabs(x - y);
      // Whatever is not finite and not equal is as wrong as can be, whatever the tolerance.
      double excess = std::isfinite(x) && std::isfinite(y)
                          ? difference - (atol + rtol * std::fabs(y))
                          : INFINITY;
      found.differ(difference, excess, i);
    }
  };
  return describe(inPieces(haves->size(), Found(), look), have, *haves, *wants,
                  [](const Elements &elements, size_t i) { return textOf(elements.number(i)); });
}

/// Integers are equal or they are not.
static Difference compareExactly(const Tensor &have, const Tensor &want) {
  Expected<Elements> haves = Elements::of(have), wants = Elements::of(want);
  if (!haves || !wants)
    return notComparable();
  auto look = [&](size_t begin, size_t end, Found &found) {
    for (size_t i = begin; i < end; ++i)
      if (int64_t x = haves->integer(i), y = wants->integer(i); x != y)
        found.differ(std::fabs(double(x) - double(y)), INFINITY, i);
  };
  return describe(
      inPieces(haves->size(), Found(), look), have, *haves, *wants,
      [](const Elements &elements, size_t i) { return std::to_string(elements.integer(i)); });
}

/// The relative difference that the rounding of a float type explains.
static double tolerance(DType type) {
  switch (type) {
  case DType::F32:
    return 1e-5;
  case DType::F16: // one rounding of the smaller types may fall either way
    return 0x1p-10;
  case DType::BF16:
    return 0x1p-7;
  case DType::F8E4M3FN:
    return 0x1p-3;
  case DType::F8E5M2:
    return 0x1p-2;
  default:
    return 0;
  }
}

/// The root mean square of the finite elements.
static double sizeOfElements(const Tensor &tensor) {
  struct Sum {
    double squares = 0, count = 0;
    void join(const Sum &later) {
      squares += later.squares;
      count += later.count;
    }
  };
  Expected<Elements> elements = Elements::of(tensor);
  if (!elements)
    return 0;
  Sum all = inPieces(elements->size(), Sum(), [&](size_t begin, size_t end, Sum &sum) {
    for (size_t i = begin; i < end; ++i)
      if (double value = elements->number(i); std::isfinite(value)) {
        sum.squares += value * value;
        ++sum.count;
      }
  });
  return all.count > 0 ? std::sqrt(all.squares / all.count) : 0;
}

Difference kiln::compareWithReference(const Tensor &have, const Tensor &want) {
  if (!isFloat(have.dtype()))
    return compareExactly(have, want);
  // Sums in another order differ by a little of the size of what is summed, of which the output's
  // own size is the best sign there is.
  double unit = tolerance(have.dtype());
  return compareFloats(have, want, unit, 2 * unit * sizeOfElements(want), /*nanIsEqual=*/true);
}

Difference kiln::compareWithFormula(const Tensor &have, const Tensor &want, int64_t accumulates) {
  if (!isFloat(have.dtype()))
    return compareExactly(have, want);
  double unit = tolerance(have.dtype()), slack = 1e-6 * double(accumulates);
  // What is stored in a small type was mostly summed from values of that type, each of which had
  // been rounded.
  if (have.dtype() != DType::F32)
    slack += 2 * unit * sizeOfElements(want);
  return compareFloats(have, want, unit, slack, /*nanIsEqual=*/true);
}
