//===- VerifyEach.h - runs the reference after every pass -------------------------------===//
//
// A wrong pass is found where it is wrong: after each pass that changed the program the reference
// runs on the same inputs. What has to run depends on what changed:
//
// - Kernels only: the tasks that run them, or something that calls them, each on the memory it
//   found when the whole program ran last. They must leave in their tensors what they left then.
// - Whatever launches tasks, or what it launches them with: the whole program. Its results must be
//   those of the program as written, and its tasks are the ones to run from now on.
//
// At the first difference the pass is named, the functions it changed, and the first task whose
// results differ.
//
// Ownership: the verifier outlives the pass manager it watches. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_VERIFYEACH_H
#define KILN_LIB_DRIVER_VERIFYEACH_H

#include "Driver.h"

#include "mlir/Pass/PassInstrumentation.h"

#include <set>

namespace kiln {

/// The first pass after which the program computes something else.
struct PassFault {
  std::string pass;
  std::string what;                   ///< Which output differs and how, or what failed.
  std::vector<std::string> functions; ///< Those it changed; of a kernel alone: that this one runs.
  std::string task;                   ///< The first whose results differ; empty if none does.
};

class PassVerifier {
public:
  /// `asWritten` is the program before the first pass, `args` what its entry is called with.
  PassVerifier(Source asWritten, const RunSettings &options, std::vector<Argument> args);

  /// Runs the reference on the program as written: what every stage is compared with.
  Status begin();
  /// To be added to the pass manager. It verifies and never stops a pass.
  std::unique_ptr<mlir::PassInstrumentation> instrumentation();

  const std::optional<PassFault> &fault() const { return Fault; }
  unsigned passes() const { return Passes; }       ///< Seen so far.
  unsigned changes() const { return Changes; }     ///< After which the reference had to run.
  unsigned wholeRuns() const { return WholeRuns; } ///< Of the changed program.
  size_t tasksRerun() const { return TasksRerun; } ///< One by one instead.
  /// Whether some run had more to record than options.verifyMemory: then all of it runs each time.
  bool isOverLimit() const { return OverLimit; }

private:
  class AfterPass;
  struct Function {
    std::string text;
    mlir::FunctionType type;
    bool isOrchestration;
    std::set<std::string> calls;
  };
  /// A program as the reference executes it.
  struct Stage {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::map<std::string, Function> functions;
  };
  Expected<Stage> stageOf(mlir::ModuleOp module) const;
  /// Runs the program, and records its tasks where that is possible.
  Expected<std::vector<Argument>> run(const Stage &stage);
  /// These functions and all that call them.
  static std::set<std::string> callersOf(const Stage &stage,
                                         std::span<const std::string> functions);
  /// Whether running recorded tasks again shows all that these changes can do.
  bool isUpToKernels(const Stage &stage, std::span<const std::string> changed) const;
  /// What is wrong with the changed functions of a stage, if anything.
  std::optional<PassFault> verifyWhole(const Stage &stage, std::vector<std::string> changed);
  std::optional<PassFault> verifyKernels(const Stage &stage, std::vector<std::string> changed);
  /// What differs between these results and those that are wanted; empty if nothing does.
  std::string compareResults(const Stage &stage, std::span<const Argument> results) const;
  /// The first task whose results differ between two stages, as the simulator sees it.
  std::string firstDifferentTask(const Stage &before, const Stage &after) const;
  void verify(const std::string &pass, mlir::ModuleOp module);

  Source AsWritten;
  RunSettings Options;
  std::vector<Argument> Inputs;
  std::vector<Argument> Wanted; ///< The results of the program as written.
  Stage Last;
  bool HasRecord = false; ///< Of the tasks that `Last` launches.
  std::optional<PassFault> Fault;
  unsigned Passes = 0, Changes = 0, WholeRuns = 0;
  size_t TasksRerun = 0;
  bool OverLimit = false;
};

/// `kiln run --verify-each`: prepares the program and verifies each pass. Prints what was found;
/// the exit code.
int verifyEachPass(const Source &source, const RunSettings &options);

} // namespace kiln

#endif // KILN_LIB_DRIVER_VERIFYEACH_H
