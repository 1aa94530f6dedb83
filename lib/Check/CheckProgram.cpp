// Many seeds of one program on the same inputs, and one report of all of them.
#include "kiln/Check/CheckProgram.h"

#include "Checker.h"

namespace kiln {
namespace {

/// The contents of the tensors that a run may change.
class Snapshot {
public:
  static Expected<Snapshot> of(std::span<const Argument> args) {
    Snapshot snapshot;
    for (const Argument &arg : args)
      if (const auto *tensor = std::get_if<Tensor>(&arg);
          tensor && !tensor->isNull() && !tensor->isReadOnly()) {
        Expected<std::vector<std::byte>> bytes = tensor->gatherBytes();
        if (!bytes)
          return bytes.status();
        snapshot.Contents.emplace_back(*tensor, std::move(*bytes));
      }
    return snapshot;
  }

  Status restore() const {
    for (const auto &[tensor, bytes] : Contents)
      if (Status bad = tensor.scatterBytes(bytes); !bad.isOk())
        return bad;
    return Status::ok();
  }

private:
  std::vector<std::pair<Tensor, std::vector<std::byte>>> Contents;
};

/// Whether a simulation ended because of what the program does.
bool isFaultOfTheProgram(StatusCode code) {
  return code == StatusCode::KernelFailed || code == StatusCode::Deadlock;
}

} // namespace

static SimulatorOptions optionsOf(const CheckOptions &options, uint64_t number) {
  SimulatorOptions simulator;
  simulator.seed = options.firstSeed + number;
  simulator.machine = options.machine;
  simulator.maxSteps = options.maxSteps;
  simulator.until = options.until;
  if (number == 0)
    simulator.dump = options.dump;
  simulator.program = options.program;
  simulator.platform = options.platform;
  return simulator;
}

Expected<CheckReport> checkProgram(mlir::ModuleOp prepared, ir::FuncOp entry,
                                   std::span<const Argument> args, const CheckOptions &options) {
  Expected<Snapshot> inputs = Snapshot::of(args);
  if (!inputs)
    return inputs.status();
  Snapshot results;
  simulator::Findings findings;
  findings.wantsNan = options.nan;
  findings.undeclared = options.undeclared;
  findings.sides = options.sides;
  CheckReport report;
  report.firstSeed = options.firstSeed;
  for (; report.seeds < options.seeds && !report.outOfSteps; ++report.seeds) {
    if (Status bad = inputs->restore(); !bad.isOk())
      return bad;
    SimulatorOptions simulator = optionsOf(options, report.seeds);
    findings.seed = simulator.seed;
    SimulationReport run;
    simulator::Schedule steps;
    findings.schedule = options.schedules ? &steps : nullptr;
    findings.findWrong = report.seeds == 0 && options.findWrong ? &options.findWrong : nullptr;
    simulator::Checker checker(findings, options.schedules ? &steps : nullptr);
    Status status = simulator::simulate(prepared, entry, args, simulator, &run,
                                        options.onlyStops ? nullptr : &checker);
    if (run.isOutOfSteps)
      report.outOfSteps = status;
    else if (isFaultOfTheProgram(status.code()))
      findings.addFailure(status);
    else if (!status.isOk())
      return status;
    findings.schedule = nullptr;
    report.blocks += run.blocks;
    report.operations += run.operations;
    report.steps += run.steps;
    if (report.seeds == 0) {
      Expected<Snapshot> first = Snapshot::of(args);
      if (!first)
        return first.status();
      results = std::move(*first);
    }
  }
  report.findings = findings.take();
  report.hasNanInOutput = findings.hasNanInOutput;
  if (Status bad = results.restore(); !bad.isOk())
    return bad;
  return report;
}

} // namespace kiln
