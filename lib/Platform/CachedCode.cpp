#include "CachedCode.h"

#include "Jit/ArtifactCache.h"
#include "Jit/EntryFile.h"
#include "kiln/Program/Signature.h"
#include "kiln/runtime/interrupt.h"
#include "kiln/runtime/ranks.h"

#include <chrono>

using namespace mlir;

namespace kiln {

/// Of the program as it goes to the code generator, so every option that had a part in it is in the
/// hash. With the user's lines: a run reports where it fails, so another file is another program.
static std::string hashOf(ModuleOp compiled) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  compiled->print(stream, OpPrintingFlags().printGenericOpForm().enableDebugInfo());
  return hashText(text);
}

/// From the cache or compiled; the report says which, and how long it took.
static Expected<std::shared_ptr<const LoadedProgram>>
codeFor(const RunRequest &request, const CodeMaker &maker, RunReport &report) {
  auto start = std::chrono::steady_clock::now();
  Expected<DiskCacheOptions> disk = DiskCacheOptions::fromEnvironment();
  if (!disk)
    return disk.status();
  ArtifactCache cache(std::move(*disk), JitOptions::logToStderr);
  std::string entry = ir::FuncOp(request.entry).getSymName().str();
  CodeIdentity identity{request.program, hashOf(request.module), entry, maker.platform, maker.arch};
  Expected<std::shared_ptr<const LoadedProgram>> code = cache.get(
      "kiln-run-key 1\nabi " + std::to_string(KILN_ABI_VERSION) + "\n" + identity.str(),
      /*places=*/{}, [&] { return maker.compile(entry); }, maker.load);
  report.isFromCache = cache.counters().diskHits > 0;
  report.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return code;
}

/// Each rank on a thread of its own, with an engine that has no other: whoever waits for others is
/// known then.
static Status runRanks(const RunRequest &request, const LoadedProgram &code,
                       const NativeRunOptions &options, RunReport &report) {
  RankHub hub({static_cast<int32_t>(request.rankArgs.size()), /*takesTurns=*/false, request.seed});
  std::vector<NativeRunReport> recorded(request.rankArgs.size());
  Status done = hub.runAll([&](int32_t rank, Transport &transport) {
    auto number = static_cast<size_t>(rank);
    NativeRunOptions mine = options;
    mine.workers = 1;
    mine.run.ranks = &transport;
    mine.run.dump.directory = rankDirectory(options.run.dump.directory, rank);
    TaskArguments ordered = inTaskOrder(request.entry, request.rankArgs[number]);
    return code.runRecorded(ordered.tensors, ordered.scalars, mine,
                            request.timeline ? &recorded[number] : nullptr);
  });
  for (NativeRunReport &each : recorded) {
    report.rankTimelines.push_back(std::move(each.timeline));
    report.rankTraces.push_back(std::move(each.trace));
  }
  return done;
}

Status runCompiled(const RunRequest &request, const CodeMaker &maker, RunReport &report) {
  if (Status bad =
          request.rankArgs.empty() ? checkArguments(request.entry, request.args) : Status::ok();
      !bad.isOk())
    return bad;
  Expected<std::shared_ptr<const LoadedProgram>> code = codeFor(request, maker, report);
  if (!code)
    return code.status();
  NativeRunOptions options;
  options.run = {request.program, maker.platform, request.dump, request.timeline};
  if (request.seed != 0)
    options.seed = request.seed;
  options.workers = request.workers;
  options.location = sourceLocOf(ir::FuncOp(request.entry).getLoc());
  options.run.ranks = request.transport;
  if (!request.rankArgs.empty()) {
    TimeLimit limit(request.timeout, "the run");
    return runRanks(request, **code, options, report);
  }
  TaskArguments ordered = inTaskOrder(request.entry, request.args);
  TimeLimit limit(request.timeout, "the run");
  NativeRunReport recorded;
  Status done = (*code)->runRecorded(ordered.tensors, ordered.scalars, options,
                                     request.timeline ? &recorded : nullptr);
  report.timeline = std::move(recorded.timeline);
  report.trace = std::move(recorded.trace);
  return done;
}

} // namespace kiln
