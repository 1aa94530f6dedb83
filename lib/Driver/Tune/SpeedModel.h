//===- SpeedModel.h - how long choices will take that nobody has measured ------------------===//
//
// A Gaussian process over the logarithm of the time of a call. Choices are points; two that are
// near each other take about equally long, and each parameter has a part of its own besides, so
// that one change at a time already says something of all combinations. How far "near" reaches and
// how much is each parameter's own is what makes the times that were measured most likely.
//
// Threads: one. Ownership: it keeps what it is given.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_TUNE_SPEEDMODEL_H
#define KILN_LIB_DRIVER_TUNE_SPEEDMODEL_H

#include <cstddef>
#include <optional>
#include <vector>

namespace kiln {

class SpeedModel {
public:
  /// Where a choice lies: a number for each parameter, such as the logarithm of a size.
  using Point = std::vector<double>;
  struct Guess {
    double mean = 0;      ///< Of the logarithm of the time.
    double deviation = 0; ///< How far from that it may well be.
    /// What it may be with luck.
    double hope() const { return mean - deviation; }
    /// What it is hardly ever below. Few measurements make a model too sure of itself.
    double least() const { return mean - 4 * deviation; }
  };

  /// What was measured: the logarithm of the time at each point.
  SpeedModel(std::vector<Point> points, const std::vector<double> &logarithms);

  Guess guess(const Point &point) const;
  /// The number of the point of which most can be hoped for, among those that with a lot of luck
  /// are below this logarithm; none if no point is. Of very many points only those that probably
  /// are the fastest are looked at.
  std::optional<size_t> mostPromising(const std::vector<Point> &points, double below) const;

private:
  double mean(const Point &point) const;
  double likeness(const Point &a, const Point &b) const;
  /// With these for `Reach` and `Own`; how likely that makes what was measured, as a logarithm.
  double fit(const std::vector<double> &deviations, double reach, double own);

  std::vector<Point> Points;
  double Reach = 1;             ///< The distance at which likeness has fallen to 1/e.
  double Own = 0;               ///< The share of likeness that each parameter has for itself.
  double Middle = 0, Scale = 1; ///< Of the logarithms: their mean, and their variance.
  std::vector<double> Factor;   ///< Of the matrix of likenesses: lower, row by row.
  std::vector<double> Weights;
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_SPEEDMODEL_H
