//===- PipeSamples.cpp - values of parameters at which groups tend to go wrong ----------===//
//
// The program itself says where to look. Each condition it tests is solved backwards, through sums,
// products, quotients, remainders, shifts and bits, for values of parameters at which it just holds
// or just fails; so is each trip count for none, one, and about as many rounds as a pipe has slots.
//
//===----------------------------------------------------------------------------===//
#include "PipeTrial.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace kiln::pipes {

void forEachControl(const GroupModel &model, llvm::function_ref<void(const Expr &)> visit) {
  for (const Member &member : model.members)
    forEachStep(member.body, [&](const Step &step) {
      if (auto *loop = std::get_if<Loop>(&step)) {
        visit(loop->trips);
        visit(loop->lower);
      }
      if (auto *branch = std::get_if<Branch>(&step))
        visit(branch->condition);
    });
}

namespace {

/// No trial runs a loop so often.
constexpr int64_t kLargest = int64_t(1) << 31;
/// Operations that are solved one inside the other.
constexpr int kMaxDepth = 8;
/// What solving may cost: expressions looked at, and values of one parameter.
constexpr int kMaxSolved = 20'000;
constexpr size_t kMaxValues = 64, kMaxPoints = 200, kMaxSamples = 600;

bool isSmall(int64_t value) { return value >= -kLargest && value <= kLargest; }

class Solver {
public:
  explicit Solver(const GroupModel &model) : Model(model), Scalars(model.scalars) {
    for (const Member &member : model.members)
      forEachStep(member.body, [&](const Step &step) {
        if (auto *loop = std::get_if<Loop>(&step))
          Loops[loop->index] = loop;
      });
  }

  /// Values of parameters at which conditions change and loops are as long as pipes are.
  std::map<Atom, std::set<int64_t>> run() {
    std::set<int64_t> trips = {0, 1};
    int64_t all = 0; // tiles that can be on their way: in the pipes, and one in each member
    for (const Pipe &pipe : Model.pipes)
      if (pipe.slots < kLargest) {
        trips.insert({pipe.slots - 1, pipe.slots, pipe.slots + 1});
        all += pipe.slots;
      }
    trips.insert(
        {all, all + int64_t(Model.members.size()), all + int64_t(Model.members.size()) + 1});
    for (const auto &[index, loop] : Loops)
      for (int64_t count : trips)
        solve(loop->trips, count, 0);
    forEachControl(Model, [&](const Expr &control) {
      Scalars.forEachAtom(control, [&](Atom atom) { solveChoice(Scalars.info(atom)); });
    });
    for (const Expr &required : Model.required)
      Scalars.forEachAtom(required, [&](Atom atom) { solveChoice(Scalars.info(atom)); });
    return std::move(Found);
  }

private:
  /// Where a comparison, or which operand is the smaller, changes.
  void solveChoice(const AtomInfo &info) {
    if (isa_and_nonnull<arith::CmpIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
                        arith::MaxUIOp>(info.op))
      for (int64_t difference : {0, -1, 1})
        solve(info.operands[0] - info.operands[1], difference, 0);
  }

  /// Looks for values at which `expr` is `value`: of each atom in it, where the others are 0.
  void solve(const Expr &expr, int64_t value, int depth) {
    if (depth > kMaxDepth || ++Solved > kMaxSolved || !isSmall(value) || !isSmall(expr.constant()))
      return;
    for (auto [atom, coefficient] : expr.terms()) {
      int64_t rest = value - expr.constant();
      if (!isSmall(coefficient))
        continue;
      for (int64_t quotient :
           {llvm::divideFloorSigned(rest, coefficient), llvm::divideCeilSigned(rest, coefficient)})
        solveAtom(atom, quotient, depth);
    }
  }

  void solveAtom(Atom atom, int64_t value, int depth) {
    const AtomInfo &info = Scalars.info(atom);
    auto first = [&](int64_t wanted) { solve(info.operands[0], wanted, depth + 1); };
    switch (info.kind) {
    case AtomInfo::Kind::Free:
      if (value >= info.least && value <= info.most && Found[atom].size() < kMaxValues)
        Found[atom].insert(value);
      return;
    case AtomInfo::Kind::Index:
      return solveIndex(*Loops.at(atom), value, depth);
    case AtomInfo::Kind::CeilDiv:
      if (!info.operands[1].isConstant() || !isSmall(info.operands[1].constant()))
        return first(value);
      first(value * info.operands[1].constant());
      return first((value - 1) * info.operands[1].constant() + 1);
    case AtomInfo::Kind::Select:
      solve(info.operands[1], value, depth + 1);
      return solve(info.operands[2], value, depth + 1);
    case AtomInfo::Kind::WhileTrips:
      for (const Expr &operand : info.operands)
        solve(operand, value, depth + 1);
      return;
    case AtomInfo::Kind::Operation:
      return solveOperation(info, value, depth);
    default:
      return;
    }
  }

  /// A loop that comes to an index has one iteration more.
  void solveIndex(const Loop &loop, int64_t value, int depth) {
    solve(loop.lower, value, depth + 1);
    if (!loop.step.isConstant() || loop.step.constant() <= 0)
      return;
    int64_t from = loop.lower.constant();
    if (int64_t rounds = llvm::divideFloorSigned(value - from, loop.step.constant()); rounds >= 0) {
      solve(loop.trips, rounds + 1, depth + 1);
      solve(loop.trips, rounds, depth + 1);
    }
  }

  void solveOperation(const AtomInfo &info, int64_t value, int depth) {
    if (info.operands.empty())
      return;
    const Expr &a = info.operands.front(), &b = info.operands.back();
    auto both = [&](int64_t wanted) {
      solve(a, wanted, depth + 1);
      solve(b, wanted, depth + 1);
    };
    bool isSecondConstant = info.operands.size() == 2 && b.isConstant();
    int64_t constant = b.constant();
    auto first = [&](int64_t wanted) { solve(a, wanted, depth + 1); };
    if (isa<arith::MulIOp>(info.op)) {
      // A square, or one factor where the other is 1.
      auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(std::abs(value))));
      both(root);
      return both(value);
    }
    if (!isSecondConstant || !isSmall(constant))
      return both(value);
    if (isa<arith::RemSIOp, arith::RemUIOp>(info.op)) {
      first(value);
      return first(value + constant);
    }
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(info.op)) {
      first(value * constant);
      return first(value * constant + constant - 1);
    }
    if (isa<arith::XOrIOp>(info.op))
      return first(value ^ constant);
    if (isa<arith::ShRSIOp, arith::ShRUIOp>(info.op) && constant >= 0 && constant < 31)
      return first(value * (int64_t(1) << constant));
    if (isa<arith::ShLIOp>(info.op) && constant >= 0 && constant < 63)
      return first(value >> constant);
    if (isa<arith::OrIOp>(info.op))
      first(value & ~constant);
    both(value);
  }

  const GroupModel &Model;
  const ScalarTable &Scalars;
  std::map<Atom, const Loop *> Loops;
  std::map<Atom, std::set<int64_t>> Found;
  int Solved = 0;
};

/// The size of a tile by which a parameter is divided; 1 if it is not.
int64_t unitOf(const GroupModel &model, Atom wanted) {
  int64_t unit = 1;
  forEachControl(model, [&](const Expr &expr) {
    model.scalars.forEachAtom(expr, [&](Atom atom) {
      const AtomInfo &info = model.scalars.info(atom);
      if (info.kind == AtomInfo::Kind::CeilDiv && info.operands[1].isConstant() &&
          info.operands[1].constant() < 1 << 20 && model.scalars.mentions(info.operands[0], wanted))
        unit = std::max(unit, info.operands[1].constant());
    });
  });
  return unit;
}

using Point = std::vector<int64_t>;

int64_t sizeOf(const Point &point) {
  int64_t sum = 0;
  for (int64_t value : point)
    sum += std::abs(value);
  return sum;
}

void sortBySize(std::vector<Point> &points) {
  llvm::stable_sort(points, [](const Point &a, const Point &b) { return sizeOf(a) < sizeOf(b); });
}

/// A few values of each parameter, in all combinations; the smallest of them if they are many.
std::vector<Point> smallPoints(ArrayRef<std::vector<int64_t>> values) {
  std::vector<Point> points{{}};
  for (const std::vector<int64_t> &choices : values) {
    std::vector<Point> extended;
    for (const Point &point : points)
      for (int64_t value : choices) {
        extended.push_back(point);
        extended.back().push_back(value);
      }
    sortBySize(extended);
    if (extended.size() > kMaxPoints)
      extended.resize(kMaxPoints);
    points = std::move(extended);
  }
  return points;
}

} // namespace

std::vector<Sample> samplesOf(GroupModel &model, const OpenValues &open) {
  std::map<Atom, std::set<int64_t>> found = Solver(model).run();
  std::vector<std::vector<int64_t>> small;
  for (Atom atom : open.integers) {
    const AtomInfo &info = model.scalars.info(atom);
    int64_t unit = unitOf(model, atom);
    std::set<int64_t> values = {unit - 1, unit + 1};
    for (int64_t count = 0; count <= 6; ++count)
      values.insert({count, count * unit});
    // Where arithmetic of few bits wraps. Elsewhere nobody means negative numbers.
    if (info.most <= INT16_MAX)
      values.insert({info.least, info.most});
    else
      std::erase_if(found[atom], [](int64_t value) { return value < 0; });
    std::erase_if(values, [&](int64_t value) { return value < info.least || value > info.most; });
    small.emplace_back(values.begin(), values.end());
  }
  std::vector<Point> points = smallPoints(small);
  // What was found for one parameter goes with small values of the others, and with the same.
  for (auto [place, atom] : llvm::enumerate(open.integers))
    for (int64_t value : found[atom])
      for (size_t other : {size_t(0), size_t(1), size_t(3), SIZE_MAX}) {
        Point point;
        for (const std::vector<int64_t> &choices : small)
          point.push_back(other == SIZE_MAX ? value : choices[std::min(other, choices.size() - 1)]);
        point[place] = value;
        points.push_back(std::move(point));
      }
  sortBySize(points);
  points.erase(llvm::unique(points), points.end());
  std::vector<Sample> samples;
  for (const Point &point : points) {
    Sample sample;
    for (auto [atom, value] : llvm::zip_equal(open.integers, point))
      sample[atom] = value;
    if (samples.size() < kMaxSamples && isAdmitted(model, sample))
      samples.push_back(std::move(sample));
  }
  return samples;
}

bool isAdmitted(GroupModel &model, const Sample &sample) {
  auto isPossible = [&](const auto &entry) {
    const auto &[atom, value] = entry;
    const AtomInfo &info = model.scalars.info(atom);
    // A block is one of those there are.
    auto bound = info.below ? sample.find(*info.below) : sample.end();
    return value.constant() >= info.least && value.constant() <= info.most &&
           (bound == sample.end() || value.constant() < bound->second.constant());
  };
  return llvm::all_of(sample, isPossible) &&
         llvm::none_of(model.required, [&](const Expr &condition) {
           return model.scalars.valueOf(condition, sample) == 0;
         });
}

} // namespace kiln::pipes
