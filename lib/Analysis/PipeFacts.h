//===- PipeFacts.h - what is assumed of scalars on one path of the search ---------------===//
#ifndef KILN_LIB_ANALYSIS_PIPEFACTS_H
#define KILN_LIB_ANALYSIS_PIPEFACTS_H

#include "PipeScalars.h"

#include <map>

namespace kiln::pipes {

/// Inequalities that hold, and how conditions that are not inequalities were decided. What is
/// implied is found by adding up multiples of at most two of them: enough for bounds of loops, and
/// never wrong.
class Facts {
public:
  explicit Facts(ScalarTable &scalars) : Scalars(&scalars) {}

  /// Whether expr >= 0 follows.
  bool implies(const Expr &expr) const;
  /// Assumes expr >= 0; false if that contradicts what is assumed already.
  bool assume(const Expr &expr);
  /// Assumes that a condition holds, as far as inequalities say it; false if that contradicts what
  /// is assumed already.
  bool assumeHolds(const Expr &condition);
  /// Assumes expr == 0.
  bool assumeZero(const Expr &expr) { return assume(expr) && assume(-expr); }

  /// The value of a condition, where it is known.
  std::optional<bool> decide(const Expr &condition) const;
  /// Everything that may be the case about an undecided condition, one assumption each; together
  /// they cover all cases, and each decides at least a part of it. Contradictory ones are left out.
  std::vector<Facts> split(const Expr &condition) const;

  /// Minima, maxima and selections in `expr` of which it is known which operand they are, and that
  /// operand.
  Env decideChoices(const Expr &expr) const;
  /// As split, for a minimum, maximum or selection in `expr` of which that is not known; nothing if
  /// there is none.
  std::vector<Facts> splitChoice(const Expr &expr) const;

  /// Replaces an atom by an expression; false if that gives a contradiction.
  bool replace(Atom atom, const Expr &by);
  /// `counter` is `first`, in a loop that makes `rounds` rounds, and will only grow: says what is
  /// known as bounds of it.
  bool startCounting(Atom counter, int64_t first, const Expr &rounds);
  /// `counter` of a loop that makes `rounds` rounds becomes one more: keeps what still holds.
  bool advance(Atom counter, const Expr &rounds);

  /// Forgets how a condition was decided.
  void forget(const Expr &condition) { Decided.erase(condition); }

  /// Forgets the inequalities about what is computed (a minimum, a quotient), but for those about
  /// the same as some of `before`.
  void forgetComputed(const Facts &before);

  /// Each is at least 0.
  std::vector<Expr> inequalities() const;
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
  /// An atom that is one of two expressions: the first where a condition holds, or, if there is
  /// none, where `sign` is at least 0.
  struct Choice {
    std::optional<Expr> condition;
    Expr sign, first, second;
  };
  std::optional<Choice> choiceOf(Atom atom) const;
  std::optional<bool> decide(const Choice &choice) const;

  ScalarTable *Scalars;
  /// From a sum of atoms without a common factor to the least number that, added to it, is known to
  /// give at least 0.
  std::map<Expr, int64_t> AtLeastZero;
  std::map<Expr, bool> Decided;
};

} // namespace kiln::pipes

#endif // KILN_LIB_ANALYSIS_PIPEFACTS_H
