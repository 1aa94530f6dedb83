#include "kiln/Platform/Platform.h"

#include "CompilerId.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"

#include <unistd.h>

namespace kiln {

const char *toString(Capability capability) {
  static constexpr const char *names[numCapabilities] = {
      "run",      "check",  "build", "jit",   "seeds",     "orchestration", "dump",
      "timeline", "fibers", "cpu",   "large", "reference", "ranks",         "persistent"};
  return names[size_t(capability)];
}

bool Platform::can(Capability capability) const {
  return llvm::is_contained(About.can, capability);
}

/// What a platform says that lists a capability and does not implement it, or is asked for more
/// than it lists.
static Status cannot(const Platform &platform, const std::string &what) {
  return Status(StatusCode::Unsupported, "platform '" + platform.name() + "' cannot " + what);
}

Status Platform::run(const RunRequest &, RunReport &) const {
  return cannot(*this, "run programs in this process");
}

Status Platform::addCode(mlir::ModuleOp, const CodeOptions &, BundleManifest &,
                         BundleFiles &) const {
  return Status::ok();
}

Expected<std::string> Platform::emit(const std::string &text, mlir::ModuleOp,
                                     const EmitOptions &) const {
  return cannot(*this, "emit " + text);
}

Expected<std::unique_ptr<PlacedArguments>>
Platform::place(std::span<const Argument> args, const std::vector<bool> &isWritten) const {
  return placeInHost(args, isWritten);
}

std::unique_ptr<JitBackend> Platform::makeJitBackend(const std::string &,
                                                     const std::string &) const {
  return nullptr;
}

std::string inWords(const std::vector<std::string> &names, const char *conjunction) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0                  ? ""
             : i + 1 == names.size() ? " " + std::string(conjunction) + " "
                                     : ", ") +
            names[i];
  return text;
}

/// Sizes that code may be blocked for.
static std::string cacheSizes() {
  std::string text;
  for (int name : {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE})
    text += " " + std::to_string(sysconf(name));
  return text;
}

std::string CodeIdentity::str() const {
  return "program " + program + " " + programHash + "\nentry " + entry + "\ntoolchain " +
         toolchainId() + "\nplatform " + platform + "\narch " + arch + "\ncaches" + cacheSizes() +
         "\n";
}

std::string toolchainId() { return "kiln-" KILN_COMPILER_ID " llvm-" LLVM_VERSION_STRING; }

} // namespace kiln
