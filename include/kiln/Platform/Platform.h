//===- Platform.h - what programs are compiled for and run on -----------------------------===//
//
// A platform is one object: its name, the model of its machine, what it can do, and the functions
// that do it. The driver, the JIT and the tests ask the registry which platforms there are and what
// they can do; nothing outside a platform's folder knows its name. See docs/adding-a-platform.md.
//
// Ownership: registered platforms live as long as the process. A request borrows what it names for
// the length of the call.
//
// Threads: platforms are constant. They are registered by one thread, before anything asks for
// them.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PLATFORM_PLATFORM_H
#define KILN_PLATFORM_PLATFORM_H

#include "kiln/Jit/Backend.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Platform/PlacedArguments.h"
#include "kiln/runtime/bundle.h"
#include "kiln/runtime/dump.h"
#include "kiln/runtime/engine.h"
#include "kiln/runtime/timeline.h"

#include <functional>
#include <map>
#include <memory>

namespace kiln {

/// What a platform may be able to do. Each has a name, which `kiln platforms` prints.
enum class Capability : uint8_t {
  Run,           ///< Execute a program in this process: `kiln run`.
  Check,         ///< Have its machine simulated by `kiln check`.
  Build,         ///< Be the platform of a bundle: `kiln build`.
  Jit,           ///< Compile for callers of this process.
  Seeds,         ///< Run under many schedules with every check: `--seeds`, `--nan`.
  Orchestration, ///< Launch with an orchestration from a file: `--orchestration`.
  Dump,          ///< Dump the arguments of kernels: `--dump-args`.
  Timeline,      ///< Record who did what when: `--timeline`.
  Fibers,        ///< Run the roles of a group on fibers or as one function: `--fibers`.
  CpuName,       ///< Generate code for a CPU that the user names: `--cpu`.
  Large,         ///< Run fast enough for large shapes. Tests ask this.
  Reference,     ///< Be what the others are compared with.
  Ranks,         ///< Run a program on several ranks: `--ranks`.
  Persistent     ///< Make one kernel of all tasks of a program: `--persistent`.
};
inline constexpr size_t numCapabilities = size_t(Capability::Persistent) + 1;
/// "run", "check", ...
const char *toString(Capability capability);

/// Launches the tasks of an entry instead of the program's own orchestration.
using Orchestrate = std::function<Status(Engine &, std::span<const Argument>)>;

/// How a program is emitted as text.
struct EmitOptions {
  std::string entry = {};      ///< The function to start with; empty: the program's own.
  bool unboundedSlots = false; ///< In the reference: pipes never fill up.
  bool checkShapes = false;    ///< In the reference: assertions on types and shapes.
  bool isPersistent = false;   ///< All tasks of the program are one kernel.
};

/// How code of a bundle is made.
struct CodeOptions {
  std::string cpu = {};      ///< What `--cpu` says.
  bool isPersistent = false; ///< All tasks of the program are one kernel.
};

/// A run of a program that the passes of the platform have been over.
struct RunRequest {
  mlir::ModuleOp module;
  ir::FuncOp entry;
  std::span<const Argument> args;
  std::string program;            ///< Its name, for people.
  uint64_t seed = 0;              ///< Picks one schedule; 0: the plain order.
  unsigned workers = 0;           ///< Of native code; as in EngineOptions.
  uint64_t maxSteps = UINT64_MAX; ///< Of a simulation; see SimulatorOptions.
  uint64_t timeout = 0;           ///< Seconds the run may take; 0: any.
  DumpOptions dump = {};
  bool timeline = false;
  Orchestrate orchestrate = {};
  EmitOptions text = {};
  bool isPersistent = false; ///< All tasks of the program are one kernel.
  /// Several ranks in this process: the arguments of each, instead of `args`. Needs
  /// Capability::Ranks.
  std::span<const std::vector<Argument>> rankArgs = {};
  /// This process is one rank of several. Null: it is not.
  Transport *transport = nullptr;
};

struct RunReport {
  double compileSeconds = 0; ///< Where something is compiled, or found compiled.
  bool isFromCache = false;  ///< An earlier run has compiled it.
  Timeline timeline;         ///< If it was asked for; so is the trace.
  Trace trace;
  /// The same of each rank, where there are several in this process.
  std::vector<Timeline> rankTimelines = {};
  std::vector<Trace> rankTraces = {};
};

/// Contents by path in the bundle.
using BundleFiles = std::map<std::string, std::string>;

/// Compiles for callers of this process. May be called from several threads at once.
class JitBackend {
public:
  virtual ~JitBackend() = default;
  /// Exactly what the code is for; it becomes a part of the cache's key.
  virtual const std::string &arch() const = 0;
  /// The facts of tensors that its passes and its code generation may read. Only these enter the
  /// cache's key; reading another (see ir::readFact) is an internal error.
  virtual FactSet reads() const = 0;
  /// Compiles a program that the passes of the platform have been over. Its code is shared with
  /// programs that stand elsewhere: it reports by the numbers of its places, of which there are
  /// `places` (kiln/Program/Places.h).
  virtual Expected<Artifact> compile(mlir::ModuleOp compiled, const std::string &entry,
                                     size_t places) const = 0;
  /// Brings the bytes of an artifact into this process, to report at `places`.
  virtual Expected<std::shared_ptr<const LoadedProgram>>
  load(const NativeInfo &info, std::string_view object, std::span<const SourceLoc> places) const {
    return loadSharedObject(info, object, places);
  }
};

class Platform {
public:
  /// A text that a program can be emitted as: `kiln emit --target`.
  struct Text {
    std::string name;
    bool needsEntry = true; ///< A program without a function to start with cannot be emitted.
  };
  struct Description {
    std::string name;
    /// Decides which passes a program goes through. Null: it runs as it was written.
    const Machine *machine = nullptr;
    std::vector<Capability> can;
    std::vector<Text> texts = {};
    /// Where callers of the JIT have their tensors.
    TensorMemory memory = TensorMemory::Host;
  };

  explicit Platform(Description description) : About(std::move(description)) {}
  virtual ~Platform() = default;
  Platform(const Platform &) = delete;
  Platform &operator=(const Platform &) = delete;

  const std::string &name() const { return About.name; }
  const Machine *machine() const { return About.machine; }
  bool can(Capability capability) const;
  const std::vector<Text> &texts() const { return About.texts; }
  TensorMemory memory() const { return About.memory; }

  /// Whether this machine has what programs run on. Unsupported, and what is missing, if not; what
  /// needs none of it, such as building and checking, works all the same.
  virtual Status usableHere() const { return Status::ok(); }
  /// Executes the program and waits for it. Errors as those of simulate(). Needs Capability::Run.
  virtual Status run(const RunRequest &request, RunReport &report) const;
  /// Adds to a bundle what runs without the compiler. A bundle without any holds the program for
  /// people and other tools.
  virtual Status addCode(mlir::ModuleOp compiled, const CodeOptions &options,
                         BundleManifest &manifest, BundleFiles &files) const;
  /// Emits one of the texts.
  virtual Expected<std::string> emit(const std::string &text, mlir::ModuleOp module,
                                     const EmitOptions &options) const;
  /// Arguments that are in the host's memory, where callers of the JIT have theirs; `isWritten`
  /// says of each whether calls may write it: what they write are copies.
  virtual Expected<std::unique_ptr<PlacedArguments>>
  place(std::span<const Argument> args, const std::vector<bool> &isWritten) const;
  /// A backend for a CPU in LLVM's spelling; empty: this one. Null without Capability::Jit.
  virtual std::unique_ptr<JitBackend> makeJitBackend(const std::string &cpu,
                                                     const std::string &features) const;

private:
  Description About;
};

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

/// "a, b or c".
std::string inWords(const std::vector<std::string> &names, const char *conjunction);

/// All platforms, in the order in which they are registered.
const std::vector<std::unique_ptr<const Platform>> &platforms();
/// By its own name or by its machine's; null if there is none.
const Platform *findPlatform(std::string_view nameOrMachine);
/// What is used where the user names none: the first that can do it. Schedules are what a check is
/// about, so it takes the first platform that runs many.
const Platform &defaultPlatform(Capability purpose);
/// The first that the JIT compiles for and whose tensors are there; null if there is none.
const Platform *jitPlatform(TensorMemory memory);
/// The names of those that can do it, the default first: "cpu, a2a3sim or torch".
std::string platformNames(Capability purpose, const char *conjunction = "or");

/// Adds a platform, and the model of its machine, to those of this library. AlreadyExists if a name
/// is taken.
Status registerPlatform(std::unique_ptr<const Platform> platform);

/// The whole compiler by its sources, LLVM's version included: what changes when code may change.
std::string toolchainId();

/// What code is made from and for, as lines of a cache's key: nothing else besides may influence
/// it.
struct CodeIdentity {
  std::string program;     ///< Its name; "-" if it has none.
  std::string programHash; ///< Of the IR that is compiled.
  std::string entry, platform;
  std::string arch; ///< The exact CPU or GPU.
  std::string str() const;
};

} // namespace kiln

#endif // KILN_PLATFORM_PLATFORM_H
