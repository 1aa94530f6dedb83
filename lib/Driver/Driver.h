//===- Driver.h - what the commands share ---------------------------------------------===//
//
// A Source is a program that has been loaded: traced from C++ or parsed from text. Commands take
// one and their options; they print, and return the exit code of the tool.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_DRIVER_H
#define KILN_LIB_DRIVER_DRIVER_H

#include "kiln/Check/CheckProgram.h"
#include "kiln/Language/ProgramAccess.h"
#include "kiln/Platform/Reference.h"
#include "kiln/runtime/compare.h"
#include "kiln/runtime/interrupt.h"
#include "kiln/tools_c.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <cstdio>
#include <map>

namespace kiln {

inline constexpr int kGood = 0, kWrong = 1, kBadInput = 2, kIncomplete = 3;
/// Of two exit codes the one that says more: bad input, then wrong, then incomplete.
int worseOf(int one, int other);

/// What a program is run with and should result in; see Example in kiln/Driver/Main.h.
struct Intent {
  std::vector<std::pair<std::string, std::string>> args = {};
  std::string formula = {};
  std::vector<std::vector<std::pair<std::string, std::string>>> cases = {};
};

struct Source {
  std::string name;
  mlir::ModuleOp module;           ///< As it was written.
  const Intent *example = nullptr; ///< With the config it was recorded for; null if parsed.
  const kiln_config *config = nullptr;
};

/// Prints errors the way compilers do, with the user's line where the file can be read.
void printErrors(const std::vector<Status> &errors, std::FILE *to = stderr);
/// Prints `kiln: error: message` and returns the code for bad input.
int badInput(const std::string &message);
int badInput(const Status &status);

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

struct CompileSettings {
  const Platform *platform = nullptr; ///< Null: only the passes that every platform needs.
  std::string entry = {};
  std::string lastPass = {};   ///< Stop after it; empty: run all.
  std::string dumpPasses = {}; ///< A folder for one file a pass; empty: none.
  bool keepPasses = false;     ///< Hand the text after each pass over in CompiledProgram.
  std::string memoryMap = {};  ///< A file for the memory plan, where the platform has one.
  std::vector<Status> *errors = nullptr; ///< Also gets the errors that are printed.
  bool remarks = false;                  ///< Print what passes did and why not more.
  bool prove = true;                     ///< Fail where pipes, or flags between units, are refuted.
  bool mergeGroups = true; ///< One function for a group, where its machine has one role.
  bool needsEntry = true;  ///< Refuse a program that has no function to start with.
  std::vector<std::string> without = {}; ///< Passes to leave out; see passesToLeaveOut().
};

/// A program compiled for a platform, and the function a run starts with.
struct CompiledProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ir::FuncOp entry;       ///< Null only where none was needed.
  const Machine *machine; ///< Null: only prepared.
  std::vector<std::pair<std::string, std::string>> passes = {}; ///< "00-kiln-inline.mlir", text.
  unsigned warnings = 0;                                        ///< That were printed.
};

/// Runs the passes of the platform on a copy of the program. Errors have been printed when there is
/// no result; `status` is then the exit code. `instrumentation`, if given, sees each pass.
std::optional<CompiledProgram>
compile(const Source &source, const CompileSettings &options, int &status,
        std::unique_ptr<mlir::PassInstrumentation> instrumentation = nullptr);

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

using ArgSpecs = std::map<std::string, std::string>;

/// The last argument that was made for each parameter, and of which spec.
using LastArguments = std::map<std::string, std::pair<std::string, Argument>>;

/// Makes the arguments of an entry: inputs random from `seed`, outputs poisoned. `specs` are `--arg
/// name=spec`. What is in `last`, which is for this entry and seed alone, is not made again.
Expected<std::vector<Argument>> makeArguments(ir::FuncOp entry, const ArgSpecs &specs,
                                              uint64_t seed, LastArguments *last = nullptr);
/// The arguments of a program of several ranks before they are divided: those whose spec names an
/// axis (`64x8@0`) are whole. By parameter, the axis.
struct WholeArguments {
  std::vector<Argument> args;
  std::vector<std::optional<int>> axes;
};
Expected<WholeArguments> makeWholeArguments(ir::FuncOp entry, const ArgSpecs &specs, uint64_t seed,
                                            LastArguments *last = nullptr);
/// The same, and what each rank has of them.
struct RankArguments {
  std::vector<Argument> whole;
  std::vector<std::optional<int>> axes;
  std::vector<std::vector<Argument>> ofRank;
};

//===----------------------------------------------------------------------===//
// Formula
//===----------------------------------------------------------------------===//

struct FormulaResult {
  std::map<size_t, Tensor> outputs; ///< By the entry's parameter; f32, i64 or i1.
  int64_t accumulates = 1;
};

/// What an example's formula (see Example) says of the outputs, given the arguments before the run.
/// InvalidArgument if it refuses them or fails.
Expected<FormulaResult> evaluateFormula(const std::string &formula, const kiln_config *config,
                                        ir::FuncOp entry, std::span<const Argument> args,
                                        TorchWorker &worker, int64_t ranks = 1);
/// Whether a formula that failed has said so: by an assertion, or because its outputs have other
/// shapes.
bool isRefusal(const Status &ofFormula);

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

struct RunSettings : CompileSettings {
  std::string out = "kiln-out";
  std::string orchestration; ///< A shared object that launches instead of the interpreter.
  std::string cpu;           ///< To generate code for; empty: this one.
  ArgSpecs args;
  int dumpLevel = 0;
  bool timeline = false;
  bool record = false; ///< Leave everything that `kiln view` shows in `out`.
  uint64_t seed = 0, dataSeed = 1;
  unsigned workers = 0; ///< Of native code; 0: as many as there are cores.
  uint64_t seeds = 0;   ///< Schedules to check, from `seed` on; 0: run one without checks.
  bool verifyEach = false;
  uint64_t timeout =
      defaultTimeout;           ///< Seconds of a run, of the formula, of the reference; 0: any.
  uint64_t verifyMemory = 1024; ///< MiB it may take to remember what tasks read and wrote.
  std::string save;             ///< The folder for what the program wrote; empty: none.
  bool nan = false;             ///< Also report where NaN is born.
  /// Of each simulation; see SimulatorOptions::maxSteps.
  uint64_t steps = UINT64_MAX;
  bool isOneOfSeveral = false;  ///< Entries to check; reports name them.
  bool asGiven = false;         ///< Check with the given arguments alone.
  bool allowIncomplete = false; ///< A check that did not decide everything is good enough.
  bool strict = false;          ///< A warning is a finding.
  std::map<std::string, std::string> tuned; ///< Values that were taken from tuning.
  bool isPersistent = false;                ///< All tasks of the program are one kernel.
  int64_t ranks = 0;   ///< To run on in this process; 0: nobody asked for several.
  std::string command; ///< How to run this again; reports add seeds, and cases of a check.
  bool json = false, noReference = false, noFormula = false, checkShapes = false,
       unboundedSlots = false;

  EmitOptions textOptions() const { return {entry, unboundedSlots, checkShapes, isPersistent}; }
  /// What is asked of the platform; the arguments are still to be said.
  RunRequest requestOf(mlir::ModuleOp module, ir::FuncOp entry, const std::string &program) const;
};

/// The platform with this name, if the command can use it; else why not, and which it can use.
Expected<const Platform *> choosePlatform(const std::string &command, const std::string &name);
/// The targets of `kiln emit` that are the same on every platform.
inline constexpr const char *kIrTarget = "ir", *kOrchestrationTarget = "orchestration";
/// What `kiln emit --target` takes.
std::vector<std::string> targetNames();
/// The platform that emits a target, `wanted` where several do; null for those that need none, or
/// if there is no such target.
const Platform *emitterOf(const std::string &target, const Platform *wanted, bool &needsEntry);
/// What the command line says of arguments, and where it says nothing, the example.
ArgSpecs specsOf(const Source &source, const RunSettings &options);
/// The arguments of `entry` that they ask for.
Expected<std::vector<Argument>> argumentsOf(const Source &source, ir::FuncOp entry,
                                            const RunSettings &options);
/// The parameters of the program's entry whose direction it leaves open. What the entry returns
/// becomes parameters after those, and is promised to be written whole.
llvm::BitVector undeclaredParameters(const Source &source, const CompileSettings &options);
/// The entry of a compiled orchestration (kiln emit --target orchestration). The file stays loaded.
Expected<Orchestrate> loadOrchestration(const std::string &path, mlir::ModuleOp module,
                                        ir::FuncOp entry, const Source &source,
                                        const Platform &platform);

/// The arguments of all ranks.
Expected<RankArguments> rankArgumentsOf(const Source &source, ir::FuncOp entry,
                                        const RunSettings &options, int32_t ranks);
/// Runs on several ranks, if that is asked for: by `--ranks`, or by mpirun. Else nothing.
std::optional<int> runOnRanks(const Source &source, const RunSettings &options);
int runCommand(const Source &source, const RunSettings &options);
/// Proof of the pipes, then simulations with options.seeds seeds from options.seed on.
int checkCommand(const Source &source, const RunSettings &options);
/// Checks each program by itself, with the same options, and prints the reports in this order. The
/// worst of their exit codes.
int checkSeveral(llvm::ArrayRef<std::string> programs, llvm::ArrayRef<std::string> options);
/// Prints the program for a target: as written, or where the settings name a pass or platform,
/// compiled so far.
int emitCommand(const Source &source, const std::string &target, const RunSettings &options);
int buildCommand(const Source &source, const RunSettings &options);
int machinesCommand(bool json);
int platformsCommand(bool json);

} // namespace kiln

#endif // KILN_LIB_DRIVER_DRIVER_H
