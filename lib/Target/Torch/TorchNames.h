//===- TorchNames.h - names for the emitted Python ----------------------------------===//
//
// A NameScope hands out Python names: valid, unique, and neither a keyword, a builtin, a module nor
// a helper. Helpers all start with an underscore and no name handed out does, so those two cannot
// meet.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_TORCH_TORCHNAMES_H
#define KILN_LIB_TARGET_TORCH_TORCHNAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace kiln::torch {

class NameScope {
public:
  /// Names of `outer` (the functions of the file, for the scope of one of them) are avoided too.
  explicit NameScope(const NameScope *outer = nullptr) : Outer(outer) {}

  /// A name like `hint`, never handed out before: `x`, then `x_1`, `x_2`. Depends on the order of
  /// the calls only, so that emitting a program twice gives the same names.
  std::string unique(llvm::StringRef hint);

  /// Keeps `name` from being handed out.
  void reserve(llvm::StringRef name) { Taken.insert(name); }
  /// Whether this scope itself handed out `name`.
  bool holds(llvm::StringRef name) const { return Taken.contains(name); }

private:
  bool isTaken(llvm::StringRef name) const;

  const NameScope *Outer;
  llvm::StringSet<> Taken;
};

} // namespace kiln::torch

#endif // KILN_LIB_TARGET_TORCH_TORCHNAMES_H
