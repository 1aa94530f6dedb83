//===- RunRanks.cpp - `kiln run` of a program on several ranks ------------------------===//
//
// The arguments are made whole, as for one rank, and divided; the formula speaks of the whole ones.
// Either all ranks run in this process (`--ranks`), or this process is one of those that mpirun
// started; then each looks at its own results.
//
//===----------------------------------------------------------------------------===//
#include "Driver.h"

#include "abi/JsonOutput.h"
#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Platform/Reference.h"
#include "kiln/Program/Signature.h"
#include "kiln/runtime/arguments.h"
#include "kiln/runtime/compare.h"
#include "kiln/runtime/ranks.h"
#include "kiln/runtime/tool_output.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <unistd.h>

using namespace mlir;

namespace kiln {
namespace {

struct RankCheck {
  int32_t rank;
  std::string output, against;
  Difference difference;
};

/// A run from end to end, in steps. Each returns kGood to go on, or the exit code of the command.
class RankedRun {
public:
  RankedRun(const Source &source, const RunSettings &options, int32_t ranks, Transport *transport)
      : From(source), Options(options), Ranks(ranks), Process(transport) {}

  int prepare();
  int evaluateFormula();
  int execute();
  int compareWithFormula();
  int compareWithReference();
  int finish();

private:
  /// The ranks whose results this process has.
  std::vector<int32_t> mine() const;
  int writeTimelines(const RunReport &report);
  /// What has to be the same on all ranks.
  std::string describeArguments() const;
  int fail(const Status &why) const;
  bool isFirst() const { return !Process || Process->rank() == 0; }

  const Source &From;
  const RunSettings &Options;
  const int32_t Ranks;
  Transport *const Process; ///< Null: all ranks are in this process.
  std::optional<CompiledProgram> Compiled, AsWritten;
  RankArguments Args, ForTorch;
  std::optional<FormulaResult> Formula;
  std::vector<RankCheck> Checks;
  std::vector<std::string> Skipped;
  double Seconds = 0;
};

std::vector<int32_t> RankedRun::mine() const {
  if (Process)
    return {Process->rank()};
  std::vector<int32_t> all(static_cast<size_t>(Ranks));
  for (int32_t rank = 0; rank < Ranks; ++rank)
    all[static_cast<size_t>(rank)] = rank;
  return all;
}

int RankedRun::fail(const Status &why) const {
  Status told = Process && why.message().rfind("rank ", 0) != 0
                    ? why.withPrefix("rank " + std::to_string(Process->rank()))
                    : why;
  printErrors({told});
  bool isBadInput = why.code() == StatusCode::InvalidArgument ||
                    why.code() == StatusCode::NotFound || why.code() == StatusCode::Unsupported;
  return isBadInput ? kBadInput : kWrong;
}

int RankedRun::prepare() {
  int status = kBadInput;
  CompileSettings settings = Options;
  settings.prove = false; // what hangs is worth a run: the report and the dump show where
  Compiled = compile(From, settings, status);
  if (!Compiled)
    return status;
  AsWritten = compile(From, {.entry = Options.entry}, status);
  if (!AsWritten)
    return status;
  for (RankArguments *args : {&Args, &ForTorch}) {
    Expected<RankArguments> made = rankArgumentsOf(From, AsWritten->entry, Options, Ranks);
    if (!made)
      return badInput(made.status());
    *args = std::move(*made);
  }
  return kGood;
}

int RankedRun::evaluateFormula() {
  if (!From.example || From.example->formula.empty() || Options.noFormula)
    return kGood;
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  Expected<FormulaResult> result =
      worker ? kiln::evaluateFormula(From.example->formula, From.config, AsWritten->entry,
                                     Args.whole, **worker, Ranks)
             : worker.status();
  if (result)
    Formula = *result;
  else if (result.status().code() == StatusCode::NotFound && !std::getenv("KILN_PYTHON"))
    Skipped.push_back("comparison with the formula (" + result.status().message() + ")");
  else
    return badInput(result.status().message());
  return kGood;
}

int RankedRun::writeTimelines(const RunReport &report) {
  std::vector<int32_t> ranks = mine();
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Timeline &timeline = Process ? report.timeline : report.rankTimelines[i];
    const Trace &trace = Process ? report.trace : report.rankTraces[i];
    if (Status failed = writeTimeline(rankDirectory(Options.out, ranks[i]),
                                      From.name + " on " + Options.platform->name() + ", rank " +
                                          std::to_string(ranks[i]),
                                      timeline, trace);
        !failed.isOk())
      return fail(failed);
  }
  if (Process)
    return kGood;
  Status failed = writeRankTimelines(Options.out, From.name + " on " + Options.platform->name(),
                                     report.rankTimelines, report.rankTraces);
  return failed.isOk() ? kGood : fail(failed);
}

std::string RankedRun::describeArguments() const {
  std::string text = "program: " + From.name + "\n";
  std::vector<std::string> names = parameterNames(ir::FuncOp(AsWritten->entry));
  for (auto [index, arg] : llvm::enumerate(Args.ofRank[static_cast<size_t>(Process->rank())])) {
    const auto *tensor = std::get_if<Tensor>(&arg);
    text += names[index] + ": " + (tensor ? tensor->str() : std::get<ScalarBits>(arg).str()) + "\n";
  }
  return text;
}

int RankedRun::execute() {
  RunRequest request = Options.requestOf(*Compiled->module, Compiled->entry, From.name);
  if (Process) {
    request.args = Args.ofRank[static_cast<size_t>(Process->rank())];
    request.transport = Process;
    request.dump.directory = rankDirectory(Options.out, Process->rank());
  } else {
    request.rankArgs = Args.ofRank;
  }
  if (Process)
    if (Status bad = verifySame(*Process, describeArguments(), Options.timeout); !bad.isOk())
      return fail(bad);
  RunReport report;
  auto start = std::chrono::steady_clock::now();
  Status ran = Options.platform->run(request, report);
  Seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() -
            report.compileSeconds;
  bool isRecorded =
      Options.timeline && (!report.rankTimelines.empty() || report.timeline.isRecorded());
  if (int code = isRecorded ? writeTimelines(report) : kGood)
    return code;
  return ran.isOk() ? kGood : fail(ran);
}

int RankedRun::compareWithFormula() {
  if (!Formula)
    return kGood;
  std::vector<std::string> names = parameterNames(AsWritten->entry);
  for (int32_t rank : mine())
    for (const auto &[index, want] : Formula->outputs) {
      const auto &have = std::get<Tensor>(Args.ofRank[static_cast<size_t>(rank)][index]);
      Expected<std::pair<Tensor, Tensor>> both = realPart(have, want, Args.axes[index], rank);
      if (!both)
        return fail(both.status());
      Checks.push_back({rank, names[index], "formula",
                        kiln::compareWithFormula(both->first, both->second, Formula->accumulates)});
    }
  return kGood;
}

int RankedRun::compareWithReference() {
  if (Options.platform->can(Capability::Reference) || Options.noReference || !isFirst())
    return kGood;
  Status failed = runReferenceOfRanks(*AsWritten->module, AsWritten->entry, Options.textOptions(),
                                      ForTorch.ofRank);
  if (failed.code() == StatusCode::NotFound && !std::getenv("KILN_PYTHON")) {
    Skipped.push_back("comparison with the PyTorch reference (" + failed.message() + ")");
    return kGood;
  }
  if (!failed.isOk())
    return fail(failed.withPrefix("the PyTorch reference failed"));
  std::vector<std::string> names = parameterNames(AsWritten->entry);
  for (int32_t rank : mine())
    for (auto [index, arg] : llvm::enumerate(Args.ofRank[static_cast<size_t>(rank)]))
      if (auto *tensor = std::get_if<Tensor>(&arg);
          tensor && AsWritten->entry.getArgDirection(index) != ir::Direction::In)
        Checks.push_back(
            {rank, names[index], defaultPlatform(Capability::Reference).name(),
             kiln::compareWithReference(
                 *tensor, std::get<Tensor>(ForTorch.ofRank[static_cast<size_t>(rank)][index]))});
  return kGood;
}

int RankedRun::finish() {
  bool ok = llvm::all_of(Checks, [](const RankCheck &check) { return check.difference.ok; });
  std::string text;
  auto add = [&](const char *format, auto... values) {
    char line[512];
    std::snprintf(line, sizeof line, format, values...);
    text += line;
  };
  if (Options.json) {
    Json json{{"program", From.name},
              {"platform", Options.platform->name()},
              {"ranks", Ranks},
              {"seconds", Seconds},
              {"ok", ok}};
    if (Process)
      json["rank"] = Process->rank();
    json["checks"] = Json::array();
    for (const RankCheck &check : Checks)
      json["checks"].push_back(
          {{"rank", check.rank},
           {"output", check.output},
           {"against", check.against},
           {"ok", check.difference.ok},
           {"max_error", std::isfinite(check.difference.largest) ? Json(check.difference.largest)
                                                                 : Json(nullptr)}});
    json["skipped"] = Skipped;
    text = documentText(json);
    noteJsonPrinted();
  } else {
    add("%s on %s, %s%d ranks: %.3f s\n", From.name.c_str(), Options.platform->name().c_str(),
        Process ? ("rank " + std::to_string(Process->rank()) + " of ").c_str() : "", Ranks,
        Seconds);
    for (const RankCheck &check : Checks) {
      add("  rank %-3d %-8s  against %-8s  max |error| %-10.3g  %s\n", check.rank,
          check.output.c_str(), check.against.c_str(), check.difference.largest,
          check.difference.ok ? "ok" : "WRONG");
      if (!check.difference.ok)
        text += "            " + check.difference.where() + "\n";
    }
    for (const std::string &reason : Skipped)
      text += "  skipped: " + reason + "\n";
    if (Options.dumpLevel > 0)
      text += "  dumps: " + rankDirectory(Options.out, mine().front()) + "/tensor_dump and so on\n";
    if (Options.timeline)
      text += "  timelines: " + rankDirectory(Options.out, mine().front()) +
              "/timeline.json and so on\n";
    text += !ok ? "FAIL\n" : Checks.empty() ? "RAN (nothing to compare with)\n" : "PASS\n";
  }
  // One write, so that the lines of several processes stay together.
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  return ok ? kGood : kWrong;
}

int run(const Source &source, const RunSettings &options, int32_t ranks, Transport *transport) {
  RankedRun run(source, options, ranks, transport);
  for (auto step : {&RankedRun::prepare, &RankedRun::evaluateFormula, &RankedRun::execute,
                    &RankedRun::compareWithFormula, &RankedRun::compareWithReference})
    if (int status = (run.*step)())
      return status;
  return run.finish();
}

/// What several ranks do not do, as the options ask for it; empty if nothing.
std::string findConflict(const RunSettings &options) {
  if (!options.platform->can(Capability::Ranks))
    return "the " + options.platform->name() + " platform does not run several ranks; use " +
           platformNames(Capability::Ranks);
  if (options.seeds > 0 || options.nan)
    return "--seeds and --nan check schedules of one rank; `kiln check --ranks N` checks those of "
           "several";
  if (options.verifyEach)
    return "--verify-each compares runs of one rank; leave out --ranks";
  if (!options.orchestration.empty())
    return "--orchestration launches one rank; leave out --ranks";
  return "";
}

} // namespace

Expected<RankArguments> rankArgumentsOf(const Source &source, ir::FuncOp entry,
                                        const RunSettings &options, int32_t ranks) {
  ArgSpecs specs = options.args;
  if (source.example)
    for (const auto &[name, spec] : source.example->args)
      specs.try_emplace(name, spec);
  Expected<WholeArguments> whole = makeWholeArguments(entry, specs, options.dataSeed);
  if (!whole)
    return whole.status();
  RankArguments made{std::move(whole->args), std::move(whole->axes), {}};
  for (int32_t rank = 0; rank < ranks; ++rank) {
    std::vector<Argument> &mine = made.ofRank.emplace_back();
    for (auto [index, arg] : llvm::enumerate(made.whole)) {
      auto *tensor = std::get_if<Tensor>(&arg);
      if (!tensor) {
        mine.push_back(arg);
        continue;
      }
      bool isOut = entry.getArgDirection(index) == ir::Direction::Out;
      Expected<Tensor> part = partOfRank(*tensor, made.axes[index], rank, ranks, isOut);
      if (!part)
        return part.status();
      mine.push_back(*part);
    }
    if (Status bad = checkArguments(entry, mine); !bad.isOk())
      return bad.withPrefix("rank " + std::to_string(rank));
  }
  return made;
}

std::optional<int> runOnRanks(const Source &source, const RunSettings &options) {
  std::optional<int32_t> launched = launchedRanks();
  bool hasRanks = ir::findRanks(source.module) != nullptr;
  if (options.ranks == 0 && !(launched && hasRanks))
    return std::nullopt;
  if (std::string conflict = findConflict(options); !conflict.empty())
    return badInput(conflict);
  if (!launched || !hasRanks)
    return run(source, options, static_cast<int32_t>(options.ranks), nullptr);
  if (options.ranks != 0 && options.ranks != *launched)
    return badInput("--ranks " + std::to_string(options.ranks) + " under a launcher that started " +
                    std::to_string(*launched) + " processes; leave out --ranks");
  Expected<Transport *> transport = openMpi();
  if (!transport)
    return badInput(transport.status().message());
  int code = run(source, options, *launched, *transport);
  finishJson(exitCodeAfterSignals(code)); // a rank that fails ends all processes, this one too
  closeMpi(code != kGood);
  return code;
}

} // namespace kiln
