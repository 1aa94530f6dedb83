#include "abi/TileRegisters.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

bool kiln::mayUseTileRegisters() {
  static const bool isAllowed = [] {
    constexpr int requestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM of asm/prctl.h
    constexpr int tileData = 18;              // the state's number in the CPU's list
    return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
  }();
  return isAllowed;
}
#else
bool kiln::mayUseTileRegisters() { return false; }
#endif
