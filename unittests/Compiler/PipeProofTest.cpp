// The proof against the simulator on random groups: what is proved runs for every n, what is
// refuted fails for some n.
#include "kiln/Analysis/PipeProof.h"
#include "PipePrograms.h"

using namespace kiln;
using namespace kiln::test;

namespace {

//===----------------------------------------------------------------------===//
// Random groups
//===----------------------------------------------------------------------===//

/// A piece of a role: a pipe operation, or a loop or branch around others.
struct Piece {
  enum class Kind { First, Second, Loop, Branch } kind; ///< First, Second: an event of that pipe.
  std::string control = {};                             ///< The trip count or the condition.
  std::vector<Piece> body = {};
};

class RandomGroup {
public:
  explicit RandomGroup(unsigned seed) : Generator(seed) {}

  /// Both roles follow one plan; then, often, something is changed in one of them.
  std::string text() {
    std::vector<Piece> plan = pieces(2, /*inLoop=*/false);
    std::vector<Piece> vector = plan, matrix = plan;
    for (int changes = below(3); changes > 0; --changes)
      change(vector);
    return fill(R"mlir(
!t = !tile.tile<4x8xf32>
!p = !tile.pipe<aiv -> aic, 4x8xf32>
!q = !tile.pipe<aic -> aiv, 4x8xf32>
kiln.func @vec(%n: index, %m: index, %flag: i1, %p: !p, %q: !q) role(aiv) {
HEADVEC}
kiln.func @cube(%n: index, %m: index, %flag: i1, %p: !p, %q: !q) role(aic) {
HEADCUBE}
kiln.func @pair(%n: index, %m: index, %flag: i1) group {
  %p = tile.pipe slots(SLOTS) : !p
  %q = tile.pipe slots(SLOTS) : !q
  kiln.call @vec(%n, %m, %flag, %p, %q)
  kiln.call @cube(%n, %m, %flag, %p, %q)
})mlir",
                {{"VEC", print(vector, true, {})},
                 {"CUBE", print(matrix, false, {})},
                 {"SLOTS", std::to_string(1 + below(3))},
                 {"HEAD", R"(  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %less = arith.subi %n, %c1 : index
  %more = arith.addi %n, %c1 : index
  %any = arith.cmpi sgt, %n, %c0 : index
  %zero = arith.constant 0.0 : f32
  %t = tile.full %zero : !t
)"}});
  }

private:
  int below(int limit) { return int(Generator() % unsigned(limit)); }

  std::vector<Piece> pieces(int depth, bool inLoop) {
    std::vector<Piece> made;
    for (int count = 1 + below(3); count > 0; --count) {
      int kind = below(depth > 0 ? 4 : 2);
      if (kind < 2)
        made.push_back({kind == 0 ? Piece::Kind::First : Piece::Kind::Second});
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
    return counts[below(inLoop ? 10 : 9)];
  }

  /// `first`, `early`, `more`: by the index of the loop around.
  std::string condition(bool inLoop) {
    static const char *const conditions[] = {"%flag", "%any", "first", "early", "more"};
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
    case 3: // one round before the loop
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
      else if (piece.kind == Piece::Kind::Branch)
        text += "  scf.if " + control + " {\n" + print(piece.body, isVector, around) + "  }\n";
      else if (isFirst == isVector)
        text += "  tile.push %t, " + pipe + "\n";
      else
        text += "  " + name + " = tile.pop " + pipe + " : !t\n";
    }
    return text;
  }

  /// Computes a trip count or condition that depends on the index of the loop around.
  static std::string printControl(const std::string &what, const std::string &name,
                                  const Around &around) {
    std::string next = name + "_next", result = "  " + name + "_control = ";
    std::string text = "  " + next + " = arith.addi " + around.index + ", %c1 : index\n";
    if (what == "index")
      return text + result + "arith.addi " + around.index + ", %c1 : index\n";
    if (what == "first")
      return text + result + "arith.cmpi eq, " + around.index + ", %c0 : index\n";
    if (what == "early")
      return text + result + "arith.cmpi slt, " + around.index + ", %c2 : index\n";
    return text + result + "arith.cmpi slt, " + next + ", " + around.tripCount + " : index\n";
  }

  std::mt19937 Generator;
  int Names = 0;
};

bool runs(mlir::ModuleOp module, int64_t n, int64_t m, bool flag) {
  std::vector<Argument> args{index(n), index(m), ScalarBits::fromInt(DType::I1, flag)};
  return simulate(module, module.lookupSymbol<ir::FuncOp>("pair"), args).isOk();
}

TEST(PipeProof, AgreesWithTheSimulatorOnRandomGroups) {
  int proved = 0, conditional = 0, refuted = 0, undecided = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::string text = RandomGroup(seed).text(), error;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    auto module = prepared(text, error);
    ASSERT_TRUE(module) << error;
    PipeProof proof = provePipes(module->lookupSymbol<ir::FuncOp>("pair"), 2);
    bool failsSomewhere = false;
    // Refuted groups may need larger values to fail.
    bool isRefuted = proof.verdict == PipeProof::Verdict::Refuted;
    for (int64_t n = 0; n <= (isRefuted ? 7 : 4) && !(isRefuted && failsSomewhere); ++n)
      for (int64_t m = 0; m <= (isRefuted ? 7 : 2); ++m)
        for (bool flag : {false, true})
          if (!runs(*module, n, m, flag)) {
            failsSomewhere = true;
            EXPECT_FALSE(proof.verdict == PipeProof::Verdict::Proved &&
                         (proof.condition.empty() || n >= 1))
                << "proved " << proof.condition << ", but fails with n = " << n << ", m = " << m;
          }
    switch (proof.verdict) {
    case PipeProof::Verdict::Proved:
      ++(proof.condition.empty() ? proved : conditional);
      break;
    case PipeProof::Verdict::Refuted:
      ++refuted;
      EXPECT_TRUE(failsSomewhere) << "refuted: " << proof.findings.front().what.text;
      break;
    case PipeProof::Verdict::Undecided:
      ++undecided;
      break;
    }
  }
  std::printf("random groups: %d proved, %d under a condition, %d refuted, %d undecided\n", proved,
              conditional, refuted, undecided);
  EXPECT_GT(proved, 100);
  EXPECT_GT(refuted, 100);
  EXPECT_LT(undecided, 60);
}

} // namespace
