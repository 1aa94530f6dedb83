//===- PipeSearch.h - looks for a proof that holds for all trip counts ------------------===//
#ifndef KILN_LIB_ANALYSIS_PIPESEARCH_H
#define KILN_LIB_ANALYSIS_PIPESEARCH_H

#include "PipeExecution.h"
#include "PipeFacts.h"

namespace kiln::pipes {

/// What is taken for granted besides what the program requires.
struct Assumptions {
  std::vector<Expr> atLeastZero = {};
  Env values = {}; ///< Some parameters, as expressions of others.
};

/// Whether the group runs to its end with empty pipes, for all values of its parameters of which
/// that is true. False means that no proof was found within `effort` steps, not that there is none.
bool holdsForAll(GroupModel &model, const std::vector<int64_t> &slots, const Assumptions &assumed,
                 int64_t effort);

/// What is known of the scalars that trip counts and conditions are made of, with some of them
/// replaced by `values`.
Facts knownBounds(GroupModel &model, const Env &values, llvm::ArrayRef<Expr> required = {});

} // namespace kiln::pipes

#endif // KILN_LIB_ANALYSIS_PIPESEARCH_H
