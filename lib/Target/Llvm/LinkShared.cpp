// Shared objects for bundles and caches: the system's linker on one object. In this process objects
// are linked by ORC, without it.
#include "kiln/Target/Llvm/Llvm.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace kiln {

static kiln::Expected<std::string> findLinker() {
  for (const char *name : {"ld.lld-22", "ld.lld", "ld"})
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
  return Status(StatusCode::NotFound,
                "a shared object needs a linker, and neither ld.lld nor ld is on PATH");
}

static kiln::Expected<std::string> readFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return Status(StatusCode::IoError,
                  "cannot read " + path.str() + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

kiln::Expected<std::string> linkSharedObject(const std::string &object) {
  kiln::Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.status();
  SmallString<64> input, output, messages;
  int descriptor = -1;
  std::error_code error = sys::fs::createTemporaryFile("kiln", "o", descriptor, input);
  if (!error)
    error = sys::fs::createTemporaryFile("kiln", "so", output);
  if (!error)
    error = sys::fs::createTemporaryFile("kiln", "txt", messages);
  FileRemover removeInput(input), removeOutput(output), removeMessages(messages);
  if (error)
    return Status(StatusCode::IoError, "cannot make a temporary file: " + error.message());
  {
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << object;
    stream.close();
    if (stream.has_error()) {
      std::string reason = stream.error().message();
      stream.clear_error();
      return Status(StatusCode::IoError, "cannot write " + input.str().str() + ": " + reason);
    }
  }
  // No build id and no name: equal objects make equal bytes.
  StringRef args[] = {*linker,       "-shared", "--build-id=none", "-z",
                      "noexecstack", "-z",      "relro",           "-o",
                      output,        input};
  std::optional<StringRef> redirects[] = {std::nullopt, messages.str(), messages.str()};
  std::string failure;
  int status = sys::ExecuteAndWait(*linker, args, std::nullopt, redirects, 0, 0, &failure);
  if (status != 0) {
    kiln::Expected<std::string> said = readFile(messages);
    return Status(StatusCode::Internal, *linker + " failed: " + failure + (said ? *said : ""));
  }
  return readFile(output);
}

} // namespace kiln
