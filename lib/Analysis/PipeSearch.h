//===- PipeSearch.h - looks for a proof that holds for all trip counts ------------------===//
#ifndef KILN_LIB_ANALYSIS_PIPESEARCH_H
#define KILN_LIB_ANALYSIS_PIPESEARCH_H

#include "PipeExecution.h"
#include "PipeFacts.h"

namespace kiln::pipes {

/// Whether the group runs to its end with empty pipes, for all values of its parameters at which
/// `assumptions` are at least 0. False means that no proof was found, not that there is none.
bool holdsForAll(GroupModel &model, const std::vector<int64_t> &slots,
                 llvm::ArrayRef<Expr> assumptions);

/// What is known of the scalars that trip counts and conditions are made of, with some of them
/// replaced by `values`.
Facts knownBounds(GroupModel &model, const Env &values);

} // namespace kiln::pipes

#endif // KILN_LIB_ANALYSIS_PIPESEARCH_H
