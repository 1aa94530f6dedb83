#include "Tune/Choices.h"

#include <cmath>

using namespace mlir;

namespace kiln {

double Axis::position(size_t which) const {
  int64_t number = 0;
  bool isNumber = !StringRef(choices[which]).getAsInteger(10, number) && number > 0;
  return isNumber ? std::log2(double(number)) : 8.0 * double(which);
}

/// Integers that are listed are sizes of tiles and the like; what words mean nobody knows, so they
/// are varied only if they are named.
Choices::Choices(const kiln_config &config, const ConfigValues &given,
                 const std::vector<std::string> &vary, const Machine *machine) {
  for (const kiln_config::Declared &param : config.declared) {
    int64_t number;
    bool isList = param.choices.size() > 1 && llvm::all_of(param.choices, [&](StringRef word) {
                    return !word.getAsInteger(10, number);
                  });
    bool isNamed = llvm::is_contained(vary, param.name) && param.choices.size() > 1;
    auto usual = llvm::find(param.choices, param.value);
    if ((isList || isNamed) && !given.contains(param.name) && usual != param.choices.end())
      Axes.push_back({param.name, param.choices, size_t(usual - param.choices.begin())});
  }
  if (machine)
    for (ir::CompilerChoice &choice : ir::compilerChoices(*machine))
      if (!given.contains(choice.name))
        Tellable.push_back(std::move(choice));
}

uint64_t Choices::count() const {
  uint64_t product = 1;
  for (const Axis &axis : Axes)
    product *= axis.choices.size();
  return product;
}

Trial Choices::usual() const {
  Trial trial;
  for (const Axis &axis : Axes)
    trial.choice.push_back(axis.usual);
  return trial;
}

std::vector<Trial> Choices::withOneChange() const {
  std::vector<Trial> trials;
  for (size_t axis = 0; axis < Axes.size(); ++axis)
    for (size_t which = 0; which < Axes[axis].choices.size(); ++which)
      if (which != Axes[axis].usual)
        trials.emplace_back(usual()).choice[axis] = which;
  return trials;
}

std::vector<Trial> Choices::all(uint64_t most) const {
  std::vector<Trial> trials;
  for (uint64_t number = 0; number < std::min(count(), most); ++number) {
    Trial &trial = trials.emplace_back();
    for (uint64_t left = number; const Axis &axis : Axes) {
      trial.choice.push_back(left % axis.choices.size());
      left /= axis.choices.size();
    }
  }
  return trials;
}

ConfigValues Choices::valuesOf(const Trial &trial) const {
  ConfigValues values = trial.told;
  for (auto [axis, which] : llvm::zip_equal(Axes, trial.choice))
    values[axis.name] = axis.choices[which];
  return values;
}

std::string Choices::words(const Trial &trial) const {
  std::string text;
  auto add = [&](const std::string &name, const std::string &value) {
    text += (text.empty() ? "" : " ") + name + "=" + value;
  };
  for (auto [axis, which] : llvm::zip_equal(Axes, trial.choice))
    add(axis.name, axis.choices[which]);
  for (const auto &[name, value] : trial.told)
    add(name, value);
  return text;
}

std::optional<Trial> Choices::trialOf(const ConfigValues &values) const {
  Trial trial{std::vector<size_t>(Axes.size())};
  for (auto [axis, which] : llvm::zip_equal(Axes, trial.choice)) {
    auto given = values.find(axis.name);
    auto found =
        given == values.end() ? axis.choices.end() : llvm::find(axis.choices, given->second);
    if (found == axis.choices.end())
      return std::nullopt;
    which = found - axis.choices.begin();
  }
  for (const auto &[name, value] : values)
    if (StringRef(name).starts_with(ir::kCompilerPrefix))
      trial.told[name] = value;
  return trial;
}

SpeedModel::Point Choices::pointOf(const Trial &trial) const {
  SpeedModel::Point point;
  for (auto [axis, which] : llvm::zip_equal(Axes, trial.choice))
    point.push_back(axis.position(which));
  return point;
}

} // namespace kiln
