//===- Main.cpp - the command line of `kiln` and of every example ---------------------===//
#include "CommandLine.h"
#include "Terminal.h"
#include "abi/CBoundary.h"
#include "abi/JsonOutput.h"

#include "kiln/Dialect/Kiln/CompilerChoices.h"
#include "kiln/Dialect/ProgramText.h"
#include "kiln/Jit/Jit.h"
#include "kiln/View/View.h"
#include "kiln/runtime/bundle.h"
#include "kiln/runtime/record.h"
#include "kiln/runtime/tool_output.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <unistd.h>

using namespace mlir;

namespace kiln {
namespace {

const char *const kCommands[] = {"run", "check", "emit", "build", "tune"};

/// Whether there is something to read that ends: neither a pipe nor a device, which could be waited
/// for without end.
bool isFile(const std::string &path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

bool isCompiledExample(const std::string &path) {
  if (!isFile(path))
    return false;
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file && access(path.c_str(), X_OK) == 0 &&
         (*file)->getBuffer().contains(KILN_PROGRAM_MARKER);
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
  Progress progress("running lines of " + path, 0);
  for (unsigned number = 1; std::getline(file, text); ++number) {
    progress.show(number - 1, text);
    std::istringstream words(text.substr(0, text.find('#')));
    std::vector<std::string> all = args;
    all.insert(all.end(), std::istream_iterator<std::string>(words), {});
    if (all.size() == args.size())
      continue;
    hasRun = true;
    Progress::hide();
    beginOutput(all);
    int code = runOnce(all);
    finishJson(code);
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
  if (line.command == "tune")
    return badInput("a .mlir file has no parameters to choose from; tune the compiled program that "
                    "records it");
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
  for (const auto &[name, value] : line.config)
    if (!StringRef(name).starts_with(ir::kCompilerPrefix))
      return badInput("unknown option --" + name);
  line.run.command = replayCommand(command, {"kiln", command, path}, args);
  DialectRegistry registry;
  registerKilnDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  std::vector<Status> errors;
  OwningOpRef<ModuleOp> module;
  if (std::error_code error; !isFile(path) && std::filesystem::exists(path, error))
    return badInput("cannot read " + path + ": it is no file");
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
    finishJson(badInput("MLIR's parser gave up on " + path + "; it is not a program"));
    std::fflush(stdout);
    std::_Exit(kBadInput); // what the parser was building cannot be torn down
  }
  if (!module) {
    if (errors.empty())
      errors.emplace_back(StatusCode::InvalidArgument, "cannot be read as a program",
                          SourceLoc{path, 0, 0});
    printErrors(errors);
    return kBadInput;
  }
  if (std::string bad = chooseForCompiler(*module, line.config); !bad.empty())
    return badInput(bad);
  Source source{std::filesystem::path(path).stem().string(), *module};
  return dispatch(line, source);
}

} // namespace

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

static int runExample(const std::string &command, const std::vector<std::string> &args,
                      const WrittenProgram &written) {
  CommandLine line;
  line.command = command;
  std::string name = std::filesystem::path(written.path).filename().string();
  auto help = [&] {
    kiln_config defaults;
    (void)written.record(defaults); // which declares the parameters
    std::string text = "The commands check, emit, build and tune come first: " + name +
                       " emit --help.\n"
                       "Parameters of the program:\n";
    for (const kiln_config::Declared &param : defaults.declared)
      text += "  --" + param.name + " " + llvm::join(param.choices, "|") + " (default " +
              param.value + ")\n";
    return defaults.declared.empty() ? std::string() : text;
  };
  std::vector<std::string> given;
  for (const auto &[argument, spec] : written.intent.args)
    given.push_back("--arg " + argument + "=" + spec);
  line.exampleArguments = llvm::join(given, " ");
  if (int code = parseOptions(line, name, args, help); code >= 0)
    return code;
  line.run.command = replayCommand(line.command, {written.path, line.command}, args);
  if (line.command == "tune")
    return tuneCommand(written, line.config, line.run, line.tune);
  kiln_config config{.values = line.config};
  int exitCode = kGood;
  std::optional<WrittenProgram::Recorded> program = written.recordOrPrint(config, exitCode);
  if (!program)
    return exitCode;
  auto sourceOf = [&](kiln_config &used) {
    ModuleOp module = moduleOf(program->get());
    return Source{module.getSymName().value_or("").str(), module, &written.intent, &used};
  };
  Source source = sourceOf(config);
  bool usesTuned = !line.untuned && (line.command == "run" || line.command == "build");
  Expected<std::optional<ConfigValues>> kept =
      usesTuned ? tunedValues(source, line.run) : std::optional<ConfigValues>();
  if (!kept)
    return badInput(kept.status());
  std::optional<ConfigValues> &values = *kept;
  if (!values)
    return dispatch(line, source);
  // What the user says wins; what does not fit any more is as if it were not there.
  line.run.tuned = *values;
  values->insert(line.config.begin(), line.config.end());
  kiln_config tuned{.values = *values};
  Expected<WrittenProgram::Recorded> again = written.record(tuned);
  if (!again || !tuned.errors().empty() || !errorsOf(again->get()).empty()) {
    line.run.tuned.clear();
    return dispatch(line, source);
  }
  program = std::move(*again);
  return dispatch(line, sourceOf(tuned));
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
  beginOutput(argc, argv);
  Expected<kiln_example> known =
      example ? knownPart(example, sizeof(kiln_example), "kiln_example") : kiln_example();
  if (!known)
    return badInput(known.status());
  handleSignals();
  showParallelWork();
  WrittenProgram written{argv[0], maker, context, intentOf(*known)};
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
    "  kiln check PROG... [--seeds N] [--arg NAME=SPEC]...  prove the pipes, simulate many "
    "schedules\n"
    "  kiln emit PROG [--target T] [--after PASS]         print the program at a stage; T is %s\n"
    "  kiln build PROG [-p PLATFORM] -o DIR               compile to a bundle\n"
    "  kiln tune PROG [-p PLATFORM] [--arg NAME=SPEC]...  find the fastest values of its "
    "parameters\n"
    "  kiln dump DIR [--task N] [--export npy|txt] ...    look into a dump\n"
    "  kiln view DIR [--diff OTHER] [--serve]             make a page of what a run left\n"
    "  kiln exec DIR [--arg NAME=SPEC]...                 verify and run a bundle\n"
    "  kiln cache ls|stat|clear|verify                    the cache of compiled code\n"
    "  kiln machines [--json]                             machine models\n"
    "  kiln platforms [--json]                            platforms, and what they can do\n"
    "\n"
    "PROG is a .mlir file or a compiled example. kiln COMMAND --help says more.\n"
    "\n"
    "Examples:\n"
    "  kiln run prog.mlir --arg a=128x64 --arg b=64x32\n"
    "  kiln check prog.mlir --record --out out && kiln view out\n"
    "  kiln build prog.mlir -o bundle && kiln-exec bundle\n";

/// A compiled example has the same command line, and takes it from here.
static int becomeExample(const std::string &path, const std::string &command,
                         ArrayRef<std::string> options) {
  std::vector<std::string> words{path, command};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(path.c_str(), pointers.data());
  return badInput("cannot run " + path);
}

/// A command on a program, which the words begin with.
static int runOnProgram(const std::string &command, ArrayRef<std::string> words) {
  ArrayRef<std::string> programs =
      words.take_until([](StringRef word) { return word.starts_with("-"); });
  if (command == "check" && programs.size() > 1)
    return checkSeveral(programs, words.drop_front(programs.size()));
  const std::string &path = words.front();
  ArrayRef<std::string> options = words.drop_front();
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return badInput(path + " is a folder; a program is a .mlir file or a compiled example");
  if (!std::filesystem::exists(path, error))
    return badInput("there is no program " + path);
  if (StringRef(path).ends_with(".mlir")) {
    auto runOnce = [&](const std::vector<std::string> &all) {
      return textMain(command, path, all);
    };
    return command == "run" ? runBatch(options, runOnce) : runOnce(options);
  }
  if (!isCompiledExample(path))
    return badInput(path + " is neither a .mlir file nor a compiled example");
  return becomeExample(path, command, options);
}

/// `kiln machines` and `kiln platforms`.
static int listCommand(const std::string &command, ArrayRef<std::string> options) {
  bool isMachines = command == "machines";
  std::string usage = "usage: kiln " + command + " [--json]";
  if (options.size() == 1 && (options[0] == "--help" || options[0] == "-h")) {
    std::printf("%s\n\nLists %s.\n\n  --json  Machine-readable output\n\nExamples:\n  kiln %s\n"
                "  kiln %s --json\n",
                usage.c_str(),
                isMachines ? "the machine models: roles, memories and the ways between them"
                           : "the platforms, and what each can do",
                command.c_str(), command.c_str());
    return kGood;
  }
  bool json = options.size() == 1 && options[0] == "--json";
  if (!options.empty() && !json)
    return badInput(usage);
  return isMachines ? machinesCommand(json) : platformsCommand(json);
}

static int runTool(int argc, char **argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  if (args.empty() || args[0] == "--help" || args[0] == "-h") {
    std::fprintf(args.empty() ? stderr : stdout, kUsage, inWords(targetNames(), "or").c_str());
    return args.empty() ? kBadInput : kGood;
  }
  const std::string &command = args[0];
  if (command == "--version") {
    std::printf("kiln %s (ABI %d, LLVM %s)\n", KILN_VERSION, KILN_ABI_VERSION, LLVM_VERSION_STRING);
    return kGood;
  }
  if (command == "dump")
    return dumpCommand(argc - 1, argv + 1);
  if (command == "view")
    return viewCommand(argc - 1, argv + 1);
  if (command == "exec")
    return execCommand(argc - 1, argv + 1);
  if (command == "cache")
    return cacheCommand(argc - 1, argv + 1);
  if (command == "machines" || command == "platforms")
    return listCommand(command, ArrayRef(args).drop_front());
  if (!llvm::is_contained(kCommands, command))
    return badInput("there is no command '" + command + "'; try kiln --help");
  if (args.size() >= 2 && (args[1] == "--help" || args[1] == "-h")) {
    CommandLine line;
    line.command = command;
    return parseOptions(line, "kiln", {"--help"}, [] { return std::string(); });
  }
  if (args.size() < 2 || StringRef(args[1]).starts_with("-"))
    return badInput("usage: kiln " + command + " PROG ...; PROG comes first");
  return runOnProgram(command, ArrayRef(args).drop_front());
}

} // namespace kiln

int kiln_main(int argc, char **argv) {
  kiln::handleSignals();
  kiln::beginOutput(argc, argv);
  kiln::showParallelWork();
  return kiln::finishOutput(kiln::runTool(argc, argv));
}

int kiln_program_main(const char *, int argc, char **argv, kiln_program_maker maker, void *context,
                      const kiln_example *example) {
  return kiln::runProgram(argc, argv, maker, context, example);
}
