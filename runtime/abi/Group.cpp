#include "kiln/runtime/group.h"

#include <algorithm>
#include <set>

using namespace kiln;

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

const char *kiln::toString(PipeSplit split) {
  switch (split) {
  case PipeSplit::None:
    return "none";
  case PipeSplit::UpDown:
    return "up_down";
  case PipeSplit::LeftRight:
    return "left_right";
  }
  return "unknown";
}

Expected<GroupSpec> GroupSpec::fromAbi(const kiln_group &group) {
  if ((group.num_roles != 0 && !group.roles) || (group.num_pipes != 0 && !group.pipes))
    return invalid("a group without its roles or pipes: null pointer");
  auto nameOf = [](const char *name) { return std::string(name ? name : ""); };
  GroupSpec spec;
  for (uint32_t i = 0; i < group.num_roles; ++i) {
    const kiln_role &role = group.roles[i];
    if (role.flags & ~uint32_t{KILN_ROLE_MEETS})
      return invalid("role '" + nameOf(role.name) + "': flags " + std::to_string(role.flags) +
                     " do not exist");
    spec.roles.push_back({nameOf(role.name), role.function, role.lanes, role.workspace_bytes,
                          role.user, (role.flags & KILN_ROLE_MEETS) != 0});
  }
  for (uint32_t i = 0; i < group.num_pipes; ++i) {
    const kiln_pipe_spec &pipe = group.pipes[i];
    if (pipe.split > KILN_SPLIT_LEFT_RIGHT)
      return invalid("pipe '" + nameOf(pipe.name) + "': split " + std::to_string(pipe.split) +
                     " does not exist");
    spec.pipes.push_back({nameOf(pipe.name), pipe.from, pipe.to, pipe.slots, pipe.payload_bytes,
                          static_cast<PipeSplit>(pipe.split)});
  }
  return spec;
}

uint32_t GroupSpec::numInstances() const {
  uint32_t count = 0;
  for (const RoleSpec &role : roles)
    count += role.lanes;
  return count;
}

bool GroupSpec::meets() const {
  return std::any_of(roles.begin(), roles.end(), [](const RoleSpec &role) { return role.meets; });
}

static Status verifyRoles(const std::vector<RoleSpec> &roles) {
  if (roles.empty())
    return invalid("a group needs at least one role");
  std::set<std::string> names;
  uint64_t instances = 0;
  for (const RoleSpec &role : roles) {
    if (role.name.empty() || !names.insert(role.name).second)
      return invalid("role '" + role.name + "': the name is empty or used twice");
    if (!role.function)
      return invalid("role '" + role.name + "': the function pointer is null");
    if (role.lanes == 0)
      return invalid("role '" + role.name + "' has no lanes: at least 1");
    instances += role.lanes;
  }
  if (instances > GroupSpec::maxInstances)
    return invalid("the roles have " + std::to_string(instances) + " lanes in all; at most " +
                   std::to_string(GroupSpec::maxInstances));
  return Status::ok();
}

/// Can these lanes be joined and divided as the pipe says?
static Status verifySplit(const PipeSpec &pipe, const RoleSpec &from, const RoleSpec &to) {
  uint32_t most = std::max(from.lanes, to.lanes);
  if (from.lanes > 1 && to.lanes > 1 && from.lanes != to.lanes)
    return invalid("joins " + std::to_string(from.lanes) + " lanes of '" + from.name + "' and " +
                   std::to_string(to.lanes) + " of '" + to.name + "': their numbers differ");
  if (pipe.split == PipeSplit::None) {
    if (from.lanes > 1 && to.lanes == 1)
      return invalid("split none cannot join what " + std::to_string(from.lanes) + " lanes of '" +
                     from.name + "' push; split up_down or left_right would");
    return Status::ok();
  }
  std::string how = std::string("split ") + toString(pipe.split);
  if (most == 1)
    return invalid(how + ", but neither '" + from.name + "' nor '" + to.name + "' has lanes");
  if (pipe.payloadBytes % most != 0)
    return invalid(how + " cannot divide " + std::to_string(pipe.payloadBytes) + " bytes by " +
                   std::to_string(most) + " lanes");
  return Status::ok();
}

static Status verifyPipe(const PipeSpec &pipe, const std::vector<RoleSpec> &roles) {
  if (pipe.from >= roles.size() || pipe.to >= roles.size())
    return invalid("goes from role " + std::to_string(pipe.from) + " to role " +
                   std::to_string(pipe.to) + "; there are " + std::to_string(roles.size()));
  if (pipe.slots == 0 || pipe.slots > GroupSpec::maxSlots)
    return invalid("a pipe has 1 to " + std::to_string(GroupSpec::maxSlots) + " slots, not " +
                   std::to_string(pipe.slots));
  if (pipe.payloadBytes > uint64_t{1} << 32)
    return invalid("messages of " + std::to_string(pipe.payloadBytes) + " bytes; at most 2^32");
  return verifySplit(pipe, roles[pipe.from], roles[pipe.to]);
}

Status GroupSpec::verify() const {
  if (Status bad = verifyRoles(roles); !bad.isOk())
    return bad;
  std::set<std::string> names;
  for (const PipeSpec &pipe : pipes) {
    if (pipe.name.empty() || !names.insert(pipe.name).second)
      return invalid("pipe '" + pipe.name + "': the name is empty or used twice");
    if (Status bad = verifyPipe(pipe, roles); !bad.isOk())
      return bad.withPrefix("pipe '" + pipe.name + "'");
  }
  return Status::ok();
}
