//===- TorchWorker.h - runs PyTorch in a long-lived Python process ------------------===//
//
// Importing torch takes about a second, so one process serves many runs. Each run executes Python
// source, such as emitTorch makes, in a fresh namespace and calls one of its functions; tensors
// travel over a socket as raw bytes.
//
// A run can be recorded: then each of its tasks can run again by itself, on what it found in memory
// the first time, with another source.
//
// Ownership: the worker owns its process, which ends with it, and keeps of a run at most one
// record. Threads: one run at a time; different workers are independent.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_TORCH_TORCHWORKER_H
#define KILN_TARGET_TORCH_TORCHWORKER_H

#include "kiln/runtime/dtype.h"
#include "kiln/runtime/status.h"
#include "kiln/runtime/tensor.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace kiln {

using TorchArgument = std::variant<Tensor, ScalarBits>;

/// What came of running recorded tasks again. It stops at the first task that fails or leaves other
/// bytes in its tensors than it did when it was recorded.
struct TorchRerun {
  struct Changed {
    size_t argument;
    std::vector<int64_t> extents;
    std::string was, is; ///< The elements, row-major.
  };
  size_t tasks = 0;           ///< That ran.
  std::optional<size_t> stop; ///< The number of the task it stopped at.
  std::string kernel;         ///< Which that one runs.
  Status failure;             ///< How it failed, if it did.
  std::vector<Changed> changed;
};

/// A Python that has imported torch. While one of these lives, the workers of the processes that
/// this one starts are forks of it: they need not import torch again. Only such processes have the
/// socket over which a fork is asked for.
class TorchForks {
public:
  /// Returns before torch is imported. Null where no Python has torch: then workers say so.
  static std::unique_ptr<TorchForks> start();
  ~TorchForks();
  TorchForks(const TorchForks &) = delete;
  TorchForks &operator=(const TorchForks &) = delete;

  /// What a process has to inherit besides, under the same number.
  int socket() const { return Socket; }

private:
  TorchForks(int pid, int socket) : Pid(pid), Socket(socket) {}
  int Pid, Socket;
};

class TorchWorker {
public:
  /// Starts a Python that has torch: a fork if there is a TorchForks for this process, else
  /// $KILN_PYTHON if it is set, else `python3` on PATH, else /usr/bin/python3. NotFound if there is
  /// none; the message says what was tried and what to do.
  static Expected<std::unique_ptr<TorchWorker>> start();

  /// How many seconds each later run of any worker may take; 0: any time. Whoever takes longer is
  /// killed. 600 until somebody says otherwise.
  static void setTimeLimit(uint64_t seconds);

  ~TorchWorker();
  TorchWorker(const TorchWorker &) = delete;
  TorchWorker &operator=(const TorchWorker &) = delete;

  /// Executes `source` and calls its function `entry` with the arguments, in parameter order.
  /// Tensors have been modified in place when this returns; arguments that share memory do so in
  /// Python too. After an error no tensor has changed. A Python exception is Deadlock or
  /// KernelFailed with its last line as the message
  /// ("RuntimeError: Cross-core simulation deadlock; ..."); a worker that died is an IoError with
  /// what it wrote to stderr, and stays dead. One that took too long is killed: KernelFailed; so is
  /// one that everything has to stop for (kiln/runtime/interrupt.h): Interrupted.
  Status run(const std::string &source, const std::string &entry,
             std::span<const TorchArgument> args);

  /// The same, with a source that has named tasks (TorchOptions). Keeps each task's arguments and
  /// what their memory held before and after, until the next record, if that takes no more than
  /// `limit` bytes. The number of tasks kept; none if they took more.
  Expected<std::optional<size_t>> record(const std::string &source, const std::string &entry,
                                         std::span<const TorchArgument> args, uint64_t limit);

  /// Runs those recorded tasks again that run one of `kernels`, in order, from number `first` on,
  /// with the kernels of another source with named tasks. What is recorded stays as it is.
  Expected<TorchRerun> rerun(const std::string &source, std::span<const std::string> kernels,
                             size_t first);

  /// Python's traceback of the last run; empty if it succeeded.
  const std::string &traceback() const;

  /// The lines of its source, from 1, that were being executed when the last run failed: where it
  /// failed, who called that, and so on.
  const std::vector<int64_t> &failedLines() const { return FailedLines; }

  /// Whether it can run something: not after it died or was killed.
  bool isAlive() const;

  /// The interpreter that runs, as it was called.
  const std::string &interpreter() const;

  class Process; ///< Python; nobody else's business.

private:
  Expected<std::optional<size_t>> execute(const std::string &source, const std::string &entry,
                                          std::span<const TorchArgument> args,
                                          std::optional<uint64_t> limit);
  static Expected<std::unique_ptr<TorchWorker>> startOwn();
  explicit TorchWorker(std::unique_ptr<Process> process);

  std::unique_ptr<Process> Python;
  std::string Traceback;
  std::vector<int64_t> FailedLines;
};

} // namespace kiln

#endif // KILN_TARGET_TORCH_TORCHWORKER_H
