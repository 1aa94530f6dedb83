#include "kiln/runtime/signature.h"

#include "kiln/runtime/tensor.h"

#include <set>

using namespace kiln;

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

const char *kiln::toString(Direction direction) {
  switch (direction) {
  case Direction::In:
    return "in";
  case Direction::Out:
    return "out";
  case Direction::InOut:
    return "inout";
  }
  return "unknown";
}

TensorParam TensorParam::dynamic(std::string name, DType dtype, int rank, Direction direction) {
  TensorParam param;
  param.name = std::move(name);
  param.dtype = dtype;
  param.direction = direction;
  param.extents.assign(static_cast<size_t>(rank < 0 ? 0 : rank), dynamicExtent);
  return param;
}

std::string TensorParam::str() const {
  std::string text = std::string(toString(dtype)) + "[";
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i ? ", " : "") + (extents[i] == dynamicExtent ? "?" : std::to_string(extents[i]));
  return text + "]";
}

Status TensorParam::accepts(const Tensor &tensor) const {
  if (tensor.dtype() != dtype)
    return invalid("expected element type " + std::string(toString(dtype)) + ", got " +
                   toString(tensor.dtype()));
  if (tensor.rank() != rank())
    return invalid("expected rank " + std::to_string(rank()) + ", got " + tensor.str());
  for (int i = 0; i < rank(); ++i)
    if (extents[i] != dynamicExtent && tensor.extent(i) != extents[i])
      return invalid("expected " + str() + ", got " + tensor.str());
  return Status::ok();
}

static std::string startOf(const BlockBox::Axis &axis, std::span<const ScalarParam> scalars,
                           int64_t constant) {
  std::string text;
  auto add = [&](int64_t factor, const std::string &variable) {
    bool isNegative = factor < 0;
    text += text.empty() ? (isNegative ? "-" : "") : (isNegative ? " - " : " + ");
    std::string size = std::to_string(factor).substr(isNegative);
    text += variable.empty() ? size : size == "1" ? variable : size + "*" + variable;
  };
  for (size_t dim = 0; dim < axis.perBlock.size(); ++dim)
    if (axis.perBlock[dim] != 0)
      add(axis.perBlock[dim], "b" + std::to_string(dim));
  for (auto [scalar, factor] : axis.perScalar)
    add(factor, scalar < scalars.size() ? scalars[scalar].name : "?");
  if (constant != 0 || text.empty())
    add(constant, "");
  return text;
}

std::string BlockBox::str(std::span<const ScalarParam> scalars) const {
  std::string text;
  for (const Axis &axis : axes) {
    text += text.empty() ? "[" : ", ";
    if (axis.isWhole())
      text += ":";
    else
      text += startOf(axis, scalars, axis.constant) + " : " +
              startOf(axis, scalars, axis.constant + axis.extent);
  }
  return text + "]";
}

std::string Signature::boxOf(size_t tensor) const {
  return tensor < tensors.size() && tensors[tensor].box ? tensors[tensor].box->str(scalars) : "";
}

/// Index and i64 are the same.
static bool sameScalarType(DType a, DType b) {
  auto canonical = [](DType type) { return type == DType::Index ? DType::I64 : type; };
  return canonical(a) == canonical(b);
}

static Status verifyBox(const BlockBox &box, int rank, size_t numScalars) {
  // Beyond these nothing is a place in a tensor, and the end of a box could overflow.
  constexpr int64_t most = int64_t{1} << 61;
  auto isPlace = [](int64_t number) { return number > -most && number < most; };
  if (box.axes.size() != static_cast<size_t>(rank))
    return invalid("its box has " + std::to_string(box.axes.size()) + " axes, the tensor " +
                   std::to_string(rank));
  for (const BlockBox::Axis &axis : box.axes) {
    bool isGood =
        (axis.isWhole() || axis.extent >= 1) && isPlace(axis.extent) && isPlace(axis.constant);
    for (int64_t factor : axis.perBlock)
      isGood = isGood && isPlace(factor);
    for (auto [scalar, factor] : axis.perScalar)
      isGood = isGood && scalar < numScalars && isPlace(factor);
    if (!isGood)
      return invalid("an axis of its box is no part of a tensor");
  }
  return Status::ok();
}

static Status verifyTensor(const TensorParam &param, size_t numScalars) {
  if (!isValidDType(static_cast<int64_t>(param.dtype)) || !info(param.dtype).isElement)
    return invalid("not an element type of tensors");
  if (static_cast<uint8_t>(param.direction) > KILN_INOUT)
    return invalid("not a direction");
  if (param.rank() < 1 || param.rank() > KILN_MAX_RANK)
    return invalid("rank " + std::to_string(param.rank()) +
                   " is not supported: tensors have rank 1 to " + std::to_string(KILN_MAX_RANK));
  for (int64_t extent : param.extents)
    if (extent < 0 && extent != dynamicExtent)
      return invalid("extent " + std::to_string(extent) + " is negative");
  if (param.isConst && writes(param.direction))
    return invalid("is const, yet its direction is " + std::string(toString(param.direction)));
  return param.box ? verifyBox(*param.box, param.rank(), numScalars) : Status::ok();
}

Status Signature::verify() const {
  std::string who = "kernel '" + name + "'";
  if (name.empty())
    return invalid("a signature needs the kernel's name");
  if (coreType.empty())
    return invalid(who + ": the core type is missing");
  if (tensors.size() > KILN_MAX_TENSORS)
    return invalid(who + " has " + std::to_string(tensors.size()) +
                   " tensors; a task carries at most " + std::to_string(KILN_MAX_TENSORS));
  if (scalars.size() > KILN_MAX_SCALARS)
    return invalid(who + " has " + std::to_string(scalars.size()) +
                   " scalars; a task carries at most " + std::to_string(KILN_MAX_SCALARS));
  std::set<std::string> names;
  auto checkName = [&](const std::string &arg, size_t index) {
    if (arg.empty())
      return invalid(who + ", argument " + std::to_string(index) + ": the name is missing");
    if (!names.insert(arg).second)
      return invalid(who + ", argument " + std::to_string(index) + ": the name '" + arg +
                     "' is used twice");
    return Status::ok();
  };
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (Status bad = checkName(tensors[i].name, i); !bad.isOk())
      return bad;
    if (Status bad = verifyTensor(tensors[i], scalars.size()); !bad.isOk())
      return bad.withPrefix(who + ", argument '" + tensors[i].name + "'");
  }
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (Status bad = checkName(scalars[i].name, tensors.size() + i); !bad.isOk())
      return bad;
    if (!isValidDType(static_cast<int64_t>(scalars[i].type)))
      return invalid(who + ", argument '" + scalars[i].name + "': not a scalar type");
  }
  for (const Requirement &requirement : requirements)
    if (Status bad = requirement.verify(*this); !bad.isOk())
      return bad.withPrefix(who);
  return Status::ok();
}

namespace {

struct TensorsAndScalars final : ArgumentValues {
  TensorsAndScalars(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars)
      : Tensors(tensors), Scalars(scalars) {}
  int64_t extent(size_t tensor, size_t axis) const override {
    return Tensors[tensor].extent(static_cast<int>(axis));
  }
  int64_t scalar(size_t index) const override { return Scalars[index].asInt(); }

private:
  std::span<const Tensor> Tensors;
  std::span<const ScalarBits> Scalars;
};

struct AbiValues final : ArgumentValues {
  explicit AbiValues(const kiln_args &args) : Args(args) {}
  int64_t extent(size_t tensor, size_t axis) const override {
    return Args.tensors[tensor].extents[axis];
  }
  int64_t scalar(size_t index) const override { return static_cast<int64_t>(Args.scalars[index]); }

private:
  const kiln_args &Args;
};

} // namespace

Status Signature::checkRequirements(std::span<const Tensor> givenTensors,
                                    std::span<const ScalarBits> givenScalars) const {
  return checkRequirements(TensorsAndScalars(givenTensors, givenScalars));
}

Status Signature::checkRequirements(const kiln_args &args) const {
  return checkRequirements(AbiValues(args));
}

std::string Signature::argName(size_t index) const {
  if (index < tensors.size())
    return tensors[index].name;
  if (index - tensors.size() < scalars.size())
    return scalars[index - tensors.size()].name;
  return "arg" + std::to_string(index);
}

/// Verifies the group of a record and names its roles as members. A kernel that is run as a group,
/// for what its blocks ask of the runtime, is one role with its own name, and has no members.
static Status adoptGroup(KernelRecord &record) {
  if (record.function || record.user || record.workspaceBytes || !record.members.empty())
    return invalid("a group has no function, user pointer, workspace or members of its own: its "
                   "roles have them");
  const std::vector<RoleSpec> &roles = record.group->roles;
  if (roles.size() != 1 || roles[0].name != record.name)
    for (const RoleSpec &role : roles)
      record.members.push_back(role.name);
  return record.group->verify();
}

/// One tensor parameter of a launch against the kernel's own.
static Status verifySameTensor(const TensorParam &expected, const TensorParam &actual) {
  bool fits = expected.dtype == actual.dtype && expected.rank() == actual.rank();
  for (int i = 0; fits && i < expected.rank(); ++i)
    fits = expected.extents[i] == dynamicExtent || actual.extents[i] == dynamicExtent ||
           expected.extents[i] == actual.extents[i];
  if (!fits)
    return invalid("launches pass " + expected.str() + ", but it takes " + actual.str());
  if (expected.direction != actual.direction)
    return invalid("launches pass it as " + std::string(toString(expected.direction)) +
                   ", but it takes it as " + toString(actual.direction));
  return Status::ok();
}

Status Signature::verifySame(const Signature &actual) const {
  std::string who = "kernel '" + name + "'";
  auto checkCount = [&](size_t expected, size_t have, const char *what) {
    return expected == have ? Status::ok()
                            : invalid(who + ": launches pass " + std::to_string(expected) + " " +
                                      what + ", but it takes " + std::to_string(have));
  };
  if (Status bad = checkCount(tensors.size(), actual.tensors.size(), "tensors"); !bad.isOk())
    return bad;
  if (Status bad = checkCount(scalars.size(), actual.scalars.size(), "scalars"); !bad.isOk())
    return bad;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (Status bad = verifySameTensor(tensors[i], actual.tensors[i]); !bad.isOk())
      return bad.withPrefix(who + ", argument '" + actual.tensors[i].name + "'");
  for (size_t i = 0; i < scalars.size(); ++i)
    if (!sameScalarType(scalars[i].type, actual.scalars[i].type))
      return invalid(who + ", argument '" + actual.scalars[i].name +
                     "': launches pass a scalar of type " + toString(scalars[i].type) +
                     ", but it takes " + toString(actual.scalars[i].type));
  return Status::ok();
}

Status Signature::verifyArguments(std::span<const Tensor> givenTensors,
                                  std::span<const ScalarBits> givenScalars) const {
  std::string who = "'" + name + "'";
  if (givenTensors.size() != tensors.size() || givenScalars.size() != scalars.size())
    return invalid(who + " takes " + std::to_string(tensors.size()) + " tensors and " +
                   std::to_string(scalars.size()) + " scalars, got " +
                   std::to_string(givenTensors.size()) + " and " +
                   std::to_string(givenScalars.size()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    Status bad = givenTensors[i].validate();
    if (bad.isOk())
      bad = tensors[i].accepts(givenTensors[i]);
    if (bad.isOk() && writes(tensors[i].direction) && givenTensors[i].isReadOnly())
      bad = invalid("is stored to (" + std::string(toString(tensors[i].direction)) +
                    ") but is read-only");
    if (!bad.isOk())
      return bad.withPrefix(who + ", argument '" + tensors[i].name + "'");
  }
  for (size_t i = 0; i < scalars.size(); ++i)
    if (!sameScalarType(scalars[i].type, givenScalars[i].type))
      return invalid(who + ", argument '" + scalars[i].name + "': expected scalar type " +
                     toString(scalars[i].type) + ", got " + toString(givenScalars[i].type));
  return checkRequirements(givenTensors, givenScalars);
}

Status KernelRegistry::verify(const Signature &expected) const {
  const KernelRecord *record = find(expected.name);
  if (!record)
    return Status(StatusCode::NotFound, "kernel '" + expected.name + "' is not registered");
  return record->signature ? expected.verifySame(*record->signature) : Status::ok();
}

Expected<int32_t> KernelRegistry::add(KernelRecord record) {
  if (record.name.empty())
    return invalid("a kernel needs a name");
  std::string who = "kernel '" + record.name + "'";
  if (!record.function && !record.group)
    return invalid(who + ": the function pointer is null");
  if (record.group)
    if (Status bad = adoptGroup(record); !bad.isOk())
      return bad.withPrefix(who);
  if (record.signature) {
    if (Status bad = record.signature->verify(); !bad.isOk())
      return bad;
    if (record.signature->name != record.name)
      return invalid(who + " is registered with the signature of '" + record.signature->name + "'");
  }
  std::set<std::string> members;
  for (const std::string &member : record.members)
    if (member.empty() || member == record.name || !members.insert(member).second)
      return invalid(who + ": member '" + member +
                     "' is empty, the kernel itself, or listed twice");
  if (record.funcId < -1)
    return invalid(who + ": function id " + std::to_string(record.funcId) + " is negative");
  if (ByName.count(record.name))
    return Status(StatusCode::AlreadyExists, who + " is registered already");
  if (record.funcId == -1) {
    record.funcId = static_cast<int32_t>(Records.size());
    while (ById.count(record.funcId))
      ++record.funcId;
  } else if (auto it = ById.find(record.funcId); it != ById.end()) {
    return Status(StatusCode::AlreadyExists, who + ": function id " +
                                                 std::to_string(record.funcId) + " belongs to '" +
                                                 it->second->name + "'");
  }
  Records.push_back(std::move(record));
  const KernelRecord &added = Records.back();
  ByName.emplace(added.name, &added);
  ById.emplace(added.funcId, &added);
  return added.funcId;
}

const KernelRecord *KernelRegistry::find(std::string_view name) const {
  auto it = ByName.find(std::string(name));
  return it == ByName.end() ? nullptr : it->second;
}

const KernelRecord *KernelRegistry::find(int32_t funcId) const {
  auto it = ById.find(funcId);
  return it == ById.end() ? nullptr : it->second;
}
