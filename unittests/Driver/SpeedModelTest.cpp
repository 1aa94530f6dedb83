//===- SpeedModelTest.cpp - what is measured says what to measure next -----------------------===//
#include "Tune/SpeedModel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <set>

using namespace kiln;

namespace {

using Point = SpeedModel::Point;
/// The time of a point; none where it is refused.
using Landscape = std::function<std::optional<double>(const Point &)>;

struct Search {
  Search(std::vector<std::vector<double>> axes, Landscape time)
      : axes(std::move(axes)), time(std::move(time)) {
    rest = {{}};
    for (const std::vector<double> &axis : this->axes) {
      std::vector<Point> longer;
      for (const Point &point : rest)
        for (double at : axis) {
          longer.push_back(point);
          longer.back().push_back(at);
        }
      rest = longer;
    }
    for (const Point &point : rest)
      if (std::optional<double> seconds = this->time(point))
        fastest = std::min(fastest, *seconds);
  }

  void look(const Point &point) {
    std::erase(rest, point);
    if (std::optional<double> seconds = time(point)) {
      points.push_back(point);
      logarithms.push_back(std::log(*seconds));
      best = std::min(best, *seconds);
    }
  }
  /// One change at a time, as a search begins.
  void lookAround(const Point &usual) {
    look(usual);
    for (size_t axis = 0; axis < axes.size(); ++axis)
      for (double at : axes[axis])
        if (at != usual[axis]) {
          Point changed = usual;
          changed[axis] = at;
          look(changed);
        }
  }
  /// How many more looks find what is at most so much slower than the fastest.
  size_t looksUntil(double within) {
    size_t looks = 0;
    for (; best > fastest * within && !rest.empty(); ++looks) {
      Point next = rest[SpeedModel(points, logarithms).mostPromising(rest, INFINITY).value()];
      look(next);
    }
    return looks;
  }

  std::vector<std::vector<double>> axes;
  Landscape time;
  std::vector<Point> rest, points;
  std::vector<double> logarithms;
  double fastest = INFINITY, best = INFINITY;
};

TEST(SpeedModel, FindsTheBestThoughItsValueWasRefusedBesideTheDefaults) {
  // Rows and columns of a tile: the fastest has one row of all columns, with which the default's
  // rows do not fit; as softmax has it on a GPU.
  Search search({{0, 3, 4, 5}, {6, 7, 8, 10, 13}}, [](const Point &at) -> std::optional<double> {
    double elements = at[0] + at[1];
    if (elements > 15)
      return std::nullopt;
    return 1 + 0.15 * std::abs(elements - 13) + 0.1 * at[0];
  });
  search.lookAround({4, 7});
  EXPECT_GT(search.best, 1.2 * search.fastest) << "else there is nothing to find";
  EXPECT_LE(search.looksUntil(1.0001), 6U);
}

TEST(SpeedModel, FindsTheBestOfFactorsInOneLook) {
  Search search({{4, 5, 6, 7}, {5, 6, 7, 8}, {5, 6, 7, 8}}, [](const Point &at) {
    return std::exp(0.3 * std::abs(at[0] - 6) + 0.2 * std::abs(at[1] - 7) - 0.1 * at[2]);
  });
  search.lookAround({4, 5, 5});
  EXPECT_LE(search.looksUntil(1.0001), 2U);
}

TEST(SpeedModel, FindsWhatIsNearlyTheBestOfAProductWithinAFewLooks) {
  // Large tiles are fast until the registers are full, and few tiles leave cores without work.
  Search search({{4, 5, 6, 7}, {5, 5.3, 6, 7, 7.05, 8}, {5, 6, 7, 8}},
                [](const Point &at) -> std::optional<double> {
                  double perByte = std::exp2(-at[0]) + std::exp2(-at[1]);
                  double registers = std::max(0.0, at[0] + at[1] - 15);
                  double odd = at[1] != std::floor(at[1]) ? 2 : 1;
                  if (at[0] + at[2] > 14.5 || at[1] + at[2] > 15.5)
                    return std::nullopt;
                  return (0.02 + perByte) * odd * (1 + registers) *
                         (1 + 0.05 * std::abs(at[2] - 6));
                });
  search.lookAround({6, 6, 6});
  EXPECT_LE(search.looksUntil(1.03), 8U);
}

TEST(SpeedModel, GoesOnWhileAnyPointMayBeFaster) {
  // Near what was measured it is sure of little gain; far away it knows nothing, and hopes for
  // less.
  SpeedModel model({{0}, {1}, {2}, {3}}, {0.0, 0.2, 0.4, 0.6});
  Point near = {-0.05}, far = {6};
  SpeedModel::Guess sure = model.guess(near), unsure = model.guess(far);
  ASSERT_LT(sure.hope(), unsure.hope());
  ASSERT_LT(unsure.least(), sure.least());
  double between = (sure.least() + unsure.least()) / 2;
  EXPECT_EQ(model.mostPromising({near, far}, INFINITY), 0U);
  EXPECT_EQ(model.mostPromising({near, far}, between), 1U) << "though more is hoped of the other";
  EXPECT_EQ(model.mostPromising({near, far}, unsure.least() - 0.01), std::nullopt);
}

TEST(SpeedModel, KnowsWhereItHasLookedAndNotElsewhere) {
  SpeedModel model({{0, 0}, {1, 0}, {2, 0}, {0, 3}}, {0.0, 0.5, 1.0, -0.5});
  EXPECT_NEAR(model.guess({1, 0}).mean, 0.5, 0.05);
  EXPECT_LT(model.guess({1, 0}).deviation, 0.1);
  EXPECT_GT(model.guess({9, 9}).deviation, 2 * model.guess({1, 0}).deviation);
  EXPECT_LT(model.guess({1, 0}).hope(), model.guess({1, 0}).mean);
}

TEST(SpeedModel, TakesMeasurementsThatContradictEachOther) {
  SpeedModel model({{1}, {1}, {1}}, {0.0, 0.2, 0.1});
  EXPECT_NEAR(model.guess({1}).mean, 0.1, 0.02);
  SpeedModel one({{}}, {0.7});
  EXPECT_NEAR(one.guess({}).mean, 0.7, 0.01);
}

} // namespace
