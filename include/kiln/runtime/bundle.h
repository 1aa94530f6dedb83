//===- kiln/runtime/bundle.h - a compiled program in a folder -------------===//
//
// What: bundles, the folders `kiln build` writes, verified and run without the compiler.
//   `bundle.json` names every file with its size and checksum, and itself; whatever is missing,
//   truncated, altered or made for another machine is an error that names it, before anything runs.
//
// Ownership: a Bundle is a value. Threads: reading is thread safe; one writer per folder.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_BUNDLE_H
#define KILN_RUNTIME_BUNDLE_H

#include "kiln/runtime/cuda_program.h"
#include "kiln/runtime/native_program.h"

#include <map>
#include <string>
#include <vector>

namespace kiln {

/// Raised when a reader of the old form could misunderstand the new one.
inline constexpr int64_t bundleFormat = 4;

/// Where a bundle's shared object is.
inline constexpr const char *bundleCodePath = "kernels/kernels.so";
/// Where what launches the kernels is, if those are not code for the CPU.
inline constexpr const char *bundleOrchestrationPath = "orchestration/orchestration.so";

struct BundleManifest {
  std::string program, platform, entry;
  /// Exact: what the code was generated for. CPU and features in LLVM's spelling.
  std::string arch, toolchain;
  std::vector<std::string> kernels;
  /// What `--arg` would say, for arguments that are not given: those of the example it was built
  /// from.
  std::map<std::string, std::string> arguments = {};
  /// Only where the platform executes natively, or on a GPU.
  std::optional<NativeInfo> native;
  /// Only on a GPU.
  std::vector<CudaKernel> cuda = {};
  /// Also where nothing but ranks work together, so that there are no kernels.
  bool isForGpu() const { return !cuda.empty() || arch.starts_with("sm_"); }
};

/// Writes the files, then bundle.json. A folder that has one already is replaced file by file;
/// bundle.json goes first, so that what is half-written is no bundle.
Status writeBundle(const std::string &directory, const BundleManifest &manifest,
                   const std::map<std::string, std::string> &files);

class Bundle {
public:
  /// Reads bundle.json and verifies every file.
  static Expected<Bundle> open(const std::string &directory);

  const BundleManifest &manifest() const { return Manifest; }
  const std::string &directory() const { return Directory; }
  /// Maps the code. Unsupported if there is none, or this CPU lacks what it needs.
  Expected<std::shared_ptr<const NativeProgram>> load() const;
  /// Loads the cubins. Unsupported if there are none, or no GPU to run them.
  Expected<std::shared_ptr<const CudaProgram>> loadCuda() const;

private:
  std::string Directory;
  std::map<std::string, std::string> Code; ///< The bytes that were verified, by file.
  BundleManifest Manifest;
};

/// The first feature ("+avx512f" in LLVM's spelling, comma-separated) that this CPU does not have.
std::optional<std::string> missingCpuFeature(const std::string &features);

/// `kiln exec DIR ...`; the exit code.
int execCommand(int argc, const char *const *argv);

} // namespace kiln

#endif // KILN_RUNTIME_BUNDLE_H
