//===- BundleProgram.h - the program of a bundle, whatever executes it ---------------------===//
#ifndef KILN_RUNTIME_BUNDLE_BUNDLEPROGRAM_H
#define KILN_RUNTIME_BUNDLE_BUNDLEPROGRAM_H

#include "kiln/runtime/bundle.h"

namespace kiln {

class BundleProgram {
public:
  virtual ~BundleProgram() = default;
  /// Runs the program, and waits. `seconds` is how long it took.
  virtual Status run(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                     const NativeRunOptions &options, NativeRunReport *report,
                     double &seconds) const = 0;
};

/// The program of a bundle, for what its code is made for. Borrows the bundle.
Expected<std::unique_ptr<const BundleProgram>> loadProgram(const Bundle &bundle);

} // namespace kiln

#endif // KILN_RUNTIME_BUNDLE_BUNDLEPROGRAM_H
