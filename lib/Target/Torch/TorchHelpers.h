//===- TorchHelpers.h - the Python that emitted files share ------------------------===//
//
// The helpers an emitted file may need, as Python text. A file gets those whose names occur in it,
// and those whose names occur in them: nothing keeps a list.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_TORCH_TORCHHELPERS_H
#define KILN_LIB_TARGET_TORCH_TORCHHELPERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln::torch {

struct Helper {
  llvm::StringLiteral name; ///< What the text defines.
  llvm::StringLiteral text;
};

/// What tiles compute.
llvm::ArrayRef<Helper> tileHelpers();

/// Pipes and their scheduler, in an order in which they can be defined.
llvm::ArrayRef<Helper> pipeHelpers();

/// Ranks, in an order in which they can be defined.
llvm::ArrayRef<Helper> rankHelpers();

/// The definitions of `_tpush_to_<role>` and the like, and of their generator forms; empty for
/// another name.
std::string rolePipeHelper(llvm::StringRef name);

/// Everything that `body` uses and does not define: imports, state, helpers, ready to stand before
/// it.
std::string preludeFor(llvm::StringRef body);

} // namespace kiln::torch

#endif // KILN_LIB_TARGET_TORCH_TORCHHELPERS_H
