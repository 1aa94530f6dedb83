//===- Check.cpp - `kiln check`: proof, simulation, summary -----------------------------===//
#include "Driver.h"

#include "kiln/Analysis/PipeProof.h"
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

/// What one or more schedules found.
struct SimulatedFault {
  Status status;
  uint64_t seed; ///< The first that found it.
};

struct CheckOutcome {
  std::vector<GroupProof> groups;
  std::vector<SimulatedFault> faults;
  std::string skipped; ///< Why nothing was simulated; empty if it was.
  uint64_t firstSeed = 0, seeds = 0;

  size_t findings() const {
    size_t count = faults.size();
    for (const GroupProof &group : groups)
      count += group.proof.findings.size();
    return count;
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

/// Simulates every seed on inputs of its own. A fault that several seeds find is kept once. An
/// error is one of the arguments, not of the program.
Status simulateSeeds(ModuleOp module, ir::FuncOp entry, std::span<const Argument> args,
                     const Machine &machine, CheckOutcome &outcome) {
  for (uint64_t number = 0; number < outcome.seeds; ++number) {
    Expected<std::vector<Argument>> copy = copyArguments(args);
    if (!copy)
      return copy.status();
    SimulatorOptions options;
    options.seed = outcome.firstSeed + number;
    options.machine = &machine;
    Status status = simulate(module, entry, *copy, options);
    if (status.code() == StatusCode::InvalidArgument ||
        status.code() == StatusCode::FailedPrecondition)
      return status;
    bool isKnown = llvm::any_of(outcome.faults, [&](const SimulatedFault &fault) {
      return fault.status.code() == status.code() && fault.status.location() == status.location();
    });
    if (!status.isOk() && !isKnown)
      outcome.faults.push_back({status, options.seed});
  }
  return Status::ok();
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

void reportJson(const Source &source, const std::string &platform, const CheckOutcome &outcome) {
  Json json{{"program", source.name}, {"platform", platform}, {"ok", outcome.findings() == 0}};
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
  Json &simulation = json["simulation"];
  simulation = {{"first_seed", outcome.firstSeed}, {"seeds", outcome.seeds}};
  if (!outcome.skipped.empty())
    simulation["skipped"] = outcome.skipped;
  simulation["findings"] = Json::array();
  for (const SimulatedFault &fault : outcome.faults)
    simulation["findings"].push_back({{"message", fault.status.message()},
                                      {"location", fault.status.location().str()},
                                      {"seed", fault.seed}});
  std::printf("%s\n", json.dump(2).c_str());
}

void printNotes(const std::vector<PipeMessage> &notes) {
  for (const PipeMessage &note : notes)
    std::printf("%s: note: %s\n", sourceLocOf(note.loc).str().c_str(), note.text.c_str());
}

void reportText(const Source &source, const std::string &platform, const CheckOutcome &outcome) {
  for (const GroupProof &group : outcome.groups)
    for (const PipeFinding &finding : group.proof.findings) {
      printErrors(
          {Status(StatusCode::KernelFailed, finding.what.text, sourceLocOf(finding.what.loc))},
          stdout);
      printNotes(finding.notes);
    }
  for (const SimulatedFault &fault : outcome.faults)
    printErrors({fault.status}, stdout);
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
    std::printf("  simulation on %s: %llu seeds from %llu, findings: %zu\n", platform.c_str(),
                static_cast<unsigned long long>(outcome.seeds),
                static_cast<unsigned long long>(outcome.firstSeed), outcome.faults.size());
  std::printf("%s\n", outcome.findings() > 0    ? "FINDINGS"
                      : outcome.skipped.empty() ? "CLEAN"
                                                : "CLEAN (nothing was simulated)");
}

} // namespace

int checkCommand(const Source &source, const RunSettings &options, uint64_t seeds) {
  std::string message;
  if (!isAvailable(options.platform, message))
    return badInput(message);
  const Machine *machine = findMachine(options.platform);
  if (!machine)
    return badInput("kiln check simulates; use -p a2a3sim or -p a5sim");
  int status = kBadInput;
  OwningOpRef<ModuleOp> module = prepare(source, "", status);
  if (!module)
    return status;
  Expected<ir::FuncOp> entry = findEntry(*module, options.entry);
  if (!entry)
    return badInput(entry.status().message());
  if (std::optional<Status> foreign = findForeignRole(*module, *machine)) {
    printErrors({*foreign});
    return kBadInput;
  }
  CheckOutcome outcome;
  outcome.firstSeed = options.seed;
  outcome.seeds = seeds;
  outcome.groups = proveGroups(*module, machine->defaultSlots);
  ArgSpecs specs = options.args;
  if (source.example)
    for (const auto &[name, spec] : source.example->args)
      specs.try_emplace(name, spec);
  Expected<std::vector<Argument>> args = makeArguments(*entry, specs, options.dataSeed);
  // Without any arguments the proof alone is worth having.
  if (!args && !specs.empty())
    return badInput(args.status().message());
  if (!args)
    outcome.skipped = args.status().message();
  else if (Status bad = simulateSeeds(*module, *entry, *args, *machine, outcome); !bad.isOk())
    return badInput(bad.message());
  if (options.json)
    reportJson(source, options.platform, outcome);
  else
    reportText(source, options.platform, outcome);
  return outcome.findings() == 0 ? kGood : kWrong;
}

} // namespace kiln
