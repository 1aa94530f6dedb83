// Shared objects for bundles and caches: the system's linker on one object. In this process objects
// are linked by ORC, without it.
#include "kiln/Target/Llvm/Llvm.h"

#include "abi/FileIo.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace kiln {

/// No program is larger.
static constexpr uint64_t maxLinkedBytes = uint64_t{4} << 30;

static kiln::Expected<std::string> findLinker() {
  for (const char *name : {"ld.lld-22", "ld.lld", "ld"})
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
  return Status(StatusCode::NotFound,
                "a shared object needs a linker, and neither ld.lld nor ld is on PATH");
}

kiln::Expected<std::string> linkSharedObject(const std::string &object,
                                             ArrayRef<LinkedSymbol> symbols) {
  kiln::Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.status();
  // A folder, not files, because the linker makes temporary files of its own beside its output.
  kiln::Expected<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::create("kiln-link");
  if (!folder)
    return folder.status();
  std::string input = (*folder)->path() + "/kernels.o", output = (*folder)->path() + "/kernels.so",
              messages = (*folder)->path() + "/messages.txt";
  if (Status failed = writeFileAtomically(input, object); !failed.isOk())
    return failed;
  // No build id and no name: equal objects make equal bytes.
  std::vector<std::string> words = {*linker,       "-shared", "--build-id=none", "-z",
                                    "noexecstack", "-z",      "relro",           "-o",
                                    output,        input};
  for (const LinkedSymbol &symbol : symbols)
    words.push_back("--defsym=" + symbol.name + "=0x" + utohexstr(symbol.value));
  std::vector<StringRef> args(words.begin(), words.end());
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(messages), StringRef(messages)};
  std::string failure;
  int status = sys::ExecuteAndWait(*linker, args, std::nullopt, redirects, 0, 0, &failure);
  if (status != 0) {
    kiln::Expected<std::string> said = readFile(messages, maxLinkedBytes);
    return Status(StatusCode::Internal, *linker + " failed: " + failure + (said ? *said : ""));
  }
  return readFile(output, maxLinkedBytes);
}

} // namespace kiln
