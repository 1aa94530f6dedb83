//===- CommandLine.cpp - the options of every command ------------------------------------===//
#include "CommandLine.h"

#include "kiln/Transforms/Passes.h"
#include "kiln/runtime/record.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace mlir;

namespace kiln {
namespace {

int parseError(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == 0)
    return app.exit(error); // --help
  return badInput(std::string(error.what()) + "; see --help");
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

/// Ranks that one process runs: each is a thread.
constexpr int64_t kMaxRanksHere = 1024;

/// `--ranks N --launcher mpirun`: the same command, without these two, N times.
int relaunch(const std::string &launcher, const CommandLine &line, const std::string &program,
             const std::vector<std::string> &args) {
  if (line.run.ranks == 0)
    return badInput("--launcher " + launcher + " needs --ranks N");
  std::vector<std::string> words{launcher, "-n", std::to_string(line.run.ranks)};
  if (geteuid() == 0 && StringRef(launcher).ends_with("mpirun"))
    words.insert(words.end(), {"--allow-run-as-root", "--oversubscribe"});
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  words.push_back(line.command);
  if (StringRef(program).ends_with(".mlir"))
    words.push_back(program);
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef option = StringRef(args[i]).split('=').first;
    if (option != "--ranks" && option != "--launcher")
      words.push_back(args[i]);
    else if (!StringRef(args[i]).contains('='))
      ++i;
  }
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::fflush(stdout);
  execvp(launcher.c_str(), pointers.data());
  return badInput("cannot run the launcher " + launcher + ": " + std::strerror(errno) +
                  "; install Open MPI (scripts/setup) or name another");
}

/// The end of what --help says, where ARGS are `arguments`; `program` is empty for the tool, which
/// takes one.
std::string examplesOf(const std::string &command, const std::string &program,
                       const std::string &arguments) {
  static const std::map<std::string, std::vector<const char *>> all = {
      {"run", {"", "ARGS -p a2a3sim", "--seeds 8 --nan", "--record --out out && kiln view out"}},
      {"check", {"", "--seeds 32 ARGS", "--as-given --record --out out && kiln view out"}},
      {"emit",
       {"--target torch", "-p a2a3sim --after kiln-partition-roles", "--target llvm -p cpu"}},
      {"tune", {"", "ARGS --seconds 60"}},
      {"build", {"-o bundle && kiln-exec bundle", "-p cpu --cpu x86-64-v3 -o bundle"}}};
  auto examples = all.find(command);
  if (examples == all.end())
    return "";
  std::string start =
      program.empty() ? "kiln " + command + (command == "tune" ? " examples/matmul" : " prog.mlir")
      : command == "run" ? program
                         : program + " " + command;
  std::string text = "Examples:\n";
  for (std::string options : examples->second) {
    if (size_t at = options.find("ARGS"); at != options.npos)
      options.replace(at, 4, arguments);
    text += "  " + start + (options.empty() ? "" : " ") + options + "\n";
  }
  return text;
}

} // namespace

std::string replayCommand(const std::string &command, std::vector<std::string> words,
                          const std::vector<std::string> &args) {
  bool isLeftOut = false;
  for (const std::string &arg : args) {
    if (StringRef(arg).starts_with("-")) {
      StringRef option = StringRef(arg).split('=').first;
      isLeftOut = option == "--seed" || option == "--seeds" || option == "--record" ||
                  (command == "check" &&
                   (option == "--arg" || option == "--as-given" || option == "--out"));
    }
    if (!isLeftOut)
      words.push_back(arg);
  }
  return llvm::join(words, " ");
}

namespace {

constexpr const char *kVerifyMemory =
    "MiB that --verify-each may take to remember what tasks read and wrote; beyond, the whole "
    "program runs again after each change";
constexpr const char *kRecord =
    "Leave in --out everything that kiln view shows: code, arguments, timeline, findings";
constexpr const char *kUntuned = "Use the program's own defaults, not what kiln tune found for it";

const char *purposeOf(const std::string &command) {
  return command == "run"     ? "Runs the program and checks the result."
         : command == "check" ? "Proves the pipes, then simulates many schedules."
         : command == "emit"  ? "Prints the program at a stage."
         : command == "tune"
             ? "Finds the fastest values of the program's parameters on this machine, for "
               "arguments of these sizes."
             : "Compiles the program to a bundle.";
}

/// The options of one command: declares them, and makes settings of what they say. Its functions
/// that may find a mistake return 0 to go on, else the exit code.
class OptionParser {
public:
  OptionParser(CommandLine &line, const std::string &program)
      : Line(line), Run(line.run), Program(program), IsTool(program == "kiln"),
        HasSeed(line.command == "run" || line.command == "check"),
        App(purposeOf(line.command),
            program + (IsTool || line.command != "run" ? " " + line.command : "") +
                (IsTool ? " PROG" : "")) {}

  int parse(const std::vector<std::string> &args, const std::function<std::string()> &help);

private:
  // One for each command.
  void addRun();
  void addCheck();
  void addEmit();
  void addTune();
  void addBuild();
  // For several.
  void addArguments();
  void addDataSeed();
  void addPasses();

  int refuseEmptyNames() const;
  int readNumbers();
  int readSchedules();
  int readRecording();

  CommandLine &Line;
  RunSettings &Run;
  const std::string &Program;
  bool IsTool;  ///< Which takes the program as an argument.
  bool HasSeed; ///< Of a schedule.
  CLI::App App;
  CLI::Option *DumpPasses = nullptr;

  // Texts, until they are known to be what they should be.
  std::vector<std::string> Args;
  std::string PlatformName, Dump, Seed, Seeds, Steps, Workers, Ranks, Launcher;
  std::string Timeout = std::to_string(Run.timeout), DataSeed = std::to_string(Run.dataSeed);
  std::string VerifyMemory = std::to_string(Run.verifyMemory);
  bool DumpTensor = false;
};

void OptionParser::addArguments() {
  App.add_option("--arg", Args,
                 "name=SHAPE[:FILL], name=file:PATH.npy or name=VALUE for an argument");
}

void OptionParser::addDataSeed() {
  App.add_option("--data-seed", DataSeed, "Seed of the random inputs")->capture_default_str();
}

void OptionParser::addRun() {
  PlatformName = defaultPlatform(Capability::Run).name();
  App.add_option("-p,--platform", PlatformName,
                 "Where to run: " + platformNames(Capability::Run) + "; " +
                     defaultPlatform(Capability::Seeds).name() +
                     " if only a simulator can do what other options say")
      ->capture_default_str();
  addArguments();
  App.add_option("--seed", Seed,
                 "Schedule of the simulator; 0 is the plain order; KILN_SEED says it too")
      ->capture_default_str();
  App.add_option("--seeds", Seeds,
                 "Check the program under so many schedules, from --seed on: races, reads of what "
                 "nobody wrote, padding, ...");
  App.add_flag("--nan", Run.nan, "Check, and report where NaN is born");
  App.add_option("--steps", Steps,
                 "Stop a simulation after so many steps; one is about what a scalar operation "
                 "costs; none are counted if this is not given");
  App.add_option("--workers", Workers,
                 "Threads that run native code, where no --seed is given; as many as there are "
                 "cores unless this or KILN_WORKERS says otherwise");
  App.add_option("--ranks", Ranks,
                 "Run on so many ranks in this process; an argument name=SHAPE@AXIS is divided "
                 "among them along that axis, any other is the same on each");
  App.add_option("--launcher", Launcher,
                 "With --ranks: have each rank run in a process of its own, started by this "
                 "program, such as mpirun");
  addDataSeed();
  App.add_option("--out", Run.out, "Where files are written")->capture_default_str();
  App.add_option("--save", Run.save, "Write each output to this folder as NAME.npy");
  App.add_option("--dump-args", Dump,
                 "Dump kernel arguments: 0 off, 1 what the program marked, 2 everything (the "
                 "default without a number), 3 metadata of everything and payload of what is "
                 "marked")
      ->expected(0, 1);
  App.add_flag("--dump-tensor", DumpTensor, "The same as --dump-args=2");
  App.add_flag("--timeline", Run.timeline,
               "Write timeline.json (for Perfetto), graph.json and graph.dot, and print a summary");
  App.add_flag("--record", Run.record, kRecord);
  App.add_flag("--untuned", Line.untuned, kUntuned);
  App.add_option("--orchestration", Run.orchestration,
                 "Launch with this shared object, compiled from what emit --target "
                 "orchestration prints");
  App.add_option("--timeout", Timeout,
                 "Seconds that the run, the formula and the reference may take each; 0: any time")
      ->capture_default_str();
  App.add_flag("--verify-each", Run.verifyEach,
               "Run the reference after every pass and stop at the first that is wrong");
  App.add_option("--verify-memory", VerifyMemory, kVerifyMemory)->capture_default_str();
  App.add_flag("--no-reference", Run.noReference, "Do not compare with the PyTorch reference");
  App.add_flag("--no-formula", Run.noFormula, "Do not compare with the formula of the example");
  App.add_option("--batch", "Run once for each line of this file, which has more options")
      ->type_name("FILE"); // see runBatch
  App.add_flag("--check-shapes", Run.checkShapes, "Assertions on type and shape in the reference");
  App.add_flag("--json", Run.json, "Machine-readable output");
}

void OptionParser::addCheck() {
  Seeds = "8";
  Steps = "4000000";
  PlatformName = defaultPlatform(Capability::Check).name();
  App.add_option("-p,--platform", PlatformName,
                 "The machine to simulate: " + platformNames(Capability::Check))
      ->capture_default_str();
  addArguments();
  App.add_option("--seeds", Seeds, "How many schedules to simulate")->capture_default_str();
  App.add_option("--seed", Seed, "The first schedule; 0 is the plain order; KILN_SEED says it too")
      ->capture_default_str();
  App.add_flag("--nan", Run.nan, "Report every place where NaN is born, not only in outputs");
  App.add_option("--steps", Steps,
                 "Stop a simulation after so many steps; one is about what a scalar operation "
                 "costs")
      ->capture_default_str();
  App.add_option("--ranks", Ranks,
                 "Check with so many ranks; 1, 2, 3 and 4 where a program has ranks and this is "
                 "not given");
  App.add_option(
      "--workers", Workers,
      "As for run; a check simulates on one thread, so that its report is always the same");
  App.add_flag("--as-given", Run.asGiven,
               "Try the given arguments alone, and no other extents or numbers");
  App.add_flag("--allow-incomplete", Run.allowIncomplete,
               "Exit code 0 also where nothing is wrong but not everything was decided");
  App.add_flag("--strict", Run.strict, "A warning of the compiler is a finding");
  App.add_flag("--verify-each", Run.verifyEach,
               "First run the reference after every pass and stop at the first that is wrong");
  App.add_option("--verify-memory", VerifyMemory, kVerifyMemory)->capture_default_str();
  addDataSeed();
  App.add_flag("--record", Run.record, kRecord);
  App.add_option("--out", Run.out, "Where --record writes its files")->capture_default_str();
  App.add_flag("--json", Run.json, "Machine-readable output");
}

void OptionParser::addEmit() {
  App.add_option("--target", Line.target, inWords(targetNames(), "or"))->capture_default_str();
  App.add_option("-p,--platform", PlatformName,
                 "Run the passes of this platform; " + defaultPlatform(Capability::Check).name() +
                     " if only --after is given");
  App.add_option("--after", Run.lastPass, "Stop after this pass");
  App.add_flag("--check-shapes", Run.checkShapes, "Assertions on type and shape in the reference");
  App.add_flag("--json", Run.json,
               "The orchestration with the ids, core types and signatures of its kernels");
}

void OptionParser::addTune() {
  PlatformName = defaultPlatform(Capability::Jit).name();
  App.add_option("-p,--platform", PlatformName, "Where to measure")->capture_default_str();
  addArguments();
  addDataSeed();
  App.add_option("--seconds", Line.tune.seconds, "How long to search, about")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 1e6))
      ->check([](const std::string &text) { // which CLI::Range takes to be in any range
        double seconds;
        bool isNan = !StringRef(text).getAsDouble(seconds) && std::isnan(seconds);
        return isNan ? "Value " + text + " is no number" : std::string();
      });
  App.add_option("--vary", Line.tune.vary,
                 "Also vary this parameter, although it is no list of integers: all of its "
                 "values must mean the same result");
  App.add_flag("--exhaustive", Line.tune.isExhaustive, "Try every choice, however long it takes");
  App.add_flag("--no-formula", Run.noFormula, "Do not compare with the formula of the example");
  App.add_flag("--json", Run.json, "Machine-readable output");
}

void OptionParser::addBuild() {
  PlatformName = defaultPlatform(Capability::Build).name();
  App.add_option("-p,--platform", PlatformName, "The platform to build for")->capture_default_str();
  App.add_option("--cpu", Run.cpu,
                 "With -p " + platformNames(Capability::CpuName) +
                     ": the CPU to generate code for, in LLVM's spelling; this one if none is "
                     "given");
  App.add_option("-o,--out", Run.out, "The folder of the bundle")->required();
  App.add_flag("--untuned", Line.untuned, kUntuned);
}

/// What passes do, and what is told of them.
void OptionParser::addPasses() {
  DumpPasses = App.add_option(
      "--dump-passes", Run.dumpPasses,
      std::string("Write the program after each pass to a file of this folder") +
          (Line.command == "build" ? "; into passes/ of the bundle if none is given" : ""));
  if (Line.command == "build")
    DumpPasses->expected(0, 1);
  if (Line.command != "check") // which looks at groups as they are written
    App.add_flag("--fibers{false}", Run.mergeGroups,
                 "With -p " + platformNames(Capability::Fibers) +
                     ": roles of groups always run on fibers, never merged into one function");
  App.add_option("--without", Run.without,
                 "Leave out this pass, to see what it is worth: " +
                     inWords(passesToLeaveOut(), "or"))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(passesToLeaveOut()));
  if (Line.command != "check" && Line.command != "tune")
    App.add_flag("--persistent", Run.isPersistent,
                 "With -p " + platformNames(Capability::Persistent) +
                     ": make one kernel of all tasks, which walks them itself");
  App.add_flag("--remarks", Run.remarks, "Say what the passes did, and why not more");
}

int OptionParser::refuseEmptyNames() const {
  for (const char *name : {"--out", "--after", "--entry", "--orchestration", "--dump-passes"})
    if (const CLI::Option *option = App.get_option_no_throw(name);
        option && option->count() > 0 && llvm::is_contained(option->results(), "") &&
        !(option == DumpPasses && option->get_expected_min() == 0))
      return badInput(std::string(name) + ": expected a name, found nothing");
  return kGood;
}

/// Which schedules are simulated, and how long.
int OptionParser::readSchedules() {
  bool isVariable = HasSeed && App.count("--seed") == 0;
  if (StringRef(Seed).getAsInteger(isVariable ? 0 : 10, Run.seed))
    return badInput((isVariable ? "KILN_SEED=" : "--seed ") + Seed +
                    ": expected an integer of at least 0");
  if (!Seeds.empty() && (StringRef(Seeds).getAsInteger(10, Run.seeds) || Run.seeds == 0))
    return badInput("--seeds " + Seeds + ": expected an integer of at least 1");
  if (!Steps.empty() && (StringRef(Steps).getAsInteger(10, Run.steps) || Run.steps == 0))
    return badInput("--steps " + Steps + ": expected an integer of at least 1");
  if (Run.nan && Run.seeds == 0)
    Run.seeds = 1;
  return kGood;
}

int OptionParser::readNumbers() {
  if (StringRef(Timeout).getAsInteger(10, Run.timeout) || Run.timeout > 1'000'000'000)
    return badInput("--timeout " + Timeout + ": expected seconds, from 0 (any time) to 1000000000");
  if (App.get_option_no_throw("--workers") && App.count("--workers") > 0) {
    Expected<unsigned> number = parseWorkers(Workers, "--workers");
    if (!number)
      return badInput(number.status().message());
    Run.workers = *number;
  }
  if (!Ranks.empty() &&
      (StringRef(Ranks).getAsInteger(10, Run.ranks) || Run.ranks < 1 || Run.ranks > kMaxRanksHere))
    return badInput("--ranks " + Ranks + ": expected a number of ranks, from 1 to " +
                    std::to_string(kMaxRanksHere));
  if (StringRef(DataSeed).getAsInteger(10, Run.dataSeed))
    return badInput("--data-seed " + DataSeed + ": expected an integer of at least 0");
  if (StringRef(VerifyMemory).getAsInteger(10, Run.verifyMemory) || Run.verifyMemory > 1 << 30)
    return badInput("--verify-memory " + VerifyMemory + ": expected MiB, from 0 to 1073741824");
  return kGood;
}

/// What a run leaves behind: flags, or else variables of the environment.
int OptionParser::readRecording() {
  Expected<RecordOptions> variables = RecordOptions::fromEnvironment();
  if (!variables)
    return badInput(variables.status().message());
  bool flagGiven = App.count("--dump-args") > 0;
  Expected<int> level = flagGiven && !Dump.empty() ? parseDumpLevel(Dump, "--dump-args")
                                                   : Expected<int>(variables->dumpLevel);
  if (!level)
    return badInput(level.status().message());
  Run.dumpLevel = DumpTensor || (flagGiven && Dump.empty()) ? 2 : *level;
  Run.timeline |= variables->timeline;
  if (Run.record && !flagGiven && Run.dumpLevel == 0 && Run.platform->can(Capability::Dump))
    Run.dumpLevel = 2;
  if (Run.record && Run.seeds == 0) // a timeline shows one schedule
    Run.timeline |= Run.platform->can(Capability::Timeline);
  if (App.count("--out") == 0)
    Run.out = variables->out;
  return kGood;
}

int OptionParser::parse(const std::vector<std::string> &args,
                        const std::function<std::string()> &help) {
  const char *variable = HasSeed ? std::getenv("KILN_SEED") : nullptr;
  Seed = variable && *variable ? variable : std::to_string(Run.seed);
  App.allow_extras();
  App.add_option("--entry", Run.entry, "The function to start with");
  if (Line.command == "run")
    addRun();
  else if (Line.command == "check")
    addCheck();
  else if (Line.command == "emit")
    addEmit();
  else if (Line.command == "tune")
    addTune();
  else
    addBuild();
  addPasses();
  App.footer([&] {
    return help() +
           "What passes choose by themselves can be told them: --compiler.lanes N, "
           "--compiler.slots N, "
           "--compiler.walk in_turn|handed_out.\n" +
           examplesOf(Line.command, IsTool ? "" : Program, Line.exampleArguments);
  });
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  try {
    App.parse(reversed);
  } catch (const CLI::ParseError &error) {
    return parseError(App, error);
  }
  if (int code = refuseEmptyNames())
    return code;
  Run.keepPasses = Line.command == "build" && DumpPasses->count() > 0 && Run.dumpPasses.empty();
  if (int code = readSchedules())
    return code;
  if (int code = readNumbers())
    return code;
  if (!Launcher.empty())
    return relaunch(Launcher, Line, Program, args);
  if (int code = setPlatform(Line, PlatformName, App.count("--platform") > 0))
    return code;
  if (Run.isPersistent && !(Run.platform && Run.platform->can(Capability::Persistent)))
    return badInput("--persistent is for -p " + platformNames(Capability::Persistent));
  if (int code = parseArgs(Args, Run.args))
    return code;
  if (int code = parseConfig(App.remaining(), Line))
    return code;
  if (Line.command != "run")
    return -1;
  if (App.count("--batch") > 0)
    return badInput("--batch: write --batch FILE, once and not within a batch");
  int code = readRecording();
  return code ? code : -1;
}

} // namespace

int parseOptions(CommandLine &line, const std::string &program,
                 const std::vector<std::string> &args, const std::function<std::string()> &help) {
  return OptionParser(line, program).parse(args, help);
}

} // namespace kiln
