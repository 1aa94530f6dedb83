//===- RandomGroup.h - groups of two roles that push and pop as it comes -----------------===//
//
// Half of them are wrong: something was changed in one role. What travels can be traced: each role
// then keeps a tile of its own in `log`, into which everything it sends and receives goes in order,
// so that two runs with equal logs have handed over the same tiles in the same order. The numbers
// that decide how often can come out of a tile, so that only a run knows them.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_UNITTESTS_ANALYSIS_RANDOMGROUP_H
#define KILN_UNITTESTS_ANALYSIS_RANDOMGROUP_H

#include "Simulator/SimulatorTesting.h"

#include <random>

namespace kiln::test {

/// A piece of a role: a pipe operation, or a loop or branch around others.
struct Piece {
  enum class Kind {
    First,
    Second,
    Loop,
    While,
    Branch
  } kind;                   ///< First, Second: an event of that pipe.
  std::string control = {}; ///< The trip count or the condition.
  std::vector<Piece> body = {};
};

class RandomGroup {
public:
  /// `isRich`: trip counts and conditions also have products, quotients, remainders, bits, minima
  /// and `while` loops.
  explicit RandomGroup(unsigned seed, bool isTraced = false, bool isRich = false,
                       bool readsCounts = false)
      : Generator(seed), IsTraced(isTraced), IsRich(isRich), ReadsCounts(readsCounts) {}

  /// Both roles follow one plan; then, often, something is changed in one of them.
  std::string text() {
    std::vector<Piece> plan = pieces(2, /*inLoop=*/false);
    std::vector<Piece> vector = plan, matrix = plan;
    for (int changes = below(3); changes > 0; --changes)
      change(vector);
    return fill(R"mlir(
!t = !tile.tile<4x8xi32>
!p = !tile.pipe<aiv -> aic, 4x8xi32>
!q = !tile.pipe<aic -> aiv, 4x8xi32>
!log = !kiln.tensor<2x4x8xi32>
kiln.func @vec(PARAMETERS, %log: !log, %p: !p, %q: !q) role(aiv) {
HEADVEC}
kiln.func @cube(PARAMETERS, %log: !log, %p: !p, %q: !q) role(aic) {
HEADCUBE}
kiln.func @pair(PARAMETERS, %log: !log) group {
  %p = tile.pipe slots(SLOTS) : !p
  %q = tile.pipe slots(SLOTS) : !q
  kiln.call @vec(GIVEN, %log, %p, %q)
  kiln.call @cube(GIVEN, %log, %p, %q)
})mlir",
                {{"PARAMETERS", ReadsCounts ? "%counts: !kiln.tensor<1x8xi32>"
                                            : "%n: index, %m: index, %flag: i1"},
                 {"GIVEN", ReadsCounts ? "%counts" : "%n, %m, %flag"},
                 {"VEC", print(vector, true, {})},
                 {"CUBE", print(matrix, false, {})},
                 {"SLOTS", std::to_string(1 + below(3))},
                 {"HEAD", (ReadsCounts ? std::string(kReadCounts) : "") +
                              R"(  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %less = arith.subi %n, %c1 : index
  %more = arith.addi %n, %c1 : index
  %any = arith.cmpi sgt, %n, %c0 : index
  %half = arith.divsi %n, %c2 : index
  %odd = arith.remsi %n, %c2 : index
  %twice = arith.shli %n, %c1 : index
  %quarter = arith.shrui %n, %c2 : index
  %mixed = arith.xori %m, %c1 : index
  %low = arith.minsi %n, %c3 : index
  %high = arith.maxsi %m, %c2 : index
  %chosen = arith.select %any, %m, %c2 : index
  %is_odd = arith.cmpi eq, %odd, %c1 : index
  %c5 = arith.constant 5 : index
  %is_five = arith.cmpi eq, %n, %c5 : index
  %bits = arith.andi %m, %c3 : index
  %has_bits = arith.cmpi ne, %bits, %c2 : index
  %zero = arith.constant 0 : i32
  %factor = arith.constant 31 : i32
  %t = tile.full %zero : !t
)"}});
  }

private:
  static constexpr const char *kReadCounts = R"(
  %counts_tile = tile.load %counts[0, 0] : !tile.tile<1x8xi32>
  %n_read = tile.element %counts_tile[0, 0] : i32
  %m_read = tile.element %counts_tile[0, 1] : i32
  %flag_read = tile.element %counts_tile[0, 2] : i32
  %n = arith.index_cast %n_read : i32 to index
  %m = arith.index_cast %m_read : i32 to index
  %flag = arith.trunci %flag_read : i32 to i1
)";

  int below(int limit) { return int(Generator() % unsigned(limit)); }

  std::vector<Piece> pieces(int depth, bool inLoop) {
    std::vector<Piece> made;
    for (int count = 1 + below(3); count > 0; --count) {
      int kind = below(depth > 0 ? 4 : 2);
      if (kind < 2)
        made.push_back({kind == 0 ? Piece::Kind::First : Piece::Kind::Second});
      else if (kind == 2 && IsRich && below(5) == 0)
        made.push_back({Piece::Kind::While, tripCount(inLoop), pieces(depth - 1, false)});
      else if (kind == 2)
        made.push_back({Piece::Kind::Loop, tripCount(inLoop), pieces(depth - 1, true)});
      else
        made.push_back({Piece::Kind::Branch, condition(inLoop), pieces(depth - 1, inLoop)});
    }
    return made;
  }

  /// `index`: one more than the index of the loop around.
  std::string tripCount(bool inLoop) {
    static const char *const counts[] = {"%n",  "%n",  "%n", "%less", "%more",
                                         "%c2", "%c3", "%m", "%m",    "index"};
    static const char *const rich[] = {"%half",  "%odd", "%twice", "%quarter",
                                       "%mixed", "%low", "%high",  "%chosen"};
    if (IsRich && below(2))
      return rich[below(8)];
    return counts[below(inLoop ? 10 : 9)];
  }

  /// Those without `%`: by the index of the loop around.
  std::string condition(bool inLoop) {
    static const char *const conditions[] = {"%flag", "%any", "first", "early", "more"};
    static const char *const rich[] = {"%is_odd", "%is_five", "%has_bits", "even",
                                       "third",   "square",   "quotient",  "flipped"};
    if (IsRich && below(2))
      return rich[below(inLoop ? 8 : 3)];
    return conditions[below(inLoop ? 5 : 2)];
  }

  /// Something that may or may not matter.
  void change(std::vector<Piece> &where) {
    size_t at = size_t(below(int(where.size())));
    if (!where[at].body.empty() && below(2))
      return change(where[at].body);
    switch (below(4)) {
    case 0: // another order
      std::swap(where[at], where[size_t(below(int(where.size())))]);
      break;
    case 1: // once more
      where.insert(where.begin() + long(at), Piece(where[at]));
      break;
    case 2: // another trip count
      if (where[at].kind == Piece::Kind::Loop)
        where[at].control = tripCount(/*inLoop=*/false);
      break;
    default: // one round before the loop
      if (where[at].kind == Piece::Kind::Loop && where[at].control == "%n" && isPlain(where[at])) {
        std::vector<Piece> first = where[at].body;
        where[at].control = "%less";
        where.insert(where.begin() + long(at), first.begin(), first.end());
      }
      break;
    }
  }

  /// Nothing inside uses the index.
  static bool isPlain(const Piece &loop) {
    return llvm::all_of(loop.body, [](const Piece &piece) {
      return (piece.control.empty() || piece.control.front() == '%') && isPlain(piece);
    });
  }

  struct Around {
    std::string index, tripCount;
  };

  /// The pipes run from @vec to @cube (p) and back (q).
  std::string print(const std::vector<Piece> &sequence, bool isVector, const Around &around) {
    std::string text;
    for (const Piece &piece : sequence) {
      bool isFirst = piece.kind == Piece::Kind::First;
      std::string pipe = isFirst ? "%p" : "%q", name = "%v" + std::to_string(Names++);
      std::string control = piece.control;
      if (!control.empty() && control.front() != '%') {
        text += printControl(control, name, around);
        control = name + "_control";
      }
      if (piece.kind == Piece::Kind::Loop)
        text += "  scf.for " + name + " = %c0 to " + control + " step %c1 {\n" +
                print(piece.body, isVector, {name, control}) + "  }\n";
      else if (piece.kind == Piece::Kind::While)
        text += printWhile(name, control, print(piece.body, isVector, {}));
      else if (piece.kind == Piece::Kind::Branch)
        text += "  scf.if " + control + " {\n" + print(piece.body, isVector, around) + "  }\n";
      else if (isFirst == isVector)
        text += IsTraced ? printLog(name, isVector, "arith.constant " + std::to_string(Names)) +
                               "  tile.push " + name + "_log, " + pipe + "\n"
                         : "  tile.push %t, " + pipe + "\n";
      else
        text += "  " + name + " = tile.pop " + pipe + " : !t\n" +
                (IsTraced ? printLog(name, isVector, "") : "");
    }
    return text;
  }

  /// Runs for 1, 2, 4, ... up to a bound.
  static std::string printWhile(const std::string &name, const std::string &bound,
                                const std::string &body) {
    std::string end = name + "_end = scf.while (" + name + " = %c1) : (index) -> index {\n";
    return "  " + end + "  " + name + "_on = arith.cmpi slt, " + name + ", " + bound +
           " : index\n  scf.condition(" + name + "_on) " + name + " : index\n  } do {\n  ^bb0(" +
           name + "_at: index):\n" + body + "  " + name + "_double = arith.muli " + name +
           "_at, %c2 : index\n  scf.yield " + name + "_double : index\n  }\n";
  }

  /// log = log * 31 + what was popped, or a number that only this place has.
  static std::string printLog(const std::string &name, bool isVector, const std::string &constant) {
    std::string row = isVector ? "0" : "1", log = name + "_log", text;
    if (!constant.empty())
      text = "  " + name + " = " + constant + " : i32\n";
    return text + "  " + log + "_old = tile.load %log[" + row + ", 0, 0] : !t\n  " + log +
           "_scaled = tile.mul " + log + "_old, %factor : !t\n  " + log + " = tile.add " + log +
           "_scaled, " + name + " : !t\n  tile.store " + log + ", %log[" + row + ", 0, 0]\n";
  }

  /// Computes a trip count or condition that depends on the index of the loop around.
  static std::string printControl(const std::string &what, const std::string &name,
                                  const Around &around) {
    std::string next = name + "_next", result = "  " + name + "_control = ";
    std::string text = "  " + next + " = arith.addi " + around.index + ", %c1 : index\n";
    if (what == "index")
      return text + result + "arith.addi " + around.index + ", %c1 : index\n";
    auto compare = [&](const std::string &made, const std::string &with) {
      return text + "  " + name + "_made = " + made + " : index\n" + result + "arith.cmpi eq, " +
             name + "_made, " + with + " : index\n";
    };
    if (what == "even")
      return compare("arith.remsi " + around.index + ", %c2", "%c0");
    if (what == "third")
      return compare("arith.muli " + around.index + ", %c2", "%c2");
    if (what == "square")
      return compare("arith.muli " + around.index + ", " + around.index, "%c1");
    if (what == "quotient")
      return compare("arith.divui " + around.index + ", %c3", "%c1");
    if (what == "flipped")
      return compare("arith.xori " + around.index + ", %c1", "%c3");
    if (what == "first")
      return text + result + "arith.cmpi eq, " + around.index + ", %c0 : index\n";
    if (what == "early")
      return text + result + "arith.cmpi slt, " + around.index + ", %c2 : index\n";
    return text + result + "arith.cmpi slt, " + next + ", " + around.tripCount + " : index\n";
  }

  std::mt19937 Generator;
  bool IsTraced, IsRich, ReadsCounts;
  int Names = 0;
};

} // namespace kiln::test

#endif // KILN_UNITTESTS_ANALYSIS_RANDOMGROUP_H
