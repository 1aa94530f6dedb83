#include "kiln/Program/Places.h"

using namespace mlir;

namespace kiln {

std::vector<SourceLoc> placesOf(ModuleOp program) {
  std::vector<SourceLoc> places;
  program.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { places.push_back(sourceLocOf(op->getLoc())); });
  return places;
}

void numberPlaces(ModuleOp program) {
  Builder builder(program.getContext());
  int32_t next = 0;
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    op->setLoc(
        FusedLoc::get(builder.getContext(), {op->getLoc()}, builder.getI32IntegerAttr(next++)));
  });
}

std::optional<uint32_t> placeNumberOf(Location loc) {
  std::optional<uint32_t> number;
  loc->walk([&](Location inner) {
    if (auto fused = dyn_cast<FusedLoc>(inner))
      if (auto given = dyn_cast_if_present<IntegerAttr>(fused.getMetadata())) {
        number = static_cast<uint32_t>(given.getInt());
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return number;
}

} // namespace kiln
