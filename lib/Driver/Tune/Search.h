//===- Search.h - which choices are tried ----------------------------------------------===//
//
// The usual choice, one change at a time, then what a model of the times so far hopes most of, and
// at last what the compiler can be told. Each is recorded, compiled on threads, checked, and given
// a first look; who is the fastest is another question (PlayOff.h).
//
// Threads: one; it has others compile.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_TUNE_SEARCH_H
#define KILN_LIB_DRIVER_TUNE_SEARCH_H

#include "Tune/Candidates.h"
#include "Tune/TestBed.h"

namespace kiln {

class Search {
public:
  /// All of these outlive it.
  Search(const WrittenProgram &written, const ConfigValues &given, const Platform &platform,
         const Choices &choices, TestBed &bed, Budget &budget)
      : Written(written), Given(given), Target(platform), Offered(choices), Bed(bed), Time(budget) {
  }

  /// Tries what it finds worth it. `kept` is what an earlier search found, which is not lost where
  /// this one has less time. Where the usual choice is refused nothing else is tried.
  void run(const std::optional<Trial> &kept);

  /// One more time of a candidate, by a visit; or it is refused.
  void visit(Candidate &candidate) const;

  Candidate &usual() { return *Tried.front(); }
  /// Null if it was not tried.
  Candidate *find(const Trial &trial);
  /// Those that can be used: first those that were measured in turns, the fastest first.
  std::vector<Candidate *> ranking();
  /// Those that may be the fastest, by a first look.
  std::vector<Candidate *> hopefuls();
  const std::vector<std::unique_ptr<Candidate>> &tried() const { return Tried; }

private:
  /// What comes next, by what is known when that is asked; none: that was all.
  using NextTrial = llvm::function_ref<std::optional<Trial>()>;
  /// Has them compiled at the same time, and checks and measures each, or refuses it, until this
  /// share of the time is used. Where calls need the cores, measuring waits for compiling.
  void tryAll(NextTrial next, llvm::StringRef what, uint64_t count, double share);
  void tryAll(llvm::ArrayRef<Trial> trials, llvm::StringRef what, double share);
  void tryPromising();
  void tryCompiler();

  std::string record(Attempt &attempt) const;
  void build(Attempt &attempt);
  void tryOut(Attempt attempt);
  void look(Candidate &candidate);
  void lookAgain();
  /// The time of a call in one stretch; infinite where it is refused.
  double stretch(Candidate &candidate) const;
  SpeedModel learn() const;

  const WrittenProgram &Written;
  const ConfigValues &Given;
  const Platform &Target;
  const Choices &Offered;
  TestBed &Bed;
  Budget &Time;
  Jit Calls;
  std::vector<std::unique_ptr<Candidate>> Tried; ///< The first has the usual choice.
  double Fastest = INFINITY;                     ///< Stretch of all.
  double FastestOfUsual = INFINITY;              ///< Stretch of the usual choice.
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_SEARCH_H
