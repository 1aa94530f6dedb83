//===- Main.cpp - the command line of `kiln` and of every example ---------------------===//
#include "Driver.h"

#include "kiln/Dialect/ProgramText.h"
#include "kiln/Jit/Jit.h"
#include "kiln/runtime/bundle.h"
#include "kiln/runtime/record.h"
#include "kiln/runtime/tool_output.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <unistd.h>

using namespace mlir;

namespace kiln {
namespace {

/// What the command line says, whatever the command.
struct CommandLine {
  std::string command = "run";
  RunSettings run;
  std::string target = "ir";
  std::map<std::string, std::string> config; ///< Options that belong to the program's Config.
};

const char *const kCommands[] = {"run", "check", "emit", "build"};

bool isCompiledExample(const std::string &path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file && access(path.c_str(), X_OK) == 0 &&
         (*file)->getBuffer().contains(KILN_PROGRAM_MARKER);
}

int parseError(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == 0)
    return app.exit(error); // --help
  return badInput(std::string(error.what()) + "; see --help");
}

/// The command line again, for a report to say how to see something again: without the options that
/// the report adds, which are the seeds and, in a check, the arguments of the case.
std::string replayCommand(const std::string &command, std::vector<std::string> words,
                          const std::vector<std::string> &args) {
  bool isLeftOut = false;
  for (const std::string &arg : args) {
    if (StringRef(arg).starts_with("-")) {
      StringRef option = StringRef(arg).split('=').first;
      isLeftOut = option == "--seed" || option == "--seeds" ||
                  (command == "check" && (option == "--arg" || option == "--as-given"));
    }
    if (!isLeftOut)
      words.push_back(arg);
  }
  return llvm::join(words, " ");
}

/// `--arg name=spec`.
int parseArgs(const std::vector<std::string> &texts, ArgSpecs &specs) {
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return badInput("--arg " + text + ": expected name=spec, such as a=128x64 or n=5");
    if (!specs.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      return badInput("--arg " + text.substr(0, equals) + " is given twice");
  }
  return kGood;
}

/// What CLI11 did not know: `--name value` for the program's Config.
int parseConfig(const std::vector<std::string> &rest, CommandLine &line) {
  for (size_t i = 0; i < rest.size(); ++i) {
    StringRef token = rest[i];
    if (!token.consume_front("--") || token.empty())
      return badInput("unexpected argument '" + rest[i] + "'");
    auto [name, value] = token.split('=');
    if (!token.contains('=')) {
      if (i + 1 == rest.size() || StringRef(rest[i + 1]).starts_with("--"))
        return badInput("--" + name.str() +
                        " is no flag; if it is a parameter of the program, it needs a value");
      value = rest[++i];
    }
    if (name == "slots" && value == "unbounded")
      line.run.unboundedSlots = true;
    else
      line.config[name.str()] = value.str();
  }
  return kGood;
}

/// Finds the platform that is named, or the default of the command; where the user names none, the
/// one that can do what other options ask for.
int setPlatform(CommandLine &line, std::string name, bool isGiven) {
  RunSettings &run = line.run;
  if (line.command == "run" && !isGiven && run.seeds > 0)
    name = defaultPlatform(Capability::Seeds).name();
  else if (line.command == "run" && !isGiven && !run.orchestration.empty())
    name = defaultPlatform(Capability::Orchestration).name();
  if (line.command == "emit" && !isGiven)
    return kGood;
  Expected<const Platform *> platform = choosePlatform(line.command, name);
  if (!platform)
    return badInput(platform.status().message());
  run.platform = *platform;
  return kGood;
}

/// Parses the options of a command; -1 to go on, else the exit code. `help` tells of the program's
/// own options.
int parseOptions(CommandLine &line, const std::string &program,
                 const std::vector<std::string> &args, const std::function<std::string()> &help) {
  const char *purpose = line.command == "run" ? "Runs the program and checks the result."
                        : line.command == "check"
                            ? "Proves the pipes, then simulates many schedules."
                        : line.command == "emit" ? "Prints the program at a stage."
                                                 : "Compiles the program to a bundle.";
  bool isTool = program == "kiln"; // which takes the program as an argument
  CLI::App app(purpose, program + (isTool || line.command != "run" ? " " + line.command : "") +
                            (isTool ? " PROG" : ""));
  app.allow_extras();
  std::vector<std::string> argTexts;
  std::string dump;
  bool dumpTensor = false;
  bool hasSeed = line.command == "run" || line.command == "check";
  const char *variable = hasSeed ? std::getenv("KILN_SEED") : nullptr;
  std::string seed = variable && *variable ? variable : std::to_string(line.run.seed);
  std::string timeout = std::to_string(line.run.timeout),
              dataSeed = std::to_string(line.run.dataSeed);
  std::string seeds = line.command == "check" ? "8" : "";
  std::string steps = line.command == "check" ? "4000000" : "";
  std::string verifyMemory = std::to_string(line.run.verifyMemory);
  std::string workers;
  static constexpr const char *kVerifyMemory =
      "MiB that --verify-each may take to remember what tasks read and wrote; beyond, the whole "
      "program runs again after each change";
  RunSettings &run = line.run;
  std::string platform;
  app.add_option("--entry", run.entry, "The function to start with");
  if (line.command == "run") {
    platform = defaultPlatform(Capability::Run).name();
    app.add_option("-p,--platform", platform,
                   "Where to run: " + platformNames(Capability::Run) + "; " +
                       defaultPlatform(Capability::Seeds).name() +
                       " if only a simulator can do what other options say")
        ->capture_default_str();
    app.add_option("--arg", argTexts,
                   "name=SHAPE[:FILL], name=file:PATH.npy or name=VALUE for an argument");
    app.add_option("--seed", seed,
                   "Schedule of the simulator; 0 is the plain order; KILN_SEED says it too")
        ->capture_default_str();
    app.add_option(
        "--seeds", seeds,
        "Check the program under so many schedules, from --seed on: races, reads of what "
        "nobody wrote, padding, ...");
    app.add_flag("--nan", run.nan, "Check, and report where NaN is born");
    app.add_option("--steps", steps,
                   "Stop a simulation after so many steps; one is about what a scalar operation "
                   "costs; none are counted if this is not given");
    app.add_option("--workers", workers,
                   "Threads that run native code, where no --seed is given; as many as there are "
                   "cores unless this or KILN_WORKERS says otherwise");
    app.add_option("--data-seed", dataSeed, "Seed of the random inputs")->capture_default_str();
    app.add_option("--out", run.out, "Where files are written")->capture_default_str();
    app.add_option("--save", run.save, "Write each output to this folder as NAME.npy");
    app.add_option("--dump-args", dump,
                   "Dump kernel arguments: 0 off, 1 what the program marked, 2 everything (the "
                   "default without a number), 3 metadata of everything and payload of what is "
                   "marked")
        ->expected(0, 1);
    app.add_flag("--dump-tensor", dumpTensor, "The same as --dump-args=2");
    app.add_flag(
        "--timeline", run.timeline,
        "Write timeline.json (for Perfetto), graph.json and graph.dot, and print a summary");
    app.add_option("--orchestration", run.orchestration,
                   "Launch with this shared object, compiled from what emit --target "
                   "orchestration prints");
    app.add_option("--timeout", timeout,
                   "Seconds that the run, the formula and the reference may take each; 0: any time")
        ->capture_default_str();
    app.add_flag("--verify-each", run.verifyEach,
                 "Run the reference after every pass and stop at the first that is wrong");
    app.add_option("--verify-memory", verifyMemory, kVerifyMemory)->capture_default_str();
    app.add_flag("--no-reference", run.noReference, "Do not compare with the PyTorch reference");
    app.add_flag("--no-formula", run.noFormula, "Do not compare with the formula of the example");
    app.add_option("--batch", "Run once for each line of this file, which has more options")
        ->type_name("FILE"); // see runBatch
    app.add_flag("--check-shapes", run.checkShapes,
                 "Assertions on type and shape in the reference");
    app.add_flag("--json", run.json, "Machine-readable output");
  } else if (line.command == "check") {
    platform = defaultPlatform(Capability::Check).name();
    app.add_option("-p,--platform", platform,
                   "The machine to simulate: " + platformNames(Capability::Check))
        ->capture_default_str();
    app.add_option("--arg", argTexts,
                   "name=SHAPE[:FILL], name=file:PATH.npy or name=VALUE for an argument");
    app.add_option("--seeds", seeds, "How many schedules to simulate")->capture_default_str();
    app.add_option("--seed", seed,
                   "The first schedule; 0 is the plain order; KILN_SEED says it too")
        ->capture_default_str();
    app.add_flag("--nan", run.nan, "Report every place where NaN is born, not only in outputs");
    app.add_option("--steps", steps,
                   "Stop a simulation after so many steps; one is about what a scalar operation "
                   "costs")
        ->capture_default_str();
    app.add_flag("--as-given", run.asGiven,
                 "Try the given arguments alone, and no other extents or numbers");
    app.add_flag("--allow-incomplete", run.allowIncomplete,
                 "Exit code 0 also where nothing is wrong but not everything was decided");
    app.add_flag("--strict", run.strict, "A warning of the compiler is a finding");
    app.add_flag("--verify-each", run.verifyEach,
                 "First run the reference after every pass and stop at the first that is wrong");
    app.add_option("--verify-memory", verifyMemory, kVerifyMemory)->capture_default_str();
    app.add_option("--data-seed", dataSeed, "Seed of the random inputs")->capture_default_str();
    app.add_flag("--json", run.json, "Machine-readable output");
  } else if (line.command == "emit") {
    app.add_option("--target", line.target, inWords(targetNames(), "or"))->capture_default_str();
    app.add_option("-p,--platform", platform,
                   "Run the passes of this platform; " + defaultPlatform(Capability::Check).name() +
                       " if only --after is given");
    app.add_option("--after", run.lastPass, "Stop after this pass");
    app.add_flag("--check-shapes", run.checkShapes,
                 "Assertions on type and shape in the reference");
    app.add_flag("--json", run.json,
                 "The orchestration with the ids, core types and signatures of its kernels");
  } else {
    platform = defaultPlatform(Capability::Build).name();
    app.add_option("-p,--platform", platform, "The platform to build for")->capture_default_str();
    app.add_option("--cpu", run.cpu,
                   "With -p " + platformNames(Capability::CpuName) +
                       ": the CPU to generate code for, in LLVM's spelling; this one if none is "
                       "given");
    app.add_option("-o,--out", run.out, "The folder of the bundle")->required();
  }
  CLI::Option *dumpPasses = app.add_option(
      "--dump-passes", run.dumpPasses,
      std::string("Write the program after each pass to a file of this folder") +
          (line.command == "build" ? "; into passes/ of the bundle if none is given" : ""));
  if (line.command == "build")
    dumpPasses->expected(0, 1);
  if (line.command != "check") // which looks at groups as they are written
    app.add_flag("--fibers{false}", run.mergeGroups,
                 "With -p " + platformNames(Capability::Fibers) +
                     ": roles of groups always run on fibers, never merged into one function");
  app.add_flag("--remarks", run.remarks, "Say what the passes did, and why not more");
  app.footer(help);
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError &error) {
    return parseError(app, error);
  }
  for (const char *name : {"--out", "--after", "--entry", "--orchestration", "--dump-passes"})
    if (const CLI::Option *option = app.get_option_no_throw(name);
        option && option->count() > 0 && llvm::is_contained(option->results(), "") &&
        !(option == dumpPasses && option->get_expected_min() == 0))
      return badInput(std::string(name) + ": expected a name, found nothing");
  run.keepPasses = line.command == "build" && dumpPasses->count() > 0 && run.dumpPasses.empty();
  bool isVariable = hasSeed && app.count("--seed") == 0;
  if (StringRef(seed).getAsInteger(isVariable ? 0 : 10, run.seed))
    return badInput((isVariable ? "KILN_SEED=" : "--seed ") + seed +
                    ": expected an integer of at least 0");
  if (StringRef(timeout).getAsInteger(10, run.timeout) || run.timeout > 1'000'000'000)
    return badInput("--timeout " + timeout + ": expected seconds, from 0 (any time) to 1000000000");
  if (!seeds.empty() && (StringRef(seeds).getAsInteger(10, run.seeds) || run.seeds == 0))
    return badInput("--seeds " + seeds + ": expected an integer of at least 1");
  if (!steps.empty() && (StringRef(steps).getAsInteger(10, run.steps) || run.steps == 0))
    return badInput("--steps " + steps + ": expected an integer of at least 1");
  if (app.get_option_no_throw("--workers") && app.count("--workers") > 0) {
    Expected<unsigned> number = parseWorkers(workers, "--workers");
    if (!number)
      return badInput(number.status().message());
    run.workers = *number;
  }
  if (run.nan && run.seeds == 0)
    run.seeds = 1;
  if (int code = setPlatform(line, platform, app.count("--platform") > 0))
    return code;
  if (StringRef(dataSeed).getAsInteger(10, run.dataSeed))
    return badInput("--data-seed " + dataSeed + ": expected an integer of at least 0");
  if (StringRef(verifyMemory).getAsInteger(10, run.verifyMemory) || run.verifyMemory > 1 << 30)
    return badInput("--verify-memory " + verifyMemory + ": expected MiB, from 0 to 1073741824");
  if (int code = parseArgs(argTexts, run.args))
    return code;
  if (int code = parseConfig(app.remaining(), line))
    return code;
  if (line.command == "run") {
    if (app.count("--batch") > 0)
      return badInput("--batch: write --batch FILE, once and not within a batch");
    Expected<RecordOptions> variables = RecordOptions::fromEnvironment();
    if (!variables)
      return badInput(variables.status().message());
    bool flagGiven = app.count("--dump-args") > 0;
    Expected<int> level = flagGiven && !dump.empty() ? parseDumpLevel(dump, "--dump-args")
                                                     : Expected<int>(variables->dumpLevel);
    if (!level)
      return badInput(level.status().message());
    run.dumpLevel = dumpTensor || (flagGiven && dump.empty()) ? 2 : *level;
    run.timeline |= variables->timeline;
    if (app.count("--out") == 0)
      run.out = variables->out;
  }
  return -1;
}

/// `--batch FILE`: runs once for each line of the file, in one process, so that torch is started
/// once. Returns the worst exit code.
int runBatch(std::vector<std::string> args,
             const std::function<int(const std::vector<std::string> &)> &runOnce) {
  auto batch = llvm::find(args, "--batch");
  if (batch == args.end() || std::next(batch) == args.end())
    return runOnce(args);
  std::string path = *std::next(batch), text;
  args.erase(batch, batch + 2);
  // Looked at before it is opened: a pipe would be waited for.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return badInput(
        "--batch " + path + ": " +
        (std::filesystem::exists(path, error) ? "not a file" : "there is no such file"));
  std::ifstream file(path);
  if (!file)
    return badInput("--batch " + path + ": cannot be read");
  int worst = kGood;
  bool hasRun = false;
  for (unsigned number = 1; std::getline(file, text); ++number) {
    std::istringstream words(text.substr(0, text.find('#')));
    std::vector<std::string> all = args;
    all.insert(all.end(), std::istream_iterator<std::string>(words), {});
    if (all.size() == args.size())
      continue;
    hasRun = true;
    int code = runOnce(all);
    std::fflush(stdout);
    if (isInterrupted())
      return code;
    if (code != kGood)
      std::fprintf(stderr, "%s:%u: exit code %d with%s\n", path.c_str(), number, code,
                   (" " + text).c_str());
    worst = worseOf(worst, code);
  }
  return hasRun ? worst : badInput("--batch " + path + ": no line has options, so nothing was run");
}

int dispatch(const CommandLine &line, const Source &source) {
  if (line.command == "check")
    return checkCommand(source, line.run);
  if (line.command == "emit")
    return emitCommand(source, line.target, line.run);
  if (line.command == "build")
    return buildCommand(source, line.run);
  return runCommand(source, line.run);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

int textMain(const std::string &command, const std::string &path,
             const std::vector<std::string> &args) {
  CommandLine line;
  line.command = command;
  if (int code = parseOptions(line, path, args, [] { return std::string(); }); code >= 0)
    return code;
  if (!line.config.empty())
    return badInput("unknown option --" + line.config.begin()->first);
  line.run.command = replayCommand(command, {"kiln", command, path}, args);
  DialectRegistry registry;
  registerKilnDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  std::vector<Status> errors;
  OwningOpRef<ModuleOp> module;
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return badInput("cannot read " + path + ": " + file.getError().message());
  // What parseProgram does not refuse may still crash MLIR's own parser (numbers that make it
  // allocate without bound); that is bad input like any other.
  auto parse = [&] {
    DiagnosticCollector collector(&context, errors);
    module = parseProgram((*file)->getBuffer(), path, &context);
  };
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext guard;
  bool survived = guard.RunSafelyOnThread(parse, /*RequestedStackSize=*/256u << 20);
  llvm::CrashRecoveryContext::Disable();
  if (!survived) {
    badInput("MLIR's parser gave up on " + path + "; it is not a program");
    std::_Exit(kBadInput); // what the parser was building cannot be torn down
  }
  if (!module) {
    if (errors.empty())
      errors.emplace_back(StatusCode::InvalidArgument, "cannot be read as a program",
                          SourceLoc{path, 0, 0});
    printErrors(errors);
    return kBadInput;
  }
  Source source{std::filesystem::path(path).stem().string(), *module};
  return dispatch(line, source);
}

} // namespace

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

namespace {

/// A program that someone wrote: what records it, and what it should result in.
struct WrittenProgram {
  std::string path; ///< Of its file.
  kiln_program_maker maker;
  void *context;
  Intent intent;

  using Recorded = std::unique_ptr<kiln_recorder, decltype(&kiln_recorder_destroy)>;
  Expected<Recorded> record(kiln_config &config) const {
    const char *problem = nullptr;
    Recorded program(maker(context, &config, &problem), kiln_recorder_destroy);
    if (!program)
      return Status(StatusCode::InvalidArgument,
                    problem ? std::string("the program threw an exception while it was built: ") +
                                  problem
                            : "the program threw what is no std::exception while it was built");
    return program;
  }
};

} // namespace

static int runExample(const std::string &command, const std::vector<std::string> &args,
                      const WrittenProgram &written) {
  CommandLine line;
  line.command = command;
  std::string name = std::filesystem::path(written.path).filename().string();
  auto help = [&] {
    kiln_config defaults;
    (void)written.record(defaults); // which declares the parameters
    std::string text = "The commands check, emit and build come first: " + name +
                       " emit --help.\n"
                       "Parameters of the program:\n";
    for (const kiln_config::Declared &param : defaults.declared)
      text += "  --" + param.name + " " + llvm::join(param.choices, "|") + " (default " +
              param.value + ")\n";
    return defaults.declared.empty() ? std::string() : text;
  };
  if (int code = parseOptions(line, name, args, help); code >= 0)
    return code;
  line.run.command = replayCommand(line.command, {written.path, line.command}, args);
  kiln_config config{.values = line.config};
  Expected<WrittenProgram::Recorded> program = written.record(config);
  if (std::vector<std::string> wrong = config.errors(); !wrong.empty())
    return badInput(llvm::join(wrong, "\nkiln: error: "));
  if (!program)
    return badInput(program.status().message());
  if (const std::vector<Status> &errors = errorsOf(program->get()); !errors.empty()) {
    printErrors(errors);
    return kBadInput;
  }
  ModuleOp module = moduleOf(program->get());
  Source source{module.getSymName().value_or("").str(), module, &written.intent, &config};
  return dispatch(line, source);
}

static Intent intentOf(const kiln_example &example) {
  const kiln_text_pair *next = example.args;
  auto take = [&](uint32_t count) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (uint32_t index = 0; index < count; ++index, ++next)
      pairs.emplace_back(next->name, next->value);
    return pairs;
  };
  Intent intent{take(example.num_args), example.formula ? example.formula : "", {}};
  for (uint32_t size : ArrayRef(example.case_sizes, example.num_cases))
    intent.cases.push_back(take(size));
  return intent;
}

static int runProgram(int argc, char **argv, kiln_program_maker maker, void *context,
                      const kiln_example *example) {
  handleSignals();
  WrittenProgram written{argv[0], maker, context, example ? intentOf(*example) : Intent()};
  std::string command = "run";
  std::vector<std::string> args(argv + 1, argv + argc);
  if (!args.empty() && llvm::is_contained(kCommands, args[0])) {
    command = args[0];
    args.erase(args.begin());
  }
  auto runOnce = [&](const std::vector<std::string> &all) {
    return runExample(command, all, written);
  };
  return finishOutput(command == "run" ? runBatch(args, runOnce) : runOnce(args));
}

/// What `kiln --help` prints; the targets are filled in.
static const char kUsage[] =
    "usage: kiln COMMAND ...\n"
    "\n"
    "  kiln run PROG [-p PLATFORM] [--arg NAME=SPEC]...   compile, run, compare with the "
    "reference, report\n"
    "  kiln check PROG [--seeds N] [--arg NAME=SPEC]...   prove the pipes, simulate many "
    "schedules\n"
    "  kiln emit PROG [--target T] [--after PASS]         print the program at a stage; T is %s\n"
    "  kiln build PROG [-p PLATFORM] -o DIR               compile to a bundle\n"
    "  kiln dump DIR [--task N] [--export npy|txt] ...    look into a dump\n"
    "  kiln exec DIR [--arg NAME=SPEC]...                 verify and run a bundle\n"
    "  kiln cache ls|stat|clear|verify                    the cache of compiled code\n"
    "  kiln machines [--json]                             machine models\n"
    "  kiln platforms [--json]                            platforms, and what they can do\n"
    "\n"
    "PROG is a .mlir file or a compiled example. kiln COMMAND --help says more.\n";

static int runTool(int argc, char **argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  if (args.empty() || args[0] == "--help" || args[0] == "-h") {
    std::fprintf(args.empty() ? stderr : stdout, kUsage, inWords(targetNames(), "or").c_str());
    return args.empty() ? kBadInput : kGood;
  }
  std::string command = args[0];
  if (command == "--version") {
    std::printf("kiln %s (ABI %d, LLVM %s)\n", KILN_VERSION, KILN_ABI_VERSION, LLVM_VERSION_STRING);
    return kGood;
  }
  if (command == "dump")
    return dumpCommand(argc - 1, argv + 1);
  if (command == "exec")
    return execCommand(argc - 1, argv + 1);
  if (command == "cache")
    return cacheCommand(argc - 1, argv + 1);
  if (command == "machines" || command == "platforms") {
    bool json = args.size() == 2 && args[1] == "--json";
    if (args.size() != 1 && !json)
      return badInput("usage: kiln " + command + " [--json]");
    return command == "machines" ? machinesCommand(json) : platformsCommand(json);
  }
  if (!llvm::is_contained(kCommands, command))
    return badInput("there is no command '" + command + "'; try kiln --help");
  if (args.size() >= 2 && (args[1] == "--help" || args[1] == "-h")) {
    CommandLine line;
    line.command = command;
    return parseOptions(line, "kiln", {"--help"}, [] { return std::string(); });
  }
  if (args.size() < 2 || StringRef(args[1]).starts_with("-"))
    return badInput("usage: kiln " + command + " PROG ...; PROG comes first");
  std::string path = args[1];
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return badInput(path + " is a folder; a program is a .mlir file or a compiled example");
  if (!std::filesystem::exists(path, error))
    return badInput("there is no program " + path);
  if (StringRef(path).ends_with(".mlir")) {
    auto runOnce = [&](const std::vector<std::string> &all) {
      return textMain(command, path, all);
    };
    args.erase(args.begin(), args.begin() + 2);
    return command == "run" ? runBatch(args, runOnce) : runOnce(args);
  }
  if (!isCompiledExample(path))
    return badInput(path + " is neither a .mlir file nor a compiled example");
  // A compiled example has the same command line.
  args[0] = path;
  args[1] = command;
  std::vector<char *> pointers;
  for (std::string &arg : args)
    pointers.push_back(arg.data());
  pointers.push_back(nullptr);
  execv(path.c_str(), pointers.data());
  return badInput("cannot run " + path);
}

} // namespace kiln

int kiln_main(int argc, char **argv) {
  kiln::handleSignals();
  return kiln::finishOutput(kiln::runTool(argc, argv));
}

int kiln_program_main(const char *, int argc, char **argv, kiln_program_maker maker, void *context,
                      const kiln_example *example) {
  return kiln::runProgram(argc, argv, maker, context, example);
}
