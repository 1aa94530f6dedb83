//===- TorchWorker.h - runs PyTorch in a long-lived Python process ------------------===//
//
// Importing torch takes about a second, so one process serves many runs. Each run executes Python
// source, such as emitTorch makes, in a fresh namespace and calls one of its functions; tensors
// travel over a socket as raw bytes.
//
// Ownership: the worker owns its process, which ends with it, and keeps nothing of a run.
// Threads: one run at a time; different workers are independent.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_TORCH_TORCHWORKER_H
#define KILN_TARGET_TORCH_TORCHWORKER_H

#include "kiln/runtime/dtype.h"
#include "kiln/runtime/status.h"
#include "kiln/runtime/tensor.h"

#include <memory>
#include <span>
#include <string>
#include <variant>

namespace kiln {

using TorchArgument = std::variant<Tensor, ScalarBits>;

class TorchWorker {
public:
  /// Starts a Python that has torch: $KILN_PYTHON if it is set, else `python3` on PATH, else
  /// /usr/bin/python3. NotFound if there is none; the message says what was tried and what to do.
  static Expected<std::unique_ptr<TorchWorker>> start();

  ~TorchWorker();
  TorchWorker(const TorchWorker &) = delete;
  TorchWorker &operator=(const TorchWorker &) = delete;

  /// Executes `source` and calls its function `entry` with the arguments, in parameter order.
  /// Tensors have been modified in place when this returns; arguments that share memory do so in
  /// Python too. After an error no tensor has changed. A Python exception is Deadlock or
  /// KernelFailed with its last line as the message
  /// ("RuntimeError: Cross-core simulation deadlock; ..."); a worker that died is an IoError with
  /// what it wrote to stderr, and stays dead.
  Status run(const std::string &source, const std::string &entry,
             std::span<const TorchArgument> args);

  /// Python's traceback of the last run; empty if it succeeded.
  const std::string &traceback() const;

  /// The interpreter that runs, as it was called.
  const std::string &interpreter() const;

private:
  class Process;
  explicit TorchWorker(std::unique_ptr<Process> process);

  std::unique_ptr<Process> Python;
  std::string Traceback;
};

} // namespace kiln

#endif // KILN_TARGET_TORCH_TORCHWORKER_H
