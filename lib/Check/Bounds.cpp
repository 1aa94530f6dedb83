#include "Bounds.h"

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Program/PadValue.h"
#include "kiln/Program/Signature.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace kiln::simulator {
namespace {

/// The least and the greatest of what `combine` makes of the ends of both. An end that is no number
/// (0 * inf, inf / inf) is as near to zero as one likes.
template <typename F> Bounds ofEnds(Bounds a, Bounds b, F combine) {
  double ends[] = {combine(a.least, b.least), combine(a.least, b.greatest),
                   combine(a.greatest, b.least), combine(a.greatest, b.greatest)};
  for (double &end : ends)
    end = std::isnan(end) ? 0 : end;
  auto [least, greatest] = std::minmax_element(std::begin(ends), std::end(ends));
  return {*least, *greatest};
}

Bounds ofProduct(tile::MulOp op, Bounds a, Bounds b) {
  Bounds product = ofEnds(a, b, std::multiplies<double>());
  return op.getLhs() == op.getRhs() ? Bounds{std::max(product.least, 0.0), product.greatest}
                                    : product;
}

Bounds ofQuotient(Bounds a, Bounds b, Bounds all) {
  if (b.least > 0)
    return ofEnds(a, b, std::divides<double>());
  return a.least >= 0 && b.least >= 0 ? Bounds{0, all.greatest} : all;
}

Bounds ofAbsolute(Bounds x) {
  double greatest = std::max(std::fabs(x.least), std::fabs(x.greatest));
  return {std::max({x.least, -x.greatest, 0.0}), greatest};
}

/// Of an odd function between -1 and 1 that does not decrease.
Bounds ofSigmoidal(Bounds x) { return {x.least >= 0 ? 0.0 : -1.0, x.greatest <= 0 ? 0.0 : 1.0}; }

/// Of a function that gives a whole number next to its operand.
Bounds ofWhole(Bounds x) { return {std::floor(x.least), std::ceil(x.greatest)}; }

Bounds ofReduction(tile::ReduceKind kind, Bounds x, Bounds all) {
  switch (kind) {
  case tile::ReduceKind::Max:
  case tile::ReduceKind::Min:
    return x;
  case tile::ReduceKind::Sum:
    return {x.least >= 0 ? x.least : all.least, x.greatest <= 0 ? x.greatest : all.greatest};
  case tile::ReduceKind::Prod:
    return {x.least >= 0 ? 0 : all.least, all.greatest};
  case tile::ReduceKind::ArgMax:
  case tile::ReduceKind::ArgMin:
    return all;
  }
  llvm_unreachable("every kind of reduction is above");
}

/// With what an exclusive scan begins with.
Bounds ofScan(tile::ScanOp scan, Bounds steps) {
  if (!scan.getExclusive())
    return steps;
  DType type = *dtypeOf(scan.getType().getElementType());
  double start = neutralValue(scan.getKind(), type).asDouble();
  return {std::min(steps.least, start), std::max(steps.greatest, start)};
}

/// Before rounding to the type.
Bounds exactBoundsOf(Operation *op, ArrayRef<Bounds> of, Bounds all) {
  Bounds a = of.front(), b = of.back();
  Bounds positive{0, all.greatest};
  return llvm::TypeSwitch<Operation *, Bounds>(op)
#include "kiln/Dialect/Tile/Elementwise/Bounds.inc"
      .Case([&](tile::SelectOp) {
        return Bounds{std::min(of[1].least, of[2].least), std::max(of[1].greatest, of[2].greatest)};
      })
      .Case([&](tile::ReduceOp reduce) { return ofReduction(reduce.getKind(), a, all); })
      .Case([&](tile::ScanOp scan) { return ofScan(scan, ofReduction(scan.getKind(), a, all)); })
      .Default(all);
}

} // namespace

Bounds boundsOf(Operation *op, ArrayRef<Bounds> operands, DType result) {
  Bounds all = boundsOf(result), bounds = exactBoundsOf(op, operands, all);
  auto rounded = [&](double bound, double none) {
    if (std::isnan(bound))
      return none;
    bound = std::clamp(bound, all.least, all.greatest);
    return isFloat(result) ? canonical(result, static_cast<float>(bound)) : bound;
  };
  return {rounded(bounds.least, all.least), rounded(bounds.greatest, all.greatest)};
}

} // namespace kiln::simulator
