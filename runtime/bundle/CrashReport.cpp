#include "bundle/CrashReport.h"

#include <cstring>
#include <unistd.h>

using namespace kiln;

/// Made before anything crashes: a handler may not allocate.
static char message[1024];

static void reportCrash(int) {
  (void)!write(STDERR_FILENO, message, strlen(message));
  _exit(1);
}

CrashReport::CrashReport(const std::string &what) {
  std::string text = "kiln: error: " + what.substr(0, 800) +
                     " crashed: it is damaged, or one of its kernels is wrong\n";
  std::strncpy(message, text.c_str(), sizeof message - 1);
  // A handler on the stack that overflowed would crash again.
  static char stack[1 << 16];
  stack_t other{stack, 0, sizeof stack};
  sigaltstack(&other, nullptr);
  for (size_t i = 0; i < signals.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = reportCrash;
    action.sa_flags = SA_ONSTACK;
    sigaction(signals[i], &action, &Before[i]);
  }
}

CrashReport::~CrashReport() {
  for (size_t i = 0; i < signals.size(); ++i)
    sigaction(signals[i], &Before[i], nullptr);
}
