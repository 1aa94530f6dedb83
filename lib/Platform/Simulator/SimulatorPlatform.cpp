#include "../Platforms.h"

#include "kiln/Simulator/Simulator.h"
#include "kiln/runtime/interrupt.h"

namespace kiln {
namespace {

class SimulatorPlatform final : public Platform {
public:
  using Platform::Platform;

  Status run(const RunRequest &request, RunReport &report) const override {
    SimulatorOptions options;
    options.seed = request.seed;
    options.machine = machine();
    options.maxSteps = request.maxSteps;
    options.dump = request.dump;
    options.program = request.program;
    options.platform = name();
    options.orchestrate = request.orchestrate;
    options.recordTimeline = request.timeline;
    TimeLimit limit(request.timeout, "the run");
    options.ranks = request.transport;
    if (!request.rankArgs.empty())
      return runRanks(request, options, report);
    if (!request.timeline)
      return simulate(request.module, request.entry, request.args, options);
    SimulationReport simulated;
    Status status = simulate(request.module, request.entry, request.args, options, &simulated);
    report.timeline = std::move(simulated.timeline);
    report.trace = std::move(simulated.trace);
    return status;
  }

private:
  static Status runRanks(const RunRequest &request, const SimulatorOptions &options,
                         RunReport &report) {
    if (!request.timeline)
      return simulateRanks(request.module, request.entry, request.rankArgs, options);
    std::vector<SimulationReport> simulated(request.rankArgs.size());
    Status status =
        simulateRanks(request.module, request.entry, request.rankArgs, options, simulated);
    for (SimulationReport &each : simulated) {
      report.rankTimelines.push_back(std::move(each.timeline));
      report.rankTraces.push_back(std::move(each.trace));
    }
    return status;
  }
};

} // namespace

std::unique_ptr<Platform> makeSimulatorPlatform(std::string name, const Machine &machine) {
  using enum Capability;
  Platform::Description about;
  about.name = std::move(name);
  about.machine = &machine;
  about.can = {Run, Check, Build, Seeds, Orchestration, Dump, Timeline, Ranks};
  return std::make_unique<SimulatorPlatform>(std::move(about));
}

} // namespace kiln
