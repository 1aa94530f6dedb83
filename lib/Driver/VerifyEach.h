//===- VerifyEach.h - runs the reference after every pass -------------------------------===//
//
// A wrong pass is found where it is wrong: after each pass that changed the program the reference
// runs on the same inputs, and its results are compared with those of the program as written. At
// the first difference the pass is named, the functions it changed, and the first task whose
// results differ.
//
// Ownership: the verifier outlives the pass manager it watches. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_VERIFYEACH_H
#define KILN_LIB_DRIVER_VERIFYEACH_H

#include "Driver.h"

#include "mlir/Pass/PassInstrumentation.h"

namespace kiln {

/// The first pass after which the program computes something else.
struct PassFault {
  std::string pass;
  std::string what;                   ///< Which output differs and how, or what failed.
  std::vector<std::string> functions; ///< Those whose executable form the pass changed.
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
  unsigned passes() const { return Passes; }   ///< Seen so far.
  unsigned changes() const { return Changes; } ///< After which the reference had to run.

private:
  class AfterPass;
  /// A program as the backends execute it.
  struct Stage {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::map<std::string, std::string> functions; ///< Their texts.
  };
  Expected<Stage> stageOf(mlir::ModuleOp module) const;
  Expected<std::vector<Argument>> run(const Stage &stage) const;
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
  std::optional<PassFault> Fault;
  unsigned Passes = 0, Changes = 0;
};

/// `kiln run --verify-each`: prepares the program and verifies each pass. Prints what was found;
/// the exit code.
int verifyEachPass(const Source &source, const RunSettings &options);

} // namespace kiln

#endif // KILN_LIB_DRIVER_VERIFYEACH_H
