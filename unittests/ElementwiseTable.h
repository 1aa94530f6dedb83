//===- ElementwiseTable.h - the rows of TileElementwise.td, for tests of all of them ------===//
#ifndef KILN_UNITTESTS_COMPILER_ELEMENTWISETABLE_H
#define KILN_UNITTESTS_COMPILER_ELEMENTWISETABLE_H

#include <cmath>
#include <string>

namespace kiln::test {

struct ElementwiseRow {
  std::string name; ///< Without "tile.".
  int operands;
  bool ofFloats, ofInts, ofBools;
  double (*formula)(double); ///< In double precision; null if it is not of one float.

  bool isFloatFunction() const { return formula && !ofInts; }
};

inline const ElementwiseRow kElementwise[] = {
#include "kiln/Dialect/Tile/Elementwise/Tests.inc"
};

} // namespace kiln::test

#endif // KILN_UNITTESTS_COMPILER_ELEMENTWISETABLE_H
