//===- PlaceAhead.h - whether a run can still come to a place of the source -------------===//
//
// For who only wants to know what happens at one place: as soon as every task that could come there
// has ended, the rest of the run says nothing more.
//
// Ownership: belongs to one simulation; reads its module. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_PLACEAHEAD_H
#define KILN_LIB_SIMULATOR_PLACEAHEAD_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/runtime/task.h"

#include "llvm/ADT/StringSet.h"

#include <optional>

namespace kiln::simulator {

class PlaceAhead {
public:
  PlaceAhead(mlir::ModuleOp module, const SourceLoc &place);

  /// The entry has submitted all its tasks.
  void entryHasEnded(const Trace &trace);
  /// Whether nothing that is left to run can come to the place. Until the entry has ended, and
  /// where the place is in an orchestration or nowhere, nobody knows that.
  bool isBehind(const Trace &trace);

private:
  llvm::StringSet<> Kernels; ///< That come to the place, by themselves or by what they call.
  bool IsInOrchestration = false;
  /// Of those kernels, the tasks that may still run.
  std::optional<std::vector<uint64_t>> Tasks;
};

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_PLACEAHEAD_H
