// Is a task well-formed, and what its kernel expects? Nothing here builds a string unless there is
// something to complain about: every submission passes through.
#include "engine/Verify.h"

#include "abi/CheckedMath.h"
#include "engine/Region.h"
#include "kiln/runtime/interrupt.h"

using namespace kiln;

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

std::string kiln::argumentName(const KernelRecord *kernel, size_t index) {
  return kernel && kernel->signature ? kernel->signature->argName(index)
                                     : "arg" + std::to_string(index);
}

static std::string shapeOf(const TensorParam &param) {
  std::string text = std::string(toString(param.dtype)) + "[";
  for (size_t i = 0; i < param.extents.size(); ++i)
    text += (i ? ", " : "") +
            (param.extents[i] == dynamicExtent ? "?" : std::to_string(param.extents[i]));
  return text + "]";
}

/// What can be wrong with a tensor argument. Every tensor of every task is judged, so judging is
/// one pass without a call; words are looked for only when there is something to say.
enum class Fault : uint8_t {
  None,
  Null,
  ZeroStride,
  ReadOnly,
  OverlapsItself,
  DType,
  Rank,
  Extent,
  Direction
};

/// Whether each axis, in the order given, steps over everything inside it: then no two elements are
/// the same memory. True for all but unusual strides.
static bool isNested(const Tensor &tensor) {
  int64_t reach = 0;
  for (int i = tensor.rank(); i-- > 0;) {
    if (tensor.extent(i) <= 1)
      continue;
    if (tensor.stride(i) <= reach)
      return false;
    reach += (tensor.extent(i) - 1) * tensor.stride(i);
  }
  return true;
}

static Fault faultOf(const TaskTensor &arg, const TensorParam *param) {
  const Tensor &tensor = arg.tensor;
  if (tensor.isNull()) // everything else the factories of Tensor have checked
    return Fault::Null;
  if (writes(arg.direction)) {
    if (tensor.isReadOnly())
      return tensor.isBroadcast() ? Fault::ZeroStride : Fault::ReadOnly;
    if (!tensor.isContiguous() && !isNested(tensor) && overlapsItself(tensor))
      return Fault::OverlapsItself;
  }
  if (!param)
    return Fault::None;
  if (tensor.dtype() != param->dtype)
    return Fault::DType;
  if (tensor.rank() != param->rank())
    return Fault::Rank;
  for (int i = 0; i < tensor.rank(); ++i)
    if (param->extents[i] != dynamicExtent && tensor.extent(i) != param->extents[i])
      return Fault::Extent;
  return arg.direction == param->direction ? Fault::None : Fault::Direction;
}

static std::string explain(Fault fault, const TaskTensor &arg, const TensorParam *param) {
  const Tensor &tensor = arg.tensor;
  std::string stored = "is stored to (" + std::string(toString(arg.direction)) + ") but ";
  std::string strides = ": strides " + toString(tensor.strides()) + " of ";
  switch (fault) {
  case Fault::Null:
    return "null tensor";
  case Fault::ZeroStride:
    return stored + "has a zero stride" + strides + tensor.str();
  case Fault::ReadOnly:
    return stored + "is read-only";
  case Fault::OverlapsItself:
    return stored + "its elements overlap each other" + strides + tensor.str();
  case Fault::DType:
    return "expected element type " + std::string(toString(param->dtype)) + ", got " +
           toString(tensor.dtype());
  case Fault::Rank:
    return "expected rank " + std::to_string(param->rank()) + ", got " + tensor.str();
  case Fault::Extent:
    return "expected " + shapeOf(*param) + ", got " + tensor.str();
  case Fault::Direction:
    return "expected direction " + std::string(toString(param->direction)) + ", got " +
           toString(arg.direction);
  case Fault::None:
    break;
  }
  return "";
}

static Status verifyScalar(const ScalarBits &scalar) {
  if (!isValidDType(static_cast<int64_t>(scalar.type)))
    return invalid("not a scalar type");
  // Bits that no value of the type has would be read differently by different kernels.
  bool canonical = isFloat(scalar.type)
                       ? sizeOf(scalar.type) == 8 || scalar.bits >> (8 * sizeOf(scalar.type)) == 0
                       : ScalarBits::fromInt(scalar.type, scalar.asInt()) == scalar;
  if (!canonical)
    return invalid("the raw bits " + std::to_string(scalar.bits) + " are not a value of " +
                   toString(scalar.type));
  return Status::ok();
}

static bool sameScalarType(DType a, DType b) {
  auto canonical = [](DType type) { return type == DType::Index ? DType::I64 : type; };
  return canonical(a) == canonical(b);
}

static Status verifyCounts(const Task &task, const Signature *signature) {
  size_t numTensors = task.tensors().size(), numScalars = task.scalars().size();
  if (numTensors > KILN_MAX_TENSORS || numScalars > KILN_MAX_SCALARS)
    return invalid("a task carries at most " + std::to_string(KILN_MAX_TENSORS) + " tensors and " +
                   std::to_string(KILN_MAX_SCALARS) + " scalars; got " +
                   std::to_string(numTensors) + " and " + std::to_string(numScalars));
  if (signature && numTensors != signature->tensors.size())
    return invalid("expected " + std::to_string(signature->tensors.size()) + " tensors, got " +
                   std::to_string(numTensors));
  if (signature && numScalars != signature->scalars.size())
    return invalid("expected " + std::to_string(signature->scalars.size()) + " scalars, got " +
                   std::to_string(numScalars));
  return Status::ok();
}

Status kiln::verifyBlocks(Dims extents) {
  int64_t blocks = 1;
  bool hasZero = false, isTooMany = false;
  for (int64_t extent : extents) {
    if (extent < 0)
      return invalid("grid " + toString(extents) + " has a negative dimension");
    hasZero |= extent == 0;
    isTooMany |= !checkedMul(blocks, extent, blocks) || blocks > maxBlocks;
  }
  if (isTooMany && !hasZero)
    return invalid("grid " + toString(extents) + " has too many blocks: a launch has at most " +
                   std::to_string(maxBlocks));
  return Status::ok();
}

static Status verifyGrid(Dims grid) {
  if (grid.size() == 1 && grid[0] == 1)
    return Status::ok();
  if (grid.empty() || grid.size() > KILN_MAX_GRID_DIMS)
    return invalid("a grid has 1 to " + std::to_string(KILN_MAX_GRID_DIMS) + " dimensions, got " +
                   std::to_string(grid.size()));
  return verifyBlocks(grid);
}

static Status verifyOutputsDisjoint(const Task &task, const KernelRecord *kernel) {
  std::span<const TaskTensor> args = task.tensors();
  size_t first = 0; // nearly all tasks store to one tensor
  while (first < args.size() && !writes(args[first].direction))
    ++first;
  for (size_t i = first + 1; i < args.size(); ++i) {
    if (!writes(args[i].direction))
      continue;
    Region region = Region::of(args[i].tensor);
    for (size_t other = first; other < i; ++other)
      if (writes(args[other].direction) && mayOverlap(region, Region::of(args[other].tensor)))
        return invalid("arguments '" + argumentName(kernel, other) + "' and '" +
                       argumentName(kernel, i) + "' are both stored to and overlap in memory");
  }
  return Status::ok();
}

/// Each argument by itself and against the signature, if there is one; the error names it.
static Status verifyArguments(const Task &task, const KernelRecord *kernel) {
  const Signature *signature = kernel && kernel->signature ? &*kernel->signature : nullptr;
  if (Status bad = verifyCounts(task, signature); !bad.isOk())
    return bad;
  auto blame = [&](size_t index, const Status &bad) {
    return bad.withPrefix("argument '" + argumentName(kernel, index) + "'");
  };
  std::span<const TaskTensor> tensors = task.tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorParam *param = signature ? &signature->tensors[i] : nullptr;
    if (Fault fault = faultOf(tensors[i], param); fault != Fault::None)
      return blame(i, invalid(explain(fault, tensors[i], param)));
  }
  std::span<const ScalarBits> scalars = task.scalars();
  for (size_t i = 0; i < scalars.size(); ++i) {
    Status bad = verifyScalar(scalars[i]);
    if (bad.isOk() && signature && !sameScalarType(scalars[i].type, signature->scalars[i].type))
      bad = invalid("expected scalar type " + std::string(toString(signature->scalars[i].type)) +
                    ", got " + toString(scalars[i].type));
    if (!bad.isOk())
      return blame(tensors.size() + i, bad);
  }
  return Status::ok();
}

namespace {

struct TaskValues final : ArgumentValues {
  explicit TaskValues(const Task &task) : Given(task) {}
  int64_t extent(size_t tensor, size_t axis) const override {
    return Given.tensors()[tensor].tensor.extent(static_cast<int>(axis));
  }
  int64_t scalar(size_t index) const override { return Given.scalars()[index].asInt(); }

private:
  const Task &Given;
};

} // namespace

/// What the kernel requires of arguments that have the right types.
static Status checkRequirements(const Task &task, const KernelRecord *kernel) {
  return kernel && kernel->signature ? kernel->signature->checkRequirements(TaskValues(task))
                                     : Status::ok();
}

static Status verifyPredicate(const Predicate &predicate) {
  if (Expected<void *> element = predicate.tensor.elementAddress(predicate.indices); !element)
    return element.status().withPrefix("predicate");
  return verifyScalar(predicate.constant).withPrefix("predicate's constant");
}

static Status verifyParts(const Task &task, const KernelRecord *kernel) {
  if (Status bad = verifyArguments(task, kernel); !bad.isOk())
    return bad;
  if (Status bad = checkRequirements(task, kernel); !bad.isOk())
    return bad;
  if (Status bad = verifyGrid(task.gridDims()); !bad.isOk())
    return bad;
  if (kernel && kernel->group && kernel->group->meets() && task.hasSeveralBlocks() &&
      !task.isSyncStart())
    return invalid("its blocks meet at a barrier, so all must run at once: say sync_start");
  if (Status bad = verifyOutputsDisjoint(task, kernel); !bad.isOk())
    return bad;
  return task.predicate() ? verifyPredicate(*task.predicate()) : Status::ok();
}

/// The usual task, judged without anything that could fail in another way: tensors as in the
/// signature, one of them stored to, one block. False means only that verifyParts() must decide.
static bool isPlainlyGood(const Task &task, const KernelRecord &kernel) {
  std::span<const TaskTensor> tensors = task.tensors();
  if (!kernel.signature || !task.scalars().empty() || task.predicate() ||
      tensors.size() != kernel.signature->tensors.size() || !kernel.signature->scalars.empty() ||
      !kernel.signature->requirements.empty() || task.gridDims().size() != 1 ||
      task.gridDims()[0] != 1)
    return false;
  const TensorParam *param = kernel.signature->tensors.data();
  int numStored = 0;
  for (const TaskTensor &arg : tensors) {
    if (faultOf(arg, param++) != Fault::None)
      return false;
    numStored += writes(arg.direction);
  }
  return numStored <= 1;
}

Status kiln::interruptedAt(uint64_t task, const KernelRecord *kernel) {
  Status why = interruption();
  return Status(StatusCode::Interrupted, (why.isOk() ? "interrupted" : why.message()) + "; task " +
                                             std::to_string(task) +
                                             (kernel ? ", kernel '" + kernel->name + "'," : "") +
                                             " was the first that did not run to its end");
}

std::string kiln::describeTask(const Task &task) {
  return task.isDummy() ? "dummy task" : "kernel '" + task.kernel() + "'";
}

Status kiln::verifyTask(const Task &task, const KernelRecord *kernel) {
  if (kernel && isPlainlyGood(task, *kernel))
    return Status::ok();
  if (!task.isDummy() && !kernel)
    return Status(StatusCode::NotFound, describeTask(task) + " is not registered");
  Status status = verifyParts(task, kernel);
  return status.isOk() ? status : status.withPrefix(describeTask(task));
}
