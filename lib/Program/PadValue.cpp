#include "kiln/Program/PadValue.h"

#include "kiln/Dialect/Tile/TileDialect.h"

#include <limits>

namespace kiln {

ScalarBits extremeValue(DType type, bool greatest) {
  if (isFloat(type)) {
    // f8E4M3FN has no infinity.
    double limit = type == DType::F8E4M3FN ? 448.0 : std::numeric_limits<double>::infinity();
    return ScalarBits::fromDouble(type, greatest ? limit : -limit);
  }
  if (type == DType::I1)
    return ScalarBits::fromInt(type, greatest);
  int64_t bound = std::numeric_limits<int64_t>::max() >> (64 - 8 * sizeOf(type));
  return ScalarBits::fromInt(type, greatest ? bound : -bound - 1);
}

ScalarBits neutralValue(tile::ReduceKind kind, DType type) {
  switch (kind) {
  case tile::ReduceKind::Sum:
    return ScalarBits::fromInt(type, 0);
  case tile::ReduceKind::Prod:
    return isFloat(type) ? ScalarBits::fromDouble(type, 1) : ScalarBits::fromInt(type, 1);
  case tile::ReduceKind::Max:
  case tile::ReduceKind::ArgMax:
    return extremeValue(type, /*greatest=*/false);
  case tile::ReduceKind::Min:
  case tile::ReduceKind::ArgMin:
    return extremeValue(type, /*greatest=*/true);
  }
  llvm_unreachable("every kind of reduction is above");
}

ScalarBits padValue(mlir::Attribute pad, DType type) {
  if (auto constant = llvm::dyn_cast_or_null<mlir::FloatAttr>(pad))
    return ScalarBits::fromDouble(type, constant.getValueAsDouble());
  auto kind = llvm::dyn_cast_or_null<tile::PadKindAttr>(pad);
  if (!kind || kind.getValue() == tile::PadKind::Zero)
    return ScalarBits::fromInt(type, 0);
  return extremeValue(type, kind.getValue() == tile::PadKind::Max);
}

} // namespace kiln
