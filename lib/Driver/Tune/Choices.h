//===- Choices.h - what a program, and the compiler, can be told otherwise -----------------===//
//
// Each parameter that is varied is an axis; a trial is one choice on each, and what the compiler is
// told besides. Nothing here measures or compiles.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_TUNE_CHOICES_H
#define KILN_LIB_DRIVER_TUNE_CHOICES_H

#include "Driver.h"
#include "Tune/SpeedModel.h"

#include "kiln/Dialect/Kiln/CompilerChoices.h"
#include "kiln/Jit/Compiler/TuneStore.h"

namespace kiln {

/// A parameter that is varied.
struct Axis {
  std::string name;
  std::vector<std::string> choices;
  size_t usual = 0; ///< The choice that the program makes by itself.

  /// Where a choice lies beside the others: twice as large is one step; words are all apart.
  double position(size_t which) const;
};

/// What is tried: one choice for each parameter, and what the compiler is told to choose.
struct Trial {
  std::vector<size_t> choice; ///< Of each axis.
  ConfigValues told = {};
  bool operator==(const Trial &) const = default;
};

class Choices {
public:
  Choices() = default;
  /// What `config` declares and the user has not given, words only if they are in `vary`; and what
  /// the compiler can be told where it compiles for this machine, if there is one.
  Choices(const kiln_config &config, const ConfigValues &given,
          const std::vector<std::string> &vary, const Machine *machine);

  bool isEmpty() const { return Axes.empty() && Tellable.empty(); }
  /// How many combinations the program has.
  uint64_t count() const;
  const std::vector<ir::CompilerChoice> &ofTheCompiler() const { return Tellable; }

  Trial usual() const;
  /// The usual choice with one parameter changed, for each value of each.
  std::vector<Trial> withOneChange() const;
  /// Every combination, the first `most` of them.
  std::vector<Trial> all(uint64_t most) const;

  ConfigValues valuesOf(const Trial &trial) const;
  /// The same for people: "BM=64 BN=32".
  std::string words(const Trial &trial) const;
  /// What has these values, as they were kept; none if they are not of this program any more.
  std::optional<Trial> trialOf(const ConfigValues &values) const;
  SpeedModel::Point pointOf(const Trial &trial) const;

private:
  std::vector<Axis> Axes;
  std::vector<ir::CompilerChoice> Tellable;
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_CHOICES_H
