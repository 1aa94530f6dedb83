//===- CommandLine.cpp - the options of every command ------------------------------------===//
#include "CommandLine.h"

#include "kiln/Transforms/Passes.h"
#include "kiln/runtime/record.h"

#include <CLI/CLI.hpp>

#include <cerrno>
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

/// The end of what --help says; `program` is empty for the tool, which takes one.
std::string examplesOf(const std::string &command, const std::string &program) {
  static const std::map<std::string, std::vector<const char *>> all = {
      {"run",
       {"", "--arg a=128x64 --arg b=64x32 -p a2a3sim", "--seeds 8 --nan",
        "--record --out out && kiln view out"}},
      {"check", {"", "--seeds 32 --arg x=9x16", "--as-given --record --out out && kiln view out"}},
      {"emit",
       {"--target torch", "-p a2a3sim --after kiln-partition-roles", "--target llvm -p cpu"}},
      {"tune", {"", "--arg a=512x512 --arg b=512x512 --arg c=512x512 --seconds 60"}},
      {"build", {"-o bundle && kiln-exec bundle", "-p cpu --cpu x86-64-v3 -o bundle"}}};
  auto examples = all.find(command);
  if (examples == all.end())
    return "";
  std::string start =
      program.empty() ? "kiln " + command + (command == "tune" ? " examples/matmul" : " prog.mlir")
      : command == "run" ? program
                         : program + " " + command;
  std::string text = "Examples:\n";
  for (const char *options : examples->second)
    text += "  " + start + (*options ? " " : "") + options + "\n";
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

int parseOptions(CommandLine &line, const std::string &program,
                 const std::vector<std::string> &args, const std::function<std::string()> &help) {
  const char *purpose =
      line.command == "run"     ? "Runs the program and checks the result."
      : line.command == "check" ? "Proves the pipes, then simulates many schedules."
      : line.command == "emit"  ? "Prints the program at a stage."
      : line.command == "tune"
          ? "Finds the fastest values of the program's parameters on this machine, for "
            "arguments of these sizes."
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
  std::string workers, ranks, launcher;
  static constexpr const char *kVerifyMemory =
      "MiB that --verify-each may take to remember what tasks read and wrote; beyond, the whole "
      "program runs again after each change";
  static constexpr const char *kRecord =
      "Leave in --out everything that kiln view shows: code, arguments, timeline, findings";
  static constexpr const char *kUntuned =
      "Use the program's own defaults, not what kiln tune found for it";
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
    app.add_option("--ranks", ranks,
                   "Run on so many ranks in this process; an argument name=SHAPE@AXIS is divided "
                   "among them along that axis, any other is the same on each");
    app.add_option("--launcher", launcher,
                   "With --ranks: have each rank run in a process of its own, started by this "
                   "program, such as mpirun");
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
    app.add_flag("--record", run.record, kRecord);
    app.add_flag("--untuned", line.untuned, kUntuned);
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
    app.add_option("--ranks", ranks,
                   "Check with so many ranks; 1, 2, 3 and 4 where a program has ranks and this is "
                   "not given");
    app.add_option(
        "--workers", workers,
        "As for run; a check simulates on one thread, so that its report is always the same");
    app.add_flag("--as-given", run.asGiven,
                 "Try the given arguments alone, and no other extents or numbers");
    app.add_flag("--allow-incomplete", run.allowIncomplete,
                 "Exit code 0 also where nothing is wrong but not everything was decided");
    app.add_flag("--strict", run.strict, "A warning of the compiler is a finding");
    app.add_flag("--verify-each", run.verifyEach,
                 "First run the reference after every pass and stop at the first that is wrong");
    app.add_option("--verify-memory", verifyMemory, kVerifyMemory)->capture_default_str();
    app.add_option("--data-seed", dataSeed, "Seed of the random inputs")->capture_default_str();
    app.add_flag("--record", run.record, kRecord);
    app.add_option("--out", run.out, "Where --record writes its files")->capture_default_str();
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
  } else if (line.command == "tune") {
    platform = defaultPlatform(Capability::Jit).name();
    app.add_option("-p,--platform", platform, "Where to measure")->capture_default_str();
    app.add_option("--arg", argTexts,
                   "name=SHAPE[:FILL], name=file:PATH.npy or name=VALUE for an argument");
    app.add_option("--data-seed", dataSeed, "Seed of the random inputs")->capture_default_str();
    app.add_option("--seconds", line.tune.seconds, "How long to search, about")
        ->capture_default_str()
        ->check(CLI::Range(0.1, 1e6));
    app.add_option("--vary", line.tune.vary,
                   "Also vary this parameter, although it is no list of integers: all of its "
                   "values must mean the same result");
    app.add_flag("--exhaustive", line.tune.isExhaustive, "Try every choice, however long it takes");
    app.add_flag("--no-formula", run.noFormula, "Do not compare with the formula of the example");
    app.add_flag("--json", run.json, "Machine-readable output");
  } else {
    platform = defaultPlatform(Capability::Build).name();
    app.add_option("-p,--platform", platform, "The platform to build for")->capture_default_str();
    app.add_option("--cpu", run.cpu,
                   "With -p " + platformNames(Capability::CpuName) +
                       ": the CPU to generate code for, in LLVM's spelling; this one if none is "
                       "given");
    app.add_option("-o,--out", run.out, "The folder of the bundle")->required();
    app.add_flag("--untuned", line.untuned, kUntuned);
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
  app.add_option("--without", run.without,
                 "Leave out this pass, to see what it is worth: " +
                     inWords(passesToLeaveOut(), "or"))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(passesToLeaveOut()));
  app.add_flag("--remarks", run.remarks, "Say what the passes did, and why not more");
  app.footer([&] { return help() + examplesOf(line.command, isTool ? "" : program); });
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
  if (!ranks.empty() &&
      (StringRef(ranks).getAsInteger(10, run.ranks) || run.ranks < 1 || run.ranks > kMaxRanksHere))
    return badInput("--ranks " + ranks + ": expected a number of ranks, from 1 to " +
                    std::to_string(kMaxRanksHere));
  if (!launcher.empty())
    return relaunch(launcher, line, program, args);
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
    if (run.record && !flagGiven && run.dumpLevel == 0 && run.platform->can(Capability::Dump))
      run.dumpLevel = 2;
    if (run.record && run.seeds == 0) // a timeline shows one schedule
      run.timeline |= run.platform->can(Capability::Timeline);
    if (app.count("--out") == 0)
      run.out = variables->out;
  }
  return -1;
}

} // namespace kiln
