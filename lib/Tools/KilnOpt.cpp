//===- KilnOpt.cpp - run passes by name on textual IR ------------------------------===//
#include "RegisterKiln.h"

#include "kiln/Dialect/ProgramText.h"
#include "kiln/tools_c.h"

#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

/// Says what is wrong with a text that MLIR's parser must not see. With a marker, the parts of the
/// text between markers are read by themselves.
static bool isParsable(llvm::StringRef text, llvm::StringRef name, llvm::StringRef marker) {
  for (unsigned linesBefore = 0; !text.empty();) {
    auto [part, rest] = marker.empty() ? std::pair(text, llvm::StringRef()) : text.split(marker);
    if (std::optional<kiln::TextProblem> problem = kiln::findTextProblem(part)) {
      llvm::errs() << name << ":" << problem->line + linesBefore << ":" << problem->column
                   << ": error: " << problem->message << "\n";
      return false;
    }
    linesBefore += part.count('\n');
    text = rest;
  }
  return true;
}

int kiln_opt_main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kiln::registerDialects(registry);
  kiln::registerPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "Kiln optimizer\n", registry);
  llvm::InitLLVM init(argc, argv);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses()) // which read nothing
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  std::string problem;
  // A pipe or a device could be waited for without end; who wants a pipe writes `-`.
  if (input != "-" && llvm::sys::fs::exists(input) && !llvm::sys::fs::is_regular_file(input)) {
    llvm::errs() << "cannot read " << input << ": it is no file\n";
    return 1;
  }
  std::unique_ptr<llvm::MemoryBuffer> text = mlir::openInputFile(input, &problem);
  std::unique_ptr<llvm::ToolOutputFile> result =
      text ? mlir::openOutputFile(output, &problem) : nullptr;
  if (!result) {
    llvm::errs() << problem << "\n";
    return 1;
  }
  if (!isParsable(text->getBuffer(), text->getBufferIdentifier(), config.inputSplitMarker()))
    return 1;
  if (failed(mlir::MlirOptMain(result->os(), std::move(text), registry, config)))
    return 1;
  result->keep();
  return 0;
}
