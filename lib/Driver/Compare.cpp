//===- Compare.cpp - formulas, and how close is close enough -------------------------===//
#include "Driver.h"

#include "kiln/Target/Signature/Signature.h"

#include "llvm/Support/ErrorHandling.h"

#include <cmath>

using namespace mlir;

namespace kiln {

HostArray::HostArray(std::vector<int64_t> extents) : Extents(std::move(extents)) {
  size_t count = 1;
  for (int64_t extent : Extents)
    count *= size_t(extent);
  Data.resize(count);
}

double &HostArray::operator()(int64_t row, int64_t col) {
  static thread_local double stray;
  if (Extents.size() == 2 && row >= 0 && row < Extents[0] && col >= 0 && col < Extents[1])
    return Data[size_t(row * Extents[1] + col)];
  return stray = NAN;
}

HostArray product(const HostArray &a, const HostArray &b) {
  if (a.cols() != b.rows())
    return HostArray(0, 0);
  HostArray c(a.rows(), b.cols());
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t k = 0; k < a.cols(); ++k)
      for (int64_t j = 0; j < b.cols(); ++j)
        c(i, j) += a(i, k) * b(k, j);
  return c;
}

const HostArray &Formula::in(const std::string &name) {
  static const HostArray none(0, 0);
  auto found = Inputs.find(name);
  require(found != Inputs.end(),
          "the program has an argument '" + name + "', which its formula asks for");
  return found == Inputs.end() ? none : found->second;
}

bool Formula::require(bool holds, const std::string &what) {
  if (!holds && Refused.empty())
    Refused = what;
  return holds;
}

HostArray toHost(const Tensor &tensor) {
  HostArray host(std::vector<int64_t>(tensor.extents().begin(), tensor.extents().end()));
  Expected<std::vector<std::byte>> bytes = tensor.gatherBytes();
  if (!bytes)
    llvm::report_fatal_error("out of memory while comparing results");
  for (size_t i = 0; i < host.data().size(); ++i)
    host.data()[i] =
        loadElement(tensor.dtype(), bytes->data() + i * size_t(sizeOf(tensor.dtype())));
  return host;
}

Formula FormulaAccess::run(const Example &example, ir::FuncOp entry,
                           std::span<const Argument> args) {
  Formula formula;
  std::vector<std::string> names = parameterNames(entry);
  for (auto [name, arg] : llvm::zip(names, args)) {
    if (auto *tensor = std::get_if<Tensor>(&arg)) {
      formula.Inputs[name] = toHost(*tensor);
    } else {
      HostArray scalar(1, 1);
      scalar(0, 0) = std::get<ScalarBits>(arg).asDouble();
      formula.Inputs[name] = scalar;
    }
  }
  example.formula(formula);
  for (const auto &[name, value] : formula.Expected)
    formula.require(formula.Inputs.count(name),
                    "the program has an argument '" + name + "', of which its formula speaks");
  return formula;
}

/// "[3, 4]" of an element counted in row-major order.
static std::string indexText(size_t element, const std::vector<int64_t> &extents) {
  std::string text;
  for (size_t axis = extents.size(); axis-- > 0; element /= size_t(extents[axis]))
    text = std::to_string(element % size_t(extents[axis])) + (text.empty() ? "" : ", " + text);
  return "[" + text + "]";
}

Difference compare(const HostArray &have, const HostArray &want, double rtol, double atol,
                   bool nanIsEqual) {
  Difference result;
  if (have.extents() != want.extents())
    return {false, NAN, "the shapes differ"};
  size_t worst = 0;
  double worstExcess = 0;
  for (size_t i = 0; i < have.data().size(); ++i) {
    double x = have.data()[i], y = want.data()[i];
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
    char text[128];
    std::snprintf(text, sizeof text, "%s is %.9g, expected %.9g",
                  indexText(worst, have.extents()).c_str(), have.data()[worst], want.data()[worst]);
    result.where = text;
  }
  return result;
}

/// Integers are equal or they are not.
static Difference compareExactly(const Tensor &have, const Tensor &want) {
  Expected<std::vector<std::byte>> a = have.gatherBytes(), b = want.gatherBytes();
  if (!a || !b)
    return {false, NAN, "out of memory"};
  Difference result;
  size_t size = size_t(sizeOf(have.dtype()));
  for (size_t i = 0; i < a->size() / size; ++i) {
    int64_t x = loadElementInt(have.dtype(), a->data() + i * size);
    int64_t y = loadElementInt(want.dtype(), b->data() + i * size);
    if (x == y)
      continue;
    if (result.ok)
      result.where = indexText(i, {have.extents().begin(), have.extents().end()}) + " is " +
                     std::to_string(x) + ", expected " + std::to_string(y);
    result.ok = false;
    result.largest = std::max(result.largest, std::fabs(double(x) - double(y)));
  }
  return result;
}

double tolerance(DType type) {
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

Difference compareWithReference(const Tensor &have, const Tensor &want) {
  if (!isFloat(have.dtype()))
    return compareExactly(have, want);
  HostArray x = toHost(have), y = toHost(want);
  double squares = 0, count = 0;
  for (double value : y.data())
    if (std::isfinite(value)) {
      squares += value * value;
      ++count;
    }
  double scale = count > 0 ? std::sqrt(squares / count) : 0;
  // Sums in another order differ by a little of the size of what is summed, of which the output's
  // own size is the best sign there is.
  double unit = tolerance(have.dtype());
  return compare(x, y, unit, 2 * unit * scale, /*nanIsEqual=*/true);
}

} // namespace kiln
