//===- kiln/runtime/group.h - the roles of a mixed kernel and their pipes -===//
//
// What: `GroupSpec`: what a group consists of, for KernelRecord::group. The role functions follow
//   kiln/abi.h, which also says what messages look like and who waits for what.
//
// Ownership: a value. The code of the roles and what `user` points at must outlive it.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_GROUP_H
#define KILN_RUNTIME_GROUP_H

#include "kiln/abi.h"
#include "kiln/runtime/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

enum class PipeSplit : uint8_t {
  None = KILN_SPLIT_NONE,
  UpDown = KILN_SPLIT_UP_DOWN,
  LeftRight = KILN_SPLIT_LEFT_RIGHT
};
/// "none", "up_down", "left_right"
const char *toString(PipeSplit split);

struct RoleSpec {
  std::string name;
  kiln_kernel_fn function = nullptr;
  uint32_t lanes = 1;
  uint64_t workspaceBytes = 0; // of each lane
  void *user = nullptr;
  bool meets = false; // it has a barrier; see kiln_block_functions
};

struct PipeSpec {
  std::string name;
  uint32_t from = 0, to = 0; // indices of roles
  uint32_t slots = 2;
  uint64_t payloadBytes = 0; // of a message, all lanes together
  PipeSplit split = PipeSplit::None;
};

struct GroupSpec {
  std::vector<RoleSpec> roles;
  std::vector<PipeSpec> pipes;

  static constexpr uint32_t maxInstances = 256; // lanes of all roles together
  static constexpr uint32_t maxSlots = 1 << 20;
  /// Instances of all blocks of a launch whose blocks meet: each has a stack.
  static constexpr uint32_t maxInstancesTogether = 1 << 14;

  /// Copies a description in C. Null names and functions are for verify() to refuse.
  static Expected<GroupSpec> fromAbi(const kiln_group &group);
  /// Names present and unique, functions given, pipes between roles that exist and may be joined.
  Status verify() const;
  uint32_t numInstances() const;
  /// Whether all blocks of a launch must run together.
  bool meets() const;
};

} // namespace kiln

#endif // KILN_RUNTIME_GROUP_H
