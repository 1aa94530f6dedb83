//===- Run.cpp - `kiln run`: execute, compare, report --------------------------------===//
#include "Unwritten.h"
#include "VerifyEach.h"

#include "kiln/Program/Signature.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>

using namespace mlir;

namespace kiln {
namespace {

/// One comparison of one output.
struct Check {
  std::string output, against;
  Difference difference;
};

struct Outcome {
  std::vector<Check> checks;
  std::vector<std::string> skipped;
  std::optional<CheckReport> findings; ///< If schedules were checked.
  std::vector<UnwrittenElements> unwritten;
  double seconds = 0;        ///< Of the run alone.
  double compileSeconds = 0; ///< Where something is compiled.
  bool dump = false;         ///< One was written.
  bool timeline = false;     ///< One was written.
  std::string summary;       ///< Of the timeline.
  bool ok() const {
    return !(findings && findings->hasErrors()) && unwritten.empty() &&
           llvm::all_of(checks, [](const Check &check) { return check.difference.ok; });
  }
};

/// Without torch there is no formula and no reference. Who names a Python wants them, though.
bool canBeSkipped(const Status &failed) {
  return failed.code() == StatusCode::NotFound && !std::getenv("KILN_PYTHON");
}

Expected<FormulaResult> runFormula(const Source &source, ir::FuncOp entry,
                                   std::span<const Argument> args) {
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  if (!worker)
    return worker.status();
  return evaluateFormula(source.example->formula, source.config, entry, args, **worker);
}

/// Simulates under several seeds with all checks.
Status checkSchedules(ModuleOp module, ir::FuncOp entry, const Source &source,
                      const RunSettings &options, std::span<const Argument> args,
                      std::optional<CheckReport> &findings) {
  CheckOptions check;
  check.firstSeed = options.seed;
  check.seeds = options.seeds;
  check.nan = options.nan;
  check.undeclared = undeclaredParameters(source, options);
  check.machine = options.platform->machine();
  check.maxSteps = options.steps;
  check.dump = {options.dumpLevel, options.out};
  check.program = source.name;
  check.platform = options.platform->name();
  Expected<CheckReport> report = checkProgram(module, entry, args, check);
  if (!report)
    return report.status();
  if (report->outOfSteps)
    return *report->outOfSteps;
  // Who declares nothing promises nothing; `kiln check` asks for the declaration.
  llvm::erase_if(report->findings, [](const Finding &finding) {
    return finding.kind == FindingKind::UndeclaredOutput;
  });
  findings = std::move(*report);
  return Status::ok();
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Writes what was recorded of a run, if it began. `ran` is how the run itself ended.
Status writeRecord(Status ran, const Source &source, const RunSettings &options,
                   const RunReport &report, Outcome &outcome) {
  if (!report.timeline.isRecorded())
    return ran;
  Status written = writeTimeline(options.out, source.name + " on " + options.platform->name(),
                                 report.timeline, report.trace);
  outcome.timeline = written.isOk();
  outcome.summary = summarize(report.timeline, report.trace);
  return ran.isOk() ? written : ran;
}

Status execute(ModuleOp module, ir::FuncOp entry, const Source &source, const RunSettings &options,
               std::span<const Argument> args, Outcome &outcome) {
  if (options.seeds > 0)
    return checkSchedules(module, entry, source, options, args, outcome.findings);
  RunRequest request{module, entry, args, source.name};
  request.seed = options.seed;
  request.workers = options.workers;
  request.maxSteps = options.steps;
  request.timeout = options.timeout;
  request.dump = {options.dumpLevel, options.out};
  request.timeline = options.timeline;
  request.text = options.textOptions();
  if (!options.orchestration.empty()) {
    Expected<Orchestrate> loaded =
        loadOrchestration(options.orchestration, module, entry, source, *options.platform);
    if (!loaded)
      return loaded.status();
    request.orchestrate = *loaded;
  }
  RunReport report;
  Status ran = options.platform->run(request, report);
  outcome.compileSeconds = report.compileSeconds;
  return writeRecord(ran, source, options, report, outcome);
}

/// Compares what the entry wrote with what the formula says of it.
void checkFormula(Outcome &outcome, ir::FuncOp entry, std::span<const Argument> args,
                  const FormulaResult &formula) {
  std::vector<std::string> names = parameterNames(entry);
  for (const auto &[index, want] : formula.outputs)
    outcome.checks.push_back(
        {names[index], "formula",
         compareWithFormula(std::get<Tensor>(args[index]), want, formula.accumulates)});
}

/// Compares every tensor the entry writes with what the reference made of it.
void checkReference(Outcome &outcome, ir::FuncOp entry, std::span<const Argument> args,
                    std::span<const Argument> reference) {
  std::vector<std::string> names = parameterNames(entry);
  for (auto [index, arg] : llvm::enumerate(args))
    if (auto *tensor = std::get_if<Tensor>(&arg);
        tensor && entry.getArgDirection(index) != ir::Direction::In)
      outcome.checks.push_back({names[index], defaultPlatform(Capability::Reference).name(),
                                compareWithReference(*tensor, std::get<Tensor>(reference[index]))});
}

void reportFindings(const CheckReport &report, const RunSettings &options) {
  std::fflush(stdout);
  std::fputs(toText(report, options.command).c_str(), stderr);
  size_t number = report.findings.size();
  std::printf("  checked %llu schedule%s from seed %llu on: %zu finding%s\n",
              (unsigned long long)report.seeds, report.seeds == 1 ? "" : "s",
              (unsigned long long)report.firstSeed, number, number == 1 ? "" : "s");
}

void report(const Source &source, const RunSettings &options, const Outcome &outcome) {
  if (options.json) {
    nlohmann::ordered_json json{{"program", source.name},
                                {"platform", options.platform->name()},
                                {"seed", options.seed},
                                {"seconds", outcome.seconds},
                                {"ok", outcome.ok()}};
    if (outcome.compileSeconds > 0)
      json["compile_seconds"] = outcome.compileSeconds;
    json["checks"] = nlohmann::ordered_json::array();
    for (const Check &check : outcome.checks) {
      nlohmann::ordered_json entry{
          {"output", check.output}, {"against", check.against}, {"ok", check.difference.ok}};
      if (std::isfinite(check.difference.largest))
        entry["max_error"] = check.difference.largest;
      else
        entry["max_error"] = nullptr;
      if (!check.difference.ok)
        entry["worst"] = check.difference.where();
      if (check.difference.nanInBoth > 0)
        entry["nan_in_both"] = check.difference.nanInBoth;
      json["checks"].push_back(entry);
    }
    for (const UnwrittenElements &left : outcome.unwritten)
      json["unwritten"].push_back({{"output", left.output},
                                   {"elements", left.count},
                                   {"of", left.of},
                                   {"first", left.first}});
    json["skipped"] = outcome.skipped;
    if (outcome.findings)
      json["check"] = nlohmann::ordered_json::parse(toJson(*outcome.findings, options.command));
    if (outcome.dump)
      json["dump"] = options.out + "/tensor_dump";
    if (outcome.timeline)
      json["timeline"] = options.out + "/timeline.json";
    std::printf("%s\n", json.dump(2).c_str());
    return;
  }
  std::printf("%s on %s: %.3f s", source.name.c_str(), options.platform->name().c_str(),
              outcome.seconds);
  if (outcome.compileSeconds > 0)
    std::printf(" (compiled in %.3f s)", outcome.compileSeconds);
  std::printf("\n");
  if (outcome.findings)
    reportFindings(*outcome.findings, options);
  for (const Check &check : outcome.checks) {
    std::printf("  %-8s  against %-8s  max |error| %-10.3g  %s\n", check.output.c_str(),
                check.against.c_str(), check.difference.largest,
                check.difference.ok ? "ok" : "WRONG");
    if (!check.difference.ok)
      std::printf("            %s\n", check.difference.where().c_str());
    if (check.difference.nanInBoth > 0)
      std::printf("            %zu elements are NaN in both: not written, or computed so\n",
                  check.difference.nanInBoth);
  }
  for (const UnwrittenElements &left : outcome.unwritten)
    std::printf("  %-8s  %s\n", left.output.c_str(), left.words().c_str());
  for (const std::string &reason : outcome.skipped)
    std::printf("  skipped: %s\n", reason.c_str());
  if (outcome.dump)
    std::printf("  dump: %s/tensor_dump (look into it with: kiln dump %s)\n", options.out.c_str(),
                options.out.c_str());
  if (outcome.timeline)
    std::printf("  timeline: %s/timeline.json (open it in ui.perfetto.dev), graph: %s/graph.json, "
                "graph.dot\n%s",
                options.out.c_str(), options.out.c_str(), outcome.summary.c_str());
  std::printf("%s\n", !outcome.ok()            ? "FAIL"
                      : outcome.checks.empty() ? "RAN (nothing to compare with)"
                                               : "PASS");
}

} // namespace

llvm::BitVector undeclaredParameters(const Source &source, const CompileSettings &options) {
  llvm::BitVector undeclared;
  if (Expected<ir::FuncOp> entry = findEntry(source.module, options.entry))
    for (unsigned number = 0; number < entry->getNumArguments(); ++number)
      undeclared.push_back(!entry->getArgDirection(number));
  return undeclared;
}

Expected<std::vector<Argument>> argumentsOf(const Source &source, ir::FuncOp entry,
                                            const RunSettings &options) {
  ArgSpecs specs = options.args;
  if (source.example)
    for (const auto &[name, spec] : source.example->args)
      specs.try_emplace(name, spec);
  return makeArguments(entry, specs, options.dataSeed);
}

/// The platforms that run programs and cannot do this, as the command line names them.
static std::string flagsOfOthers(Capability capability) {
  std::vector<std::string> flags;
  for (const auto &platform : platforms())
    if (platform->can(Capability::Run) && !platform->can(capability))
      flags.push_back("-p " + platform->name());
  return llvm::join(flags, ", ");
}

/// What the options ask for and the platform, or the other options, do not allow; empty if nothing.
static std::string findConflict(const RunSettings &options) {
  const Platform &platform = *options.platform;
  std::string who = "the " + platform.name() + " platform ";
  if (options.seeds > 0 && !platform.can(Capability::Seeds))
    return who + "runs one schedule and checks none; use " + platformNames(Capability::Seeds);
  if (!options.orchestration.empty() &&
      (!platform.can(Capability::Orchestration) || options.seeds > 0))
    return "--orchestration runs one schedule of a simulator; leave out " +
           flagsOfOthers(Capability::Orchestration) + ", --seeds and --nan";
  if (options.timeline && !platform.can(Capability::Timeline))
    return who + "has no timeline; use " + platformNames(Capability::Timeline);
  if (options.dumpLevel > 0 && !platform.can(Capability::Dump))
    return who + "writes no dump; use " + platformNames(Capability::Dump);
  if (options.timeline && options.seeds > 0)
    return "a timeline shows one schedule; leave out --seeds and --nan";
  return "";
}

int runCommand(const Source &source, const RunSettings &options) {
  TorchWorker::setTimeLimit(options.timeout);
  if (std::string conflict = findConflict(options); !conflict.empty())
    return badInput(conflict);
  if (options.verifyEach)
    if (int status = verifyEachPass(source, options))
      return status;
  int status = kBadInput;
  CompileSettings settings = options;
  settings.prove = false; // what hangs is worth a run: the report and the dump show where
  std::optional<CompiledProgram> compiled = compile(source, settings, status);
  if (!compiled)
    return status;
  // The reference is what the program says, not what the passes made of it.
  std::optional<CompiledProgram> asWritten = compile(source, {.entry = options.entry}, status);
  if (!asWritten)
    return status;
  ir::FuncOp entry = asWritten->entry;

  Expected<std::vector<Argument>> args = argumentsOf(source, entry, options);
  if (!args)
    return badInput(args.status());
  Expected<std::vector<Argument>> forTorch = copyArguments(*args);
  if (!forTorch)
    return badInput(forTorch.status().message());

  Outcome outcome;
  std::optional<FormulaResult> formula;
  if (source.example && !source.example->formula.empty() && !options.noFormula) {
    Expected<FormulaResult> result = runFormula(source, entry, *args);
    if (result)
      formula = *result;
    else if (canBeSkipped(result.status()))
      outcome.skipped.push_back("comparison with the formula (" + result.status().message() + ")");
    else
      return badInput(result.status().message());
  }

  Expected<UnwrittenSearch> unwritten = UnwrittenSearch::begin(source, options, entry, *args);
  if (!unwritten)
    return badInput(unwritten.status().message());
  auto start = std::chrono::steady_clock::now();
  Status failed = execute(*compiled->module, compiled->entry, source, options, *args, outcome);
  // A record of the run that could not be written does not stop it; it is reported with the result.
  bool recordFailed =
      (options.dumpLevel > 0 || options.timeline) && failed.code() == StatusCode::IoError;
  if (!failed.isOk() && !recordFailed) {
    printErrors({failed});
    bool isBadInput = failed.code() == StatusCode::InvalidArgument ||
                      failed.code() == StatusCode::NotFound ||
                      failed.code() == StatusCode::Unsupported;
    return isBadInput ? kBadInput : kWrong;
  }
  outcome.seconds = secondsSince(start) - outcome.compileSeconds;

  if (outcome.findings && outcome.findings->hasErrors()) { // there is no result to compare
    report(source, options, outcome);
    return kWrong;
  }
  RunSettings silent = options;
  silent.dumpLevel = 0;
  silent.timeline = false;
  silent.seeds = 0;
  Expected<std::vector<UnwrittenElements>> left =
      unwritten->find(*args, [&](std::span<const Argument> others) {
        Outcome second;
        return execute(*compiled->module, compiled->entry, source, silent, others, second);
      });
  if (!left) {
    printErrors({left.status()});
    return kWrong;
  }
  outcome.unwritten = std::move(*left);
  if (formula)
    checkFormula(outcome, entry, *args, *formula);
  if (!options.platform->can(Capability::Reference) && !options.noReference) {
    Status failed = runReference(*asWritten->module, entry, options.textOptions(), *forTorch);
    if (canBeSkipped(failed)) {
      outcome.skipped.push_back("comparison with the PyTorch reference (" + failed.message() + ")");
    } else if (failed.code() == StatusCode::NotFound) {
      return badInput(failed.message());
    } else if (!failed.isOk()) {
      printErrors({failed.withPrefix("the PyTorch reference failed")});
      return kWrong;
    } else {
      checkReference(outcome, entry, *args, *forTorch);
    }
  }
  outcome.dump = options.dumpLevel > 0 && !recordFailed;
  report(source, options, outcome);
  if (recordFailed)
    printErrors({failed.withPrefix("the run is complete but the record of it is not")});
  return outcome.ok() && !recordFailed ? kGood : kWrong;
}

} // namespace kiln
