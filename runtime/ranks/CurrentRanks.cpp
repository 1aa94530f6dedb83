// Which ranks runs belong to that say nothing of it.
#include "kiln/runtime/ranks.h"

#include <atomic>
#include <utility>

using namespace kiln;

static thread_local Transport *ofThread = nullptr;
static std::atomic<Transport *> ofProcess{nullptr};

Transport *kiln::currentRanks() {
  return ofThread ? ofThread : ofProcess.load(std::memory_order_acquire);
}

void kiln::setProcessRanks(Transport *ranks) { ofProcess.store(ranks, std::memory_order_release); }

RankScope::RankScope(Transport &ranks) : Before(std::exchange(ofThread, &ranks)) {}
RankScope::~RankScope() { ofThread = Before; }
