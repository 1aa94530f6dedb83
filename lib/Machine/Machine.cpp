#include "kiln/Machine/Machine.h"

#include <algorithm>

namespace kiln {
namespace {

constexpr int64_t KiB = 1024;

constexpr Role kAscendRoles[] = {{"aic", MatrixWork, 1}, {"aiv", VectorWork, 2}};
constexpr Role kHopperRoles[] = {{"dma", CopyWork, 1}, {"compute", MatrixWork | VectorWork, 3}};
constexpr Role kCpuRoles[] = {{"core", MatrixWork | VectorWork | CopyWork, 1}};

/// Rings in global memory start where a cache line does, so that two blocks never share one.
constexpr Memory kAscendGlobal = {"gm", 0, 512};
constexpr Memory kAscend910b[] = {{"vec", 184 * KiB, 32},
                                  {"mat", 512 * KiB, 32},
                                  {"left", 64 * KiB, 512},
                                  {"right", 64 * KiB, 512},
                                  {"acc", 128 * KiB, 512},
                                  {"bias", 1 * KiB, 64},
                                  kAscendGlobal};
constexpr Memory kAscend950[] = {{"vec", 240 * KiB, 32},
                                 {"mat", 512 * KiB, 32},
                                 {"left", 64 * KiB, 512},
                                 {"right", 64 * KiB, 512},
                                 {"acc", 256 * KiB, 512},
                                 {"bias", 4 * KiB, 64},
                                 kAscendGlobal};
// Of the 227 KiB of shared memory that a block can have, one is for barriers and for what warps
// tell each other.
constexpr Memory kHopper[] = {{"vec", 0, 16, "registers"}, {"mat", 226 * KiB, 1024},
                              {"left", 0, 1024, "mat"},    {"right", 0, 1024, "mat"},
                              {"acc", 0, 16, "registers"}, {"gm", 0, 16}};
constexpr Memory kCpu[] = {{"vec", 0, 64, "cache"}, {"acc", 0, 64, "registers"}, {"gm", 0, 64}};

constexpr Path kAscend910bPaths[] = {{"gm", "vec"},   {"gm", "mat"},    {"vec", "gm"},
                                     {"mat", "left"}, {"mat", "right"}, {"mat", "bias"},
                                     {"acc", "mat"},  {"acc", "gm"}};
constexpr Path kAscend950Paths[] = {
    {"gm", "vec"},   {"gm", "mat"},  {"vec", "gm"}, {"mat", "left"}, {"mat", "right"},
    {"mat", "bias"}, {"acc", "mat"}, {"acc", "gm"}, {"vec", "mat"},  {"acc", "vec"}};
// The copy engine's way leads through shared memory; threads also read and write global memory
// themselves. "Shared <> registers" is there for each of the two names that registers and shared
// memory have here. Between vec and acc nothing moves: both are registers.
constexpr Path kHopperPaths[] = {{"gm", "mat"},   {"mat", "gm"},  {"gm", "vec"},    {"vec", "gm"},
                                 {"mat", "vec"},  {"vec", "mat"}, {"mat", "acc"},   {"acc", "mat"},
                                 {"vec", "acc"},  {"acc", "vec"}, {"mat", "right"}, {"mat", "left"},
                                 {"vec", "left"}, {"acc", "gm"}};

constexpr Machine kMachines[] = {
    {"cpu", "cpu", 0, kCpuRoles, kCpu, {}, PipeStorage::Heap, 2},
    {"hopper", "h200", 132, kHopperRoles, kHopper, kHopperPaths, PipeStorage::SharedMemory, 2,
     /*slotsFillMemory=*/true, /*matrixRows=*/64, /*spreadsTiles=*/true,
     /*startsProducts=*/true},
    {"ascend910b", "a2a3sim", 24, kAscendRoles, kAscend910b, kAscend910bPaths,
     PipeStorage::GlobalMemory, 2},
    {"ascend950", "a5sim", 36, kAscendRoles, kAscend950, kAscend950Paths,
     PipeStorage::ConsumerMemory, 2},
    // These two, as their instructions see them (Hardware.h).
    {"dav-c220", "a2a3", 24, kAscendRoles, kAscend910b, kAscend910bPaths, PipeStorage::GlobalMemory,
     2},
    {"dav-c310", "a5", 36, kAscendRoles, kAscend950, kAscend950Paths, PipeStorage::ConsumerMemory,
     2},
};

std::vector<const Machine *> &registered() {
  static auto *all = [] {
    auto *models = new std::vector<const Machine *>;
    for (const Machine &machine : kMachines)
      models->push_back(&machine);
    return models;
  }();
  return *all;
}

} // namespace

const Role *Machine::findRole(std::string_view role) const {
  for (const Role &candidate : roles)
    if (candidate.name == role)
      return &candidate;
  return nullptr;
}

const Memory *Machine::findMemory(std::string_view memory) const {
  for (const Memory &candidate : memories)
    if (candidate.name == memory)
      return &candidate;
  return nullptr;
}

std::vector<std::string_view> Machine::findRoute(std::string_view from, std::string_view to) const {
  // Breadth first over routes; there are fewer than ten memories.
  std::vector<std::vector<std::string_view>> routes{{from}};
  std::vector<std::string_view> seen{from};
  for (size_t next = 0; next < routes.size(); ++next) {
    if (routes[next].back() == to)
      return routes[next];
    for (const Path &path : paths) {
      if (path.from != routes[next].back() || std::ranges::find(seen, path.to) != seen.end())
        continue;
      seen.push_back(path.to);
      routes.push_back(routes[next]);
      routes.back().push_back(path.to);
    }
  }
  return {};
}

std::span<const Machine *const> machines() { return registered(); }

void registerMachine(const Machine &machine) { registered().push_back(&machine); }

const Machine *findMachine(std::string_view nameOrPlatform) {
  for (const Machine *machine : machines())
    if (machine->name == nameOrPlatform || machine->platform == nameOrPlatform)
      return machine;
  return nullptr;
}

const Role *findRole(std::string_view role) {
  for (const Machine *machine : machines())
    if (const Role *found = machine->findRole(role))
      return found;
  return nullptr;
}

std::string roleNames() {
  std::vector<std::string_view> names;
  for (const Machine *machine : machines())
    for (const Role &role : machine->roles)
      if (std::find(names.begin(), names.end(), role.name) == names.end())
        names.push_back(role.name);
  std::string text;
  for (std::string_view name : names)
    text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string_view toString(PipeStorage storage) {
  switch (storage) {
  case PipeStorage::GlobalMemory:
    return "ring in global memory";
  case PipeStorage::ConsumerMemory:
    return "ring in the consumer's memory";
  case PipeStorage::SharedMemory:
    return "ring in shared memory";
  case PipeStorage::Heap:
    return "heap queue";
  }
  return "?";
}

} // namespace kiln
