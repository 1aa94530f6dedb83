#include "kiln/runtime/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace kiln;

static Expected<std::vector<double>> elementsOf(const Tensor &tensor) {
  Expected<std::vector<std::byte>> bytes = tensor.gatherBytes();
  if (!bytes)
    return bytes.status();
  std::vector<double> elements(size_t(tensor.numElements()));
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = loadElement(tensor.dtype(), bytes->data() + i * size_t(sizeOf(tensor.dtype())));
  return elements;
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

/// "[3, 4]" of an element counted in row-major order.
static std::string indexText(size_t element, Dims extents) {
  std::string text;
  for (size_t axis = extents.size(); axis-- > 0; element /= size_t(extents[axis]))
    text = std::to_string(element % size_t(extents[axis])) + (text.empty() ? "" : ", " + text);
  return "[" + text + "]";
}

Difference kiln::compareFloats(const Tensor &have, const Tensor &want, double rtol, double atol,
                               bool nanIsEqual) {
  Expected<std::vector<double>> haves = elementsOf(have), wants = elementsOf(want);
  if (!haves || !wants)
    return notComparable();
  const std::vector<double> &xs = *haves, &ys = *wants;
  Difference result;
  size_t worst = 0;
  double worstExcess = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    double x = xs[i], y = ys[i];
    if (x == y)
      continue;
    if (nanIsEqual && std::isnan(x) && std::isnan(y)) {
      ++result.nanInBoth;
      continue;
    }
    double difference = std::fabs(x - y);
    // Whatever is not finite and not equal is as wrong as can be, whatever the tolerance.
    double excess =
        std::isfinite(x) && std::isfinite(y) ? difference - (atol + rtol * std::fabs(y)) : INFINITY;
    if (!(difference <= result.largest))
      result.largest = difference;
    if (excess > worstExcess) {
      worstExcess = excess;
      worst = i;
      result.ok = false;
    }
  }
  if (!result.ok) {
    result.element = indexText(worst, have.extents());
    result.have = textOf(xs[worst]);
    result.want = textOf(ys[worst]);
  }
  return result;
}

/// Integers are equal or they are not.
static Difference compareExactly(const Tensor &have, const Tensor &want) {
  Expected<std::vector<std::byte>> a = have.gatherBytes(), b = want.gatherBytes();
  if (!a || !b)
    return notComparable();
  Difference result;
  auto element = [](const Tensor &tensor, const std::vector<std::byte> &bytes, size_t i) {
    return loadElementInt(tensor.dtype(), bytes.data() + i * size_t(sizeOf(tensor.dtype())));
  };
  for (size_t i = 0; i < size_t(have.numElements()); ++i) {
    int64_t x = element(have, *a, i), y = element(want, *b, i);
    if (x == y)
      continue;
    if (result.ok) {
      result.element = indexText(i, have.extents());
      result.have = std::to_string(x);
      result.want = std::to_string(y);
    }
    result.ok = false;
    result.largest = std::max(result.largest, std::fabs(double(x) - double(y)));
  }
  return result;
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
  double squares = 0, count = 0;
  Expected<std::vector<double>> elements = elementsOf(tensor);
  for (double value : elements ? *elements : std::vector<double>())
    if (std::isfinite(value)) {
      squares += value * value;
      ++count;
    }
  return count > 0 ? std::sqrt(squares / count) : 0;
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
