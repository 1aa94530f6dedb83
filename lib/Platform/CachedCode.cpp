#include "CachedCode.h"

#include "Jit/ArtifactCache.h"
#include "Jit/EntryFile.h"

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

Expected<std::shared_ptr<const LoadedProgram>> codeFor(const RunRequest &request,
                                                       const CodeMaker &maker, bool &isFromCache) {
  Expected<DiskCacheOptions> disk = DiskCacheOptions::fromEnvironment();
  if (!disk)
    return disk.status();
  ArtifactCache cache(std::move(*disk), JitOptions::logToStderr);
  std::string entry = ir::FuncOp(request.entry).getSymName().str();
  CodeIdentity identity{request.program, hashOf(request.module), entry, maker.platform, maker.arch};
  Expected<std::shared_ptr<const LoadedProgram>> code = cache.get(
      "kiln-run-key 1\nabi " + std::to_string(KILN_ABI_VERSION) + "\n" + identity.str(),
      [&] { return maker.compile(entry); }, maker.load);
  isFromCache = cache.counters().diskHits > 0;
  return code;
}

} // namespace kiln
