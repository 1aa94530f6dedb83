//===- kiln/runtime/native_program.h - compiled programs, loaded and run --===//
//
// What: `NativeInfo`, which says what is in a shared object that a backend made: the entry, and the
//   kernels it launches; `NativeProgram`, such code in this process. `kiln run`, bundles and the
//   JIT all run programs in this form; they differ only in how the code gets into the process.
//
// Ownership: a program owns its code and its kernels; calls in flight must end before it goes.
//
// Threads: any number may run one program at once. Each run of an orchestration has an engine for
//   itself, taken from a pool that all programs of the process share, without waiting for anybody.
//   The number of threads is bounded, however many programs and runs there are.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_NATIVE_PROGRAM_H
#define KILN_RUNTIME_NATIVE_PROGRAM_H

#include "kiln/orchestration_abi.h"
#include "kiln/runtime/engine.h"

#include <memory>
#include <set>

namespace kiln {

struct NativeKernel {
  std::string name;
  std::string symbol; ///< Of a role of a group: this, a dot, and the role's name.
  uint64_t workspaceBytes = 0;
  std::optional<Signature> signature = std::nullopt;
  /// Of a group; functions are null until it is loaded.
  std::optional<GroupSpec> group = std::nullopt;
  /// What a kernel without `group` runs, if it was one (KernelRecord::members).
  std::vector<std::string> members = {};
  /// The same as in KernelRecord.
  std::array<int64_t, KILN_MAX_GRID_DIMS> blocksPerCall{1, 1, 1};
};

/// A parameter of the entry, by its place in the signature.
struct ParamRef {
  bool isTensor = true;
  uint16_t index = 0; ///< Among the tensors, or among the scalars.
  friend bool operator==(const ParamRef &, const ParamRef &) = default;
};

struct NativeInfo {
  enum class Kind : uint8_t {
    Kernel,       ///< The entry is a kernel or group (kiln/abi.h) and runs as one block.
    Orchestration ///< The entry is an orchestration (kiln/orchestration_abi.h).
  };
  Kind kind = Kind::Kernel;
  /// The entry; its signature is what callers give.
  NativeKernel entry;
  /// The entry's parameters in the order in which the program declares them.
  std::vector<ParamRef> parameters;
  /// What an orchestration launches, by number.
  std::vector<NativeKernel> kernels;
  /// Of an entry that is a kernel: the tensors that the program marked for dumps, in order.
  std::vector<uint16_t> marked = {};

  /// Consistent in itself; every text from outside passes through here.
  Status verify() const;
};

/// As JSON, and back. Reading verifies.
std::string toJson(const NativeInfo &info);
Expected<NativeInfo> parseNativeInfo(std::string_view json);

/// A symbol with a value, which says for which description an object was linked: who exchanges the
/// description of a bundle makes it one of another object.
struct LinkedSymbol {
  std::string name;
  uint64_t value;
};
LinkedSymbol descriptionSymbol(const NativeInfo &info);

/// The table of an object that many programs share: a kiln_source for each place of the program, by
/// its number, empty until it is loaded for one of them.
inline constexpr const char *placesSymbol = "kiln.places";

/// The same of what a description says: requirements that have a number get their place.
void setPlaces(NativeInfo &info, std::span<const SourceLoc> places);

/// Whether these bytes are a shared object that the dynamic linker can read without leaving them,
/// with nothing that runs when it is loaded. InvalidArgument, and why, if not.
Status verifyElf(std::string_view bytes);

/// Code in this process, however it got there.
class CodeImage {
public:
  virtual ~CodeImage() = default;
  /// Null if there is none. Valid as long as the image lives.
  virtual void *find(const std::string &symbol) const = 0;
};

/// A shared object in this process; unmapped with the last handle.
class SharedObject final : public CodeImage {
public:
  /// From memory, under a name for debuggers. What the code reports it reports at `places`, if it
  /// was compiled to be shared.
  static Expected<std::shared_ptr<SharedObject>> fromBytes(std::string_view bytes,
                                                           const std::string &name,
                                                           std::span<const SourceLoc> places = {});
  ~SharedObject() override;
  SharedObject(const SharedObject &) = delete;
  SharedObject &operator=(const SharedObject &) = delete;

  void *find(const std::string &symbol) const override;

private:
  SharedObject() = default;
  Status fillPlaces(std::span<const SourceLoc> places);
  void *Handle = nullptr;
  int Fd = -1;                 ///< Of the memory; debuggers read it by its name in /proc.
  std::set<std::string> Files; ///< That the table of places refers to.
};

/// A run that somebody wants to look at.
struct NativeRunOptions {
  RunOptions run;
  std::optional<uint64_t> seed = {}; ///< As in EngineOptions.
  unsigned workers = 0;              ///< The same.
  /// Of an entry that is a kernel: where it stands in the user's source.
  SourceLoc location = {};
};

/// What is left of it.
struct NativeRunReport {
  Trace trace;
  Timeline timeline; ///< If it was asked for.
  std::optional<TaskFailure> failure;
};

/// Where a program that runs on a GPU is launched.
struct GpuPlace {
  int number = 0;                ///< Of the GPU.
  void *stream = nullptr;        ///< A CUstream of it; null: the default one.
  std::string_view program = {}; ///< Its name, for reports.
};

/// CUDA graphs that launches of a program were made into, and how often one was launched.
struct GraphCounts {
  uint64_t graphs = 0, launches = 0;
};

/// A compiled program in this process, wherever it runs.
class LoadedProgram {
public:
  virtual ~LoadedProgram() = default;
  LoadedProgram(const LoadedProgram &) = delete;
  LoadedProgram &operator=(const LoadedProgram &) = delete;

  const NativeInfo &info() const { return Info; }
  /// The entry, if it is a kernel that can be called directly; else null.
  virtual kiln_kernel_fn kernel() const { return nullptr; }
  /// Runs the program on tensors in the host's memory, and waits. Arguments in the order of the
  /// signature; they are verified against it.
  virtual Status call(std::span<const Tensor> tensors,
                      std::span<const ScalarBits> scalars) const = 0;
  /// The same, so that it writes down what was asked for.
  virtual Status runRecorded(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                             const NativeRunOptions &options,
                             NativeRunReport *report = nullptr) const = 0;
  /// Launches a program of a GPU on tensors in that GPU's memory. The arguments have been verified.
  virtual Status launchOn(const kiln_args &args, const GpuPlace &place) const;
  virtual GraphCounts graphCounts() const { return {}; }
  /// Whether what a call launched may run, or be in somebody's graph, when the call is over.
  virtual bool outlivesCalls() const { return false; }

protected:
  explicit LoadedProgram(NativeInfo info) : Info(std::move(info)) {}
  NativeInfo Info;
};

class NativeProgram final : public LoadedProgram {
public:
  /// Resolves all symbols.
  static Expected<std::shared_ptr<const NativeProgram>> load(std::shared_ptr<const CodeImage> code,
                                                             NativeInfo info);

  kiln_kernel_fn kernel() const override { return Kernel; }
  Status call(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars) const override {
    return run(tensors, scalars);
  }

  /// The same, with an engine of the pool.
  Status run(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
             const RunOptions &options = {}) const;
  /// The same on an engine of its own, which records what was asked for; the trace only if there is
  /// a report.
  Status runRecorded(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                     const NativeRunOptions &options,
                     NativeRunReport *report = nullptr) const override;

private:
  using LoadedProgram::LoadedProgram;
  Status resolve();
  Status addKernel(const NativeKernel &kernel);
  /// The entry, if it is a kernel, as a task of one block.
  Task taskOf(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars) const;

  std::shared_ptr<const CodeImage> Code;
  kiln_kernel_fn Kernel = nullptr;
  kiln_orchestration_fn Orchestration = nullptr;
  KernelRegistry Registry;
  std::vector<const KernelRecord *> Kernels;
};

} // namespace kiln

#endif // KILN_RUNTIME_NATIVE_PROGRAM_H
