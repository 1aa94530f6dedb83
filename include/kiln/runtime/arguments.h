//===- kiln/runtime/arguments.h - arguments from words --------------------===//
//
// What: tensors and numbers made from what `--arg name=spec` says: `128x64:normal`,
//   `file:PATH.npy`, `0.5`. Used by `kiln run` and `kiln exec` alike.
//
// Ownership and threads: pure functions but for the files they read.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ARGUMENTS_H
#define KILN_RUNTIME_ARGUMENTS_H

#include "kiln/runtime/signature.h"
#include "kiln/runtime/tensor.h"

#include <optional>
#include <utility>

namespace kiln {

/// A fresh tensor. What the parameter fixes need not be said. Without a fill: normal for inputs,
/// poison for outputs. Each argument's random numbers depend on its name and the seed only.
Expected<Tensor> makeTensorArgument(const TensorParam &param, const std::string &spec,
                                    uint64_t seed);
Expected<ScalarBits> makeScalarArgument(const ScalarParam &param, const std::string &spec);

/// `1024x64@0` is a tensor of which each of several ranks has a part along axis 0: takes the axis
/// off the spec. Nothing: every rank has all of it.
std::optional<int> takeAxis(std::string &spec);

/// What a rank has of a tensor: all of it, or its part along an axis. Parts are equally long, so
/// the last ones may reach beyond the end; what is there is zero, or poison in an output.
Expected<Tensor> partOfRank(const Tensor &whole, std::optional<int> axis, int32_t rank,
                            int32_t ranks, bool isOutput);
/// What a rank's part holds of the whole tensor, and the same place of `whole`.
Expected<std::pair<Tensor, Tensor>> realPart(const Tensor &part, const Tensor &whole,
                                             std::optional<int> axis, int32_t rank);

} // namespace kiln

#endif // KILN_RUNTIME_ARGUMENTS_H
