//===- PlaceMarks.h - which operation a line of text was written for ------------------===//
//
// A value that grows; one thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_TORCH_PLACEMARKS_H
#define KILN_LIB_TARGET_TORCH_PLACEMARKS_H

#include "kiln/runtime/status.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/Twine.h"

#include <string>
#include <vector>

namespace kiln::torch {

/// Remembers which operation each line of a text was written for, by marks at the ends of lines: so
/// lines may be put together in any order.
class PlaceMarks {
public:
  /// `line` with a mark for `loc`.
  std::string mark(const llvm::Twine &line, mlir::Location loc);
  /// Takes the marks out of a text. The place of each of its lines; unknown where it has no mark.
  std::vector<SourceLoc> take(std::string &text) const;

private:
  std::vector<SourceLoc> Places;
};

} // namespace kiln::torch

#endif // KILN_LIB_TARGET_TORCH_PLACEMARKS_H
