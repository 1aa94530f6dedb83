// Is a task well-formed, and what its kernel expects? Nothing here builds a string unless there is
// something to complain about: every submission passes through.
#include "engine/Verify.h"

#include "abi/CheckedMath.h"
#include "engine/Region.h"

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

/// One tensor on its own: well-formed, and storable where it is stored to.
static Status verifyTensor(const TaskTensor &arg) {
  if (arg.tensor.isNull()) // everything else the factories of Tensor have checked
    return invalid("null tensor");
  if (!writes(arg.direction))
    return Status::ok();
  std::string stored = "is stored to (" + std::string(toString(arg.direction)) + ") but ";
  if (arg.tensor.isBroadcast())
    return invalid(stored + "has a zero stride: strides " + toString(arg.tensor.strides()) +
                   " of " + arg.tensor.str());
  if (arg.tensor.isReadOnly())
    return invalid(stored + "is read-only");
  if (overlapsItself(arg.tensor))
    return invalid(stored + "its elements overlap each other: strides " +
                   toString(arg.tensor.strides()) + " of " + arg.tensor.str());
  return Status::ok();
}

static Status verifyAgainst(const TensorParam &param, const TaskTensor &arg) {
  const Tensor &tensor = arg.tensor;
  if (tensor.dtype() != param.dtype)
    return invalid("expected element type " + std::string(toString(param.dtype)) + ", got " +
                   toString(tensor.dtype()));
  if (tensor.rank() != param.rank())
    return invalid("expected rank " + std::to_string(param.rank()) + ", got " + tensor.str());
  for (int i = 0; i < param.rank(); ++i)
    if (param.extents[i] != dynamicExtent && tensor.extent(i) != param.extents[i])
      return invalid("expected " + shapeOf(param) + ", got " + tensor.str());
  if (arg.direction != param.direction)
    return invalid("expected direction " + std::string(toString(param.direction)) + ", got " +
                   toString(arg.direction));
  return Status::ok();
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

static Status verifySignature(const Signature &signature, const Task &task) {
  if (task.tensors().size() != signature.tensors.size())
    return invalid("expected " + std::to_string(signature.tensors.size()) + " tensors, got " +
                   std::to_string(task.tensors().size()));
  if (task.scalars().size() != signature.scalars.size())
    return invalid("expected " + std::to_string(signature.scalars.size()) + " scalars, got " +
                   std::to_string(task.scalars().size()));
  for (size_t i = 0; i < signature.tensors.size(); ++i)
    if (Status bad = verifyAgainst(signature.tensors[i], task.tensors()[i]); !bad.isOk())
      return bad.withPrefix("argument '" + signature.tensors[i].name + "'");
  for (size_t i = 0; i < signature.scalars.size(); ++i)
    if (!sameScalarType(task.scalars()[i].type, signature.scalars[i].type))
      return invalid("argument '" + signature.scalars[i].name + "': expected scalar type " +
                     toString(signature.scalars[i].type) + ", got " +
                     toString(task.scalars()[i].type));
  return Status::ok();
}

static Status verifyGrid(Dims grid) {
  if (grid.empty() || grid.size() > KILN_MAX_GRID_DIMS)
    return invalid("a grid has 1 to " + std::to_string(KILN_MAX_GRID_DIMS) + " dimensions, got " +
                   std::to_string(grid.size()));
  int64_t blocks = 1;
  bool hasZero = false, overflow = false;
  for (int64_t extent : grid) {
    if (extent < 0)
      return invalid("grid " + toString(grid) + " has a negative dimension");
    hasZero |= extent == 0;
    overflow |= !checkedMul(blocks, extent, blocks);
  }
  if (overflow && !hasZero)
    return invalid("grid " + toString(grid) +
                   " overflows: the number of blocks does not fit 63 bits");
  return Status::ok();
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

/// Each argument by itself; the error names it.
static Status verifyArguments(const Task &task, const KernelRecord *kernel) {
  auto blame = [&](size_t index, const Status &bad) {
    return bad.withPrefix("argument '" + argumentName(kernel, index) + "'");
  };
  size_t numTensors = task.tensors().size(), numScalars = task.scalars().size();
  if (numTensors > KILN_MAX_TENSORS || numScalars > KILN_MAX_SCALARS)
    return invalid("a task carries at most " + std::to_string(KILN_MAX_TENSORS) + " tensors and " +
                   std::to_string(KILN_MAX_SCALARS) + " scalars; got " +
                   std::to_string(numTensors) + " and " + std::to_string(numScalars));
  for (size_t i = 0; i < numTensors; ++i)
    if (Status bad = verifyTensor(task.tensors()[i]); !bad.isOk())
      return blame(i, bad);
  for (size_t i = 0; i < numScalars; ++i)
    if (Status bad = verifyScalar(task.scalars()[i]); !bad.isOk())
      return blame(numTensors + i, bad);
  return Status::ok();
}

static Status verifyPredicate(const Predicate &predicate) {
  if (Expected<void *> element = predicate.tensor.elementAddress(predicate.indices); !element)
    return element.status().withPrefix("predicate");
  return verifyScalar(predicate.constant).withPrefix("predicate's constant");
}

static Status verifyParts(const Task &task, const KernelRecord *kernel) {
  if (Status bad = verifyArguments(task, kernel); !bad.isOk())
    return bad;
  if (kernel && kernel->signature)
    if (Status bad = verifySignature(*kernel->signature, task); !bad.isOk())
      return bad;
  if (Status bad = verifyGrid(task.gridDims()); !bad.isOk())
    return bad;
  if (Status bad = verifyOutputsDisjoint(task, kernel); !bad.isOk())
    return bad;
  return task.predicate() ? verifyPredicate(*task.predicate()) : Status::ok();
}

std::string kiln::describeTask(const Task &task) {
  return task.isDummy() ? "dummy task" : "kernel '" + task.kernel() + "'";
}

Status kiln::verifyTask(const Task &task, const KernelRecord *kernel) {
  if (!task.isDummy() && !kernel)
    return Status(StatusCode::NotFound, describeTask(task) + " is not registered");
  Status status = verifyParts(task, kernel);
  return status.isOk() ? status : status.withPrefix(describeTask(task));
}
