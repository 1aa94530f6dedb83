//===- Names.h - names for emitted text -----------------------------------------------===//
//
// A NameScope hands out names of a language: valid, unique, and none that the language or the
// emitted file uses for something else. What is allowed is said by NameRules: the spelling and the
// keywords of C++ and of Python are here, and a target adds the words that its files need.
//
// Threads: rules may be shared; a scope belongs to one thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_TEXT_NAMES_H
#define KILN_TARGET_TEXT_NAMES_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace kiln::text {

/// Whether a name may contain this character, in C++ as in Python.
inline bool isNamePart(char c) { return llvm::isAlnum(c) || c == '_'; }

/// `text` with everything replaced that a C++ name cannot have; it may be a keyword.
std::string cppIdentifier(llvm::StringRef text);

class NameRules {
public:
  /// For C++. `words`, divided by spaces, are names that the file uses itself. A name that is not
  /// free gets a number: `new_1`; with `prefix` one that is reserved gets that instead: `v_new`.
  static NameRules cpp(llvm::StringRef words = "", llvm::StringRef prefix = "");
  /// For Python: a reserved name gets an underscore, and none begins with one.
  static NameRules python(llvm::StringRef words = "");

  bool isReserved(llvm::StringRef name) const { return Reserved.contains(name); }
  /// A valid name like `hint`.
  std::string spell(llvm::StringRef hint) const;

private:
  NameRules(std::string (*identifier)(llvm::StringRef), llvm::StringRef keywords,
            llvm::StringRef words, llvm::StringRef prefix, llvm::StringRef suffix);

  std::string (*Identifier)(llvm::StringRef);
  llvm::StringSet<> Reserved;
  std::string Prefix, Suffix; ///< What makes a name of a reserved word.
};

class NameScope {
public:
  /// Borrows the rules, and `outer` (the functions of the file, for the scope of one of them),
  /// whose names are avoided too.
  explicit NameScope(const NameRules &rules, const NameScope *outer = nullptr)
      : Rules(rules), Outer(outer) {}

  /// A name like `hint`, never handed out before: `x`, then `x_1`, `x_2`. Depends on the order of
  /// the calls only, so that emitting a program twice gives the same names.
  std::string unique(llvm::StringRef hint);

  /// Keeps `name` from being handed out.
  void reserve(llvm::StringRef name) { Taken.insert(name); }
  /// Whether this scope itself handed out `name`.
  bool holds(llvm::StringRef name) const { return Taken.contains(name); }

private:
  bool isTaken(llvm::StringRef name) const;

  const NameRules &Rules;
  const NameScope *Outer;
  llvm::StringSet<> Taken;
};

} // namespace kiln::text

#endif // KILN_TARGET_TEXT_NAMES_H
