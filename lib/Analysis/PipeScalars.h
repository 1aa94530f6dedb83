//===- PipeScalars.h - the scalars that decide which pipe operations run --------------===//
//
// Trip counts and conditions of the roles of a group are compared as affine expressions: a constant
// plus multiples of atoms. An atom is something the proof does not look into: a parameter of the
// group, an extent, a block index, a loop index, or an operation on other expressions. Atoms are
// interned by what they are, so equal computations in two roles are one atom, and whether two
// expressions are equal is a comparison of two short lists.
//
// Arithmetic of 64 bits wraps here, as that of i64 does in a program; an index that leaves 64 bits
// is a fault there, so that a proof need not say what comes after it. Comparisons assume that
// nothing comes near the ends of 64 bits. Narrower arithmetic is an operation that is not looked
// into.
//
// Ownership: a table owns its atoms; expressions are values that make sense with one table only.
// Threads: one at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_ANALYSIS_PIPESCALARS_H
#define KILN_LIB_ANALYSIS_PIPESCALARS_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Program/Affine.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <map>

namespace kiln::pipes {

using Atom = unsigned;

using Expr = Affine<Atom>;

/// What atoms stand for at some point: loop indices, and in a trial run every free value.
using Env = std::map<Atom, Expr>;

struct AtomInfo {
  enum class Kind {
    Free,       ///< An integer given from outside: any from `least` to `most`.
    Name,       ///< A tensor or a float given from outside: only which one it is matters.
    Index,      ///< The index of a loop; bound while the loop runs.
    Counter,    ///< Counts the iterations that several loops make together.
    Lane,       ///< Differs between the lanes of a role.
    Operation,  ///< `op` on `operands`.
    CeilDiv,    ///< operands[0] / operands[1], rounded up.
    Select,     ///< operands[1] where operands[0] holds, else operands[2].
    Carried,    ///< What a `while` loop carries, as a Recurrence refers to it.
    WhileTrips, ///< How often the body of a `while` loop runs: the operands of a Recurrence.
    WhileValue, ///< What it carries: those, and operands.back() iterations before.
    Unknown     ///< Nothing is known, not even whether it is the same elsewhere.
  };
  Kind kind;
  std::string name = {};                       ///< For messages.
  int64_t least = INT64_MIN, most = INT64_MAX; ///< Of what is not computed from others.
  std::optional<Atom> below = {};              ///< A Free atom that this one is less than.
  bool isExtent = false;                       ///< Of a tensor.
  bool isCount = false; ///< Of type index, and no launch makes it negative by itself.
  unsigned which = 0;   ///< Which of the carried values a WhileValue is.
  mlir::Operation *op = nullptr;
  std::vector<Expr> operands = {};
  bool dependsOnLane = false;
  mlir::Operation *unknown = nullptr; ///< Where a value comes from that nothing is known of.
};

/// What a `while` loop does with the scalars it carries: where they start, whether it goes on and
/// what they become, both as expressions of Carried atoms.
struct Recurrence {
  std::vector<Expr> inits, nexts;
  Expr condition;
};

class ScalarTable {
public:
  Expr free(const std::string &name, int64_t least, int64_t most = INT64_MAX);
  /// An index parameter.
  Expr index(const std::string &name, bool isCount);
  Expr extent(const std::string &name);
  /// From 0 to less than `bound`, another free integer.
  Expr freeBelow(const std::string &name, const Expr &bound);
  Expr named(const std::string &name);
  /// `lower` is where the index starts.
  Atom makeIndex(const Expr &lower);
  /// One of the values that a `while` loop carries, for its Recurrence.
  Expr carried(unsigned which);
  Expr whileTrips(const Recurrence &loop);
  Expr whileValue(const Recurrence &loop, unsigned which, const Expr &iterations);
  Atom counter(unsigned depth);
  Expr lane();
  Expr makeUnknown(mlir::Operation *cause);
  /// The result of `op` on scalars, or on tensors given as atoms; simplified where it is affine.
  Expr apply(mlir::Operation *op, llvm::ArrayRef<Expr> operands);
  Expr multiply(const Expr &a, const Expr &b, mlir::Operation *op);
  /// a / b rounded up, with multiples of a constant b taken out of the division.
  Expr ceilDiv(const Expr &a, const Expr &b);
  Expr floorDiv(const Expr &a, int64_t divisor) {
    return ceilDiv(a - (divisor - 1), Expr(divisor));
  }
  /// `then` where `condition` holds, else `otherwise`.
  Expr select(const Expr &condition, const Expr &then, const Expr &otherwise);

  /// Whether that follows from the least values of its atoms.
  bool isNeverNegative(const Expr &expr) const;

  /// Everything that is computed here and with what is known costs steps: a measure of effort that
  /// does not depend on the machine.
  void spend(int64_t steps) { Spent += steps; }
  int64_t spent() const { return Spent; }

  const AtomInfo &info(Atom atom) const { return Atoms[atom]; }
  /// `expr` with every atom of `env` replaced, also inside operations.
  Expr substitute(const Expr &expr, const Env &env);
  /// The number that an expression is where `env` has numbers for all of its atoms.
  std::optional<int64_t> valueOf(const Expr &expr, const Env &env);
  /// Whether `atom` occurs in `expr`, also inside operations.
  bool mentions(const Expr &expr, Atom atom) const;
  /// Calls `visit` for every atom in `expr`, also inside operations.
  void forEachAtom(const Expr &expr, llvm::function_ref<void(Atom)> visit) const;

  /// What lies deep inside is left out.
  std::string str(const Expr &expr, int depth = 0) const;
  std::string str(Atom atom) const { return str(Expr::of(atom)); }

private:
  Atom intern(const std::string &key, AtomInfo info);
  Expr operation(AtomInfo::Kind kind, const std::string &key, mlir::Operation *op,
                 llvm::ArrayRef<Expr> operands);
  /// The operation of an atom, on other operands.
  Expr applyAgain(const AtomInfo &info, llvm::ArrayRef<Expr> operands);
  // Each atom is looked at once, however often it occurs.
  Expr substitute(const Expr &expr, const Env &env, Env &done);
  using Numbers = llvm::SmallDenseMap<Atom, int64_t, 8>;
  std::optional<int64_t> valueOf(const Expr &expr, const Env &env, Numbers &done);
  std::optional<int64_t> compute(const AtomInfo &info, const Env &env, Numbers &done);

  std::deque<AtomInfo> Atoms;
  llvm::StringMap<Atom> ByKey;
  int64_t Spent = 0;
};

/// What tells two expressions of one table apart, for keys.
void writeKey(llvm::raw_ostream &os, const Expr &expr);

/// The operation's value on constants; none where it is undefined or not known.
std::optional<int64_t> evaluate(mlir::Operation *op, llvm::ArrayRef<int64_t> operands);

} // namespace kiln::pipes

#endif // KILN_LIB_ANALYSIS_PIPESCALARS_H
