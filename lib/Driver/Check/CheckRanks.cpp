//===- CheckRanks.cpp - what `kiln check` says of a program of several ranks --------------===//
#include "CheckRanks.h"

#include "kiln/Analysis/RankProof.h"
#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Dialect/Kiln/Contracts.h"
#include "kiln/Platform/Reference.h"
#include "kiln/Program/Signature.h"
#include "kiln/runtime/arguments.h"
#include "kiln/runtime/compare.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

/// With more ranks than this only the orchestration runs, and no kernel.
static constexpr int32_t mostWithKernels = 16;

static std::string count(uint64_t number, const std::string &what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// The proof, on a copy in which equal values are one.
static RankProof prove(const CompiledProgram &program) {
  OwningOpRef<ModuleOp> copy = ModuleOp(*program.module).clone();
  PassManager passes(copy->getContext());
  passes.addPass(createCSEPass());
  (void)passes.run(*copy);
  return proveRanks(copy->lookupSymbol<ir::FuncOp>(ir::FuncOp(program.entry).getSymName()));
}

static void addProof(const CompiledProgram &program, CheckVerdict &verdict) {
  RankProof proof = prove(program);
  std::string what = count(proof.collectives, "collective") + " and " +
                     count(proof.messages, "message") + " of ranks: ";
  verdict.ranks.push_back(what + (proof.isProved()
                                      ? "the same on every rank, proved for any number of ranks"
                                      : "not proved for every number of ranks"));
  for (const RankProof::Reason &reason : proof.reasons)
    verdict.add({reason.text, sourceLocOf(reason.loc),
                 "simulated with some numbers of ranks only; --ranks N tries another"});
}

/// Compares what each rank has with what the formula says.
static Status compare(const Source &source, ir::FuncOp entry, const RankArguments &args,
                      int32_t ranks, const std::string &flags, CheckVerdict &verdict) {
  if (!source.example || source.example->formula.empty())
    return Status::ok();
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  if (!worker) {
    verdict.add({"what the ranks have in the end was not compared with the formula: " +
                     worker.status().message(),
                 {},
                 "KILN_PYTHON names a Python that has torch"});
    return Status::ok();
  }
  Expected<FormulaResult> formula =
      evaluateFormula(source.example->formula, source.config, entry, args.whole, **worker, ranks);
  if (!formula)
    return formula.status();
  std::vector<std::string> names = parameterNames(entry);
  for (int32_t rank = 0; rank < ranks; ++rank)
    for (const auto &[index, want] : formula->outputs) {
      Expected<std::pair<Tensor, Tensor>> both =
          realPart(std::get<Tensor>(args.ofRank[static_cast<size_t>(rank)][index]), want,
                   args.axes[index], rank);
      if (!both)
        return both.status();
      Difference difference = compareWithFormula(both->first, both->second, formula->accumulates);
      if (difference.ok)
        continue;
      Finding finding;
      finding.kind = FindingKind::WrongResult;
      finding.location = sourceLocOf(entry.getLoc());
      finding.message = "'" + names[index] + "' of rank " + std::to_string(rank) +
                        " is not what the formula says: " + difference.where();
      verdict.add(finding, flags);
    }
  ++verdict.compared;
  return Status::ok();
}

/// What a run of several ranks found, judged as Checking::judge judges a run of one.
static void judge(const Finding &finding, const Source &source, const CompiledProgram &program,
                  bool areInvented, const std::string &flags, CheckVerdict &verdict) {
  bool hasFormula = source.example && !source.example->formula.empty();
  bool mayBeUnmeant = areInvented && finding.kind == FindingKind::Fault && !hasFormula &&
                      ir::requirementsIn(ir::FuncOp(program.entry)).empty();
  if (finding.isError() && !mayBeUnmeant)
    return verdict.add(finding, flags);
  if (finding.kind == FindingKind::PaddingStored && hasFormula)
    return; // which decides it
  std::string remedy = finding.notes.empty() ? "" : finding.notes.back().message;
  if (mayBeUnmeant)
    remedy = "shown by " + flags +
             ", which Kiln made up; give arguments with --arg, or say with a "
             "require which are allowed";
  verdict.add(Gap{finding.message, finding.location, remedy, toString(finding.kind)});
}

static Status simulate(const Source &source, const RunSettings &options, bool areInvented,
                       const CompiledProgram &program, int32_t ranks, CheckVerdict &verdict) {
  Expected<RankArguments> args = rankArgumentsOf(source, program.entry, options, ranks);
  if (!args)
    return args.status();
  CheckOptions check;
  check.firstSeed = options.seed;
  check.maxSteps = options.steps;
  check.undeclared = undeclaredParameters(source, options);
  check.machine = program.machine;
  check.program = source.name;
  check.platform = options.platform->name();
  bool runsKernels = ranks <= mostWithKernels;
  Expected<RankReport> report =
      checkRanks(*program.module, program.entry, args->ofRank, check, runsKernels);
  if (!report)
    return report.status();
  std::string flags = options.isOneOfSeveral ? "--entry " + options.entry : "";
  if (options.ranks == 0) // else the command has it already
    flags += (flags.empty() ? "--ranks " : " --ranks ") + std::to_string(ranks);
  for (const auto &[name, spec] : options.args)
    flags += (flags.empty() ? "--arg " : " --arg ") + name + "=" + spec;
  if (report->outOfSteps)
    verdict.add(
        {report->outOfSteps->message(), report->outOfSteps->location(),
         "shown by " + count(static_cast<uint64_t>(ranks), "rank") + "; --steps N allows more"});
  for (const Finding &finding : report->findings)
    judge(finding, source, program, areInvented, flags, verdict);
  bool isStopped = report->outOfSteps || llvm::any_of(report->findings, [](const Finding &finding) {
                     return finding.isError();
                   });
  if (isStopped)
    return Status::ok();
  verdict.ranks.push_back(count(static_cast<uint64_t>(ranks), "rank") + ": " +
                          count(report->collectives, "collective") + " matched, " +
                          count(report->tasks, "other task") +
                          (runsKernels ? "" : " that did not run") + ", the longest chain has " +
                          std::to_string(report->length));
  return runsKernels ? compare(source, program.entry, *args, ranks, flags, verdict) : Status::ok();
}

/// Whether ranks get parts of an argument: "x=64x64@0".
static bool isDivided(const Source &source, const RunSettings &options) {
  auto hasAxis = [](const auto &arg) {
    std::string spec = arg.second;
    return takeAxis(spec).has_value();
  };
  return llvm::any_of(options.args, hasAxis) ||
         (source.example && llvm::any_of(source.example->args, hasAxis));
}

bool runsOnRanksAlone(const Source &source, const RunSettings &options) {
  return options.ranks > 0 && options.ranks <= mostWithKernels && ir::findRanks(source.module);
}

Status checkRanksOf(const Source &source, const RunSettings &options, const CheckPlan &plan,
                    const CompiledProgram &asWritten, const CompiledProgram &compiled,
                    CheckVerdict &verdict) {
  bool hasRanks = static_cast<bool>(ir::findRanks(source.module));
  if (!hasRanks && !isDivided(source, options))
    return options.ranks == 0
               ? Status::ok()
               : Status(StatusCode::InvalidArgument, "--ranks: the program has no ranks");
  if (hasRanks)
    addProof(asWritten, verdict);
  std::vector<int32_t> counts{2, 3, 4, 5};
  if (options.ranks > 0)
    counts = {static_cast<int32_t>(options.ranks)};
  if (plan.cases.empty())
    return Status::ok(); // no arguments are allowed, which the plan says
  bool areInvented = plan.cases.front().isInvented;
  RunSettings settings = options;
  if (areInvented) // each rank has all of what the plan made up
    settings.args = plan.cases.front().specs;
  for (int32_t ranks : counts)
    if (Status bad = simulate(source, settings, areInvented, compiled, ranks, verdict); !bad.isOk())
      return bad;
  return Status::ok();
}

} // namespace kiln
