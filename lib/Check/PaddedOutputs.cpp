// Padding that the outputs of a run hold in the end. Reductions judge padding where it meets data;
// what reaches an output without one is judged here.
#include "Checker.h"
#include "Origins.h"
#include "Padding.h"

#include "kiln/Program/Signature.h"

#include <cmath>

using namespace mlir;

namespace kiln::simulator {

static ScalarBits readElement(DType dtype, const std::byte *at) {
  return isFloat(dtype) ? ScalarBits::fromDouble(dtype, loadElement(dtype, at))
                        : ScalarBits::fromInt(dtype, loadElementInt(dtype, at));
}

/// "tile.mul makes element [0, 5] of 'y' (f32[4, 8]) of padding", of which nothing is known but
/// that it is there.
static std::string describeMaking(Operation *maker, const std::string &element) {
  if (!maker)
    return element + " is padding";
  std::string name = maker->getName().getStringRef().str();
  switch (paddingOf(maker).kind) {
  case tile::Padding::Combined:
  case tile::Padding::Ordered:
    return name + " makes " + element + " of nothing but padding";
  case tile::Padding::Elementwise:
  case tile::Padding::Running:
  case tile::Padding::Multiplied:
    return name + " makes " + element + " of padding";
  case tile::Padding::Kept:
  case tile::Padding::Constant:
  case tile::Padding::Filled:
    return name + " stores padding in " + element + ", while data of the tile lie outside";
  }
  llvm_unreachable("every kind is above");
}

static std::string describeSource(Origin origin) {
  return origin.source()->getName().getStringRef().str() + " at " +
         sourceLocOf(origin.source()->getLoc()).str();
}

void Checker::tellMissingData(Origin origin, unsigned number, const std::string &element,
                              const std::string &value) {
  Finding *finding = Found.add(FindingKind::MissingData, origin.maker(), origin.source(), number);
  if (!finding)
    return;
  std::string name = origin.maker()->getName().getStringRef().str();
  finding->message = name + " has fewer data in a row than it gives: " + element + " holds " +
                     value + ", which is padding or its place";
  finding->notes.push_back({"filled up here", sourceLocOf(origin.source()->getLoc())});
  finding->notes.push_back({"require as many data as " + name +
                                " gives, store only as many as there are, or replace the others "
                                "with a tile.select",
                            {}});
}

void Checker::tellStoredPadding(Origin origin, unsigned number, const std::string &element,
                                const std::string &value) {
  Operation *at = origin.maker() ? origin.maker() : origin.source();
  Finding *finding = Found.add(FindingKind::PaddingStored, at, origin.source(), number);
  if (!finding)
    return;
  finding->message = describeMaking(origin.maker(), element) + " (of " + describeSource(origin) +
                     "): it holds " + value + ", and nothing says that this is meant";
  finding->notes.push_back({"compare with a formula, choose the value with a tile.mask or "
                            "tile.select, or tie the extents with a require, such as "
                            "w.dim(0) == x.dim(1)",
                            {}});
}

void Checker::judgePaddingIn(ir::FuncOp entry, unsigned number, const Tensor &tensor) {
  auto *begin = static_cast<const std::byte *>(tensor.buffer()->data());
  if (!Padded.isAmong(begin, begin + tensor.buffer()->bytes()))
    return;
  Shadow.forEachWritten(tensor, [&](ArrayRef<int64_t> indices, const std::byte *at) {
    Origin origin = Padded.originAt(at);
    if (!origin.isMissing() && !isFromOutside(origin))
      return;
    ScalarBits value = readElement(tensor.dtype(), at);
    bool isInfinite = isFloat(value.type) && std::isinf(value.asDouble());
    if (!origin.maker() && !isInfinite)
      return; // filled up, and stored like that
    std::string element = "element " + toString(Dims(indices.data(), indices.size())) + " of " +
                          describe(entry.getArgument(number), tensor);
    if (origin.isMissing())
      tellMissingData(origin, number, element, toString(value));
    else
      tellStoredPadding(origin, number, element, toString(value));
  });
}

} // namespace kiln::simulator
