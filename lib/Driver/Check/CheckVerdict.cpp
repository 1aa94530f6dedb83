#include "CheckVerdict.h"
#include "abi/JsonOutput.h"

#include "Record.h"
#include "Terminal.h"

#include "abi/RunFiles.h"
#include "kiln/Program/Signature.h"
#include "kiln/runtime/shown.h"

#include <cstdio>
#include <regex>

using namespace mlir;

namespace kiln {

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

/// What two findings have in common that are told once. The program as written and the compiled one
/// do the same wrong at the same lines; which side of a race comes second, and who is the last to
/// write a tensor that is not written whole, depend on the schedule.
static std::string keyOf(const Finding &finding) {
  std::string key = toString(finding.kind);
  if (finding.kind == FindingKind::UnwrittenOutput && finding.notes.size() >= 2) // of an entry: 'y'
    return key + " " + finding.notes[1].location.str() + " " +
           StringRef(finding.message).split('\'').second.split('\'').first.str();
  std::multiset<std::string> places{finding.location.str()};
  for (const Finding::Note &note : finding.notes)
    if (note.location.isKnown())
      places.insert(note.location.str());
  if (!finding.location.isKnown())
    key += finding.message;
  for (const std::string &place : places)
    key += " " + place;
  return key;
}

void CheckVerdict::add(const Finding &finding, const std::string &arguments) {
  auto [known, isNew] = Told.try_emplace(keyOf(finding), Findings.size());
  if (isNew)
    Findings.push_back({finding, arguments});
  else
    Findings[known->second].finding.count += finding.count;
}

void CheckVerdict::add(Gap gap) {
  if (ToldGaps.insert(gap.location.str() + (gap.kind.empty() ? gap.what : gap.kind)).second)
    Gaps.push_back(std::move(gap));
}

void CheckVerdict::addProofs(std::vector<GroupProof> proofs, std::vector<RoleProof> ofRoles) {
  auto isKnown = [](const auto &all, const std::string &name) {
    return llvm::any_of(all, [&](const auto &known) { return known.name == name; });
  };
  for (RoleProof &role : ofRoles)
    if (!isKnown(roles, role.name))
      roles.push_back(std::move(role));
  for (GroupProof &group : proofs) {
    const auto &[name, proof] = group;
    if (isKnown(groups, name))
      continue;
    if (proof.verdict == PipeProof::Verdict::Undecided) {
      Gap gap{"the pipes of @" + name + " are neither proved nor refuted", {}, ""};
      if (!proof.reasons.empty()) {
        gap.what += ": " + proof.reasons.front().text;
        gap.location = sourceLocOf(proof.reasons.front().loc);
      }
      gap.remedy =
          "use trip counts and conditions that both roles compute alike, or a require that "
          "fixes them";
      add(std::move(gap));
    } else if (proof.verdict == PipeProof::Verdict::Proved && !proof.condition.empty()) {
      std::string condition = std::regex_replace(proof.condition, std::regex(" = "), " == ");
      add({"the pipes of @" + name + " are proved only if " + proof.condition,
           {},
           "say require(" + condition + ", \"...\") if nothing else is allowed"});
    }
    groups.push_back(std::move(group));
  }
}

std::vector<PipeFinding> CheckVerdict::refuted() const {
  std::vector<PipeFinding> all;
  for (const GroupProof &group : groups)
    llvm::append_range(all, group.proof.findings);
  for (const RoleProof &role : roles)
    llvm::append_range(all, role.findings);
  return all;
}

bool CheckVerdict::hasFindings() const {
  return !Findings.empty() || warnings > 0 || !refuted().empty();
}

const char *CheckVerdict::word() const {
  return hasFindings() ? "FINDINGS" : Gaps.empty() ? "CLEAN" : "INCOMPLETE";
}

int CheckVerdict::exitCode(bool allowIncomplete) const {
  if (hasFindings())
    return kWrong;
  return Gaps.empty() || allowIncomplete ? kGood : kIncomplete;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static const char *toString(PipeProof::Verdict verdict) {
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

/// How to see a finding again, and nothing else.
static std::string replayOf(const CaseFinding &found, const RunSettings &options) {
  std::string command = options.command;
  if (!found.arguments.empty())
    command += " " + found.arguments;
  return command + " --as-given";
}

static CheckReport reportOf(const CaseFinding &found) {
  CheckReport report;
  report.findings = {found.finding};
  return report;
}

static Json toJson(const PipeMessage &message) {
  return {{"message", message.text}, {"location", sourceLocOf(message.loc).str()}};
}

static Json toJson(const std::vector<PipeMessage> &messages) {
  Json list = Json::array();
  for (const PipeMessage &message : messages)
    list.push_back(toJson(message));
  return list;
}

static void addFindings(const std::vector<PipeFinding> &findings, Json &entry) {
  for (const PipeFinding &finding : findings) {
    Json item = toJson(finding.what);
    item["notes"] = toJson(finding.notes);
    entry["findings"].push_back(item);
  }
}

static Json toJson(const GroupProof &group) {
  Json entry{{"name", group.name}, {"verdict", toString(group.proof.verdict)}};
  if (!group.proof.condition.empty())
    entry["condition"] = group.proof.condition;
  if (!group.proof.reasons.empty())
    entry["reasons"] = toJson(group.proof.reasons);
  addFindings(group.proof.findings, entry);
  return entry;
}

static const char *wordOf(const RoleProof &role) {
  return toString(role.findings.empty() ? PipeProof::Verdict::Proved : PipeProof::Verdict::Refuted);
}

static Json toJson(const RoleProof &role) {
  Json entry{{"name", role.name}, {"verdict", wordOf(role)}};
  addFindings(role.findings, entry);
  return entry;
}

static Json toJson(const CheckVerdict &verdict, const Source &source, const RunSettings &options) {
  bool isClean = !verdict.hasFindings() && verdict.gaps().empty();
  Json json{{"program", source.name},
            {"platform", options.platform->name()},
            {"verdict", verdict.word()},
            {"ok", isClean}};
  json["groups"] = Json::array();
  for (const GroupProof &group : verdict.groups)
    json["groups"].push_back(toJson(group));
  for (const RoleProof &role : verdict.roles)
    json["roles"].push_back(toJson(role));
  json["plan"] = {{"cases", verdict.cases},
                  {"refused", verdict.refused},
                  {"compared_with_formula", verdict.compared},
                  {"first_seed", verdict.firstSeed},
                  {"seeds", verdict.seeds}};
  if (!verdict.ranks.empty())
    json["ranks"] = verdict.ranks;
  json["findings"] = Json::array();
  for (const CaseFinding &found : verdict.findings()) {
    Json entry = parseJson(toJson(reportOf(found), replayOf(found, options)))["findings"][0];
    entry["arguments"] = found.arguments;
    json["findings"].push_back(entry);
  }
  json["incomplete"] = Json::array();
  for (const Gap &gap : verdict.gaps())
    json["incomplete"].push_back(
        {{"what", gap.what}, {"location", gap.location.str()}, {"remedy", gap.remedy}});
  if (verdict.warnings > 0)
    json["warnings"] = verdict.warnings;
  return json;
}

void printJson(const CheckVerdict &verdict, const Source &source, const RunSettings &options) {
  printJson(toJson(verdict, source, options));
}

Status recordCheck(const CheckVerdict &verdict, const Source &source, const RunSettings &options,
                   const CodeRecord &code) {
  Json json{{"format", "kiln-check"}, {"version", 1}, {"command", options.command}};
  json.update(toJson(verdict, source, options));
  for (size_t i = 0; i < verdict.findings().size(); ++i)
    addDetails(json["findings"][i], verdict.findings()[i].finding);
  // What the proof refutes is a finding like any other; it needs no schedule.
  for (const PipeFinding &finding : verdict.refuted()) {
    Json entry{{"kind", "proof"},
               {"message", finding.what.text},
               {"location", placeJson(sourceLocOf(finding.what.loc))},
               {"notes", Json::array()}};
    for (const PipeMessage &note : finding.notes)
      entry["notes"].push_back(
          {{"message", note.text}, {"location", placeJson(sourceLocOf(note.loc))}});
    json["findings"].push_back(std::move(entry));
  }
  if (Status bad = writeRunFile(options.out, "check.json", json); !bad.isOk())
    return bad;
  return code.write(options.out);
}

static void printNotes(const std::vector<PipeMessage> &notes) {
  for (const PipeMessage &note : notes)
    std::printf("%s: note: %s\n", sourceLocOf(note.loc).str().c_str(), note.text.c_str());
}

static void printGroup(const GroupProof &group) {
  const PipeProof &proof = group.proof;
  std::printf("  pipes of @%s: %s%s%s\n", group.name.c_str(), toString(proof.verdict),
              proof.condition.empty() ? "" : " if ", proof.condition.c_str());
  printNotes(proof.reasons);
}

static std::string count(uint64_t number, const std::string &what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

static void printPlan(const CheckVerdict &verdict, const RunSettings &options) {
  if (verdict.cases == 0 && !verdict.ranks.empty())
    return; // what ranks did has been told
  size_t found = verdict.findings().size();
  std::printf("  simulation on %s: %s, %s of the first, findings: %zu\n",
              options.platform->name().c_str(), count(verdict.cases, "case").c_str(),
              count(verdict.seeds, "schedule").c_str(), found);
  if (verdict.refused > 0)
    std::printf("  not allowed by the program: %s\n", count(verdict.refused, "case").c_str());
  if (verdict.compared > 0)
    std::printf("  compared with the formula: %s\n", count(verdict.compared, "case").c_str());
}

void printText(const CheckVerdict &verdict, const Source &source, const RunSettings &options) {
  for (const PipeFinding &finding : verdict.refuted()) {
    printErrors(
        {Status(StatusCode::KernelFailed, finding.what.text, sourceLocOf(finding.what.loc))},
        stdout);
    printNotes(finding.notes);
  }
  for (const CaseFinding &found : verdict.findings())
    std::fputs(highlighted(stdout, toText(reportOf(found), replayOf(found, options))).c_str(),
               stdout);
  std::printf("%s\n", source.name.c_str());
  for (const GroupProof &group : verdict.groups)
    printGroup(group);
  for (const RoleProof &role : verdict.roles)
    std::printf("  flags of @%s: %s\n", role.name.c_str(), wordOf(role));
  for (const std::string &shown : verdict.ranks)
    std::printf("  %s\n", shown.c_str());
  printPlan(verdict, options);
  if (verdict.warnings > 0)
    std::printf("  --strict: %s of the compiler\n", count(verdict.warnings, "warning").c_str());
  for (const Gap &gap : verdict.gaps()) {
    std::string where = gap.location.isKnown() ? gap.location.str() + ": " : "";
    std::printf("  incomplete: %s\n", shown(where + gap.what).c_str());
    if (!gap.remedy.empty())
      std::printf("              %s\n", shown(gap.remedy).c_str());
  }
  std::printf("%s\n", kiln::verdict(stdout, verdict.word(),
                                    !verdict.hasFindings() && verdict.gaps().empty())
                          .c_str());
}

} // namespace kiln
