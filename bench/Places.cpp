// By the kernel's list of the process' threads: pools of others do not say what threads they have.
#include "Places.h"

#include "Measure.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <thread>
#include <unistd.h>

using namespace kiln::bench;

/// The cores that the process has, as it was started.
static const std::vector<int> &cores() {
  static const std::vector<int> all = [] {
    std::vector<int> found;
    cpu_set_t set;
    if (sched_getaffinity(getpid(), sizeof set, &set) == 0)
      for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set))
          found.push_back(core);
    return found;
  }();
  return all;
}

static void allow(pid_t thread, const std::vector<int> &some) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : some)
    CPU_SET(core, &set);
  sched_setaffinity(thread, sizeof set, &set); // a thread may be gone by now
}

template <typename Visit> static void forOtherThreads(Visit visit) {
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name = entry.path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    if (thread != gettid())
      visit(thread);
  }
}

PinnedCaller::PinnedCaller() {
  if (cores().size() > 1)
    allow(0, {cores().front()});
}
PinnedCaller::~PinnedCaller() { allow(0, cores()); }

void kiln::bench::takeSecondCore() {
  if (cores().size() > 1)
    allow(0, {cores()[1]});
}

void kiln::bench::giveCoresToOthers() {
  size_t next = 1, count = cores().size();
  if (count < 2)
    return;
  forOtherThreads([&](pid_t thread) {
    cpu_set_t set;
    if (sched_getaffinity(thread, sizeof set, &set) != 0)
      return;
    bool hasOwn = CPU_COUNT(&set) == 1 && !CPU_ISSET(cores().front(), &set);
    if (hasOwn)
      return;
    allow(thread, {cores()[next]});
    next = next + 1 == count ? 1 : next + 1;
  });
}

static bool isRunning(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text); // number (name) state ...
  size_t end = text.rfind(") ");
  return end != std::string::npos && text[end + 2] == 'R';
}

void kiln::bench::waitForOthers() {
  bool runs = true;
  for (double end = now() + 0.1; runs && now() < end;) {
    runs = false;
    forOtherThreads([&](pid_t thread) { runs = runs || isRunning(thread); });
    if (runs)
      usleep(100);
  }
}
