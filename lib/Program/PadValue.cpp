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

ScalarBits padValue(mlir::Attribute pad, DType type) {
  if (auto constant = llvm::dyn_cast_or_null<mlir::FloatAttr>(pad))
    return ScalarBits::fromDouble(type, constant.getValueAsDouble());
  auto kind = llvm::dyn_cast_or_null<tile::PadKindAttr>(pad);
  if (!kind || kind.getValue() == tile::PadKind::Zero)
    return ScalarBits::fromInt(type, 0);
  return extremeValue(type, kind.getValue() == tile::PadKind::Max);
}

} // namespace kiln
