//===- Check.cpp - `kiln check`: proof, simulation, verdict -----------------------------===//
#include "Aims.h"
#include "CheckRanks.h"
#include "CheckVerdict.h"
#include "Record.h"
#include "Terminal.h"
#include "VerifyEach.h"

#include "kiln/Analysis/SyncProof.h"
#include "kiln/Dialect/Kiln/Contracts.h"
#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln {
namespace {

/// Cases beyond the plan's may take as many steps together as so many that take the most.
constexpr uint64_t kLongAims = 4;

/// Carries out a plan: every case once as the program was written, before any pass could remove
/// what is wrong with it, and compiled for the machine, under one or many schedules.
class Checking {
public:
  Checking(const Source &source, const RunSettings &options, const CompiledProgram &asWritten,
           const CompiledProgram &compiled, CheckVerdict &verdict);

  Status run(const CheckPlan &plan);

private:
  /// What a case has: its arguments, and what the formula says of them.
  struct Prepared {
    const CheckCase &what;
    std::vector<Argument> args;
    std::optional<FormulaResult> formula;
    bool isUnsaid = false; ///< The formula fails, and nothing forbids it.
  };
  /// None if the program does not allow these arguments.
  Expected<std::optional<Prepared>> prepare(const CheckCase &next, bool isFirst);
  Expected<std::optional<FormulaResult>> evaluate(std::span<const Argument> args, bool isFirst);
  Status tryCase(const CheckCase &next, bool isFirst);
  /// Aims at what the cases before did not reach.
  Status runAims(const CheckPlan &plan);
  Status runMore(const std::vector<CheckCase> &cases);
  Status runCase(const Prepared &next, uint64_t seeds);
  Status simulate(const CompiledProgram &program, const Prepared &next, uint64_t seeds);
  /// Arguments for a simulation, which may write what the entry may. All else it shares.
  Expected<std::vector<Argument>> copyWritten(std::span<const Argument> args) const;
  CheckOptions optionsFor(uint64_t seeds) const;
  void judge(const Finding &finding, const Prepared &next, const CompiledProgram &program);
  void judgeUnsaid(const Finding &finding, const Prepared &next);
  /// A case with other integers where Kiln made them up: "shuffled", "0".
  CheckCase withIntegers(const CheckCase &what, const std::string &fill) const;
  /// What a case shows with those.
  enum class Again { Shown, NotShown, Unknown };
  Again showAgain(const Finding &finding, const CheckCase &what, const CompiledProgram &program);
  /// Whether a finding depends on the integers that Kiln made up; then how it goes away, if known.
  std::optional<std::string> integersBehind(const Finding &finding, const CheckCase &what,
                                            const CompiledProgram &program);
  void judgeNan(const CheckReport &report, const Prepared &next, bool isWrong);
  /// What of an output is not as the formula says.
  static std::optional<WrongElement> findWrong(const Prepared &next, std::span<const Argument> args,
                                               unsigned number, const std::string &name);
  /// Outputs that the formula leaves out were compared with nothing.
  void noteCompared(ir::FuncOp entry, const Prepared &next, std::span<const Argument> args);

  bool hasFormula() const {
    return Program.example && !Program.example->formula.empty() && !Options.noFormula;
  }
  /// Whether the program says which arguments it allows.
  bool hasContract() const {
    return hasFormula() || !ir::requirementsIn(ir::FuncOp(AsWritten.entry)).empty();
  }

  const Source &Program;
  const RunSettings &Options;
  const CompiledProgram &AsWritten, &Compiled;
  CheckVerdict &Verdict;
  llvm::BitVector Undeclared;
  bool HasInventedData = false, OutOfSteps = false;
  std::vector<std::string> InventedIntegers; ///< Tensors of them.
  LastArguments LastMade;                    ///< Most are those of the case before.
  std::set<std::string> Tried;               ///< Arguments.
  TakenSides Taken;                          ///< By the program as written.
  uint64_t StepsLeft = 0;                    ///< Of cases beyond the plan's.
  bool CountsSteps = false;                  ///< While those run.
};

Checking::Checking(const Source &source, const RunSettings &options,
                   const CompiledProgram &asWritten, const CompiledProgram &compiled,
                   CheckVerdict &verdict)
    : Program(source), Options(options), AsWritten(asWritten), Compiled(compiled), Verdict(verdict),
      Undeclared(undeclaredParameters(source, options)) {}

Status Checking::run(const CheckPlan &plan) {
  HasInventedData = plan.hasInventedData;
  InventedIntegers = plan.inventedIntegers;
  Verdict.firstSeed = Options.seed;
  Verdict.seeds = Options.seeds;
  Progress progress("checking cases", plan.cases.size());
  for (auto [number, next] : llvm::enumerate(plan.cases)) {
    progress.show(number, next.flags());
    if (OutOfSteps) {
      Verdict.add({"the other " + std::to_string(plan.cases.size() - number) +
                       " cases of the plan were not tried",
                   {},
                   "--steps N allows longer simulations, --as-given fewer cases"});
      break;
    }
    if (Status bad = tryCase(next, /*isFirst=*/number == 0); !bad.isOk())
      return bad;
  }
  for (const Gap &gap : plan.gaps)
    Verdict.add(gap);
  return OutOfSteps || !plan.arguments ? Status::ok() : runAims(plan);
}

Status Checking::tryCase(const CheckCase &next, bool isFirst) {
  Expected<std::optional<Prepared>> ready = prepare(next, isFirst);
  if (!ready)
    return ready.status();
  if (!*ready) {
    ++Verdict.refused;
    return Status::ok();
  }
  Tried.insert(next.flags());
  if ((*ready)->isUnsaid) {
    ++Verdict.refused;
    return simulate(AsWritten, **ready, 1);
  }
  ++Verdict.cases;
  return runCase(**ready, isFirst ? Options.seeds : 1);
}

/// Something that no run reached may be wrong, so more cases aim at it. What they may take together
/// is limited in steps, as everything is.
Status Checking::runAims(const CheckPlan &plan) {
  Decisions decisions(AsWritten.entry);
  Aims aims(decisions, *plan.arguments);
  StepsLeft = Options.steps > UINT64_MAX / kLongAims ? UINT64_MAX : kLongAims * Options.steps;
  CountsSteps = true;
  if (Status bad = runMore(plan.large); !bad.isOk())
    return bad;
  if (Status bad = runMore(aims.limits()); !bad.isOk())
    return bad;
  if (Status bad = runMore(aims.next(Taken)); !bad.isOk())
    return bad;
  if (Status bad = runMore(aims.together()); !bad.isOk())
    return bad;
  if (Verdict.hasFindings()) // what they stopped was not reached
    return Status::ok();
  for (Gap &gap : aims.untaken(Taken))
    Verdict.add(std::move(gap));
  return Status::ok();
}

Status Checking::runMore(const std::vector<CheckCase> &cases) {
  for (const CheckCase &next : cases) {
    if (Verdict.hasFindings()) // more of it would not change the answer
      return Status::ok();
    if (!Tried.insert(next.flags()).second)
      continue;
    if (StepsLeft == 0) {
      Verdict.add({"not all cases that aim at what was not reached were tried",
                   {},
                   "--steps N allows longer simulations"});
      return Status::ok();
    }
    if (Status bad = tryCase(next, /*isFirst=*/false); !bad.isOk())
      return bad;
  }
  return Status::ok();
}

Expected<std::optional<Checking::Prepared>> Checking::prepare(const CheckCase &next, bool isFirst) {
  Expected<std::vector<Argument>> args =
      makeArguments(AsWritten.entry, next.specs, Options.dataSeed, &LastMade);
  if (!args && !isFirst && args.status().code() == StatusCode::InvalidArgument)
    return std::optional<Prepared>(); // a require does not allow them
  if (!args)
    return args.status();
  Expected<std::optional<FormulaResult>> formula = evaluate(*args, isFirst);
  if (!formula && isFirst)
    return formula.status();
  if (!formula) { // it does not allow these shapes, or cannot work with them
    bool hasFailed = torchWorker() && !isRefusal(formula.status());
    return hasFailed ? std::optional(Prepared{next, std::move(*args), std::nullopt, true})
                     : std::optional<Prepared>();
  }
  return std::optional(Prepared{next, std::move(*args), std::move(*formula)});
}

Expected<std::optional<FormulaResult>> Checking::evaluate(std::span<const Argument> args,
                                                          bool isFirst) {
  if (!hasFormula())
    return std::optional<FormulaResult>();
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  if (worker) {
    Expected<FormulaResult> result =
        evaluateFormula(Program.example->formula, Program.config, AsWritten.entry, args, **worker);
    if (!result)
      return result.status();
    return std::optional(std::move(*result));
  }
  if (!isFirst) // without the formula nobody knows whether these arguments are allowed
    return worker.status();
  if (worker.status().code() != StatusCode::NotFound || std::getenv("KILN_PYTHON"))
    return worker.status();
  Verdict.add({"the results were not compared with the formula, and no other shapes were tried: " +
                   worker.status().message(),
               {},
               "KILN_PYTHON names a Python that has torch"});
  return std::optional<FormulaResult>();
}

Status Checking::runCase(const Prepared &next, uint64_t seeds) {
  if (Status bad = simulate(AsWritten, next, 1); !bad.isOk())
    return bad;
  return OutOfSteps ? Status::ok() : simulate(Compiled, next, seeds);
}

Expected<std::vector<Argument>> Checking::copyWritten(std::span<const Argument> args) const {
  ir::FuncOp entry = AsWritten.entry;
  std::vector<Argument> copies;
  for (auto [number, arg] : llvm::enumerate(args)) {
    auto *tensor = std::get_if<Tensor>(&arg);
    if (tensor && entry.getArgDirection(number) == ir::Direction::In) {
      copies.emplace_back(tensor->asReadOnly());
      continue;
    }
    Expected<std::vector<Argument>> copy = copyArguments({&arg, 1});
    if (!copy)
      return copy.status();
    copies.push_back(std::move(copy->front()));
  }
  return copies;
}

CheckOptions Checking::optionsFor(uint64_t seeds) const {
  CheckOptions check;
  check.firstSeed = Options.seed;
  check.seeds = seeds;
  check.nan = true;
  check.maxSteps = CountsSteps ? std::min(Options.steps, StepsLeft) : Options.steps;
  check.undeclared = Undeclared;
  check.machine = Compiled.machine;
  check.platform = Options.platform->name();
  return check;
}

Status Checking::simulate(const CompiledProgram &program, const Prepared &next, uint64_t seeds) {
  Expected<std::vector<Argument>> args = copyWritten(next.args);
  if (!args)
    return args.status();
  CheckOptions check = optionsFor(seeds);
  check.schedules = Options.record;
  if (&program == &AsWritten)
    check.sides = &Taken;
  std::vector<std::string> names = parameterNames(program.entry);
  if (next.formula)
    check.findWrong = [&](unsigned number) {
      return findWrong(next, *args, number, names[number]);
    };
  Expected<CheckReport> report = checkProgram(*program.module, program.entry, *args, check);
  if (!report)
    return report.status();
  OutOfSteps = report->outOfSteps.has_value();
  if (CountsSteps)
    StepsLeft -= std::min(StepsLeft, report->steps);
  if (OutOfSteps)
    Verdict.add({report->outOfSteps->message(), report->outOfSteps->location(),
                 "shown by " + (next.what.flags().empty() ? "the program's own arguments"
                                                          : next.what.flags())});
  for (const Finding &finding : report->findings)
    if (finding.kind != FindingKind::NanBirth)
      judge(finding, next, program);
  bool hasStopped =
      OutOfSteps || llvm::any_of(report->findings, [](const Finding &finding) {
        return finding.kind == FindingKind::Deadlock || finding.kind == FindingKind::Fault;
      });
  if (next.isUnsaid)
    return Status::ok();
  if (next.formula && !hasStopped)
    noteCompared(program.entry, next, *args);
  judgeNan(*report, next, llvm::any_of(report->findings, [](const Finding &finding) {
    return finding.kind == FindingKind::WrongResult;
  }));
  return Status::ok();
}

CheckCase Checking::withIntegers(const CheckCase &what, const std::string &fill) const {
  CheckCase other = what;
  for (const std::string &name : InventedIntegers) {
    std::string &spec = other.specs[name];
    spec = spec.substr(0, spec.find(':')) + ":" + fill;
  }
  return other;
}

Checking::Again Checking::showAgain(const Finding &finding, const CheckCase &what,
                                    const CompiledProgram &program) {
  Expected<std::vector<Argument>> made =
      makeArguments(AsWritten.entry, what.specs, Options.dataSeed, &LastMade);
  if (!made)
    return Again::Unknown;
  Expected<std::vector<Argument>> args = copyWritten(*made);
  if (!args)
    return Again::Unknown;
  CheckOptions check = optionsFor(1);
  check.firstSeed = finding.seed;
  check.until = finding.location;
  // What the checks find says which task it was in; what stops a run says so in its message.
  check.onlyStops = finding.kind == FindingKind::Fault && !finding.task;
  Expected<CheckReport> report = checkProgram(*program.module, program.entry, *args, check);
  if (!report || report->outOfSteps)
    return Again::Unknown;
  Again again = Again::NotShown;
  for (const Finding &other : report->findings) {
    if (other.kind == finding.kind && other.location == finding.location)
      return Again::Shown;
    if (other.kind == FindingKind::Deadlock || other.kind == FindingKind::Fault)
      again = Again::Unknown; // it may have been stopped before
  }
  return again;
}

/// A race between blocks that scatter goes away where no number occurs twice. A fault is none of
/// the program's only if some numbers avoid it: with 0 and 1, too, it is.
std::optional<std::string> Checking::integersBehind(const Finding &finding, const CheckCase &what,
                                                    const CompiledProgram &program) {
  bool isFault = finding.kind == FindingKind::Fault;
  if (InventedIntegers.empty() || hasFormula() || !(isFault || finding.kind == FindingKind::Race))
    return std::nullopt;
  bool isAlways = true;
  for (const char *fill : {"shuffled", "0", "1"}) {
    CheckCase other = withIntegers(what, fill);
    Again again = showAgain(finding, other, program);
    if (again == Again::NotShown)
      return "; with " + other.flags() + " it does not happen";
    isAlways &= again == Again::Shown;
    if (!isFault) // with fewer different numbers a loop may not run at all
      return std::nullopt;
  }
  return isAlways ? std::nullopt : std::optional<std::string>("");
}

/// Whether Kiln made up an argument without elements: a mean over nothing is NaN in PyTorch, too,
/// and a sum over nothing is 0.
static bool isEmpty(const CheckCase &what, std::span<const Argument> args) {
  return what.isInvented && llvm::any_of(args, [](const Argument &arg) {
           auto *tensor = std::get_if<Tensor>(&arg);
           return tensor && tensor->numElements() == 0;
         });
}

/// Whether it is about padding that an output holds. What was made of padding may be meant; then a
/// formula says it.
static bool isAboutPadding(const Finding &finding) {
  return finding.kind == FindingKind::MissingData || finding.kind == FindingKind::PaddingStored;
}

/// Callers have no formula. Where it fails, and does not say why not, they get what the program
/// computes; if that is silently wrong, a require is missing. What stops a run is told when it
/// happens.
void Checking::judgeUnsaid(const Finding &finding, const Prepared &next) {
  bool isSilent = finding.isError() && finding.kind != FindingKind::Fault &&
                  finding.kind != FindingKind::Deadlock && !isEmpty(next.what, next.args);
  if (isSilent)
    Verdict.add({"the formula fails with " + next.what.flags() + ", nothing forbids it, and " +
                     finding.message,
                 finding.location, "say with a require which arguments the program allows",
                 "unsaid"});
}

/// What is shown wrong is a finding. But where the program does not say which arguments it allows,
/// what stops a run that Kiln made up may only mean that its author did not mean those; and so may
/// an output that is left open under numbers that Kiln made up. What integers in memory may be,
/// nothing says but a formula.
void Checking::judge(const Finding &finding, const Prepared &next, const CompiledProgram &program) {
  if (next.isUnsaid)
    return judgeUnsaid(finding, next);
  if (isAboutPadding(finding) &&
      (isEmpty(next.what, next.args) || (next.formula && !finding.isError())))
    return;
  if (std::optional<std::string> way = integersBehind(finding, next.what, program))
    return Verdict.add(Gap{finding.message, finding.location,
                           "shown by " + next.what.flags() + ", where Kiln made up what '" +
                               llvm::join(InventedIntegers, "' and '") + "' holds" + *way +
                               "; give what is meant with --arg " + InventedIntegers.front() +
                               "=SHAPE:NUMBERS",
                           toString(finding.kind)});
  bool isFault = finding.kind == FindingKind::Fault;
  bool mayBeUnmeant =
      next.what.isInvented && !hasContract() &&
      (isFault || (finding.kind == FindingKind::UnwrittenOutput && next.what.hasInventedScalars));
  if (finding.isError() && !mayBeUnmeant) {
    Finding told = finding;
    if (!next.what.tie.empty())
      told.notes.push_back({next.what.tie, {}});
    return Verdict.add(told, next.what.flags());
  }
  Gap gap{finding.message, finding.location, "", toString(finding.kind)};
  if (finding.kind == FindingKind::PaddingStored)
    gap.remedy = (next.what.tie.empty() ? finding.notes.back().message : next.what.tie) +
                 "; shown by " + next.what.flags();
  else if (!finding.isError())
    gap.remedy = finding.notes.empty() ? "" : finding.notes.back().message;
  else
    gap.remedy =
        "shown by " + next.what.flags() + ", which Kiln made up; give arguments with --arg" +
        (next.what.exclusion.empty() ? std::string(", or say with a require which are allowed")
                                     : ", or exclude them with " + next.what.exclusion);
  Verdict.add(std::move(gap));
}

/// NaN that is made of finite numbers and reaches an output is wrong unless the formula has it
/// there. Without a formula it depends on the data.
void Checking::judgeNan(const CheckReport &report, const Prepared &next, bool isWrong) {
  for (const Finding &birth : report.findings) {
    if (birth.kind != FindingKind::NanBirth)
      continue;
    bool isInOutput =
        report.hasNanInOutput && (next.formula ? isWrong : !isEmpty(next.what, next.args));
    if (Options.nan || (isInOutput && (next.formula || !HasInventedData)))
      Verdict.add(birth, next.what.flags());
    else if (isInOutput)
      Verdict.add(
          {birth.message + ", and an output holds NaN; the inputs were made up", birth.location,
           "give inputs that fit, such as --arg x=SHAPE:uniform, or exclude the case with a "
           "require; shown by " +
               next.what.flags()});
  }
}

std::optional<WrongElement> Checking::findWrong(const Prepared &next,
                                                std::span<const Argument> args, unsigned number,
                                                const std::string &name) {
  for (const auto &[index, want] : next.formula->outputs) {
    if (index != number)
      continue;
    Difference difference = compareWithFormula(std::get<Tensor>(args[index]), want,
                                               next.what.slack * next.formula->accumulates);
    if (!difference.ok)
      return WrongElement{difference.at,
                          "'" + name + "' is not what the formula says: " + difference.where()};
  }
  return std::nullopt;
}

void Checking::noteCompared(ir::FuncOp entry, const Prepared &next,
                            std::span<const Argument> args) {
  std::vector<std::string> names = parameterNames(entry);
  for (size_t index = 0; index < args.size(); ++index)
    if (entry.getArgDirection(index) != ir::Direction::In &&
        std::holds_alternative<Tensor>(args[index]) &&
        llvm::none_of(next.formula->outputs, [&](const auto &out) { return out.first == index; }))
      Verdict.add({"'" + names[index] + "' was compared with nothing: the formula does not say it",
                   sourceLocOf(entry.getLoc()), "assign " + names[index] + " in the formula"});
  ++Verdict.compared;
}

std::vector<GroupProof> proveGroups(ModuleOp module, int64_t defaultSlots) {
  std::vector<GroupProof> groups;
  for (auto func : module.getOps<ir::FuncOp>())
    if (func.getKind() == ir::FuncKind::Group)
      groups.push_back({func.getSymName().str(), provePipes(func, defaultSlots)});
  return groups;
}

std::vector<RoleProof> proveRoles(ModuleOp module, const Machine &machine) {
  std::vector<RoleProof> roles;
  for (auto func : module.getOps<ir::FuncOp>())
    if (hardwareOf(machine) && func.getKind() == ir::FuncKind::Role) {
      RoleProof &role = roles.emplace_back(RoleProof{func.getSymName().str(), {}});
      if (std::optional<SyncFault> fault = findSyncFault(func, machine)) {
        auto nameOf = [](Operation *op) { return op->getName().getStringRef().str(); };
        PipeFinding finding{{fault->at->getLoc(), nameOf(fault->at) + " " + fault->message}};
        if (fault->other)
          finding.notes.push_back(
              {fault->other->getLoc(), "this one (" + nameOf(fault->other) + ")"});
        role.findings.push_back(std::move(finding));
      }
    }
  return roles;
}

} // namespace

/// Checks one entry. Good, or the exit code of a program that cannot be checked.
static int checkEntry(const Source &source, const RunSettings &options, CodeRecord &code,
                      CheckVerdict &verdict) {
  CompileSettings settings = options;
  settings.prove = false;       // it is done below, with a report
  settings.mergeGroups = false; // then nobody would race any more
  int status = kBadInput;
  std::optional<CompiledProgram> asWritten = compile(source, {.entry = options.entry}, status);
  if (!asWritten)
    return status;
  Expected<CheckPlan> plan = makePlan(source, asWritten->entry, options);
  if (!plan)
    return badInput(plan.status());
  std::optional<CompiledProgram> compiled =
      compile(source, settings, status, options.record ? code.instrumentation() : nullptr);
  if (!compiled)
    return status;
  verdict.addProofs(proveGroups(*compiled->module, compiled->machine->defaultSlots),
                    proveRoles(*compiled->module, *compiled->machine));
  verdict.warnings += options.strict ? compiled->warnings : 0;
  if (!runsOnRanksAlone(source, options))
    if (Status bad = Checking(source, options, *asWritten, *compiled, verdict).run(*plan);
        !bad.isOk())
      return badInput(bad);
  if (Status bad = checkRanksOf(source, options, *plan, *asWritten, *compiled, verdict);
      !bad.isOk())
    return badInput(bad);
  return kGood;
}

/// What a program can start with, if nobody says with what. Arguments that are given belong to one
/// of them; then the others are named as not checked.
static std::vector<std::string> entriesToCheck(const Source &source, const RunSettings &options,
                                               CheckVerdict &verdict) {
  SmallVector<ir::FuncOp> candidates;
  if (!options.entry.empty() || !findEntry(source.module, "", &candidates) || candidates.size() < 2)
    return {options.entry};
  std::vector<std::string> names;
  for (ir::FuncOp candidate : candidates)
    names.push_back(candidate.getSymName().str());
  bool areGiven = !options.args.empty() || (source.example && !source.example->args.empty());
  if (!areGiven)
    return names;
  for (ir::FuncOp other : ArrayRef(candidates).drop_front())
    verdict.add({"@" + other.getSymName().str() + " can be started with, too, and was not checked",
                 sourceLocOf(other.getLoc()), "check it with --entry " + other.getSymName().str()});
  return {names.front()};
}

int checkCommand(const Source &source, const RunSettings &options) {
  if (options.verifyEach)
    if (int status = verifyEachPass(source, options))
      return status;
  CodeRecord code;
  if (options.record)
    code.addStage("as written", source.module);
  CheckVerdict verdict;
  std::vector<std::string> entries = entriesToCheck(source, options, verdict);
  for (const std::string &entry : entries) {
    RunSettings one = options;
    one.entry = entry;
    one.isOneOfSeveral = entries.size() > 1;
    if (int status = checkEntry(source, one, code, verdict))
      return status;
  }
  (options.json ? printJson : printText)(verdict, source, options);
  int status = verdict.exitCode(options.allowIncomplete);
  if (!options.record)
    return status;
  if (Status bad = recordCheck(verdict, source, options, code); !bad.isOk()) {
    printErrors({bad.withPrefix("the check is complete but the record of it is not")});
    return worseOf(status, kWrong);
  }
  if (!options.json)
    std::printf("record: %s (look at it with: kiln view %s)\n", options.out.c_str(),
                options.out.c_str());
  return status;
}

} // namespace kiln
