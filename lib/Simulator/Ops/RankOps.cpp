// Ranks: what the host knows of them, and what several of them do together.
#include "Simulator/Interpreter.h"

using namespace mlir;

namespace kiln::simulator {

template <typename Op> static Status rank(Interpreter &in, Op op) {
  bool wantsCount = std::is_same_v<Op, ir::RankCountOp>;
  Expected<int64_t> number = in.host().rank(op.getAlongAttr(), wantsCount);
  if (!number)
    return number.status();
  in.set(op.getResult(), ScalarBits::fromInt(DType::Index, *number));
  return Status::ok();
}

static Status collect(Interpreter &in, Operation *op) {
  return in.host().collect(in, *ir::collectiveOf(op));
}

void addRankOps(OpTable &table) {
  table.add<ir::RankIdOp, rank<ir::RankIdOp>>();
  table.add<ir::RankCountOp, rank<ir::RankCountOp>>();
  table.add<ir::AllReduceOp, collect>();
  table.add<ir::AllGatherOp, collect>();
  table.add<ir::ReduceScatterOp, collect>();
  table.add<ir::BroadcastOp, collect>();
  table.add<ir::AllToAllOp, collect>();
  table.add<ir::SendOp, collect>();
  table.add<ir::RecvOp, collect>();
  table.add<ir::RankBarrierOp, collect>();
}

} // namespace kiln::simulator
