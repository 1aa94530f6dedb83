#include "VerifyEach.h"

#include "Terminal.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Torch/Torch.h"
#include "kiln/Target/Torch/TorchWorker.h"
#include "kiln/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

/// Tells the verifier of each pass that has run.
class PassVerifier::AfterPass final : public PassInstrumentation {
public:
  explicit AfterPass(PassVerifier &verifier) : Verifier(verifier) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      module = op->getParentOfType<ModuleOp>();
    // What only runs the passes of nested operations has no argument, and no effect of its own.
    if (!module || pass->getArgument().empty())
      return;
    Shown.show(Verifier.passes(), pass->getArgument().str());
    Verifier.verify(pass->getArgument().str(), module);
  }

private:
  PassVerifier &Verifier;
  Progress Shown{"verifying passes", 0};
};

PassVerifier::PassVerifier(Source asWritten, const RunSettings &options, std::vector<Argument> args)
    : AsWritten(std::move(asWritten)), Options(options), Inputs(std::move(args)) {}

std::unique_ptr<PassInstrumentation> PassVerifier::instrumentation() {
  return std::make_unique<AfterPass>(*this);
}

Status PassVerifier::begin() {
  Expected<Stage> stage = stageOf(AsWritten.module);
  if (!stage)
    return stage.status();
  Expected<std::vector<Argument>> results = run(*stage);
  if (!results)
    return results.status();
  Wanted = std::move(*results);
  Last = std::move(*stage);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// One stage
//===----------------------------------------------------------------------===//

template <typename T> static std::string print(T op) {
  std::string text;
  llvm::raw_string_ostream(text) << op;
  return text;
}

/// The rest of the preparation, for whoever executes nothing else.
static Expected<OwningOpRef<ModuleOp>> prepared(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  std::vector<Status> errors;
  DiagnosticCollector collector(copy->getContext(), errors);
  PassManager passes(copy->getContext());
  buildPreparePipeline(passes);
  if (failed(passes.run(*copy)))
    return errors.empty() ? Status(StatusCode::Internal, "it cannot be prepared") : errors.front();
  return copy;
}

Expected<PassVerifier::Stage> PassVerifier::stageOf(ModuleOp module) const {
  Stage stage{module.clone(), {}};
  // The reference takes a program at any stage, except that the arguments are those of the prepared
  // entry: what it returns has become parameters there.
  if (Expected<ir::FuncOp> entry = findEntry(module, Options.entry);
      entry && entry->getNumResults() > 0) {
    Expected<OwningOpRef<ModuleOp>> ready = prepared(module);
    if (!ready)
      return ready.status();
    stage.module = std::move(*ready);
  }
  for (auto func : stage.module->getOps<ir::FuncOp>()) {
    Function &made = stage.functions[func.getSymName().str()];
    made = {print(func), func.getFunctionType(), func.getKind() == ir::FuncKind::Orchestration, {}};
    func.walk([&](ir::CallOp call) { made.calls.insert(call.getCallee().str()); });
  }
  return stage;
}

namespace {

/// The reference of a program, for the worker.
struct Reference {
  std::string source, entry;
};

} // namespace

static Expected<Reference> referenceOf(ModuleOp module, const RunSettings &options) {
  Expected<ir::FuncOp> entry = findEntry(module, options.entry);
  if (!entry)
    return entry.status();
  TorchOptions torch{entry->getSymName().str(), options.unboundedSlots, options.checkShapes,
                     /*namedTasks=*/true};
  Expected<std::string> source = emitTorch(module, torch), name = torchEntryName(module, torch);
  if (!source)
    return source.status();
  return name ? Expected<Reference>(Reference{*source, *name}) : name.status();
}

Expected<std::vector<Argument>> PassVerifier::run(const Stage &stage) {
  HasRecord = false;
  Expected<Reference> reference = referenceOf(*stage.module, Options);
  if (!reference)
    return reference.status();
  Expected<std::vector<Argument>> args = copyArguments(Inputs);
  if (!args)
    return args.status();
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  if (!worker)
    return worker.status();
  Expected<std::optional<size_t>> tasks =
      (*worker)->record(reference->source, reference->entry, *args, Options.verifyMemory << 20);
  if (!tasks)
    return tasks.status();
  // A kernel written in place is part of what launches it, and no task that could run by itself.
  bool hasAllTasks = !stage.module.get()
                          .walk([](ir::IncoreOp) { return WalkResult::interrupt(); })
                          .wasInterrupted();
  HasRecord = *tasks && hasAllTasks;
  OverLimit |= !*tasks;
  return args;
}

std::string PassVerifier::compareResults(const Stage &stage,
                                         std::span<const Argument> results) const {
  ir::FuncOp entry = *findEntry(*stage.module, Options.entry);
  std::vector<std::string> names = parameterNames(entry);
  for (auto [number, result] : llvm::enumerate(results))
    if (auto *tensor = std::get_if<Tensor>(&result)) {
      Difference difference = compareWithReference(*tensor, std::get<Tensor>(Wanted[number]));
      if (!difference.ok)
        return "'" + names[number] + "' differs: " + difference.where();
    }
  return "";
}

//===----------------------------------------------------------------------===//
// The first task that differs
//===----------------------------------------------------------------------===//

namespace {

/// A task that has run, with copies of what it wrote.
struct TaskResult {
  std::string kernel;
  std::vector<Argument> written;
};

} // namespace

/// Every task of a program in the order of submission; up to its failure if it fails.
static std::vector<TaskResult> runTasks(ModuleOp module, const RunSettings &options,
                                        std::span<const Argument> inputs) {
  std::vector<TaskResult> tasks;
  Expected<OwningOpRef<ModuleOp>> ready = prepared(module);
  if (!ready)
    return tasks;
  Expected<ir::FuncOp> entry = findEntry(**ready, options.entry);
  Expected<std::vector<Argument>> args = copyArguments(inputs);
  if (!entry || !args)
    return tasks;
  SimulatorOptions simulator;
  simulator.machine = options.platform ? options.platform->machine() : nullptr;
  simulator.onTaskEnd = [&](const std::string &kernel, std::span<const Tensor> written) {
    Expected<std::vector<Argument>> copies =
        copyArguments(std::vector<Argument>(written.begin(), written.end()));
    tasks.push_back({kernel, copies ? std::move(*copies) : std::vector<Argument>()});
  };
  (void)simulate(**ready, *entry, *args, simulator); // a failure ends the list
  return tasks;
}

/// What is different about a task; empty if nothing is.
static std::string compareTasks(const TaskResult &before, const TaskResult &after) {
  if (before.kernel != after.kernel)
    return "@" + after.kernel + ", which was @" + before.kernel;
  if (before.written.size() != after.written.size())
    return "@" + after.kernel + ", which writes other tensors";
  for (auto [was, is] : llvm::zip_equal(before.written, after.written)) {
    const auto &have = std::get<Tensor>(is), &want = std::get<Tensor>(was);
    if (!llvm::equal(have.extents(), want.extents()))
      return "@" + after.kernel + ", which writes " + have.str() + " and wrote " + want.str();
    if (Difference difference = compareWithReference(have, want); !difference.ok)
      return "@" + after.kernel + ": " + difference.where();
  }
  return "";
}

std::string PassVerifier::firstDifferentTask(const Stage &before, const Stage &after) const {
  std::vector<TaskResult> was = runTasks(*before.module, Options, Inputs);
  std::vector<TaskResult> is = runTasks(*after.module, Options, Inputs);
  for (size_t i = 0; i < std::min(was.size(), is.size()); ++i)
    if (std::string what = compareTasks(was[i], is[i]); !what.empty())
      return "task " + std::to_string(i) + ", " + what;
  if (was.size() == is.size())
    return "";
  return "task " + std::to_string(std::min(was.size(), is.size())) + ", of " +
         std::to_string(is.size()) + " that ran; before the pass " + std::to_string(was.size()) +
         " did";
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

std::set<std::string> PassVerifier::callersOf(const Stage &stage,
                                              std::span<const std::string> functions) {
  std::set<std::string> found(functions.begin(), functions.end());
  for (size_t before = 0; before != found.size();) {
    before = found.size();
    for (const auto &[name, function] : stage.functions)
      if (llvm::any_of(function.calls, [&](const std::string &call) { return found.count(call); }))
        found.insert(name);
  }
  return found;
}

bool PassVerifier::isUpToKernels(const Stage &stage, std::span<const std::string> changed) const {
  if (!HasRecord)
    return false;
  // Tasks are what they were if nothing that launches them changed, nor what they are given.
  std::string entry = findEntry(*stage.module, Options.entry)->getSymName().str();
  for (const std::string &name : callersOf(stage, changed)) {
    const Function &now = stage.functions.at(name);
    auto before = Last.functions.find(name);
    if (name == entry || now.isOrchestration)
      return false;
    if (before != Last.functions.end() &&
        (before->second.isOrchestration || before->second.type != now.type))
      return false;
  }
  return true;
}

std::optional<PassFault> PassVerifier::verifyWhole(const Stage &stage,
                                                   std::vector<std::string> changed) {
  ++WholeRuns;
  Expected<std::vector<Argument>> results = run(stage);
  std::string what = results ? compareResults(stage, *results)
                             : "the reference fails: " + results.status().message();
  if (what.empty())
    return std::nullopt;
  return PassFault{"", what, std::move(changed), firstDifferentTask(Last, stage)};
}

/// What differs between a tensor as a task left it and as it was recorded; empty if that is no more
/// than another order of summation explains.
static std::string compareChanged(ir::FuncOp kernel, const TorchRerun::Changed &changed) {
  DType dtype =
      *dtypeOf(cast<ir::TensorType>(kernel.getArgumentTypes()[changed.argument]).getElementType());
  auto tensorOf = [&](const std::string &bytes) {
    Expected<Tensor> tensor = Tensor::empty(dtype, changed.extents);
    if (tensor)
      std::memcpy(tensor->data(), bytes.data(), bytes.size());
    return tensor;
  };
  Expected<Tensor> is = tensorOf(changed.is), was = tensorOf(changed.was);
  if (!is || !was)
    return "out of memory";
  Difference difference = compareWithReference(*is, *was);
  if (difference.ok)
    return "";
  return "'" + parameterNames(kernel)[changed.argument] + "' differs: " + difference.where();
}

std::optional<PassFault> PassVerifier::verifyKernels(const Stage &stage,
                                                     std::vector<std::string> changed) {
  std::set<std::string> callers = callersOf(stage, changed);
  std::vector<std::string> kernels(callers.begin(), callers.end());
  Expected<Reference> reference = referenceOf(*stage.module, Options);
  if (!reference)
    return PassFault{"", "the reference fails: " + reference.status().message(), changed, ""};
  for (size_t first = 0;;) {
    Expected<TorchRerun> rerun = (*torchWorker())->rerun(reference->source, kernels, first);
    if (!rerun)
      return PassFault{"", "the reference fails: " + rerun.status().message(), changed, ""};
    TasksRerun += rerun->tasks;
    if (!rerun->stop)
      return std::nullopt;
    auto kernel = stage.module.get().lookupSymbol<ir::FuncOp>(rerun->kernel);
    std::string what =
        rerun->failure.isOk() ? "" : "the reference fails: " + rerun->failure.message();
    for (const TorchRerun::Changed &tensor : rerun->changed)
      what = what.empty() ? compareChanged(kernel, tensor) : what;
    if (!what.empty()) {
      llvm::erase_if(changed, [&](const std::string &name) {
        return !callersOf(stage, std::array{name}).count(rerun->kernel);
      });
      return PassFault{"", what, changed,
                       "task " + std::to_string(*rerun->stop) + ", @" + rerun->kernel};
    }
    first = *rerun->stop + 1; // the same up to rounding
  }
}

void PassVerifier::verify(const std::string &pass, ModuleOp module) {
  ++Passes;
  if (Fault)
    return; // what comes after a wrong pass is wrong because of it
  Expected<Stage> stage = stageOf(module);
  if (!stage) {
    Fault = {pass, "it can no longer be prepared: " + stage.status().str(), {}, ""};
    return;
  }
  std::vector<std::string> changed;
  for (const auto &[name, function] : stage->functions)
    if (auto before = Last.functions.find(name);
        before == Last.functions.end() || before->second.text != function.text)
      changed.push_back(name);
  if (changed.empty() && stage->functions.size() == Last.functions.size())
    return;
  ++Changes;
  Fault = isUpToKernels(*stage, changed) ? verifyKernels(*stage, changed)
                                         : verifyWhole(*stage, changed);
  if (Fault)
    Fault->pass = pass;
  Last = std::move(*stage);
}

int verifyEachPass(const Source &source, const RunSettings &options) {
  int status = kBadInput;
  std::optional<CompiledProgram> prepared = compile(source, {.entry = options.entry}, status);
  if (!prepared)
    return status;
  Expected<std::vector<Argument>> args = argumentsOf(source, prepared->entry, options);
  if (!args)
    return badInput(args.status());
  PassVerifier verifier(source, options, std::move(*args));
  if (Status failed = verifier.begin(); !failed.isOk()) {
    printErrors({failed.withPrefix("the PyTorch reference failed before the first pass")});
    return failed.code() == StatusCode::NotFound ? kBadInput : kWrong;
  }
  if (!compile(source, {options.platform, options.entry}, status, verifier.instrumentation()))
    return status;
  Progress::hide();
  if (const std::optional<PassFault> &fault = verifier.fault()) {
    printErrors(
        {Status(StatusCode::KernelFailed,
                "pass " + fault->pass + " changes what the program computes: " + fault->what)});
    std::fprintf(stderr, "  functions it changed: %s\n",
                 llvm::join(fault->functions, ", ").c_str());
    if (!fault->task.empty())
      std::fprintf(stderr, "  first task that differs: %s\n", fault->task.c_str());
    return kWrong;
  }
  if (!options.json)
    std::printf("verified %u passes; %u changed the program: %u whole runs, %zu tasks rerun%s\n",
                verifier.passes(), verifier.changes(), verifier.wholeRuns(), verifier.tasksRerun(),
                verifier.isOverLimit() ? " (their memory is beyond --verify-memory)" : "");
  return kGood;
}

} // namespace kiln
