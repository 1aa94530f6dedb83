#include "Memory.h"

#include "Emulator.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace kiln::emulated;

/// Says who did it, and lets the signal have its way.
static void report(int signal, siginfo_t *info, void *) {
  std::string who = whoRuns();
  char text[256];
  int length = std::snprintf(text, sizeof text,
                             "emulated GPU: %s accesses memory at %p that it does not have\n",
                             who.empty() ? "nobody" : who.c_str(), info->si_addr);
  if (!who.empty() && write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0)
    _exit(1);
  std::signal(signal, SIG_DFL);
}

static void watchSignals() {
  static const bool done = [] {
    struct sigaction action = {};
    action.sa_sigaction = report;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, nullptr) == 0;
  }();
  static_cast<void>(done);
}

uint64_t Memory::allocate(size_t bytes, bool atEnd, int gpu) {
  watchSignals();
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t inside = (std::max<size_t>(bytes, 1) + page - 1) / page * page, mapped = inside + 2 * page;
  void *mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return 0;
  char *begin = static_cast<char *>(mapping) + page;
  mprotect(mapping, page, PROT_NONE);
  mprotect(begin + inside, page, PROT_NONE);
  std::memset(begin, 0xff, inside);
  if (atEnd)
    begin += (inside - bytes) / 16 * 16;
  auto address = reinterpret_cast<uint64_t>(begin);
  Allocations[address] = {mapping, mapped, bytes, gpu};
  return address;
}

bool Memory::free(uint64_t address) {
  auto found = Allocations.find(address);
  if (found == Allocations.end())
    return false;
  munmap(found->second.mapping, found->second.mapped);
  Allocations.erase(found);
  return true;
}

std::optional<int> Memory::gpuOf(uint64_t address) const {
  auto after = Allocations.upper_bound(address);
  if (after == Allocations.begin())
    return std::nullopt;
  --after;
  if (address - after->first >= std::max<size_t>(after->second.bytes, 1))
    return std::nullopt;
  return after->second.gpu;
}
