//===- CompiledOrchestration.cpp - launching with emitted and compiled C++ ------------===//
#include "Driver.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Orchestration/Orchestration.h"
#include "kiln/runtime/orchestration.h"

#include <dlfcn.h>
#include <filesystem>

using namespace mlir;

namespace kiln {

Expected<Orchestrate> loadOrchestration(const std::string &path, ModuleOp module, ir::FuncOp entry,
                                        const Source &source, const Platform &platform) {
  Expected<OrchestrationResult> emitted =
      emitOrchestration(module, {source.name, entry.getSymName().str()});
  if (!emitted)
    return emitted.status();
  // With a slash in it, so that only this file is meant and no search path.
  std::error_code error;
  std::string file = std::filesystem::absolute(path, error).string();
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status(StatusCode::InvalidArgument,
                  std::string("cannot load the orchestration: ") + dlerror());
  auto *function = reinterpret_cast<orch::Entry *>(dlsym(library, emitted->entrySymbol.c_str()));
  if (!function)
    return Status(StatusCode::InvalidArgument, path + " has no symbol " + emitted->entrySymbol +
                                                   ": it is not the orchestration of this program");
  return Orchestrate([=, &platform](Engine &engine, std::span<const Argument> args) {
    TaskArguments ordered = inTaskOrder(entry, args);
    Status status;
    function(engine, {ordered.tensors, ordered.scalars}, status);
    // Before its first statement it compares its launches with the kernels that are registered.
    if (status.code() == StatusCode::InvalidArgument && !status.location().isKnown())
      return Status(status.code(), status.message() +
                                       "; it has to be emitted for the same platform: kiln emit "
                                       "PROG --target orchestration -p " +
                                       platform.name());
    return status;
  });
}

} // namespace kiln
