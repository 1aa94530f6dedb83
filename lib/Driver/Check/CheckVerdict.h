//===- CheckVerdict.h - what a check found, and what it did not decide --------------------===//
//
// A check ends in one of three words. CLEAN: every pipe is proved, the plan was tried to its end,
// outputs are written whole and equal the formula. FINDINGS: something wrong was shown, with the
// arguments and the schedule that show it. INCOMPLETE: nothing wrong was shown, but something was
// not decided or not tried; it is said what, why, and what would settle it. See docs/check.md.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_CHECK_CHECKVERDICT_H
#define KILN_LIB_DRIVER_CHECK_CHECKVERDICT_H

#include "Driver.h"

#include "kiln/Analysis/PipeProof.h"

#include <set>

namespace kiln {

class CodeRecord;

struct GroupProof {
  std::string name;
  PipeProof proof;
};

/// What was proved of the flags and barriers of a role.
struct RoleProof {
  std::string name;
  std::vector<PipeFinding> findings; ///< None: they keep the units of a core in order.
};

/// Something that was not decided or not tried.
struct Gap {
  std::string what;
  SourceLoc location = {};
  std::string remedy = {}; ///< The flag or `require` that would settle it.
  std::string kind = {};   ///< What is told once for each place; empty: by its words.
};

struct CaseFinding {
  Finding finding;
  std::string arguments; ///< "--arg x=9x16", of the case that showed it.
};

class CheckVerdict {
public:
  std::vector<GroupProof> groups;
  std::vector<RoleProof> roles;      ///< Of machines whose units work at the same time.
  uint64_t firstSeed = 0, seeds = 0; ///< Of the first case; the others have one schedule each.
  uint64_t cases = 0;                ///< That were tried.
  uint64_t refused = 0;              ///< Shapes that the program does not admit.
  uint64_t compared = 0;             ///< With the formula.
  unsigned warnings = 0;             ///< Of the compiler, if they count.
  std::vector<std::string> ranks;    ///< What was shown of several ranks.

  /// What one place did wrong is told once, with the first case that showed it.
  void add(const Finding &finding, const std::string &arguments);
  void add(Gap gap);
  /// What is proved of pipes and flags, each function once, however many entries launch it; what
  /// the proof of pipes leaves open is a gap.
  void addProofs(std::vector<GroupProof> proofs, std::vector<RoleProof> ofRoles);

  const std::vector<CaseFinding> &findings() const { return Findings; }
  const std::vector<Gap> &gaps() const { return Gaps; }
  /// What the proofs refute, of groups and of roles.
  std::vector<PipeFinding> refuted() const;
  bool hasFindings() const;
  /// "CLEAN", "FINDINGS" or "INCOMPLETE".
  const char *word() const;
  int exitCode(bool allowIncomplete) const;

private:
  std::vector<CaseFinding> Findings;
  std::vector<Gap> Gaps;
  std::map<std::string, size_t> Told;
  std::set<std::string> ToldGaps;
};

void printText(const CheckVerdict &verdict, const Source &source, const RunSettings &options);
void printJson(const CheckVerdict &verdict, const Source &source, const RunSettings &options);
/// Writes check.json, which is what printJson prints with the schedules of the findings, and
/// code.json into options.out.
Status recordCheck(const CheckVerdict &verdict, const Source &source, const RunSettings &options,
                   const CodeRecord &code);

} // namespace kiln

#endif // KILN_LIB_DRIVER_CHECK_CHECKVERDICT_H
