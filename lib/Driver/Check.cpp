//===- Check.cpp - `kiln check`: proof, simulation, summary -----------------------------===//
#include "VerifyEach.h"

#include "kiln/Analysis/PipeProof.h"
#include "kiln/Check/CheckProgram.h"
#include "kiln/Target/Signature/Signature.h"

#include <nlohmann/json.hpp>

#include <cstdio>

using namespace mlir;
using Json = nlohmann::ordered_json;

namespace kiln {
namespace {

struct GroupProof {
  std::string name;
  PipeProof proof;
};

struct CheckOutcome {
  std::vector<GroupProof> groups;
  CheckReport simulation;
  std::string skipped; ///< Why nothing was simulated; empty if it was.

  bool isClean() const {
    return !simulation.hasErrors() && llvm::all_of(groups, [](const GroupProof &group) {
      return group.proof.findings.empty();
    });
  }
};

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

std::vector<GroupProof> proveGroups(ModuleOp module, int64_t defaultSlots) {
  std::vector<GroupProof> groups;
  for (auto func : module.getOps<ir::FuncOp>())
    if (func.getKind() == ir::FuncKind::Group)
      groups.push_back({func.getSymName().str(), provePipes(func, defaultSlots)});
  return groups;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

const char *toString(PipeProof::Verdict verdict) {
  switch (verdict) {
  case PipeProof::Verdict::Proved:
    return "proved";
  case PipeProof::Verdict::Refuted:
    return "refuted";
  case PipeProof::Verdict::Undecided:
    return "undecided";
  }
  return "?";
}

Json toJson(const PipeMessage &message) {
  return {{"message", message.text}, {"location", sourceLocOf(message.loc).str()}};
}

Json toJson(const std::vector<PipeMessage> &messages) {
  Json list = Json::array();
  for (const PipeMessage &message : messages)
    list.push_back(toJson(message));
  return list;
}

void reportJson(const Source &source, const RunSettings &options, const CheckOutcome &outcome) {
  Json json{{"program", source.name}, {"platform", options.platform}, {"ok", outcome.isClean()}};
  json["groups"] = Json::array();
  for (const GroupProof &group : outcome.groups) {
    Json entry{{"name", group.name}, {"verdict", toString(group.proof.verdict)}};
    if (!group.proof.condition.empty())
      entry["condition"] = group.proof.condition;
    if (!group.proof.reasons.empty())
      entry["reasons"] = toJson(group.proof.reasons);
    for (const PipeFinding &finding : group.proof.findings) {
      Json item = toJson(finding.what);
      item["notes"] = toJson(finding.notes);
      entry["findings"].push_back(item);
    }
    json["groups"].push_back(entry);
  }
  json["simulation"] = Json::parse(toJson(outcome.simulation, options.command));
  if (!outcome.skipped.empty())
    json["simulation"]["skipped"] = outcome.skipped;
  std::printf("%s\n", json.dump(2).c_str());
}

void printNotes(const std::vector<PipeMessage> &notes) {
  for (const PipeMessage &note : notes)
    std::printf("%s: note: %s\n", sourceLocOf(note.loc).str().c_str(), note.text.c_str());
}

void reportText(const Source &source, const RunSettings &options, const CheckOutcome &outcome) {
  for (const GroupProof &group : outcome.groups)
    for (const PipeFinding &finding : group.proof.findings) {
      printErrors(
          {Status(StatusCode::KernelFailed, finding.what.text, sourceLocOf(finding.what.loc))},
          stdout);
      printNotes(finding.notes);
    }
  std::fputs(toText(outcome.simulation, options.command).c_str(), stdout);
  std::printf("%s\n", source.name.c_str());
  for (const GroupProof &group : outcome.groups) {
    const PipeProof &proof = group.proof;
    std::printf("  pipes of @%s: %s%s%s\n", group.name.c_str(), toString(proof.verdict),
                proof.condition.empty() ? "" : " if ", proof.condition.c_str());
    printNotes(proof.reasons);
  }
  if (!outcome.skipped.empty())
    std::printf("  simulation: skipped (%s)\n", outcome.skipped.c_str());
  else
    std::printf("  simulation on %s: %llu seeds from %llu, findings: %zu\n",
                options.platform.c_str(), static_cast<unsigned long long>(outcome.simulation.seeds),
                static_cast<unsigned long long>(outcome.simulation.firstSeed),
                outcome.simulation.findings.size());
  std::printf("%s\n", !outcome.isClean()        ? "FINDINGS"
                      : outcome.skipped.empty() ? "CLEAN"
                                                : "CLEAN (nothing was simulated)");
}

/// Simulates under all seeds; Python and formulas are not needed for it.
Status simulateSeeds(const CompiledProgram &compiled, std::span<const Argument> args,
                     const RunSettings &options, CheckOutcome &outcome) {
  CheckOptions check;
  check.firstSeed = options.seed;
  check.seeds = options.seeds;
  check.nan = options.nan;
  check.machine = compiled.machine;
  check.platform = options.platform;
  Expected<CheckReport> report = checkProgram(*compiled.module, compiled.entry, args, check);
  if (report)
    outcome.simulation = std::move(*report);
  return report.status();
}

} // namespace

int checkCommand(const Source &source, const RunSettings &options) {
  const Machine *machine = findMachine(options.platform);
  if (!machine)
    return badInput((options.platform == "torch"
                         ? "kiln check simulates a machine"
                         : "there is no platform '" + options.platform + "'") +
                    "; use a2a3sim, a5sim, h200 or cpu");
  if (options.verifyEach)
    if (int status = verifyEachPass(source, options))
      return status;
  CompileSettings settings = options;
  settings.prove = false;       // it is done below, with a report
  settings.mergeGroups = false; // then nobody would race any more
  int status = kBadInput;
  std::optional<CompiledProgram> compiled = compile(source, settings, status);
  if (!compiled)
    return status;
  CheckOutcome outcome;
  outcome.groups = proveGroups(*compiled->module, machine->defaultSlots);
  Expected<std::vector<Argument>> args = argumentsOf(source, compiled->entry, options);
  // Without any arguments the proof alone is worth having.
  if (!args && (source.example || !options.args.empty()))
    return badInput(args.status());
  if (!args)
    outcome.skipped = args.status().message();
  else if (Status bad = simulateSeeds(*compiled, *args, options, outcome); !bad.isOk())
    return badInput(bad.message());
  if (options.json)
    reportJson(source, options, outcome);
  else
    reportText(source, options, outcome);
  return outcome.isClean() ? kGood : kWrong;
}

} // namespace kiln
