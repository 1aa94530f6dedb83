#include "Barrier.h"

#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln::simulator {

BlocksTogether::BlocksTogether(ir::FuncOp func, const std::vector<Value> &args,
                               ArrayRef<Place> places, BlockContext context)
    : Context(context) {
  Context.barrier = &Meeting;
  for (const Place &place : places)
    Blocks.push_back(std::make_unique<GroupBlock>(func, args, place, Context));
}

Status BlocksTogether::run() {
  for (auto &block : Blocks)
    if (Status bad = block->start(); !bad.isOk())
      return bad;
  if (Status bad = runTurns(); !bad.isOk())
    return bad;
  if (Status bad = reportDeadlock(); !bad.isOk())
    return bad;
  for (auto &block : Blocks)
    if (Status bad = block->finish(); !bad.isOk())
      return bad;
  return Status::ok();
}

/// Until no block can go on. After a turn the next block is asked, or one picked at random; after
/// a block that could not go on always the next one, so that in the end all were asked.
Status BlocksTogether::runTurns() {
  for (size_t idle = 0, at = 0; idle < Blocks.size();) {
    Expected<bool> moved = Blocks[at]->step();
    if (!moved)
      return moved.status();
    idle = *moved ? 0 : idle + 1;
    at = *moved && Context.random ? Context.random->below(Blocks.size()) : (at + 1) % Blocks.size();
  }
  return Status::ok();
}

static std::string list(ArrayRef<std::string> names) {
  constexpr size_t most = 16;
  std::string text = "[" + llvm::join(names.take_front(most), ", ");
  if (names.size() > most)
    text += " and " + std::to_string(names.size() - most) + " more";
  return text + "]";
}

/// An error if somebody still waits at a barrier.
Status BlocksTogether::reportDeadlock() const {
  GroupBlock::BarrierReport report;
  for (const auto &block : Blocks)
    block->addTo(report);
  if (report.waiting.empty())
    return Status::ok();
  std::string text =
      "Cross-core simulation deadlock; waiting at a barrier: " + list(report.waiting);
  if (!report.ended.empty())
    text += "; ended without it: " + list(report.ended);
  if (!report.blocked.empty())
    text += "; blocked elsewhere: " + list(report.blocked);
  return Status(StatusCode::Deadlock, text, sourceLocOf(report.barrier->getLoc()));
}

} // namespace kiln::simulator
