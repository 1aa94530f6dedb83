//===- Machine.h - machine models ------------------------------------------------===//
//
// A machine model is data: which roles exist and what they execute, which role has lanes, which
// memories there are and how tiles move between them, where pipes live. Passes, the memory planner,
// the checker and the simulators read it; nothing else knows the name of a machine. The models are
// constants: no owner, any thread. Who brings one of his own registers it before anything is
// compiled.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_MACHINE_MACHINE_H
#define KILN_MACHINE_MACHINE_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// The classes of work an op can be; a role executes some of them.
enum OpClass : unsigned { NoWork = 0, MatrixWork = 1, VectorWork = 2, CopyWork = 4 };

struct Role {
  std::string_view name;
  unsigned executes; ///< OpClass bits.
  int64_t maxLanes;  ///< 1 for a role without lanes.
};

struct Memory {
  std::string_view name;
  int64_t bytes;     ///< 0: nobody plans it (registers, caches, global memory).
  int64_t alignment; ///< Of a tile in it, in bytes.
  /// What it is made of if it is no memory of its own: "registers", "cache" or another memory.
  std::string_view inside = {};
};

/// A move between memories that exists in the machine; "gm" is global memory.
struct Path {
  std::string_view from, to;
};

enum class PipeStorage { GlobalMemory, ConsumerMemory, SharedMemory, Heap };

struct Machine {
  std::string_view name;
  std::string_view platform;
  int64_t coreGroups; ///< 0: as many as there are threads.
  std::span<const Role> roles;
  std::span<const Memory> memories;
  std::span<const Path> paths;
  PipeStorage pipeStorage;
  int64_t defaultSlots;
  /// Rings get the slots that the memory has room for, and `defaultSlots` are the least.
  bool slotsFillMemory = false;
  /// Rows of a product that one matrix instruction makes; a lane with fewer wastes the rest.
  int64_t matrixRows = 1;
  /// Many threads execute a role together, and a tile in `vec` is spread over their registers: each
  /// thread has a part. They combine along rows and columns by themselves, and an element is moved
  /// to another place through memory that all of them see.
  bool spreadsTiles = false;
  /// The matrix unit makes products while those who asked for them compute.
  bool startsProducts = false;

  const Role *findRole(std::string_view role) const;
  const Memory *findMemory(std::string_view memory) const;
  /// The memories on the shortest way from one memory to another, both ends included; empty if
  /// there is none.
  std::vector<std::string_view> findRoute(std::string_view from, std::string_view to) const;
};

/// The models of this library, then those that were registered.
std::span<const Machine *const> machines();

/// Adds a model, which has to outlive every use.
void registerMachine(const Machine &machine);

/// The machine behind a platform (`a2a3sim`) or with a name (`ascend910b`); null if there is none.
const Machine *findMachine(std::string_view nameOrPlatform);

/// The role with this name in any machine; null if no machine has it. Role names mean the same
/// everywhere.
const Role *findRole(std::string_view role);

/// The names of all roles, for messages.
std::string roleNames();

/// The slots of a pipe that does not say how many it has; two where no machine is known.
inline int64_t defaultSlotsOf(const Machine *machine) {
  return machine ? machine->defaultSlots : 2;
}

std::string_view toString(PipeStorage storage);

} // namespace kiln

#endif // KILN_MACHINE_MACHINE_H
