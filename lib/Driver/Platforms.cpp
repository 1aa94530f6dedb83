//===- Platforms.cpp - choosing a platform; `kiln platforms`, `kiln machines` -----------===//
#include "Driver.h"

#include "abi/JsonOutput.h"

#include <cstdio>

using namespace mlir;

namespace kiln {

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

static std::string noSuchPlatform(const std::string &name) {
  return "there is no platform '" + name + "'";
}

static std::string allPlatforms() {
  std::vector<std::string> names;
  for (const auto &platform : platforms())
    names.push_back(platform->name());
  return inWords(names, "or");
}

/// What is wrong with a platform that cannot do what a command is for.
static std::string refusal(const std::string &command, const Platform *platform,
                           const std::string &name) {
  if (command == "build")
    return "bundles can be built for " + platformNames(Capability::Build, "and") +
           " so far, not for '" + name + "'";
  if (command == "check")
    return (platform ? "kiln check simulates a machine" : noSuchPlatform(name)) + "; use " +
           platformNames(Capability::Check);
  if (command == "tune")
    return (platform ? "kiln tune measures compiled code" : noSuchPlatform(name)) + "; use " +
           platformNames(Capability::Jit);
  if (command == "emit")
    return noSuchPlatform(name) + "; use " + allPlatforms();
  std::string why = platform ? "platform '" + name + "' runs no programs" : noSuchPlatform(name);
  return why + "; use " + platformNames(Capability::Run);
}

Expected<const Platform *> choosePlatform(const std::string &command, const std::string &name) {
  const Platform *platform = findPlatform(name);
  bool isRight = platform && (command == "run"     ? platform->can(Capability::Run)
                              : command == "check" ? platform->can(Capability::Check)
                              : command == "build" ? platform->can(Capability::Build)
                              : command == "tune"  ? platform->can(Capability::Jit)
                                                   : true);
  if (isRight && command == "run")
    if (Status missing = platform->usableHere(); !missing.isOk())
      return Status(missing.code(), missing.message() + "; kiln build -p " + name +
                                        " -o DIR works here, and kiln-exec DIR where it is there");
  if (isRight)
    return platform;
  return Status(StatusCode::InvalidArgument, refusal(command, platform, name));
}

std::vector<std::string> targetNames() {
  // What is emitted for no machine in particular comes first.
  std::vector<std::string> names{kIrTarget}, forMachines;
  for (const auto &platform : platforms())
    for (const Platform::Text &text : platform->texts())
      if (std::vector<std::string> &list = platform->machine() ? forMachines : names;
          !llvm::is_contained(list, text.name))
        list.push_back(text.name);
  names.push_back(kOrchestrationTarget);
  names.insert(names.end(), forMachines.begin(), forMachines.end());
  return names;
}

const Platform *emitterOf(const std::string &target, const Platform *wanted, bool &needsEntry) {
  const Platform *found = nullptr;
  for (const auto &platform : platforms())
    for (const Platform::Text &text : platform->texts())
      if (text.name == target && (!found || platform.get() == wanted)) {
        needsEntry = text.needsEntry;
        found = platform.get();
      }
  return found;
}

//===----------------------------------------------------------------------===//
// Platforms
//===----------------------------------------------------------------------===//

/// The commands that take a platform, and what they ask of it.
static constexpr std::pair<const char *, Capability> kDefaults[] = {{"run", Capability::Run},
                                                                    {"check", Capability::Check},
                                                                    {"build", Capability::Build},
                                                                    {"jit", Capability::Jit}};

static std::vector<std::string> capabilitiesOf(const Platform &platform) {
  std::vector<std::string> names;
  for (size_t number = 0; number < numCapabilities; ++number)
    if (platform.can(Capability(number)))
      names.push_back(toString(Capability(number)));
  return names;
}

static std::vector<std::string> defaultOf(const Platform &platform) {
  std::vector<std::string> commands;
  for (auto [command, purpose] : kDefaults)
    if (&defaultPlatform(purpose) == &platform)
      commands.push_back(command);
  return commands;
}

static Json toJson(const Platform &platform) {
  Json texts = Json::array(), machine = nullptr, missing = nullptr;
  for (const Platform::Text &text : platform.texts())
    texts.push_back(text.name);
  if (platform.machine())
    machine = platform.machine()->name;
  if (Status unusable = platform.usableHere(); !unusable.isOk())
    missing = unusable.message();
  return {{"name", platform.name()}, {"machine", machine}, {"can", capabilitiesOf(platform)},
          {"missing_here", missing}, {"emits", texts},     {"default_of", defaultOf(platform)}};
}

static void print(const Platform &platform) {
  std::string machine = platform.machine() ? "machine " + std::string(platform.machine()->name)
                                           : "no machine of its own";
  std::printf("%s: %s\n", platform.name().c_str(), machine.c_str());
  std::printf("  can: %s\n", llvm::join(capabilitiesOf(platform), ", ").c_str());
  if (Status missing = platform.usableHere(); !missing.isOk())
    std::printf("  cannot run here: %s\n", missing.message().c_str());
  for (const Platform::Text &text : platform.texts())
    std::printf("  emits: %s\n", text.name.c_str());
  if (std::vector<std::string> commands = defaultOf(platform); !commands.empty())
    std::printf("  default of: %s\n", llvm::join(commands, ", ").c_str());
}

/// Prints each of a list as text, or all of them as one list of JSON.
template <typename List> static int printAll(const List &list, bool json) {
  Json array = Json::array();
  for (const auto &item : list) {
    if (json)
      array.push_back(toJson(*item));
    else
      print(*item);
  }
  if (json)
    printJson(array);
  return kGood;
}

int platformsCommand(bool json) { return printAll(platforms(), json); }

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

static Json toJson(const Machine &machine) {
  Json roles, memories, paths = Json::array();
  for (const Role &role : machine.roles)
    roles.push_back({{"name", role.name},
                     {"max_lanes", role.maxLanes},
                     {"matrix", bool(role.executes & MatrixWork)},
                     {"vector", bool(role.executes & VectorWork)},
                     {"copy", bool(role.executes & CopyWork)}});
  for (const Memory &memory : machine.memories) {
    memories.push_back(
        {{"name", memory.name}, {"bytes", memory.bytes}, {"alignment", memory.alignment}});
    if (!memory.inside.empty())
      memories.back()["inside"] = memory.inside;
  }
  for (const Path &path : machine.paths)
    paths.push_back(std::string(path.from) + " -> " + std::string(path.to));
  return {{"name", machine.name},
          {"platform", machine.platform},
          {"core_groups", machine.coreGroups},
          {"roles", roles},
          {"memories", memories},
          {"paths", paths},
          {"pipes", toString(machine.pipeStorage)},
          {"default_slots", machine.defaultSlots},
          {"slots_fill_memory", machine.slotsFillMemory}};
}

static void print(const Machine &machine) {
  std::string groups = machine.coreGroups ? std::to_string(machine.coreGroups) + " core groups"
                                          : "as many core groups as threads";
  std::printf("%s (platform %s): %s\n", std::string(machine.name).c_str(),
              std::string(machine.platform).c_str(), groups.c_str());
  for (const Role &role : machine.roles)
    std::printf("  role %-8s up to %d lane(s):%s%s%s\n", std::string(role.name).c_str(),
                int(role.maxLanes), role.executes & MatrixWork ? " matrix" : "",
                role.executes & VectorWork ? " vector" : "",
                role.executes & CopyWork ? " copy" : "");
  for (const Memory &memory : machine.memories) {
    std::string size = memory.bytes             ? std::to_string(memory.bytes / 1024) + " KiB"
                       : !memory.inside.empty() ? "in " + std::string(memory.inside)
                                                : "not planned";
    std::printf("  memory %-6s %12s, aligned to %d\n", std::string(memory.name).c_str(),
                size.c_str(), int(memory.alignment));
  }
  std::string paths;
  for (const Path &path : machine.paths)
    paths += (paths.empty() ? "" : ", ") + std::string(path.from) + ">" + std::string(path.to);
  std::printf("  paths: %s\n", paths.empty() ? "none" : paths.c_str());
  std::printf("  pipes: %s, %d slots by default%s\n",
              std::string(toString(machine.pipeStorage)).c_str(), int(machine.defaultSlots),
              machine.slotsFillMemory ? ", more where memory allows" : "");
}

int machinesCommand(bool json) { return printAll(machines(), json); }

} // namespace kiln
