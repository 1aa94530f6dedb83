#include "TileLeaf.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <csignal>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

using namespace kiln::bench;

namespace {

constexpr int setCpuid = 0x1012; // ARCH_SET_CPUID of asm/prctl.h: 0 stops a thread at CPUID
struct sigaction before;

bool allowCpuid(bool isAllowed) { return syscall(SYS_arch_prctl, setCpuid, long(isAllowed)) == 0; }

struct Leaf {
  unsigned a, b, c, d;
};

/// What CPUID answers, but for the leaves that describe tiles: palette 1 has 8 of 16 rows of 64
/// bytes, and products take 16 rows at a time.
Leaf describe(unsigned leaf, unsigned part) {
  Leaf told{};
  __cpuid_count(leaf, part, told.a, told.b, told.c, told.d);
  if (leaf == 0 && told.a < 0x1e)
    told.a = 0x1e;
  if (leaf == 0x1d)
    told = part == 0   ? Leaf{1, 0, 0, 0}
           : part == 1 ? Leaf{1024 << 16 | 8192, 8 << 16 | 64, 16, 0}
                       : Leaf{};
  if (leaf == 0x1e)
    told = {0, 64 << 8 | 16, 0, 0};
  return told;
}

/// A thread was stopped: at CPUID, or because something is wrong, which then happens again.
void answer(int, siginfo_t *, void *context) {
  auto *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  auto *code = reinterpret_cast<const unsigned char *>(registers[REG_RIP]);
  if (code[0] != 0x0f || code[1] != 0xa2) {
    sigaction(SIGSEGV, &before, nullptr);
    return;
  }
  allowCpuid(true);
  Leaf told = describe(unsigned(registers[REG_RAX]), unsigned(registers[REG_RCX]));
  allowCpuid(false);
  registers[REG_RAX] = told.a, registers[REG_RBX] = told.b;
  registers[REG_RCX] = told.c, registers[REG_RDX] = told.d;
  registers[REG_RIP] += 2;
}

} // namespace

bool kiln::bench::isTileLeafHidden() {
  unsigned a, b, c, d;
  constexpr unsigned hasTiles = 1u << 24;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & hasTiles))
    return false;
  return !__get_cpuid_count(0x1d, 0, &a, &b, &c, &d) || a == 0;
}

ShownTileLeaf::ShownTileLeaf() {
  struct sigaction action{};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  IsShown = allowCpuid(false);
  if (!IsShown)
    sigaction(SIGSEGV, &before, nullptr);
}

ShownTileLeaf::~ShownTileLeaf() {
  if (!IsShown)
    return;
  allowCpuid(true);
  sigaction(SIGSEGV, &before, nullptr);
}
#else
bool kiln::bench::isTileLeafHidden() { return false; }
kiln::bench::ShownTileLeaf::ShownTileLeaf() = default;
kiln::bench::ShownTileLeaf::~ShownTileLeaf() = default;
#endif
