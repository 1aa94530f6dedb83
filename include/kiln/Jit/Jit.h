//===- Jit.h - compile once, call with tensors of any shape ------------------------------===//
//
// What: `Jit` turns a program into a `Compiled`, which is called like a function with tensors in
// any
//   form (kiln::Tensor, DLPack, raw pointers, adaptors) and numbers:
//
//     Jit jit;
//     Compiled matmul = take(jit.compile(program));
//     Status done = matmul(a, b, c);
//
//   Code is compiled per signature, that is, per set of facts (see Facts.h), at the first call that
//   has them, and kept in memory and on disk. Shapes and strides are no facts unless marked so.
//
// Ownership: both are handles; copies share. A Compiled keeps its Jit's cache alive.
//
// Threads: any number at once. A call whose facts were seen before takes no lock and allocates
//   nothing, apart from scratch the first time a kernel on this thread needs so much.
//
// Environment: KILN_CACHE_DIR, KILN_CACHE, KILN_CACHE_BYTES (see DiskCache.h); KILN_CHECK=1
//   validates on each call also what costs time: whether the elements of an output overlap each
//   other; KILN_DUMP, KILN_TIMELINE and KILN_OUT have every call recorded (see
//   kiln/runtime/record.h). A value that means nothing fails every compile and call of the Jit that
//   read it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_JIT_JIT_H
#define KILN_JIT_JIT_H

#include "kiln/Jit/Backend.h"
#include "kiln/Jit/DiskCache.h"
#include "kiln/Jit/TensorAdaptor.h"
#include "kiln/runtime/record.h"
#include "kiln/visibility.h"

#include <array>
#include <functional>
#include <map>
#include <memory>

struct kiln_recorder;

KILN_EXPORTED_BEGIN
namespace kiln {

class ArtifactCache;
class CallRecorder;

struct JitOptions {
  /// From the environment.
  JitOptions();

  DiskCacheOptions cache;
  /// Validate on each call what otherwise is validated at the first with the same facts.
  bool check = false;
  /// Each call writes what is asked for into a folder of its own: OUT/PROGRAM-1, OUT/PROGRAM-2, ...
  /// A record that cannot be written costs a line in the log and stops no call.
  RecordOptions record;
  /// Most threads that a call may run on, the caller's among them; 0: as KILN_WORKERS says, or as
  /// there are cores. Holds for the whole process, whose programs share one pool of threads: what
  /// was said last counts.
  unsigned workers = 0;
  /// What is wrong with the variables of the environment, if something is.
  Status environment;
  /// One line about each thing that did not go as it should but stops nothing: an entry that is not
  /// used, a disk that is full. Default: standard error.
  std::function<void(const std::string &)> log = logToStderr;

  static void logToStderr(const std::string &line);
};

/// Of one Jit, in this process.
struct JitCounters {
  /// `misses` were found neither in memory nor on disk; `compiles` are those of them that could be
  /// compiled.
  uint64_t memoryHits = 0, diskHits = 0, misses = 0, compiles = 0, callStates = 0, evictions = 0;
  uint64_t bytes = 0; ///< Of code loaded or compiled.
  /// CUDA graphs that were made of what programs launch, and how often one was launched.
  uint64_t graphs = 0, graphLaunches = 0;
};

/// A program that can be called.
class Compiled {
public:
  /// Runs the program. Arguments in the order of its parameters.
  template <typename... Args> Status operator()(const Args &...args) const {
    return call(std::array<CallArg, sizeof...(Args)>{CallArg(args)...});
  }
  Status call(std::span<const CallArg> args) const;
  /// A program for a GPU is launched on a stream of the caller's (a CUstream of the GPU that the
  /// tensors are on), and the call returns before it has run; operator() uses the default stream.
  /// Other programs run as they always do.
  Status callOn(void *stream, std::span<const CallArg> args) const;
  template <typename... Args> Status on(void *stream, const Args &...args) const {
    return callOn(stream, std::array<CallArg, sizeof...(Args)>{CallArg(args)...});
  }

  /// Fills the cache for arguments like these, and runs nothing.
  template <typename... Args> Status compile_only(const Args &...args) const {
    return compileOnly(std::array<CallArg, sizeof...(Args)>{CallArg(args)...});
  }
  Status compileOnly(std::span<const CallArg> args) const;

  const Signature &signature() const;
  /// The parameters in the order in which a call takes them; which tensor or scalar of the
  /// signature each is.
  std::span<const ParamRef> parameters() const;

private:
  friend class Jit;
  struct Impl;
  explicit Compiled(std::shared_ptr<Impl> impl) : P(std::move(impl)) {}
  std::shared_ptr<Impl> P;
};

/// Values of a program's parameters, by name, as text.
using ParameterValues = std::map<std::string, std::string>;

/// Whether one of them has another value than what was chosen.
inline bool contradict(const ParameterValues &chosen, const ParameterValues &others) {
  for (const auto &[name, value] : chosen)
    if (auto other = others.find(name); other != others.end() && other->second != value)
      return true;
  return false;
}

/// How a program is compiled with the values that tuning found.
struct TunedOptions {
  ParameterValues values = {}; ///< Of parameters that the caller chooses.
  std::string platform = {};   ///< Empty: the default one.
};

class Jit {
public:
  explicit Jit(JitOptions options = {});

  /// A program for a platform, the default one if none is named. Nothing is lowered yet; what is
  /// wrong with the program itself is reported here, cached or not. (In the compiler's library, not
  /// in the JIT's.)
  Expected<Compiled> compile(kiln_recorder *program, const std::string &platform = {});
  template <typename Program>
    requires requires(Program &program) { program.recorder(); }
  Expected<Compiled> compile(Program &program, const std::string &platform = {}) {
    return compile(program.recorder(), platform);
  }
  Compiled compile(std::shared_ptr<const JitSource> source);

  /// A program as a function of its parameters, `Program matmul(const Config &)`: compiled with the
  /// values that `kiln tune` found for arguments like these, or else with its defaults.
  template <typename Build, typename... Args>
  Expected<Compiled> compileTuned(const Build &build, const TunedOptions &options,
                                  const Args &...like) {
    std::array<CallArg, sizeof...(Args)> args{CallArg(like)...};
    return compileTunedOf(std::function(build), options, args);
  }
  /// What compileTuned() uses besides the caller's own values; none if nothing was found.
  /// `program` was recorded with these. (In the compiler's library.)
  Expected<ParameterValues> tunedValues(kiln_recorder *program, std::span<const CallArg> like,
                                        const std::string &platform = {}) const;

  JitCounters counters() const;
  const DiskCache &diskCache() const;
  /// What is wrong with the variables of the environment; everything else fails with it.
  const Status &environment() const { return Environment; }

private:
  template <typename Program, typename Config>
  Expected<Compiled> compileTunedOf(const std::function<Program(const Config &)> &build,
                                    const TunedOptions &options, std::span<const CallArg> like) {
    Config usual(options.values);
    Program program = build(usual);
    if (std::vector<std::string> wrong = usual.errors(); !wrong.empty())
      return Status(StatusCode::InvalidArgument, wrong.front());
    if (Status wrong = choose(program.recorder(), options.values); !wrong.isOk())
      return wrong;
    Expected<ParameterValues> found = tunedValues(program.recorder(), like, options.platform);
    if (!found)
      return found.status();
    // What does not fit any more, or is for other values than the caller's, is as if it were not
    // there.
    if (!found->empty() && !contradict(options.values, *found)) {
      ParameterValues values = options.values;
      values.merge(*found);
      Config tuned(values);
      Program fast = build(tuned);
      bool fits = choose(fast.recorder(), values).isOk();
      Expected<Compiled> compiled = compile(fast, options.platform);
      if (fits && compiled && tuned.errors().empty())
        return compiled;
    }
    return compile(program, options.platform);
  }

  /// Has the compiler choose what values say of its own choices; an error if they do not fit.
  static Status choose(kiln_recorder *program, const ParameterValues &values);

  std::shared_ptr<ArtifactCache> Cache;
  std::shared_ptr<CallRecorder> Recorder; ///< Null: nothing is recorded.
  bool Check;
  Status Environment;
};

/// `kiln cache ls|stat|clear|verify`; the exit code.
int cacheCommand(int argc, const char *const *argv);

} // namespace kiln
KILN_EXPORTED_END

#endif // KILN_JIT_JIT_H
