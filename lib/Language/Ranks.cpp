//===- Ranks.cpp - recording what several ranks do together ------------------------------===//
#include "Record/Items.h"

#include "kiln/Dialect/Kiln/Collective.h"

using namespace mlir;

namespace kiln::record {

/// The group of an operation; null for all ranks. False if there is no such group, which is
/// reported.
static bool collect(Tracer *tracer, const std::optional<RankGroup> &along, ir::AlongAttr &attr) {
  if (!along)
    return true;
  SmallVector<int64_t> extents;
  SmallVector<StringAttr> names;
  for (int64_t extent : along->extents)
    extents.push_back(extent < 0 ? ShapedType::kDynamic : extent);
  for (const std::string &name : along->names)
    names.push_back(tracer->builder.getStringAttr(name));
  DiagnosticCollector collector(&tracer->context, tracer->errors);
  attr = ir::AlongAttr::getChecked([&] { return mlir::emitError(tracer->loc()); }, &tracer->context,
                                   along->axis, ArrayRef<int64_t>(extents),
                                   ArrayRef<StringAttr>(names));
  return bool(attr);
}

template <typename Op> static Index rankWith(const char *what, const std::optional<RankGroup> &of) {
  Tracer *tracer = Tracer::inOrchestration(what);
  ir::AlongAttr along;
  if (!tracer || !collect(tracer, of, along))
    return 0;
  return Index::of(
      Value(Op::create(tracer->builder, tracer->loc(), along).getResult()).getAsOpaquePointer());
}

static tile::ReduceKind kindOf(Combine how) {
  static constexpr tile::ReduceKind kinds[] = {tile::ReduceKind::Sum, tile::ReduceKind::Prod,
                                               tile::ReduceKind::Max, tile::ReduceKind::Min};
  return kinds[int(how)]; // in the order of the enum
}

namespace {

/// The operands that collectives have, as their builders take them.
struct Operands {
  Tracer *tracer;
  SmallVector<Value> deps;
  ir::AlongAttr along;
  bool isGood;

  Operands(const char *what, const std::vector<TaskRef> &tasks,
           const std::optional<RankGroup> &group)
      : tracer(Tracer::inOrchestration(what)), isGood(tracer && collect(tracer, group, along)) {
    for (TaskRef task : tasks) {
      if (!isGood)
        return;
      deps.push_back(tracer->use(task.value, "task"));
      isGood = bool(deps.back());
    }
  }

  Value tensor(const char *what, const TensorRef &ref, bool isWritten) {
    if (!isGood)
      return {};
    if (isWritten && ref.access() == Access::In) {
      tracer->error(std::string(what) +
                    " writes into an In tensor; make the parameter Out or InOut");
      isGood = false;
      return {};
    }
    Value value = tracer->use(ref.value(), "tensor");
    isGood &= bool(value);
    return value;
  }

  Value index(Index index) {
    Value value = isGood ? tracer->use(index) : Value();
    isGood &= bool(value);
    return value;
  }

  template <typename Op, typename... Args> TaskRef make(Args... args) {
    if (!isGood)
      return {nullptr};
    OpBuilder &builder = tracer->builder;
    auto op = Op::create(builder, tracer->loc(), builder.getType<ir::TaskType>(), args...,
                         ValueRange(deps), along);
    return {Value(op.getTask()).getAsOpaquePointer()};
  }
};

using Tasks = std::vector<TaskRef>;
using Group = std::optional<RankGroup>;

} // namespace

static TaskRef allReduce(const TensorRef &target, Combine how, bool fixedOrder, const Group &along,
                         const Tasks &deps) {
  Operands with("all_reduce", deps, along);
  Value tensor = with.tensor("all_reduce", target, true);
  return with.make<ir::AllReduceOp>(tensor, kindOf(how), fixedOrder);
}

template <typename Op>
static TaskRef exchange(const char *what, const TensorRef &source, const TensorRef &target,
                        const Group &along, const Tasks &deps) {
  Operands with(what, deps, along);
  Value from = with.tensor(what, source, false), to = with.tensor(what, target, true);
  return with.make<Op>(from, to);
}

static TaskRef allGather(const TensorRef &source, const TensorRef &target, const Group &along,
                         const Tasks &deps) {
  return exchange<ir::AllGatherOp>("all_gather", source, target, along, deps);
}

static TaskRef allToAll(const TensorRef &source, const TensorRef &target, const Group &along,
                        const Tasks &deps) {
  return exchange<ir::AllToAllOp>("all_to_all", source, target, along, deps);
}

static TaskRef reduceScatter(const TensorRef &source, const TensorRef &target, Combine how,
                             bool fixedOrder, const Group &along, const Tasks &deps) {
  Operands with("reduce_scatter", deps, along);
  Value from = with.tensor("reduce_scatter", source, false),
        to = with.tensor("reduce_scatter", target, true);
  return with.make<ir::ReduceScatterOp>(from, to, kindOf(how), fixedOrder);
}

static TaskRef broadcast(const TensorRef &target, Index root, const Group &along,
                         const Tasks &deps) {
  Operands with("broadcast", deps, along);
  Value tensor = with.tensor("broadcast", target, true), from = with.index(root);
  return with.make<ir::BroadcastOp>(tensor, from);
}

static TaskRef send(const TensorRef &source, Index to, const Group &along, const Tasks &deps) {
  Operands with("send", deps, along);
  Value tensor = with.tensor("send", source, false), peer = with.index(to);
  return with.make<ir::SendOp>(tensor, peer);
}

static TaskRef recv(const TensorRef &target, Index from, const Group &along, const Tasks &deps) {
  Operands with("recv", deps, along);
  Value tensor = with.tensor("recv", target, true), peer = with.index(from);
  return with.make<ir::RecvOp>(tensor, peer);
}

static TaskRef rankBarrier(const Group &along, const Tasks &deps) {
  return Operands("rank_barrier", deps, along).make<ir::RankBarrierOp>();
}

void addRankOperations(std::vector<RecordedOp> &list) {
  list.push_back(
      operation("rank", "Which rank this is, from 0; with a group, its place in that.", {"along?"},
                [](const Group &along) { return rankWith<ir::RankIdOp>("rank", along); }));
  list.push_back(
      operation("ranks", "How many ranks there are; with a group, in that.", {"along?"},
                [](const Group &along) { return rankWith<ir::RankCountOp>("ranks", along); }));
  list.push_back(operation("all_reduce",
                           "Combines the tensors of all ranks and gives the result to each.",
                           {"tensor", "how?", "fixed_order?", "along?", "deps?"}, allReduce));
  list.push_back(operation("all_gather",
                           "Gives each rank the tensors of all, joined along the first axis.",
                           {"source", "target", "along?", "deps?"}, allGather));
  list.push_back(
      operation("reduce_scatter",
                "Combines the tensors of all ranks and gives each its part along the first axis.",
                {"source", "target", "how?", "fixed_order?", "along?", "deps?"}, reduceScatter));
  list.push_back(operation("broadcast", "Gives each rank the tensor of one.",
                           {"tensor", "root", "along?", "deps?"}, broadcast));
  list.push_back(operation("all_to_all",
                           "Gives part i of the source, along the first axis, to rank i.",
                           {"source", "target", "along?", "deps?"}, allToAll));
  list.push_back(operation("send", "Gives a tensor to another rank; ends when that has it.",
                           {"tensor", "to", "along?", "deps?"}, send));
  list.push_back(operation("recv", "Takes a tensor from another rank.",
                           {"tensor", "sender", "along?", "deps?"}, recv));
  list.push_back(operation("rank_barrier",
                           "Waits until every rank has come here, with all it launched before.",
                           {"along?", "deps?"}, rankBarrier));
}

} // namespace kiln::record
