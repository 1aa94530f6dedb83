// Submission: is the task what its kernel expects, and what must run before it?
#include "engine/EngineImpl.h"

#include "abi/CheckedMath.h"

#include <algorithm>

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
  if (Status bad = arg.tensor.validate(); !bad.isOk())
    return bad;
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

static Status verifyGrid(const std::vector<int64_t> &grid) {
  if (grid.empty() || grid.size() > KILN_MAX_GRID_DIMS)
    return invalid("a grid has 1 to " + std::to_string(KILN_MAX_GRID_DIMS) + " dimensions, got " +
                   std::to_string(grid.size()));
  int64_t blocks = 1;
  bool hasZero = false, overflow = false;
  for (int64_t extent : grid) {
    if (extent < 0)
      return invalid("grid " + toString(Dims(grid)) + " has a negative dimension");
    hasZero |= extent == 0;
    overflow |= !checkedMul(blocks, extent, blocks);
  }
  if (overflow && !hasZero)
    return invalid("grid " + toString(Dims(grid)) +
                   " overflows: the number of blocks does not fit 63 bits");
  return Status::ok();
}

static Status verifyOutputsDisjoint(const Task &task, const KernelRecord *kernel) {
  const std::vector<TaskTensor> &args = task.tensors();
  std::vector<std::pair<size_t, Region>> outputs;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!writes(args[i].direction))
      continue;
    Region region = Region::of(args[i].tensor);
    for (const auto &[other, otherRegion] : outputs)
      if (mayOverlap(region, otherRegion))
        return invalid("arguments '" + argumentName(kernel, other) + "' and '" +
                       argumentName(kernel, i) + "' are both stored to and overlap in memory");
    outputs.emplace_back(i, region);
  }
  return Status::ok();
}

Status Engine::Impl::verify(const Task &task, const KernelRecord *kernel) const {
  if (!task.isDummy() && !kernel)
    return Status(StatusCode::NotFound, "kernel '" + task.kernel() + "' is not registered");
  std::string who = task.isDummy() ? "dummy task" : "kernel '" + task.kernel() + "'";
  auto blame = [&](size_t index, const Status &bad) {
    return bad.withPrefix(who + ", argument '" + argumentName(kernel, index) + "'");
  };
  if (task.tensors().size() > KILN_MAX_TENSORS || task.scalars().size() > KILN_MAX_SCALARS)
    return invalid(who + ": a task carries at most " + std::to_string(KILN_MAX_TENSORS) +
                   " tensors and " + std::to_string(KILN_MAX_SCALARS) + " scalars; got " +
                   std::to_string(task.tensors().size()) + " and " +
                   std::to_string(task.scalars().size()));
  for (size_t i = 0; i < task.tensors().size(); ++i)
    if (Status bad = verifyTensor(task.tensors()[i]); !bad.isOk())
      return blame(i, bad);
  for (size_t i = 0; i < task.scalars().size(); ++i)
    if (Status bad = verifyScalar(task.scalars()[i]); !bad.isOk())
      return blame(task.tensors().size() + i, bad);
  if (kernel && kernel->signature)
    if (Status bad = verifySignature(*kernel->signature, task); !bad.isOk())
      return bad.withPrefix(who);
  if (Status bad = verifyGrid(task.gridDims()); !bad.isOk())
    return bad.withPrefix(who);
  if (Status bad = verifyOutputsDisjoint(task, kernel); !bad.isOk())
    return bad.withPrefix(who);
  if (const auto &predicate = task.predicate()) {
    if (Expected<void *> element = predicate->tensor.elementAddress(predicate->indices); !element)
      return element.status().withPrefix(who + ", predicate");
    if (Status bad = verifyScalar(predicate->constant); !bad.isOk())
      return bad.withPrefix(who + ", predicate's constant");
  }
  for (TaskId dep : task.deps())
    if (!RunOpen || dep.run != RunId || dep.index >= States.size())
      return invalid(who + ": a dependency names no earlier task of this run");
  return Status::ok();
}

static TraceTask describe(const Node &node) {
  TraceTask entry;
  entry.index = node.index;
  entry.kernel = node.task.kernel();
  entry.grid = node.grid;
  for (const TaskTensor &arg : node.task.tensors()) {
    const Tensor &tensor = arg.tensor;
    entry.tensors.push_back({arg.direction,
                             tensor.dtype(),
                             {tensor.extents().begin(), tensor.extents().end()},
                             {tensor.strides().begin(), tensor.strides().end()},
                             tensor.buffer()->id(),
                             tensor.byteOffset()});
  }
  entry.scalars = node.task.scalars();
  entry.loc = node.task.location();
  return entry;
}

Expected<TaskId> Engine::Impl::submit(Task task) {
  const KernelRecord *kernel = task.isDummy() ? nullptr : Registry.find(task.kernel());
  if (Status bad = verify(task, kernel); !bad.isOk())
    return bad.withLocation(task.location());
  if (!RunOpen)
    if (Status bad = startRun({}); !bad.isOk())
      return bad;
  while (NumPending >= Options.maxPending && runNext()) {
  }

  auto node = std::make_unique<Node>();
  node->index = States.size();
  node->kernel = kernel;
  node->scope = CurrentScope;
  for (size_t i = 0; i < task.gridDims().size(); ++i)
    node->grid[i] = task.gridDims()[i];
  node->task = std::move(task);
  if (Options.recordTrace)
    History.tasks.push_back(describe(*node));
  States.push_back(TaskState::Pending);
  ++NumPending;
  Nodes.push_back(std::move(node));
  Node &added = *Nodes.back();
  link(added);
  if (added.unmet == 0)
    makeReady(added.index);
  return TaskId{added.index, RunId};
}

namespace {
/// What a task does to one tensor, gathered before anything is recorded so that a task never waits
/// for itself.
struct NewAccess {
  Tensor tensor;
  Access access;
};
} // namespace

static std::vector<NewAccess> accessesOf(const Node &node) {
  std::vector<NewAccess> result;
  auto add = [&](const Tensor &tensor, int32_t arg, bool reads, bool writes) {
    result.push_back({tensor,
                      {Region::of(tensor), node.index, node.scope, arg, reads, writes,
                       tensor.buffer()->id(), tensor.buffer()}});
  };
  const std::vector<TaskTensor> &args = node.task.tensors();
  for (size_t i = 0; i < args.size(); ++i)
    add(args[i].tensor, static_cast<int32_t>(i), reads(args[i].direction),
        writes(args[i].direction));
  if (const auto &predicate = node.task.predicate()) {
    std::vector<int64_t> ones(predicate->indices.size(), 1);
    if (Expected<Tensor> element = predicate->tensor.slice(predicate->indices, ones))
      add(*element, -1, true, false);
  }
  return result;
}

/// The reason `later` must follow `earlier`, if any. Where several apply the strongest is given.
static std::optional<EdgeKind> hazard(const Access &earlier, const Access &later,
                                      const EngineOptions::TestOnly &off) {
  if (earlier.writes && later.reads && !off.noRaw)
    return EdgeKind::Raw;
  if (earlier.writes && later.writes && !off.noWaw)
    return EdgeKind::Waw;
  if (earlier.reads && later.writes && !off.noWar)
    return EdgeKind::War;
  return std::nullopt;
}

void Engine::Impl::link(Node &node) {
  // Direct predecessors; a finished one orders nothing any more but belongs into the graph.
  auto connect = [&](uint64_t from, EdgeKind kind, uint64_t buffer, int32_t arg) {
    if (Options.recordTrace)
      History.edges.push_back({from, node.index, kind, buffer, arg});
    if (from < Waited)
      return;
    if (States[from] == TaskState::Failed || States[from] == TaskState::Cancelled)
      node.isDoomed = true;
    if (isFinished(from) || Nodes[from]->lastSuccessor == node.index)
      return;
    Nodes[from]->lastSuccessor = node.index;
    Nodes[from]->successors.push_back(node.index);
    ++node.unmet;
  };

  std::vector<NewAccess> accesses = accessesOf(node);
  std::vector<uint64_t> ordered; // tasks this one has an inferred edge from
  std::vector<const Access *> overlaps;
  for (const NewAccess &added : accesses) {
    overlaps.clear();
    Map.findOverlaps(added.tensor, added.access.region, overlaps);
    for (const Access *earlier : overlaps) {
      if (isManualBetween(earlier->scope, node.scope))
        continue;
      if (std::optional<EdgeKind> kind = hazard(*earlier, added.access, Options.testOnly)) {
        connect(earlier->task, *kind, added.access.bufferId, added.access.arg);
        ordered.push_back(earlier->task);
      }
    }
  }
  for (TaskId dep : node.task.deps()) {
    connect(dep.index, EdgeKind::Explicit, 0, -1);
    ordered.push_back(dep.index);
  }
  std::sort(ordered.begin(), ordered.end());
  // A later task of an enclosing manual scope would be ordered after `old` but not after this task,
  // so inside manual scopes nothing is forgotten.
  bool mayForget = !isInsideManual(node.scope);
  auto supersedes = [&](const Access &old) {
    return mayForget && std::binary_search(ordered.begin(), ordered.end(), old.task);
  };
  for (NewAccess &added : accesses)
    Map.record(added.tensor, std::move(added.access), supersedes);
}
