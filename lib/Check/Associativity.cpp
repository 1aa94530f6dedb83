// Whether the body of a reduction or scan keeps its promise: combined with the first two first, or
// with the last two first, three lines of the tiles give the same.
#include "Checker.h"
#include "Padding.h"
#include "Simulator/Ops/CombineOps.h"

#include <cmath>

using namespace mlir;

namespace kiln::simulator {
namespace {

/// Three lines that follow each other, and what the body makes of them in two orders.
struct Trial {
  Lines a, b, c, left, right;
};

/// The line after `number` others, of which the start is the first.
Lines withStart(Interpreter &in, tile::CombiningInterface op, int64_t number) {
  return number == 0 ? startOf(in, op) : lineOf(in, op, number - 1);
}

/// Nothing if the body faults, which is told elsewhere.
std::optional<Trial> attempt(Interpreter &in, tile::CombiningInterface op, int64_t number) {
  Trial trial{withStart(in, op, number),
              withStart(in, op, number + 1),
              withStart(in, op, number + 2),
              {},
              {}};
  Expected<Lines> first = combine(in, op, trial.a, trial.b);
  Expected<Lines> last = first ? combine(in, op, trial.b, trial.c) : first;
  Expected<Lines> left = last ? combine(in, op, *first, trial.c) : last;
  Expected<Lines> right = left ? combine(in, op, trial.a, *last) : left;
  if (!right)
    return std::nullopt;
  trial.left = *left;
  trial.right = *right;
  return trial;
}

/// What rounding may change, as a part of the numbers that are combined.
double toleranceOf(DType type) {
  switch (type) {
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    return 0.5;
  case DType::BF16:
    return 0.06;
  case DType::F16:
    return 0.01;
  default:
    return isFloat(type) ? 1e-3 : 0;
  }
}

/// Whether an element came out alike in both orders.
bool agree(const Trial &trial, size_t tile, size_t at) {
  double left = trial.left[tile]->valueAt(at), right = trial.right[tile]->valueAt(at);
  if (left == right || (std::isnan(left) && std::isnan(right)))
    return true;
  double scale = std::max(std::fabs(left), std::fabs(right));
  for (const Lines *line : {&trial.a, &trial.b, &trial.c})
    if (double value = std::fabs((*line)[tile]->valueAt(at)); std::isfinite(value))
      scale = std::max(scale, value);
  return std::fabs(left - right) <= toleranceOf(trial.left[tile]->dtype) * scale;
}

/// "(0.5, 3)": an element of each tile.
std::string describe(const Lines &lines, size_t at) {
  std::string text;
  for (const TilePtr &line : lines)
    text += (text.empty() ? "" : ", ") +
            toString(elementAt(*line, int64_t(at) / line->cols, int64_t(at) % line->cols));
  return lines.size() == 1 ? text : "(" + text + ")";
}

} // namespace

void Checker::linesAreCombined(Interpreter &in, tile::CombiningInterface op) {
  if (std::optional<Harm> harm = findHarmOfBody(in, op))
    tellPadding(*in.place().agent, op, *harm, *in.tile(harm->operand));
  int64_t last = countLines(op) + 1 - 3;
  for (int64_t number : {int64_t(0), last / 2}) {
    std::optional<Trial> trial = last < 0 ? std::nullopt : attempt(in, op, number);
    if (!trial)
      return;
    for (size_t tile = 0; tile < trial->left.size(); ++tile)
      for (size_t at = 0; at < size_t(trial->left[tile]->rows * trial->left[tile]->cols); ++at)
        if (!agree(*trial, tile, at))
          return tellNotAssociative(
              in, op,
              "a = " + describe(trial->a, at) + ", b = " + describe(trial->b, at) +
                  ", c = " + describe(trial->c, at) + ": combined from the left they give " +
                  describe(trial->left, at) + ", from the right " + describe(trial->right, at));
  }
}

void Checker::tellNotAssociative(Interpreter &in, Operation *op, const std::string &example) {
  Finding *finding = Found.add(FindingKind::BrokenPromise, op);
  if (!finding)
    return;
  if (in.place().agent)
    setPlace(*finding, *in.place().agent);
  finding->message =
      "the body of " + op->getName().getStringRef().str() + " is not associative: for " + example;
  finding->notes.push_back({"targets combine in an order of their own; write the body so that "
                            "combine(combine(a, b), c) is combine(a, combine(b, c)), or use a loop",
                            {}});
}

} // namespace kiln::simulator
