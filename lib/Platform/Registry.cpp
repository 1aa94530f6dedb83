#include "Platforms.h"

#include "llvm/ADT/STLExtras.h"

namespace kiln {
namespace {

/// The one list of platforms. Messages name them in this order, and the first that can do something
/// does it by default.
std::vector<std::unique_ptr<const Platform>> &registered() {
  static auto *platforms = [] {
    auto *all = new std::vector<std::unique_ptr<const Platform>>;
    all->push_back(makeCpuPlatform("cpu", *findMachine("cpu")));
    all->push_back(makeSimulatorPlatform("a2a3sim", *findMachine("ascend910b")));
    all->push_back(makeSimulatorPlatform("a5sim", *findMachine("ascend950")));
    all->push_back(makeTorchPlatform());
    all->push_back(makeH200Platform());
    all->push_back(makeAscendPlatform("a2a3", *findMachine("dav-c220")));
    all->push_back(makeAscendPlatform("a5", *findMachine("dav-c310")));
    return all;
  }();
  return *platforms;
}

} // namespace

const std::vector<std::unique_ptr<const Platform>> &platforms() { return registered(); }

Status registerPlatform(std::unique_ptr<const Platform> platform) {
  const Machine *machine = platform->machine();
  if (findPlatform(platform->name()) ||
      (machine && findMachine(machine->name) && findMachine(machine->name) != machine))
    return Status(StatusCode::AlreadyExists,
                  "there is a platform '" + platform->name() + "', or its machine, already");
  if (machine && !findMachine(machine->name))
    registerMachine(*machine);
  registered().push_back(std::move(platform));
  return Status::ok();
}

const Platform *findPlatform(std::string_view nameOrMachine) {
  for (const auto &platform : platforms())
    if (platform->name() == nameOrMachine ||
        (platform->machine() && platform->machine()->name == nameOrMachine))
      return platform.get();
  return nullptr;
}

static auto findDefault(Capability purpose) {
  Capability wanted = purpose == Capability::Check ? Capability::Seeds : purpose;
  return llvm::find_if(platforms(), [=](const auto &platform) { return platform->can(wanted); });
}

const Platform &defaultPlatform(Capability purpose) { return **findDefault(purpose); }

const Platform *jitPlatform(TensorMemory memory) {
  for (const auto &platform : platforms())
    if (platform->can(Capability::Jit) && platform->memory() == memory)
      return platform.get();
  return nullptr;
}

std::string platformNames(Capability purpose, const char *conjunction) {
  // From the default on to the end of the list, then from its beginning.
  std::vector<std::string> names;
  auto add = [&](auto from, auto to) {
    for (; from != to; ++from)
      if ((*from)->can(purpose))
        names.push_back((*from)->name());
  };
  auto first = findDefault(purpose);
  add(first, platforms().end());
  add(platforms().begin(), first);
  return inWords(names, conjunction);
}

} // namespace kiln
