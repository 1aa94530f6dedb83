//===- kiln/runtime/signature.h - what kernels take, and where they are --===//
//
// What: `Signature`: the tensors (with directions) and scalars a kernel takes, in the order a
//   task carries them, and what it requires of them; `KernelRegistry`: kernels by name and by
//   function id.
//
// Ownership: the registry owns its records; the code a record points at (a loaded shared object,
//   a JIT'ed function) and the `user` pointer must outlive the registry and the engines that use
//   it.
//
// Threads: fill the registry first, from one thread; a registry nobody changes may be read from
//   many.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_SIGNATURE_H
#define KILN_RUNTIME_SIGNATURE_H

#include "kiln/abi.h"
#include "kiln/runtime/dtype.h"
#include "kiln/runtime/group.h"
#include "kiln/runtime/requirement.h"
#include "kiln/runtime/status.h"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kiln {

class Tensor;

enum class Direction : uint8_t { In = KILN_IN, Out = KILN_OUT, InOut = KILN_INOUT };

/// "in", "out", "inout"
const char *toString(Direction direction);
constexpr bool reads(Direction direction) { return direction != Direction::Out; }
constexpr bool writes(Direction direction) { return direction != Direction::In; }

/// An extent that is known only at run time ('?' in a type).
inline constexpr int64_t dynamicExtent = -1;

struct ScalarParam;

/// What one block of a launch touches of a tensor at most: a box whose corner is an affine function
/// of the block's index and of the task's scalars.
struct BlockBox {
  struct Axis {
    /// The first index: this, and factors times the block's index and times scalars of the task
    /// (by their place among the scalars, ascending).
    int64_t constant = 0;
    std::array<int64_t, KILN_MAX_GRID_DIMS> perBlock{};
    std::vector<std::pair<uint32_t, int64_t>> perScalar;
    /// So many from there on; dynamicExtent: all of the axis, whatever the first index would be.
    int64_t extent = dynamicExtent;

    bool isWhole() const { return extent == dynamicExtent; }
    friend bool operator==(const Axis &, const Axis &) = default;
  };
  std::vector<Axis> axes; // one per axis of the tensor

  /// "[64*b0 : 64*b0 + 64, :]", with b0 to b2 for the block's index and scalars by their names.
  std::string str(std::span<const ScalarParam> scalars) const;
  friend bool operator==(const BlockBox &, const BlockBox &) = default;
};

struct TensorParam {
  std::string name;
  DType dtype = DType::F32;
  Direction direction = Direction::In;
  /// One per axis, each >= 0 or dynamicExtent: the rank is their number.
  std::vector<int64_t> extents;
  /// Made by the compiler, not by the user (`__gm_pipe`): dumped as metadata only, never compared.
  bool internal = false;
  /// Nothing in the whole program writes it.
  bool isConst = false;
  /// None: it is not known, or all of it.
  std::optional<BlockBox> box = std::nullopt;

  int rank() const { return static_cast<int>(extents.size()); }
  /// Whether a tensor has this element type, rank and these extents; the error says what differs.
  Status accepts(const Tensor &tensor) const;
  /// "f32[64, ?]"
  std::string str() const;
  /// An all-dynamic parameter.
  static TensorParam dynamic(std::string name, DType dtype, int rank, Direction direction);
};

struct ScalarParam {
  std::string name;
  DType type = DType::Index;
};

struct Signature {
  std::string name;
  std::string coreType; // "aic", "aiv", "mix", "cpu", ...
  std::vector<TensorParam> tensors;
  std::vector<ScalarParam> scalars;
  /// What must hold of the arguments of every call.
  std::vector<Requirement> requirements = {};

  /// Names present and unique, counts <= 255, ranks 1..5, element types legal, extents sane, and
  /// requirements about these arguments.
  Status verify() const;
  /// What BlockBox::str() says of a tensor; empty when there is no box.
  std::string boxOf(size_t tensor) const;
  /// The argument's name by task order: tensors, then scalars. "arg<i>" when out of range.
  std::string argName(size_t index) const;
  /// Whether a launch that was written for this signature may run a kernel that has `actual`: the
  /// same number of tensors and scalars, element types, ranks and directions. Names may differ. The
  /// error names the kernel and the argument.
  Status verifySame(const Signature &actual) const;
  /// Whether these are arguments for it, tensors and scalars apart, and satisfy what it requires;
  /// the error names the one that is not.
  Status verifyArguments(std::span<const Tensor> tensors,
                         std::span<const ScalarBits> scalars) const;
  /// Whether arguments of the right types satisfy all requirements; the error is that of the first
  /// they do not satisfy.
  Status checkRequirements(const ArgumentValues &values) const {
    for (const Requirement &requirement : requirements)
      if (Status bad = requirement.check(*this, values); !bad.isOk())
        return bad;
    return Status::ok();
  }
  Status checkRequirements(std::span<const Tensor> tensors,
                           std::span<const ScalarBits> scalars) const;
  Status checkRequirements(const kiln_args &args) const;
};

struct KernelRecord {
  std::string name;
  /// Null for a group.
  kiln_kernel_fn function = nullptr;
  /// None: the kernel runs unchecked and the dump lists its tasks as `unsigned`.
  std::optional<Signature> signature;
  /// Handed to the kernel in kiln_context::user.
  void *user = nullptr;
  /// Scratch the kernel needs per call.
  uint64_t workspaceBytes = 0;
  /// A mixed (group) kernel lists the role kernels it runs; empty otherwise. Taken from `group`
  /// when that is given.
  std::vector<std::string> members;
  /// Assigned by add() in order of registration unless given (>= 0).
  int32_t funcId = -1;
  /// Roles that run together and the pipes between them, instead of `function`; workspaces are the
  /// roles' then.
  std::optional<GroupSpec> group = std::nullopt;
  /// Of no registry: what several ranks do together (kiln/runtime/ranks.h), by the run's transport.
  bool isCollective = false;
  /// How many blocks along each grid dimension share work if one call computes them. A launch is
  /// cut into pieces as large as that, as long as there are two for each worker.
  std::array<int64_t, KILN_MAX_GRID_DIMS> blocksPerCall{1, 1, 1};
};

class KernelRegistry {
public:
  KernelRegistry() = default;
  KernelRegistry(const KernelRegistry &) = delete;
  KernelRegistry &operator=(const KernelRegistry &) = delete;

  /// Verifies and adds a kernel; returns its function id. A used name or id is AlreadyExists, and
  /// the registry is unchanged.
  Expected<int32_t> add(KernelRecord record);

  /// Whether the kernel that `expected` names is here and, if it has a signature, takes what
  /// `expected` says.
  Status verify(const Signature &expected) const;

  /// Null when there is none. Records never move.
  const KernelRecord *find(std::string_view name) const;
  const KernelRecord *find(int32_t funcId) const;
  /// In order of registration.
  const std::deque<KernelRecord> &records() const { return Records; }

private:
  std::deque<KernelRecord> Records;
  std::unordered_map<std::string, const KernelRecord *> ByName;
  std::unordered_map<int32_t, const KernelRecord *> ById;
};

} // namespace kiln

#endif // KILN_RUNTIME_SIGNATURE_H
