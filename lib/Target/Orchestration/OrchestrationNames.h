//===- OrchestrationNames.h - names for the emitted C++ -----------------------------===//
//
// A CppNames hands out identifiers: valid, unique, and neither keywords nor names that emitted
// files use for something else.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_ORCHESTRATION_ORCHESTRATIONNAMES_H
#define KILN_LIB_TARGET_ORCHESTRATION_ORCHESTRATIONNAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace kiln::orchestration {

class CppNames {
public:
  /// Names of `outer` (the functions of the file, for the scope of one of them) are avoided too.
  explicit CppNames(const CppNames *outer = nullptr) : Outer(outer) {}

  /// A name like `hint`, never handed out before: `x`, then `x_1`, `x_2`. Depends on the order of
  /// the calls only, so that emitting a program twice gives the same names.
  std::string unique(llvm::StringRef hint);

private:
  bool isTaken(llvm::StringRef name) const;

  const CppNames *Outer;
  llvm::StringSet<> Taken;
};

/// `text` with everything that a C++ name cannot have replaced.
std::string asIdentifier(llvm::StringRef text);

/// `text` as a string literal.
std::string quoted(llvm::StringRef text);

} // namespace kiln::orchestration

#endif // KILN_LIB_TARGET_ORCHESTRATION_ORCHESTRATIONNAMES_H
