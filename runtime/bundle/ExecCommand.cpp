//===- ExecCommand.cpp - `kiln exec`, and all of `kiln-exec` -------------------------===//
#include "abi/FileIo.h"
#include "abi/JsonOutput.h"
#include "bundle/BundleProgram.h"
#include "bundle/CrashReport.h"
#include "bundle/ExecRecord.h"
#include "kiln/runtime/arguments.h"
#include "kiln/runtime/compare.h"
#include "kiln/runtime/interrupt.h"
#include "kiln/runtime/npy.h"
#include "kiln/runtime/ranks.h"
#include "kiln/runtime/record.h"
#include "kiln/runtime/timeline.h"
#include "kiln/runtime/tool_output.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

using namespace kiln;

namespace {

constexpr int exitGood = 0, exitWrong = 1, exitBadInput = 2;

struct Request {
  std::string command; ///< All of it.
  std::string directory, save, expected, out = "kiln-out", dump;
  std::vector<std::string> args;
  uint64_t dataSeed = 1, timeout = defaultTimeout;
  std::string workers;
  int64_t accumulates = 0;
  bool verifyOnly = false, json = false, dumpTensor = false, dumpGiven = false, timeline = false,
       record = false, workersGiven = false;
  RecordOptions variables;
  Transport *ranks = nullptr; ///< This process is one of several.
};

struct Arguments {
  std::vector<Tensor> tensors;
  std::vector<ScalarBits> scalars;
  std::map<std::string, std::string> given; ///< What was said of them, by name.
};

int complain(const Status &status) {
  noteFailure(status);
  std::cout.flush();
  std::cerr << "kiln: " << status.str() << "\n";
  switch (status.code()) {
  case StatusCode::InvalidArgument:
  case StatusCode::NotFound:
  case StatusCode::Unsupported:
    return exitBadInput;
  default:
    return exitWrong;
  }
}

/// Before anything runs every error is one of the input.
int refuse(const Status &status) {
  complain(status);
  return exitBadInput;
}

/// What the command line says of arguments; where it says nothing, the bundle.
Expected<std::map<std::string, std::string>>
parseSpecs(const Request &request, const BundleManifest &manifest, const Signature &signature) {
  std::map<std::string, std::string> specs;
  std::string names;
  size_t count = signature.tensors.size() + signature.scalars.size();
  for (size_t i = 0; i < count; ++i)
    names += (i ? ", " : "") + signature.argName(i);
  for (const std::string &text : request.args) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return Status(StatusCode::InvalidArgument,
                    "--arg " + text + ": expected name=spec, such as a=128x64 or n=5");
    std::string name = text.substr(0, equals);
    bool isKnown = false;
    for (size_t i = 0; i < count; ++i)
      isKnown |= signature.argName(i) == name;
    if (!isKnown)
      return Status(StatusCode::InvalidArgument, "'" + signature.name + "' has no argument '" +
                                                     name + "'; it has " +
                                                     (names.empty() ? "none" : names));
    if (!specs.emplace(name, text.substr(equals + 1)).second)
      return Status(StatusCode::InvalidArgument, "--arg " + name + " is given twice");
  }
  for (const auto &[name, spec] : manifest.arguments)
    specs.try_emplace(name, spec);
  return specs;
}

/// The same of one rank of several: what an argument NAME=SHAPE@AXIS has for it.
Expected<Tensor> makeTensor(TensorParam param, std::string spec, const Request &request) {
  std::optional<int> axis = takeAxis(spec);
  if (axis && *axis >= param.rank())
    return Status(StatusCode::InvalidArgument, "argument '" + param.name + "': has no axis " +
                                                   std::to_string(*axis) + " to divide");
  if (axis && request.ranks)
    param.extents[static_cast<size_t>(*axis)] = dynamicExtent;
  Expected<Tensor> whole = makeTensorArgument(param, spec, request.dataSeed);
  if (!whole || !request.ranks)
    return whole;
  return partOfRank(*whole, axis, request.ranks->rank(), request.ranks->ranks(),
                    param.direction == Direction::Out);
}

/// What has to be the same on all ranks.
std::string describe(const BundleManifest &manifest, const Signature &signature,
                     const Arguments &args) {
  std::string text = "program: " + manifest.program + "\n";
  for (size_t i = 0; i < args.tensors.size(); ++i)
    text += signature.tensors[i].name + ": " + args.tensors[i].str() + "\n";
  for (size_t i = 0; i < args.scalars.size(); ++i)
    text += signature.scalars[i].name + ": " + args.scalars[i].str() + "\n";
  return text;
}

Expected<Arguments> makeArguments(const Request &request, const BundleManifest &manifest,
                                  const Signature &signature) {
  Expected<std::map<std::string, std::string>> specs = parseSpecs(request, manifest, signature);
  if (!specs)
    return specs.status();
  Arguments args;
  for (const TensorParam &param : signature.tensors) {
    Expected<Tensor> tensor = makeTensor(param, (*specs)[param.name], request);
    if (!tensor)
      return tensor.status();
    args.tensors.push_back(std::move(*tensor));
  }
  for (const ScalarParam &param : signature.scalars) {
    Expected<ScalarBits> scalar = makeScalarArgument(param, (*specs)[param.name]);
    if (!scalar)
      return scalar.status();
    args.scalars.push_back(*scalar);
  }
  if (Status bad = signature.checkRequirements(args.tensors, args.scalars); !bad.isOk())
    return bad;
  args.given = std::move(*specs);
  return args;
}

/// What a person looks at first in a tensor.
Json summaryOf(const std::string &name, const Tensor &tensor) {
  double low = INFINITY, high = -INFINITY, sum = 0;
  uint64_t nans = 0;
  auto *bytes = static_cast<const std::byte *>(tensor.data());
  for (int64_t i = 0, size = sizeOf(tensor.dtype()); i < tensor.numElements(); ++i) {
    double value = loadElement(tensor.dtype(), bytes + i * size);
    nans += std::isnan(value);
    low = std::fmin(low, value);
    high = std::fmax(high, value);
    sum += value;
  }
  return {{"name", name}, {"tensor", tensor.str()}, {"min", low}, {"max", high}, {"sum", sum},
          {"nan", nans}};
}

bool isOutput(const TensorParam &param) { return writes(param.direction) && !param.internal; }

/// The file of each tensor in the folders of --save and --expect. A name from a bundle is no path.
std::vector<std::string> outputFiles(const Signature &signature) {
  FileNames fileName;
  std::vector<std::string> files;
  for (const TensorParam &param : signature.tensors)
    files.push_back(fileName(param.name) + ".npy");
  return files;
}

/// Where files are asked for, refuses outputs whose names are paths: nobody could tell which file
/// is meant.
Status verifyOutputNames(const Request &request, const Signature &signature) {
  if (request.save.empty() && request.expected.empty())
    return Status::ok();
  for (const TensorParam &param : signature.tensors)
    if (isOutput(param) && param.name.find('/') != std::string::npos)
      return Status(
          StatusCode::InvalidArgument,
          "the output '" + param.name +
              "' has a path for a name, and --save and --expect make file names of names; "
              "give the parameter a name without '/'");
  return Status::ok();
}

/// Outputs, summarised and perhaps saved.
Expected<Json> collectOutputs(const Request &request, const Signature &signature,
                              const Arguments &args) {
  Json outputs = Json::array();
  std::error_code error;
  if (!request.save.empty())
    std::filesystem::create_directories(request.save, error);
  if (error)
    return Status(StatusCode::IoError, "cannot make " + request.save + ": " + error.message());
  std::vector<std::string> files = outputFiles(signature);
  for (size_t i = 0; i < args.tensors.size(); ++i) {
    const TensorParam &param = signature.tensors[i];
    if (!isOutput(param))
      continue;
    outputs.push_back(summaryOf(param.name, args.tensors[i]));
    if (request.save.empty())
      continue;
    std::string path = request.save + "/" + files[i];
    if (Status failed = writeNpy(path, args.tensors[i]); !failed.isOk())
      return failed;
    outputs.back()["file"] = path;
  }
  return outputs;
}

/// What `--json` prints, and what is printed in its place for people.
Json report(const Request &request, const BundleManifest &manifest, double seconds,
            const Json &outputs, bool hasDump) {
  std::string dump = hasDump ? dumpDirectory(request.out) : "";
  Json json{{"program", manifest.program},
            {"platform", manifest.platform},
            {"seconds", seconds},
            {"outputs", outputs}};
  if (hasDump)
    json["dump"] = dump;
  if (request.json) {
    printJson(json);
    return json;
  }
  if (request.ranks)
    std::printf("rank %d of %d: ", request.ranks->rank(), request.ranks->ranks());
  std::printf("%s on %s: %.6f s\n", manifest.program.c_str(), manifest.platform.c_str(), seconds);
  for (const Json &output : outputs)
    std::printf(
        "  %-8s  %-16s  min %g  max %g  sum %g  nan %llu%s%s\n",
        output["name"].get<std::string>().c_str(), output["tensor"].get<std::string>().c_str(),
        output["min"].get<double>(), output["max"].get<double>(), output["sum"].get<double>(),
        (unsigned long long)output["nan"].get<uint64_t>(), output.contains("file") ? "  " : "",
        output.contains("file") ? output["file"].get<std::string>().c_str() : "");
  if (hasDump)
    std::printf("  dump: %s (look into it with: kiln dump %s)\n", dump.c_str(),
                request.out.c_str());
  if (request.record)
    std::printf("  record: %s (look at it with: kiln view %s)\n", request.out.c_str(),
                request.out.c_str());
  std::printf("RAN\n");
  return json;
}

/// Runs the program and records what was asked for. A record that could not be written does not
/// stop the run: that is said in `recorded`.
Status execute(const Request &request, const BundleManifest &manifest, const BundleProgram &program,
               const Arguments &args, int dumpLevel, unsigned workers, double &seconds,
               Status &recorded) {
  NativeRunOptions options;
  options.workers = workers;
  options.run = {manifest.program,
                 manifest.platform,
                 {dumpLevel, request.out},
                 request.timeline,
                 request.ranks};
  NativeRunReport report;
  TimeLimit limit(request.timeout, "the run");
  Status done = program.run(args.tensors, args.scalars, options,
                            request.timeline ? &report : nullptr, seconds);
  if (report.timeline.isRecorded())
    recorded = writeTimeline(request.out, manifest.program + " on " + manifest.platform,
                             report.timeline, report.trace);
  // A dump that cannot be opened stops no run, so this is said by its end.
  if (dumpLevel > 0 && done.code() == StatusCode::IoError)
    recorded = std::exchange(done, Status::ok());
  return done;
}

/// Each output against NAME.npy in a folder; false, with the worst element, where one differs.
Expected<bool> compareOutputs(const Request &request, const Signature &signature,
                              const Arguments &args) {
  bool same = true;
  std::vector<std::string> files = outputFiles(signature);
  for (size_t i = 0; i < args.tensors.size(); ++i) {
    const TensorParam &param = signature.tensors[i];
    if (!isOutput(param))
      continue;
    std::string path = request.expected + "/" + files[i];
    Expected<Tensor> want = readNpy(path);
    if (!want)
      return want.status();
    const Tensor &have = args.tensors[i];
    if (!std::ranges::equal(want->extents(), have.extents()))
      return Status(StatusCode::InvalidArgument,
                    path + " holds " + want->str() + "; '" + param.name + "' is " + have.str());
    if (want->dtype() != have.dtype()) // numpy has no bf16
      want = want->castTo(have.dtype());
    if (!want)
      return want.status();
    Difference difference = request.accumulates > 0
                                ? compareWithFormula(have, *want, request.accumulates)
                                : compareWithReference(have, *want);
    same &= difference.ok;
    std::fprintf(stderr, "  %-8s  against %s: max |error| %g  %s\n", param.name.c_str(),
                 path.c_str(), difference.largest,
                 difference.ok ? "ok" : difference.where().c_str());
  }
  return same;
}

/// How a run ended: what run.json says of it, and the exit code.
struct Ending {
  std::string outcome = "error";
  int code = exitWrong;
  Status error;
  Json report;
};

Ending endWith(const Status &error) { return {"error", complain(error), error, nullptr}; }

/// Runs the program, prints what came out and compares it if that was asked for.
Ending carryOut(const Request &request, const BundleManifest &manifest,
                const BundleProgram &program, const Arguments &args, int dumpLevel,
                unsigned workers, Status &recorded) {
  const Signature &signature = *manifest.native->entry.signature;
  double seconds = 0;
  Status failed = execute(request, manifest, program, args, dumpLevel, workers, seconds, recorded);
  if (!failed.isOk()) {
    if (dumpLevel > 0 && recorded.isOk())
      std::cerr << "kiln: the dump of what ran is in " << dumpDirectory(request.out) << "\n";
    return endWith(request.ranks
                       ? failed.withPrefix("rank " + std::to_string(request.ranks->rank()))
                       : failed);
  }
  Expected<Json> outputs = collectOutputs(request, signature, args);
  if (!outputs)
    return endWith(outputs.status());
  Json told = report(request, manifest, seconds, *outputs, dumpLevel > 0 && recorded.isOk());
  if (request.expected.empty())
    return {"ran", exitGood, Status::ok(), std::move(told)};
  std::fflush(stdout);
  Expected<bool> same = compareOutputs(request, signature, args);
  if (!same)
    return endWith(same.status());
  return {*same ? "pass" : "fail", *same ? exitGood : exitWrong, Status::ok(), std::move(told)};
}

/// Says in the folder of the record that the run has begun.
Status beginRecord(const Request &request, const Bundle &bundle, const Arguments &args,
                   ExecRecord &about) {
  const Signature &signature = *bundle.manifest().native->entry.signature;
  auto given = [&](const std::string &name) {
    auto said = args.given.find(name);
    return said == args.given.end() ? "" : said->second;
  };
  for (size_t i = 0; i < args.tensors.size(); ++i)
    about.addTensor(signature.tensors[i], args.tensors[i], given(signature.tensors[i].name));
  for (size_t i = 0; i < args.scalars.size(); ++i)
    about.addScalar(signature.scalars[i], args.scalars[i], given(signature.scalars[i].name));
  Status begun = about.begin();
  return begun.isOk() && request.record ? about.writeCode(bundle) : begun;
}

int run(const Request &request) {
  Expected<Bundle> bundle = Bundle::open(request.directory);
  if (!bundle)
    return refuse(bundle.status());
  const BundleManifest &manifest = bundle->manifest();
  if (request.verifyOnly) {
    std::printf("%s for %s: every file is as it was built\n", manifest.program.c_str(),
                manifest.platform.c_str());
    return exitGood;
  }
  // What the dynamic linker or the code does with a bundle that somebody made up.
  CrashReport crashes("the code of the bundle in " + request.directory);
  Expected<std::unique_ptr<const BundleProgram>> program = loadProgram(*bundle);
  if (!program)
    return refuse(program.status());
  Expected<int> level = request.dumpGiven && !request.dump.empty()
                            ? parseDumpLevel(request.dump, "--dump-args")
                            : Expected<int>(request.variables.dumpLevel);
  if (!level)
    return refuse(level.status());
  Expected<unsigned> workers = 0u;
  if (request.workersGiven)
    workers = parseWorkers(request.workers, "--workers");
  if (!workers)
    return refuse(workers.status());
  int dumpLevel = request.dumpTensor || (request.dumpGiven && request.dump.empty()) ? 2 : *level;
  if (request.record && !request.dumpGiven && dumpLevel == 0)
    dumpLevel = 2;
  const Signature &signature = *manifest.native->entry.signature;
  if (Status bad = verifyOutputNames(request, signature); !bad.isOk())
    return refuse(bad);
  Expected<Arguments> args = makeArguments(request, manifest, signature);
  if (!args)
    return refuse(args.status());
  if (request.ranks)
    if (Status bad =
            verifySame(*request.ranks, describe(manifest, signature, *args), request.timeout);
        !bad.isOk())
      return refuse(bad);
  ExecRecord about(*bundle, request.out, request.command, request.dataSeed, dumpLevel);
  bool isRecorded = request.timeline || dumpLevel > 0;
  Status begun = isRecorded ? beginRecord(request, *bundle, *args, about) : Status::ok();
  Status recorded = Status::ok();
  Ending ending = carryOut(request, manifest, **program, *args, dumpLevel, *workers, recorded);
  if (isRecorded && begun.isOk())
    begun = about.finish(ending.outcome, ending.error, ending.report);
  if (recorded.isOk())
    recorded = begun;
  if (ending.outcome == "error" || recorded.isOk())
    return ending.code;
  return complain(recorded.withPrefix("the run is complete but the record of it is not"));
}

/// A process that mpirun started: its files go to folders of its own.
int runAsRank(Request &request) {
  Expected<Transport *> transport = openMpi();
  if (!transport)
    return refuse(transport.status());
  request.ranks = *transport;
  for (std::string *folder : {&request.save, &request.expected, &request.out})
    *folder = rankDirectory(*folder, request.ranks->rank());
  int code = run(request);
  finishJson(exitCodeAfterSignals(code)); // a rank that fails ends all processes, this one too
  closeMpi(code != exitGood);
  return code;
}

/// Declares the options, which fill in the request.
void addOptions(CLI::App &app, Request &request) {
  app.add_option("DIR", request.directory, "The bundle")->required();
  app.add_option("--arg", request.args,
                 "name=SHAPE[:FILL], name=file:PATH.npy or name=VALUE for an argument");
  app.add_option("--data-seed", request.dataSeed, "Seed of the random inputs")
      ->capture_default_str();
  app.add_option("--save", request.save, "Write each output to this folder as NAME.npy");
  app.add_option("--expect", request.expected,
                 "Compare each output with NAME.npy in this folder; exit 1 if one differs");
  app.add_option("--accumulates", request.accumulates,
                 "With --expect: how many products an element is a sum of")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--out", request.out, "Where dump and timeline are written")
      ->capture_default_str();
  app.add_option("--dump-args", request.dump,
                 "Dump kernel arguments: 0 off, 1 what the program marked, 2 "
                 "everything (without a number), 3 metadata of everything")
      ->expected(0, 1);
  app.add_flag("--dump-tensor", request.dumpTensor, "The same as --dump-args=2");
  app.add_flag("--timeline", request.timeline, "Write timeline.json and graph.json");
  app.add_flag("--record", request.record,
               "Leave in --out everything that kiln view shows: code, arguments, timeline");
  app.add_option("--timeout", request.timeout,
                 "Seconds the run may take, after which it is stopped with exit code 1; 0: any")
      ->capture_default_str();
  app.add_option("--workers", request.workers,
                 "Threads that run a bundle for the CPU; as many as there are cores unless this or "
                 "KILN_WORKERS says otherwise");
  app.add_flag("--verify-only", request.verifyOnly, "Run nothing");
  app.add_flag("--json", request.json, "Machine-readable output");
  app.footer("Arguments that are not given are those of the example that the bundle was built "
             "from, if it has some.\n"
             "Examples:\n"
             "  kiln-exec bundle\n"
             "  kiln-exec bundle --arg a=128x64 --save outputs\n"
             "  kiln-exec bundle --arg a=128x64 --expect outputs\n"
             "  kiln-exec bundle --record --out out && kiln view out");
}

} // namespace

int kiln::execCommand(int argc, const char *const *argv) {
  // CLI11 and the standard library may throw; this is the boundary where that ends.
  try {
    Request request;
    CLI::App app("Verifies a bundle and runs it, without the compiler.", "kiln exec");
    addOptions(app, request);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
      if (error.get_exit_code() == 0)
        return app.exit(error);
      return refuse(
          Status(StatusCode::InvalidArgument, std::string(error.what()) + "; see --help"));
    }
    Expected<RecordOptions> variables = RecordOptions::fromEnvironment();
    if (!variables)
      return refuse(variables.status());
    request.variables = *variables;
    request.timeline |= variables->timeline || request.record;
    request.command = "kiln exec";
    for (int i = 1; i < argc; ++i)
      request.command += std::string(" ") + argv[i];
    if (app.count("--out") == 0)
      request.out = variables->out;
    request.dumpGiven = app.count("--dump-args") > 0;
    request.workersGiven = app.count("--workers") > 0;
    return launchedRanks() ? runAsRank(request) : run(request);
  } catch (const std::exception &error) {
    return complain(Status(StatusCode::Internal, error.what()));
  }
}
