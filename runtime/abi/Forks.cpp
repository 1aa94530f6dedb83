#include "abi/Forks.h"

#include <mutex>
#include <pthread.h>

using namespace kiln;

static std::mutex forks;

Unforked::Unforked() {
  static const int isWatched =
      pthread_atfork([] { forks.lock(); }, [] { forks.unlock(); }, [] { forks.unlock(); });
  (void)isWatched;
  forks.lock();
}

Unforked::~Unforked() { forks.unlock(); }
