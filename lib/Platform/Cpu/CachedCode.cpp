#include "CachedCode.h"

#include "Jit/ArtifactCache.h"
#include "Jit/EntryFile.h"
#include "NativeBundle.h"

using namespace mlir;

namespace kiln {

std::string archOf(const CpuOptions &options) { return options.cpu + " " + options.features; }

/// Of the program as it goes to the code generator, so every option that had a part in it is in the
/// hash. With the user's lines: a run reports where it fails, so another file is another program.
static std::string hashOf(ModuleOp compiled) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  compiled->print(stream, OpPrintingFlags().printGenericOpForm().enableDebugInfo());
  return hashText(text);
}

/// Links an object into this process. Not a shared object as the JIT's: the linker in the process
/// tells debuggers and profilers of it.
static Expected<ArtifactCache::Code> link(const NativeInfo &info, std::string_view object) {
  CpuObject code;
  code.bytes = object;
  Expected<CpuModule> linked = loadCpuObject(std::move(code));
  if (!linked)
    return linked.status();
  return NativeProgram::load(linked->image(), info);
}

Expected<std::shared_ptr<const NativeProgram>> codeFor(const RunRequest &request,
                                                       const std::string &platform,
                                                       const CpuOptions &options,
                                                       bool &isFromCache) {
  Expected<DiskCacheOptions> disk = DiskCacheOptions::fromEnvironment();
  if (!disk)
    return disk.status();
  ArtifactCache cache(std::move(*disk), JitOptions::logToStderr, link);
  std::string entry = ir::FuncOp(request.entry).getSymName().str();
  CodeIdentity identity{request.program, hashOf(request.module), entry, platform, archOf(options)};
  Expected<std::shared_ptr<const NativeProgram>> code =
      cache.get("kiln-run-key 1\nabi " + std::to_string(KILN_ABI_VERSION) + "\n" + identity.str(),
                [&]() -> Expected<Artifact> {
                  Expected<NativeObject> native = compileNative(request.module, entry, options);
                  if (!native)
                    return native.status();
                  return Artifact{std::move(native->info), std::move(native->object.bytes)};
                });
  isFromCache = cache.counters().diskHits > 0;
  return code;
}

} // namespace kiln
