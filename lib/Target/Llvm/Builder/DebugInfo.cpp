#include "DebugInfo.h"

#include "kiln/Program/Signature.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace kiln::llvmir {

DIFile *DebugInfo::file(const std::string &path) {
  if (path.empty())
    return Builder.createFile("<unknown>", "");
  SmallString<128> whole(path);
  if (sys::fs::make_absolute(whole)) // debuggers run elsewhere
    whole = path;
  return Builder.createFile(sys::path::filename(whole), sys::path::parent_path(whole));
}

DebugInfo::DebugInfo(Module &module) : Builder(module) {
  // Nobody else's language numbers lines of tile programs; C is what every debugger knows.
  Unit = Builder.createCompileUnit(DISourceLanguageName(dwarf::DW_LANG_C11), file(""), "kiln",
                                   /*isOptimized=*/true, "", 0);
  module.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
  module.addModuleFlag(Module::Warning, "Dwarf Version", 4);
}

void DebugInfo::addKernel(Function &function, StringRef name, mlir::Location loc) {
  SourceLoc at = sourceLocOf(loc);
  DIFile *in = file(at.file);
  auto *type = Builder.createSubroutineType(Builder.getOrCreateTypeArray({}));
  function.setSubprogram(Builder.createFunction(
      in, name, function.getName(), in, at.line, type, at.line, DINode::FlagZero,
      DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized));
}

DILocation *DebugInfo::locate(Function &function, mlir::Location loc) {
  DISubprogram *kernel = function.getSubprogram();
  SourceLoc at = sourceLocOf(loc);
  DIScope *scope = kernel;
  if (at.isKnown() && file(at.file) != kernel->getFile())
    scope = Builder.createLexicalBlockFile(kernel, file(at.file));
  return DILocation::get(function.getContext(), at.line, at.col, scope);
}

} // namespace kiln::llvmir
