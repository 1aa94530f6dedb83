//===- CallRecorder.h - dumps and timelines of calls --------------------------------------===//
//
// What: runs calls so that they write down what they did, each into a folder of its own. Where
//   nothing is recorded there is no recorder, and calls do not look for one.
//
// Threads: any number at once.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_JIT_CALLRECORDER_H
#define KILN_LIB_JIT_CALLRECORDER_H

#include "kiln/Jit/Backend.h"
#include "kiln/runtime/record.h"

#include <atomic>
#include <functional>

namespace kiln {

class CallRecorder {
public:
  using Log = std::function<void(const std::string &)>;
  CallRecorder(RecordOptions options, Log log)
      : Options(std::move(options)), Tell(std::move(log)) {}

  /// Runs the program, as LoadedProgram::call() does. A record that cannot be written stops no
  /// call; the log is told.
  Status run(const JitSource &source, const LoadedProgram &program, std::span<const Tensor> tensors,
             std::span<const ScalarBits> scalars);

private:
  /// Makes OUT/PROGRAM-NUMBER, with the first number that no call of any process has used.
  Expected<std::string> makeFolder(const std::string &program);

  RecordOptions Options;
  Log Tell;
  std::atomic<uint64_t> Next{1};
};

} // namespace kiln

#endif // KILN_LIB_JIT_CALLRECORDER_H
