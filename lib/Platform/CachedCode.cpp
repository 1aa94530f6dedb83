#include "CachedCode.h"

#include "Jit/ArtifactCache.h"
#include "Jit/EntryFile.h"
#include "kiln/Program/Signature.h"
#include "kiln/runtime/interrupt.h"

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
      [&] { return maker.compile(entry); }, maker.load);
  report.isFromCache = cache.counters().diskHits > 0;
  report.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return code;
}

Status runCompiled(const RunRequest &request, const CodeMaker &maker, RunReport &report) {
  if (Status bad = checkArguments(request.entry, request.args); !bad.isOk())
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
