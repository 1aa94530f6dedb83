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

Difference compare(const HostArray &have, const HostArray &want, double rtol, double atol) {
  Difference result;
  if (have.extents() != want.extents())
    return {false, NAN, "the shapes differ"};
  size_t worst = 0;
  double worstExcess = 0;
  for (size_t i = 0; i < have.data().size(); ++i) {
    double x = have.data()[i], y = want.data()[i], difference = x == y ? 0 : std::fabs(x - y);
    double excess = difference - (atol + rtol * std::fabs(y));
    if (std::isnan(difference)) {
      excess = INFINITY;
      result.largest = NAN;
    } else if (!std::isnan(result.largest)) {
      result.largest = std::max(result.largest, difference);
    }
    if (excess > worstExcess) {
      worstExcess = excess;
      worst = i;
      result.ok = false;
    }
  }
  if (!result.ok) {
    std::string index;
    size_t rest = worst;
    for (size_t axis = have.extents().size(); axis-- > 0; rest /= size_t(have.extents()[axis]))
      index =
          std::to_string(rest % size_t(have.extents()[axis])) + (index.empty() ? "" : ", " + index);
    char text[128];
    std::snprintf(text, sizeof text, "[%s] is %.9g, expected %.9g", index.c_str(),
                  have.data()[worst], want.data()[worst]);
    result.where = text;
  }
  return result;
}

} // namespace kiln
