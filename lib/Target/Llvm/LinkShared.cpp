// Shared objects for bundles and caches: LLVM's linker, in this process, on all objects of a
// program. No linker has to be installed where programs are compiled. What only runs here is linked
// by ORC, without it.
#include "kiln/Target/Llvm/Llvm.h"

#include "abi/FileIo.h"
#include "abi/Forks.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"

#include <array>
#include <csignal>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace kiln {

namespace {

/// How signals are handled belongs to whoever called. LLVM gives its temporary files handlers that
/// remove them, and the thread that is the first to make one a stack for these; neither is taken
/// back by itself.
class SignalsOfCaller {
public:
  SignalsOfCaller() {
    for (int signal = 1; signal < int(Actions.size()); ++signal)
      (void)sigaction(signal, nullptr, &Actions[size_t(signal)]);
    (void)sigaltstack(nullptr, &Stack);
  }
  ~SignalsOfCaller() {
    for (int signal = 1; signal < int(Actions.size()); ++signal)
      if (signal != SIGKILL && signal != SIGSTOP)
        (void)sigaction(signal, &Actions[size_t(signal)], nullptr);
    (void)sigaltstack(&Stack, nullptr);
  }
  SignalsOfCaller(const SignalsOfCaller &) = delete;
  SignalsOfCaller &operator=(const SignalsOfCaller &) = delete;

private:
  std::array<struct sigaction, 32> Actions{}; // those of real time are nobody's here
  stack_t Stack{};
};

} // namespace

/// No program is larger.
static constexpr uint64_t maxLinkedBytes = uint64_t{4} << 30;

/// Runs the linker, which keeps its state in globals, so one thread at a time. Where it gives up,
/// as when the disk is full, it would end the process; that becomes a failure like any other.
static Status runLinker(const std::vector<std::string> &words) {
  Unforked oneAtATime;
  static bool usable = true;
  if (!usable)
    return Status(StatusCode::Internal, "the linker failed before and cannot be used again");
  std::vector<const char *> args;
  for (const std::string &word : words)
    args.push_back(word.c_str());
  std::string said;
  raw_string_ostream messages(said);
  SignalsOfCaller restored;
  CrashRecoveryContext::Enable();
  lld::Result result = lld::lldMain(args, messages, messages, {{lld::Gnu, &lld::elf::link}});
  CrashRecoveryContext::Disable();
  usable = result.canRunAgain;
  if (result.retCode == 0)
    return Status::ok();
  return Status(StatusCode::Internal, "the linker failed: " + StringRef(said).trim().str());
}

kiln::Expected<std::string> linkSharedObject(const std::string &archive,
                                             ArrayRef<LinkedSymbol> symbols) {
  // A folder, not files, because the linker makes temporary files of its own beside its output.
  kiln::Expected<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::create("kiln-link");
  if (!folder)
    return folder.status();
  std::string input = (*folder)->path() + "/kernels.a", output = (*folder)->path() + "/kernels.so";
  if (Status failed = writeFileAtomically(input, archive); !failed.isOk())
    return failed;
  // No build id and no name: equal objects make equal bytes. One thread: there is little to do.
  std::vector<std::string> words = {
      "ld.lld", "-shared", "--threads=1", "--build-id=none", "-z", "noexecstack", "-z",
      "relro",  "-o",      output,        "--whole-archive", input};
  for (const LinkedSymbol &symbol : symbols)
    words.push_back("--defsym=" + symbol.name + "=0x" + utohexstr(symbol.value));
  if (Status failed = runLinker(words); !failed.isOk())
    return failed;
  return readFile(output, maxLinkedBytes);
}

} // namespace kiln
