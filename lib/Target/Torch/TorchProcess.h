//===- TorchProcess.h - the Python process of a TorchWorker -----------------------------===//
#ifndef KILN_LIB_TARGET_TORCH_TORCHPROCESS_H
#define KILN_LIB_TARGET_TORCH_TORCHPROCESS_H

#include "kiln/Target/Torch/TorchWorker.h"
#include "kiln/runtime/interrupt.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

#include <atomic>
#include <sys/types.h>

namespace kiln {

/// What a Python wrote, as it may be printed: not too long, and nothing that steers a terminal.
std::string printable(llvm::StringRef text);

/// A Python process that runs the worker script, and the socket to talk to it.
class TorchWorker::Process {
public:
  struct Message {
    llvm::json::Object header;
    std::string payload;
  };

  static Expected<std::unique_ptr<Process>> spawn(const std::string &interpreter);
  /// A fork of the Python of a TorchForks, ready to run; null if there is none or it does not
  /// answer.
  static std::unique_ptr<Process> fork();
  ~Process();

  /// Sends a message made of several pieces, then waits for the answer, for ever if `seconds` is 0.
  /// Reads stderr meanwhile, so that the process never blocks on a full pipe. Who does not answer
  /// in time is killed.
  Expected<Message> exchange(llvm::ArrayRef<llvm::StringRef> pieces, uint64_t seconds);
  /// Waits for its first message, which says whether it has torch.
  Expected<Message> hello();
  /// Sends a request with the memory it speaks of, and waits for the answer.
  Expected<Message> ask(llvm::json::Object request, llvm::ArrayRef<llvm::StringRef> memory);

  bool isAlive() const { return Socket >= 0; }
  bool isFork() const { return IsFork; }

  const std::string Interpreter;

private:
  struct Channels;
  Process(std::string interpreter, pid_t pid, bool isFork, Channels &channels);

  Status sendSome(llvm::StringRef &piece);
  Status receiveSome(std::string &answer);
  void drainErrors();
  Status died();
  /// Ends the process because of `why`, which is also the answer to whoever asks later.
  Status kill(Status why);
  /// Until it has ended by itself; kills it if that takes more than a second. Its exit state.
  int awaitEnd();

  const bool IsFork;      ///< Not a child of this process, so that nobody here waits for it.
  std::atomic<pid_t> Pid; ///< 0 once the process is gone, and before a fork has said it.
  int Socket;             ///< -1 once the process is gone.
  int Errors;
  std::string ErrorText; ///< The end of what it wrote to stderr.
  Status Death;
  OnInterrupt Rescue; ///< It must not outlive this process.
};

} // namespace kiln

#endif // KILN_LIB_TARGET_TORCH_TORCHPROCESS_H
