//===- RandomBody.h - random code on tiles and scalars --------------------------------===//
//
// Generates the inside of kernels as text: statements over a pool of values, each statement chosen
// from one table. Every value is known well enough to be compared afterwards.
//
// Two implementations may differ in the last bits of exp, and in the order of a sum. So every tile
// of floats carries a bound on its magnitude and a bound on that difference. A tile whose error is
// 0 is computed by operations that IEEE 754 (or the language) defines to the last bit: it must be
// equal, NaN and infinities included. Only such tiles go where a small difference becomes a large
// one: comparisons, conversions to integers, sorting, indices. Where an error is not 0, operands
// are first brought into a range in which the function is tame, and the error is scaled with its
// slope. What is NaN stays NaN through all of this, on both sides.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_UNITTESTS_AGREEMENT_RANDOMBODY_H
#define KILN_UNITTESTS_AGREEMENT_RANDOMBODY_H

#include "kiln/runtime/dtype.h"

#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace kiln::test {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A seeded source of choices.
class Choice {
public:
  explicit Choice(uint64_t seed) : Random(seed) {}
  /// From 0 to `count` - 1.
  int64_t below(int64_t count) { return static_cast<int64_t>(Random() % uint64_t(count)); }
  bool oneIn(int64_t count) { return below(count) == 0; }
  template <typename List> auto &from(List &&list) {
    return *(std::begin(list) + below(std::size(list)));
  }
  template <typename T> T from(std::initializer_list<T> list) {
    return *(list.begin() + below(list.size()));
  }
  uint64_t bits() { return Random(); }

private:
  std::mt19937_64 Random;
};

/// How close two implementations come: for integers the bound means nothing, and the error is 0.
struct Accuracy {
  double bound = kInfinity; ///< No element is larger, NaN apart.
  double error = 0;         ///< No two elements differ by more. 0: they are equal.
};

/// What rounding to the type leaves of an accuracy. Values that differ a little may round to
/// neighbours; where one might overflow and the other not, nothing is left.
Accuracy rounded(DType type, Accuracy accuracy);

struct RandomTile {
  std::string name;
  int64_t rows = 1, cols = 1;
  DType type = DType::F32;
  Accuracy accuracy;
  bool isScalar = false; ///< Not a tile; some operations take either.

  bool isExact() const { return accuracy.error == 0; }
  bool hasFloats() const { return isFloat(type); }
};

/// Scalars are always exact. Those of type index are small and not negative.
struct RandomScalar {
  std::string name;
  DType type;
};

/// A tensor in global memory; what a kernel loads from it is as accurate as it is.
struct RandomTensor {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> extents;
  Accuracy accuracy;
};

std::string tileType(int64_t rows, int64_t cols, DType type);

class RandomBody {
public:
  /// The names of all values it defines start with `prefix`.
  explicit RandomBody(Choice &choice, std::string prefix = "%v")
      : Pick(choice), Prefix(std::move(prefix)) {}

  /// Adds this many random statements.
  void grow(int64_t count);

  /// A tile of this tensor at these indices.
  RandomTile load(const RandomTensor &tensor, const std::string &indices, int64_t rows,
                  int64_t cols);
  /// Some tile as a tile of this shape.
  RandomTile shaped(int64_t rows, int64_t cols);
  /// A tile for `type`, made of any of this shape.
  RandomTile converted(const RandomTile &tile, DType type);

  /// Some tile of the same type and shape, exact if `tile` is.
  RandomTile like(const RandomTile &tile);

  void addScalar(const std::string &name, DType type) { Scalars.push_back({name, type}); }
  void addTile(RandomTile tile);
  /// Makes the tensor known to statements that gather rows; `rows` holds row numbers.
  void addRows(const RandomTensor &tensor, const RandomTensor &rows) {
    Gathered.push_back({tensor, rows});
  }
  RandomScalar scalarOf(DType type);
  /// An index from 0 to `count` - 1: a number, or a value computed while the program runs.
  std::string indexBelow(int64_t count);
  std::string constant(DType type, const std::string &value);

  void line(const std::string &text) { Text += std::string(size_t(2) * Depth, ' ') + text + "\n"; }
  /// `%name = operation : type`; the name is new.
  RandomTile define(const std::string &operation, int64_t rows, int64_t cols, DType type,
                    Accuracy accuracy);
  std::string define(const std::string &operation);
  std::string newName() { return Prefix + std::to_string(Names++); }
  const std::string &text() const { return Text; }

private:
  struct Rule;
  static const std::vector<Rule> &rules();

  // Statements; false: there was nothing to apply it to.
  bool addFull();
  bool addIota();
  bool addArithmetic();
  bool addDivision();
  bool addBits();
  bool addNegation();
  bool addFunction();
  bool addPower();
  bool addComparison();
  bool addSelection();
  bool addCast();
  bool addReduction();
  bool addScan();
  bool addCombining();
  bool addProduct();
  bool addProductLoop();
  bool addMask();
  bool addBox();
  bool addRearrangement();
  bool addConcat();
  bool addElement();
  bool addScalarArithmetic();
  bool addScalarCast();
  bool addGather();
  bool addGatherRows();
  bool addOrdering();
  bool addRandom();
  bool addFor();
  bool addWhile();
  bool addIf();

  /// A tile for which `fits` holds, if there is one.
  std::optional<RandomTile> find(const std::function<bool(const RandomTile &)> &fits);
  RandomTile anyTile();
  /// Something of this type that broadcasts with `tile`: a tile or a scalar.
  RandomTile partnerOf(const RandomTile &tile, bool exact);
  RandomTile asTile(const RandomTile &tileOrScalar);
  RandomTile clamped(const RandomTile &tile, double low, double high);
  /// The tile with its elements brought to what a float of bounded size may be.
  RandomTile tamed(const RandomTile &tile);
  /// Integers, or floats, none of which is zero (or a zero whose sign nobody defines).
  RandomTile divisor(const RandomTile &tileOrScalar);
  RandomTile binary(const std::string &op, const RandomTile &a, const RandomTile &b,
                    Accuracy accuracy);
  RandomTile unary(const std::string &op, const RandomTile &x, Accuracy accuracy);
  RandomTile indicesBelow(int64_t count, int64_t rows, int64_t cols);
  std::string condition();
  std::string pad(const RandomTile &tile, Accuracy &accuracy);
  std::string bits(DType type);
  /// Statements in a region: what they define is gone after it.
  void region(const std::function<void()> &fill);

  Choice &Pick;
  std::string Prefix, Text;
  std::vector<RandomTile> Tiles;
  std::vector<RandomScalar> Scalars;
  std::vector<std::pair<RandomTensor, RandomTensor>> Gathered;
  unsigned Depth = 1, Names = 0;
};

} // namespace kiln::test

#endif // KILN_UNITTESTS_AGREEMENT_RANDOMBODY_H
