//===- Payloads.h - dumped tensors, small enough for a page ------------------------------===//
//
// A page cannot hold a hundred megabytes. Of each tensor it gets statistics, a histogram and a
// preview: the values themselves where there are few, else a grid of cells, each the mean of the
// elements behind it and marked where one of them is NaN or infinite. Equal contents are kept once:
// what one task writes, others read.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_VIEW_PAYLOADS_H
#define KILN_LIB_VIEW_PAYLOADS_H

#include "RunFolder.h"

namespace kiln::view {

/// A tensor as a matrix: the last axis is its columns, all others are its rows.
struct MatrixShape {
  int64_t rows = 1, cols = 1;
  static MatrixShape of(const std::vector<int64_t> &shape);
  int64_t size() const { return rows * cols; }
};

/// Some rows and columns of an entry's tensor, as doubles, row-major. InvalidArgument where the
/// window does not lie in the tensor.
struct Window {
  int64_t row, col, rows, cols;
};
Expected<std::vector<double>> readWindow(const DumpFile &dump, const DumpEntry &entry,
                                         const Window &window);

/// The entries of a dump, and the contents that they refer to by number.
Json digestArguments(const DumpFile &dump);

/// Every tensor that both dumps have, the worst difference first; see docs/view.md.
Json digestDifference(const DumpFile &dump, const DumpFile &other, const std::string &otherPath);

} // namespace kiln::view

#endif // KILN_LIB_VIEW_PAYLOADS_H
