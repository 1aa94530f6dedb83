#include "kiln/runtime/compare.h"

#include "Parallel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>

using namespace kiln;

namespace {

/// The numbers that the bit patterns of a float type of 16 or 8 bits stand for.
const std::vector<float> &meaningsOf(DType type) {
  static std::array<std::vector<float>, KILN_NUM_DTYPES> all;
  static std::array<std::once_flag, KILN_NUM_DTYPES> made;
  std::vector<float> &meanings = all[size_t(type)];
  std::call_once(made[size_t(type)], [&] {
    for (unsigned bits = 0; bits < 1u << (8 * sizeOf(type)); ++bits)
      meanings.push_back(float(loadElement(type, &bits))); // little endian: the low bytes
  });
  return meanings;
}

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
  /// Those from `begin` to `end`, one after the other.
  void numbers(size_t begin, size_t end, double *into) const {
    if (Type == DType::F32)
      convert<float>(begin, end, into, [](float value) { return value; });
    else if (Bytes == 2 && Meanings)
      convert<uint16_t>(begin, end, into, [&](uint16_t bits) { return (*Meanings)[bits]; });
    else if (Meanings)
      convert<uint8_t>(begin, end, into, [&](uint8_t bits) { return (*Meanings)[bits]; });
    else
      for (size_t i = begin; i < end; ++i)
        *into++ = number(i);
  }
  int64_t integer(size_t i) const { return loadElementInt(Type, First + i * Bytes); }

private:
  explicit Elements(const Tensor &tensor)
      : Type(tensor.dtype()), Bytes(size_t(sizeOf(tensor.dtype()))),
        Size(size_t(tensor.numElements())),
        Meanings(isFloat(Type) && Bytes <= 2 ? &meaningsOf(Type) : nullptr) {}

  template <typename Stored, typename Meaning>
  void convert(size_t begin, size_t end, double *into, const Meaning &meaning) const {
    for (size_t i = begin; i < end; ++i) {
      Stored stored;
      std::memcpy(&stored, First + i * sizeof stored, sizeof stored);
      *into++ = meaning(stored);
    }
  }

  DType Type;
  size_t Bytes, Size;
  const std::vector<float> *Meanings; ///< Of a small float type.
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

/// As many numbers as are looked at at a time.
static constexpr size_t kGroup = 512;

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
  auto lookAt = [&](double x, double y, size_t i, Found &found) {
    if (x == y)
      return;
    if (nanIsEqual && std::isnan(x) && std::isnan(y)) {
      ++found.nanInBoth;
      return;
    }
    double difference = std::fabs(x - y);
    // Whatever is not finite and not equal is as wrong as can be, whatever the tolerance.
    double excess =
        std::isfinite(x) && std::isfinite(y) ? difference - (atol + rtol * std::fabs(y)) : INFINITY;
    found.differ(difference, excess, i);
  };
  auto look = [&](size_t first, size_t end, Found &found) {
    for (double x[kGroup], y[kGroup]; first < end; first += kGroup) {
      size_t count = std::min(kGroup, end - first);
      haves->numbers(first, first + count, x);
      wants->numbers(first, first + count, y);
      // Almost always all of them are finite and close, which is quickly seen.
      double largest = 0;
      bool areClose = true;
      for (size_t i = 0; i < count; ++i) {
        double difference = std::fabs(x[i] - y[i]);
        areClose &= difference <= atol + rtol * std::fabs(y[i]);
        largest = largest < difference ? difference : largest;
      }
      if (areClose && std::isfinite(largest))
        found.differ(largest, 0, first);
      else
        for (size_t i = 0; i < count; ++i)
          lookAt(x[i], y[i], first + i, found);
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
    for (double values[kGroup]; begin < end; begin += kGroup) {
      size_t count = std::min(kGroup, end - begin);
      elements->numbers(begin, begin + count, values);
      for (size_t i = 0; i < count; ++i)
        if (std::isfinite(values[i])) {
          sum.squares += values[i] * values[i];
          ++sum.count;
        }
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
