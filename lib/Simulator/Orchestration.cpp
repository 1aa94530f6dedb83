#include "Orchestration.h"

#include "Watcher.h"

#include "kiln/Program/Arguments.h"
#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln::simulator {

Task makeTask(ir::FuncOp kernel, ArrayRef<Value> args,
              llvm::function_ref<bool(const Tensor &)> isMarked) {
  Task task(kernel.getSymName().str());
  ParameterOrder order = parameterOrder(kernel);
  llvm::BitVector marked = markedParameters(kernel);
  for (unsigned number : order.tensors) {
    const auto &tensor = std::get<Tensor>(args[number]);
    task.addTensor(tensor, static_cast<Direction>(*kernel.getArgDirection(number)),
                   marked[number] || (isMarked && isMarked(tensor)));
  }
  for (unsigned number : order.scalars)
    task.addScalar(std::get<ScalarBits>(args[number]));
  return task.at(sourceLocOf(kernel.getLoc()));
}

std::optional<Compare> comparisonOf(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return Compare::Eq;
  case P::ne:
    return Compare::Ne;
  case P::slt:
    return Compare::Lt;
  case P::sle:
    return Compare::Le;
  case P::sgt:
    return Compare::Gt;
  case P::sge:
    return Compare::Ge;
  default:
    return std::nullopt; // the unsigned ones cannot be written as text
  }
}

static Access predicateOf(Interpreter &in, ir::SubmitOp op) {
  return {op, op.getPredicate(), in.tensor(op.getPredicate()),
          in.indices(*op.getStaticPredicateIndices(), op.getPredicateIndices())};
}

static Status addPredicate(const Access &access, ir::SubmitOp op, Task &task) {
  std::optional<Compare> compare = comparisonOf(*op.getPredicateCmp());
  if (!compare)
    return Status(StatusCode::Unsupported, "a predicate compares signed integers");
  if (Status bad = checkElement(access); !bad.isOk())
    return bad.withPrefix("predicate");
  ScalarBits constant = ScalarBits::fromInt(DType::I64, *op.getPredicateConstant());
  task.when({access.tensor, access.indices, *compare, constant});
  return Status::ok();
}

Status OrchestrationHost::submit(Interpreter &in, ir::SubmitOp op) {
  Task task;
  if (op.getCallee())
    task = makeTask(lookup(*op.getCallee()), in.getAll(op.getArgs()),
                    [&](const Tensor &tensor) { return Marked.contains(tensor); });
  std::vector<int64_t> grid = in.indices(op.getStaticGrid(), op.getGrid());
  if (!grid.empty())
    task.grid(grid);
  for (mlir::Value dep : op.getDeps())
    task.after(in.task(dep));
  std::optional<Access> predicate;
  if (op.getPredicate()) {
    predicate.emplace(predicateOf(in, op));
    if (Status bad = addPredicate(*predicate, op, task); !bad.isOk())
      return bad;
  }
  if (Watch)
    Watch->taskIsSubmitted(op, predicate);
  if (Watch && Hardware && Hardware->coreGroups > 0 && op.getSyncStart())
    Watch->blocksStartAtOnce(op, grid, *Hardware);
  task.syncStart(op.getSyncStart()).at(sourceLocOf(op.getLoc()));
  Expected<TaskId> id = Run.submit(std::move(task));
  if (!id)
    return id.status();
  in.set(op.getTask(), *id);
  return Status::ok();
}

Status OrchestrationHost::get(Interpreter &in, ir::GetOp op) {
  const Tensor &tensor = in.tensor(op.getTensor());
  std::vector<int64_t> indices = in.indices(op.getStaticIndices(), op.getIndices());
  Access access{op, op.getTensor(), tensor, indices};
  if (Status bad = checkElement(access); !bad.isOk())
    return bad;
  Expected<ScalarBits> value = Run.get(tensor, indices);
  if (!value)
    return value.status();
  if (Watch)
    Watch->orchestrationReads(access, Run.trace());
  in.set(op.getResult(), *value);
  return Status::ok();
}

static MeshAxis groupOf(ir::AlongAttr along) {
  MeshAxis group;
  if (!along)
    return group;
  group.axis = along.getAxis();
  for (int64_t extent : along.getExtents())
    group.extents.push_back(ShapedType::isDynamic(extent) ? dynamicExtent : extent);
  return group;
}

Expected<int64_t> OrchestrationHost::rank(ir::AlongAttr along, bool wantsCount) {
  Transport &all = Run.ranks();
  Expected<RankLine> line = groupOf(along).lineOf(all.rank(), all.ranks());
  if (!line)
    return line.status();
  return int64_t{wantsCount ? line->count : line->placeOf(all.rank())};
}

Status OrchestrationHost::collect(Interpreter &in, const ir::Collective &collective) {
  CollectiveTask task;
  task.kind = static_cast<CollectiveKind>(collective.kind);
  task.how = static_cast<Reduction>(collective.how);
  task.fixedOrder = collective.fixedOrder;
  task.group = groupOf(collective.along);
  if (collective.peer)
    task.peer = in.index(collective.peer);
  for (auto [value, tensor] :
       {std::pair(collective.source, &task.source), std::pair(collective.target, &task.target)})
    if (value) {
      *tensor = in.tensor(value);
      task.isMarked |= Marked.contains(*tensor);
    }
  for (mlir::Value dep : collective.deps)
    task.deps.push_back(in.task(dep));
  task.loc = sourceLocOf(collective.op->getLoc());
  if (Watch)
    Watch->taskIsSubmitted(collective.op, std::nullopt);
  Expected<TaskId> id = Run.submit(task);
  if (!id)
    return id.status();
  in.set(collective.task, *id);
  return Status::ok();
}

Status OrchestrationHost::beginScope(ir::ScopeOp op) {
  Run.beginScope(op.getManual());
  return Status::ok();
}

} // namespace kiln::simulator
