//===- Record.h - what a run or a check leaves about itself -------------------------------===//
//
// Files for `kiln view`, beside the dump and the timeline: run.json (what was run, and how it
// ended) and code.json (the source, the program after each pass, the emitted code, and which line
// comes from which). The fields are described in docs/view.md. A record that cannot be written is
// reported and stops nothing.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_RECORD_H
#define KILN_LIB_DRIVER_RECORD_H

#include "Driver.h"

#include "abi/Json.h"

#include "mlir/Pass/PassInstrumentation.h"

namespace kiln {

/// {"file", "line", "column", "excerpt": {"first": 10, "lines": [...]}}; null if it is not known.
Json placeJson(const SourceLoc &location);

/// What is shown of a finding beyond what is printed: the lines around it, and its schedule.
void addDetails(Json &entry, const Finding &finding);

/// The program from its source to the code that runs.
class CodeRecord {
public:
  /// A stage of the program as text, with the lines of the source that its lines come from.
  void addStage(const std::string &name, mlir::ModuleOp module);
  /// Sees each pass; borrows this.
  std::unique_ptr<mlir::PassInstrumentation> instrumentation();
  /// What the platform makes of the compiled program, as far as it is text.
  void addEmitted(const CompiledProgram &compiled, const Source &source,
                  const RunSettings &options);

  Status write(const std::string &folder) const;

private:
  size_t fileNumber(const std::string &path);

  Json Files = Json::array(), Stages = Files, Emitted = Files;
  std::map<std::string, size_t> FileNumbers;
  std::string LastText;
};

/// run.json: written when a run begins, as one that did not finish, and again when it ends.
class RunRecord {
public:
  RunRecord(const Source &source, const RunSettings &options);

  /// Whether anything is recorded.
  bool isOn() const { return Options.record || Options.dumpLevel > 0 || Options.timeline; }
  /// Makes the folder and removes what an earlier run left there.
  Status begin();
  void setArguments(ir::FuncOp entry, std::span<const Argument> args, const ArgSpecs &specs);
  /// The report of the run, as `--json` prints it.
  void setReport(const Json &report);
  /// What the checks of a run found, with schedules.
  void setFindings(const CheckReport &report);
  /// "pass", "fail", "ran" or "error".
  Status finish(const std::string &outcome, const std::vector<Status> &errors);

private:
  Status write() const;

  const RunSettings &Options;
  Json Document;
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_RECORD_H
