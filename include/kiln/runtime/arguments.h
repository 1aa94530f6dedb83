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

namespace kiln {

/// A fresh tensor. What the parameter fixes need not be said. Without a fill: normal for inputs,
/// poison for outputs. Each argument's random numbers depend on its name and the seed only.
Expected<Tensor> makeTensorArgument(const TensorParam &param, const std::string &spec,
                                    uint64_t seed);
Expected<ScalarBits> makeScalarArgument(const ScalarParam &param, const std::string &spec);

} // namespace kiln

#endif // KILN_RUNTIME_ARGUMENTS_H
