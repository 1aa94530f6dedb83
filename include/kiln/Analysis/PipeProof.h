//===- PipeProof.h - proves that the pipes of a group balance and cannot deadlock ------===//
//
// Decides for a group, without running it, whether every tile that is pushed is popped, every slot
// that is popped is freed, and nobody waits forever, for all values of its parameters. See
// docs/pipe-proof.md.
//
// Ownership: borrows the group and the functions it calls for the length of the call, and does not
// change them; a proof is a value. Threads: any thread that may read the module.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_ANALYSIS_PIPEPROOF_H
#define KILN_ANALYSIS_PIPEPROOF_H

#include "kiln/Dialect/Tile/TileDialect.h"

#include <string>
#include <vector>

namespace kiln {

/// Something to say at a place in the program.
struct PipeMessage {
  mlir::Location loc;
  std::string text;
};

/// One thing that is wrong: where, what, and the other places it has to do with.
struct PipeFinding {
  PipeMessage what;
  std::vector<PipeMessage> notes = {};
};

struct PipeProof {
  enum class Verdict {
    Proved,   ///< For all values; if `condition` is not empty, for all that satisfy it, which
              ///< neither types nor what is required imply.
    Refuted,  ///< `findings` say why.
    Undecided ///< `reasons` say why; the simulator decides for one set of arguments.
  };
  Verdict verdict = Verdict::Proved;
  std::string condition = {};
  std::vector<PipeFinding> findings = {};
  std::vector<PipeMessage> reasons = {};
};

/// `group` is a group whose roles free what they pop (see tile-place-frees). A pipe that does not
/// say how many slots it has gets `defaultSlots`. `required` are conditions, computed in the group,
/// that hold whenever it runs.
PipeProof provePipes(ir::FuncOp group, int64_t defaultSlots, mlir::ValueRange required = {});

} // namespace kiln

#endif // KILN_ANALYSIS_PIPEPROOF_H
