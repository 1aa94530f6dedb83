//===- PipeFacts.h - what is assumed of scalars on one path of the search ---------------===//
#ifndef KILN_LIB_ANALYSIS_PIPEFACTS_H
#define KILN_LIB_ANALYSIS_PIPEFACTS_H

#include "PipeScalars.h"

#include <set>

namespace kiln::pipes {

/// Inequalities that hold, and how conditions that are not inequalities were decided. What is
/// implied is found by adding up at most two of them: enough for bounds of loops, and never wrong.
class Facts {
public:
  explicit Facts(ScalarTable &scalars) : Scalars(&scalars) {}

  /// Whether expr >= 0 follows.
  bool implies(const Expr &expr) const;
  /// Assumes expr >= 0; false if that contradicts what is assumed already.
  bool assume(const Expr &expr);
  /// Assumes expr == 0.
  bool assumeZero(const Expr &expr) { return assume(expr) && assume(-expr); }

  /// Assumes that a condition holds, as far as that can be said by inequalities; false if it
  /// cannot.
  bool assumeHolds(const Expr &condition);

  /// The value of a condition, where it is known.
  std::optional<bool> decide(const Expr &condition) const;
  /// Everything that may be the case about an undecided condition, one assumption each; together
  /// they cover all cases, and each decides at least a part of it. Contradictory ones are left out.
  std::vector<Facts> split(const Expr &condition) const;

  /// Replaces an atom by an expression; false if that gives a contradiction.
  bool replace(Atom atom, const Expr &by);
  /// `counter` is `first`, in a loop that makes `rounds` rounds, and will only grow: says what is
  /// known as bounds of it.
  bool startCounting(Atom counter, int64_t first, const Expr &rounds);
  /// `counter` of a loop that makes `rounds` rounds becomes one more: keeps what still holds.
  bool advance(Atom counter, const Expr &rounds);

  /// Forgets how a condition was decided.
  void forget(const Expr &condition) { Decided.erase(condition); }

  const std::set<Expr> &inequalities() const { return AtLeastZero; }
  const std::map<Expr, bool> &decisions() const { return Decided; }

private:
  /// A comparison as expressions: each one that is >= 0 makes it hold (or not hold).
  struct Comparison {
    std::vector<Expr> holds, fails;
    bool isEquality = false; ///< It holds if all of `holds` are; it fails if one of `fails` is.
  };
  std::optional<Comparison> compare(const Expr &condition) const;
  /// The operation a condition is made of: and, or, xor; null for anything else.
  mlir::Operation *connective(const Expr &condition, std::vector<Expr> &operands) const;

  ScalarTable *Scalars;
  std::set<Expr> AtLeastZero;
  std::map<Expr, bool> Decided;
};

} // namespace kiln::pipes

#endif // KILN_LIB_ANALYSIS_PIPEFACTS_H
