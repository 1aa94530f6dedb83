#include "kiln/Jit/ProgramSource.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

namespace kiln {

static Status failure(const std::string &message) {
  return Status(StatusCode::IoError, "cannot link compiled code: " + message);
}

/// The linker to run. Nothing else of a tool chain is needed.
static llvm::ErrorOr<std::string> findLinker() {
  if (const char *named = std::getenv("KILN_LD"); named && *named)
    return llvm::sys::findProgramByName(named);
  for (const char *name : {"ld.lld-22", "ld.lld", "ld"})
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name))
      return found;
  return std::make_error_code(std::errc::no_such_file_or_directory);
}

/// A file name in the temporary folder, and the end of the file when this goes.
struct TemporaryFile {
  explicit TemporaryFile(llvm::StringRef suffix) {
    error = llvm::sys::fs::createTemporaryFile("kiln", suffix, path);
    if (!error)
      remover.setFile(path);
  }
  llvm::SmallString<128> path;
  llvm::FileRemover remover;
  std::error_code error;
};

Expected<std::string> linkShared(const std::string &object) {
  llvm::ErrorOr<std::string> linker = findLinker();
  if (!linker)
    return failure("there is no linker; install binutils, or name one with KILN_LD");
  TemporaryFile input("o"), output("so"), log("txt");
  for (const TemporaryFile *file : {&input, &output, &log})
    if (file->error)
      return failure("no temporary file: " + file->error.message());
  std::error_code error;
  {
    llvm::raw_fd_ostream stream(input.path, error);
    stream << object;
    stream.close();
    if (error || stream.has_error()) {
      stream.clear_error();
      return failure("writing " + input.path.str().str() + " failed; is the disk full?");
    }
  }
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), log.path.str(),
                                                log.path.str()};
  std::string message;
  int code = llvm::sys::ExecuteAndWait(*linker,
                                       {*linker, "-shared", "-z", "now", "-z", "noexecstack", "-o",
                                        output.path.str(), input.path.str()},
                                       std::nullopt, redirects, /*SecondsToWait=*/60,
                                       /*MemoryLimit=*/0, &message);
  if (code != 0) {
    auto said = llvm::MemoryBuffer::getFile(log.path);
    return failure(*linker + " failed: " + message + (said ? (*said)->getBuffer().str() : ""));
  }
  auto bytes = llvm::MemoryBuffer::getFile(output.path, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!bytes)
    return failure("reading back " + output.path.str().str() + " failed");
  return (*bytes)->getBuffer().str();
}

} // namespace kiln
