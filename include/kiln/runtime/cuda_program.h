//===- kiln/runtime/cuda_program.h - programs compiled for an NVIDIA GPU --===//
//
// What: `CudaProgram`, the kernels of a program in cubins and the orchestration that launches them,
//   loaded through the driver. Tasks are launched on one stream in the order in which the program
//   submits them, so every dependency holds.
//
// Ownership: a program owns its modules; launches in flight must end before it goes.
//
// Threads: any number may launch one program at once, each on a stream of its own.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_CUDA_PROGRAM_H
#define KILN_RUNTIME_CUDA_PROGRAM_H

#include "kiln/runtime/cuda_kernel.h"
#include "kiln/runtime/native_program.h"

#include <map>

namespace kiln {

/// Consistent in itself and with the kernels that `info` launches; every text from outside passes
/// through here.
Status verifyCudaKernels(const std::vector<CudaKernel> &kernels, const NativeInfo &info);
/// As JSON, and back.
std::string toJson(const std::vector<CudaKernel> &kernels);
Expected<std::vector<CudaKernel>> parseCudaKernels(std::string_view json);

/// The kernels of a program and their code, which a bundle has as files, as one string.
std::string packCuda(const std::vector<CudaKernel> &kernels,
                     const std::map<std::string, std::string> &files);

/// The inverse; reading trusts nothing. The files, but for the description of the kernels.
Expected<std::vector<CudaKernel>> unpackCuda(std::string_view packed,
                                             std::map<std::string, std::string> &files);

class CudaProgram final : public LoadedProgram {
public:
  /// `cubins` by file; `object` has the orchestration, and is null where the entry is a kernel.
  /// Unsupported, with the reason, where there is no driver or no GPU. The kernels are loaded on
  /// each GPU when it is used first.
  static Expected<std::shared_ptr<const CudaProgram>>
  load(NativeInfo info, std::vector<CudaKernel> kernels, std::map<std::string, std::string> cubins,
       std::shared_ptr<SharedObject> object);
  /// What packCuda() gave; the object is the file at `orchestrationPath`. It reports at `places`.
  static Expected<std::shared_ptr<const CudaProgram>>
  loadPacked(NativeInfo info, std::string_view packed, const std::string &orchestrationPath,
             std::span<const SourceLoc> places = {});
  /// Whether a driver and a GPU are there; Unsupported, with what is missing, if not.
  static Status usableHere();
  ~CudaProgram() override;

  /// Launches everything on `stream` (a CUstream of the GPU's primary context; null: the default
  /// one). The tensors are in the memory of one GPU. Returns when everything is launched, unless
  /// the program reads what tasks make. The current context of the thread is afterwards what it
  /// was.
  /// `program` is its name, for reports.
  Status launch(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars, void *stream,
                std::string_view program = {}) const;
  /// The same with arguments that have been verified.
  Status launchWhereTheyAre(const kiln_args &args, void *stream, std::string_view program) const;
  /// With tensors in the host's memory: copies them to the first GPU and back, and waits. `seconds`
  /// is what the GPU took, copies left out.
  /// With a transport whose ranks are processes, NCCL carries bytes between their GPUs.
  Status run(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
             double *seconds = nullptr, Transport *ranks = nullptr,
             std::string_view program = {}) const;
  Status call(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars) const override {
    return run(tensors, scalars);
  }
  Status launchOn(const kiln_args &args, const GpuPlace &place) const override;
  GraphCounts graphCounts() const override;
  bool outlivesCalls() const override { return true; }

  /// Runs it so that it writes down what was asked for, on the GPU of the first tensor if that is
  /// in a GPU's memory, else on the first one; the tensors are copied there and back. The task
  /// engine launches one kernel after the other and waits for each, so that the dump shows what
  /// each left and the timeline how long the GPU took for it. Ranks then exchange what they have in
  /// memory that the host sees too, over the transport alone; so they do where ranks are threads.
  Status runRecorded(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                     const NativeRunOptions &options,
                     NativeRunReport *report = nullptr) const override;

  struct Loaded; ///< The driver's handles on one GPU.

private:
  struct Devices;   ///< What is loaded where.
  struct Recording; ///< What there is for the length of a recorded run.
  explicit CudaProgram(NativeInfo info);
  struct Place; ///< The stream of a run, and its ranks.
  /// The GPU is the current one.
  Status launchLoaded(const Loaded &loaded, const kiln_args &args, const Place &place) const;

  Status runOnEngine(Recording &recording, std::span<const Tensor> tensors,
                     std::span<const ScalarBits> scalars, const NativeRunOptions &options,
                     NativeRunReport *report) const;

  std::shared_ptr<SharedObject> Object;
  kiln_orchestration_fn Orchestration = nullptr;
  std::unique_ptr<Devices> On;
};

} // namespace kiln

#endif // KILN_RUNTIME_CUDA_PROGRAM_H
