#include "Tune/SpeedModel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>

namespace kiln {

/// What a measurement is off by, beside the variance of all of them.
static constexpr double kNoise = 0.003;

SpeedModel::SpeedModel(std::vector<Point> points, const std::vector<double> &logarithms)
    : Points(std::move(points)) {
  Middle = std::reduce(logarithms.begin(), logarithms.end()) / double(logarithms.size());
  std::vector<double> deviations;
  for (double logarithm : logarithms)
    deviations.push_back(logarithm - Middle);
  double best = -std::numeric_limits<double>::infinity(), reach = 2, own = 0.5;
  for (double eachReach : {1.0, 2.0, 4.0, 8.0})
    for (double eachOwn : {0.25, 0.5, 0.75, 0.95})
      if (double likely = fit(deviations, eachReach, eachOwn); likely > best)
        best = likely, reach = eachReach, own = eachOwn;
  fit(deviations, reach, own);
}

double SpeedModel::likeness(const Point &a, const Point &b) const {
  double alone = 0, distance = 0;
  for (size_t axis = 0; axis < a.size(); ++axis) {
    double apart = std::abs(a[axis] - b[axis]) / Reach;
    alone += std::exp(-apart) / double(a.size());
    distance += apart;
  }
  return Own * alone + (1 - Own) * std::exp(-distance);
}

/// Solves L x = b in place, where L are the first rows of `factor`.
static void solveLower(const std::vector<double> &factor, std::vector<double> &b) {
  for (size_t row = 0, at = 0; row < b.size(); ++row) {
    for (size_t column = 0; column < row; ++column)
      b[row] -= factor[at++] * b[column];
    b[row] /= factor[at++];
  }
}

double SpeedModel::fit(const std::vector<double> &deviations, double reach, double own) {
  Reach = reach;
  Own = own;
  Factor.clear();
  double logDeterminant = 0;
  for (size_t row = 0; row < Points.size(); ++row) {
    std::vector<double> line;
    for (size_t column = 0; column < row; ++column)
      line.push_back(likeness(Points[row], Points[column]));
    solveLower(Factor, line); // the row of Cholesky's factor, but for its last element
    double square = 1 + kNoise;
    for (double element : line)
      square -= element * element;
    Factor.insert(Factor.end(), line.begin(), line.end());
    Factor.push_back(std::sqrt(std::max(square, kNoise / 2)));
    logDeterminant += 2 * std::log(Factor.back());
  }
  Weights = deviations;
  solveLower(Factor, Weights);
  double squares = 0;
  for (double weight : Weights)
    squares += weight * weight;
  double count = double(Points.size());
  constexpr double least = 0.01; // of few that are alike nobody knows how unlike others are
  Scale = std::max(squares / count, least);
  for (size_t row = Points.size(); row-- > 0;) { // the transposed factor
    const double *line = &Factor[row * (row + 1) / 2];
    Weights[row] /= line[row];
    for (size_t column = 0; column < row; ++column)
      Weights[column] -= line[column] * Weights[row];
  }
  return -0.5 * (count * std::log(Scale) + logDeterminant + squares / Scale);
}

double SpeedModel::mean(const Point &point) const {
  double sum = Middle;
  for (size_t i = 0; i < Points.size(); ++i)
    sum += Weights[i] * likeness(point, Points[i]);
  return sum;
}

SpeedModel::Guess SpeedModel::guess(const Point &point) const {
  std::vector<double> like;
  double mean = Middle;
  for (size_t i = 0; i < Points.size(); ++i) {
    like.push_back(likeness(point, Points[i]));
    mean += Weights[i] * like.back();
  }
  solveLower(Factor, like);
  double known = 0;
  for (double each : like)
    known += each * each;
  return {mean, std::sqrt(Scale * std::max(1 - known, 0.0))};
}

std::optional<size_t> SpeedModel::mostPromising(const std::vector<Point> &points,
                                                double below) const {
  std::vector<std::pair<double, size_t>> means;
  for (const Point &point : points)
    means.emplace_back(mean(point), means.size());
  constexpr size_t many = 500; // a guess takes longer than its mean
  std::ranges::partial_sort(means, means.begin() + std::min(many, means.size()));
  means.resize(std::min(many, means.size()));
  std::optional<size_t> found;
  double most = std::numeric_limits<double>::infinity();
  for (size_t number : std::views::values(means))
    if (Guess each = guess(points[number]); each.least() < below && each.hope() < most) {
      found = number;
      most = each.hope();
    }
  return found;
}

} // namespace kiln
