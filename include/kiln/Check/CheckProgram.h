//===- CheckProgram.h - hunts for faults of a program in many schedules ---------------===//
//
// Simulates a program under many seeds with every check on and collects what was found: races,
// reads of memory nobody wrote, outputs that nobody wrote whole, promises that are not kept, uses
// of a freed slot, the birth of NaN, padding that is taken for data, and whatever stops a plain
// simulation (deadlock, out of bounds, division by zero). The same seeds give the same report, byte
// for byte. See docs/simulator.md.
//
// Ownership: borrows its arguments for the length of the call; a report is a value.
// Threads: as simulate().
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_CHECK_CHECKPROGRAM_H
#define KILN_CHECK_CHECKPROGRAM_H

#include "kiln/Simulator/Simulator.h"

#include "llvm/ADT/BitVector.h"

#include <functional>

namespace kiln {

enum class FindingKind : uint8_t {
  Race,             ///< Two accesses to one element, one of them a write, that nothing orders.
  UnwrittenRead,    ///< A read of memory nobody wrote.
  UseAfterFree,     ///< A popped tile used after its slot was freed.
  NanBirth,         ///< NaN from operands without NaN.
  PaddedReduction,  ///< A reduction, order or matrix product takes padding for data.
  UnwrittenOutput,  ///< Elements of an `out` of the entry that nobody wrote.
  UndeclaredOutput, ///< As above, or added to, of a tensor whose direction the entry leaves open.
  PaddingTaken,     ///< Padding that becomes a scalar, which is not followed further.
  MissingData,      ///< An output holds padding that was taken for want of data, or its index.
  PaddingStored, ///< An output holds what was made of padding, and nothing says that it is meant.
  BrokenPromise, ///< Of a parallel loop, of a launch that starts all blocks at once, of a body.
  WrongResult,   ///< Other numbers than the formula gives.
  Deadlock,
  Fault ///< Anything else that stops a simulation.
};
/// "race", "unwritten-read", ...
const char *toString(FindingKind kind);

/// One thing that somebody did in a simulation, for people who follow it.
struct FindingStep {
  enum class Kind : uint8_t { Start, Read, Write, AtomicAdd, Push, Pop, Free, Blocked };
  Kind kind = Kind::Start;
  uint64_t task = 0;
  std::array<int64_t, 3> block{0, 0, 0};
  std::string instance; ///< The function, with `#lane` where the role has lanes.
  std::string what;     ///< In words: "pushes into 'to_aiv' (1 of 2 slots in use)".
  SourceLoc location;
};
/// "start", "read", ...
const char *toString(FindingStep::Kind kind);

/// What is wrong, where, and how to see it again.
struct Finding {
  struct Note {
    std::string message;
    SourceLoc location;
  };
  FindingKind kind = FindingKind::Fault;
  std::string message;
  SourceLoc location;
  std::vector<Note> notes; ///< The other side of a race, the free before a use, and what to do.
  /// Who did it. Without a task: an orchestration, or what a fault's message says.
  std::optional<uint64_t> task;
  std::array<int64_t, 3> block{0, 0, 0};
  std::string instance; ///< The function, with `#lane` where the role has lanes.
  uint64_t seed = 0;    ///< The first in which it was found.
  uint64_t count = 1;   ///< How often, in all seeds: other elements, blocks or iterations.
  /// The last steps up to it, if they were asked for; before those, where it is a race, the other
  /// side.
  std::vector<FindingStep> schedule = {};

  /// What is not shown to be wrong is said, but is no error: nobody promised otherwise.
  bool isError() const {
    return kind != FindingKind::UndeclaredOutput && kind != FindingKind::PaddingTaken &&
           kind != FindingKind::PaddingStored;
  }
};

/// What the decisions of a program came to: those of branches, of choices between two scalars, of
/// predicates and loops. 1: the condition held, or the left of two was the lesser, or the loop ran;
/// 2: it did not hold, or the right was the lesser, or the loop ran more than once; 4: the loop was
/// reached and did not run; and sums of these.
using TakenSides = llvm::DenseMap<mlir::Operation *, uint8_t>;

/// An element of an output that is wrong, and why, in words.
struct WrongElement {
  std::vector<int64_t> at;
  std::string message;
};

struct CheckOptions {
  uint64_t firstSeed = 0;
  uint64_t seeds = 8;     ///< firstSeed, firstSeed + 1, ...
  bool nan = false;       ///< Report the birth of NaN.
  bool schedules = false; ///< Keep the steps that lead to each finding.
  /// Stop each simulation after so many steps (see SimulatorOptions).
  uint64_t maxSteps = UINT64_MAX;
  /// If it is known: only what happens at this place of the source counts, and a simulation ends
  /// when nothing can come there any more. What it then leaves in the outputs is not looked at.
  SourceLoc until = {};
  /// Find only what stops a simulation, which goes faster.
  bool onlyStops = false;
  /// The parameters of the entry whose direction the program leaves open.
  llvm::BitVector undeclared = {};
  /// If given: what every run took is added to it.
  TakenSides *sides = nullptr;
  /// If given: asked of each output when the run of the first seed has ended well. What it answers
  /// is a finding at what wrote the element.
  std::function<std::optional<WrongElement>(unsigned parameter)> findWrong = {};
  /// As in SimulatorOptions; the dump is of the first seed.
  const Machine *machine = nullptr;
  DumpOptions dump;
  std::string program, platform = "sim";
};

struct CheckReport {
  std::vector<Finding> findings; ///< In order of discovery, each pair of lines once.
  uint64_t firstSeed = 0, seeds = 0;
  uint64_t blocks = 0, operations = 0; ///< Of all seeds.
  uint64_t steps = 0;                  ///< Likewise; see SimulatorOptions::maxSteps.
  bool hasNanInOutput = false;         ///< Some run left NaN in an output.
  /// Where a run was stopped because its steps were used up; then it is the last.
  std::optional<Status> outOfSteps = {};

  bool hasErrors() const {
    return llvm::any_of(findings, [](const Finding &finding) { return finding.isError(); });
  }
};

/// Simulates `entry` of a prepared module once per seed, each time on the same inputs. What the
/// program did wrong is in the report; an error is one of the caller: InvalidArgument or
/// FailedPrecondition as simulate() gives them, Unsupported, or IoError of the dump. `args` hold
/// the results of the first seed afterwards.
Expected<CheckReport> checkProgram(mlir::ModuleOp prepared, ir::FuncOp entry,
                                   std::span<const Argument> args,
                                   const CheckOptions &options = {});

/// A finding's schedule as JSON: lanes, one for each instance, and steps in their order.
std::string scheduleJson(const Finding &finding);
/// What a simulation of several ranks showed.
struct RankReport {
  std::vector<Finding> findings;
  uint64_t collectives = 0; ///< That all their ranks came to, and messages that arrived.
  uint64_t tasks = 0;       ///< Of all ranks, without those.
  uint64_t length = 0;      ///< Tasks in the longest chain that waits for one another.
  std::optional<Status> outOfSteps = {};
};

/// Simulates `entry` on as many ranks as there are lists of arguments, under the first seed of the
/// options. Without kernels the memory of tensors means nothing, and only who meets whom is found.
Expected<RankReport> checkRanks(mlir::ModuleOp prepared, ir::FuncOp entry,
                                std::span<const std::vector<Argument>> args,
                                const CheckOptions &options, bool runsKernels);

/// The findings the way compilers print them, with lines of the source where its file can be read.
/// `replay` is the command to which `--seeds 1 --seed N` can be added; empty: left out.
std::string toText(const CheckReport &report, const std::string &replay);
/// {"findings": [...], "first_seed": 0, "seeds": 8, ...}, indented.
std::string toJson(const CheckReport &report, const std::string &replay);

/// "  12 | source": the line of a location with a newline; empty if it cannot be read.
std::string quoteLine(const SourceLoc &location);

} // namespace kiln

#endif // KILN_CHECK_CHECKPROGRAM_H
