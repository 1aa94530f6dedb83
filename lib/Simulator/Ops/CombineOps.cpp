// Reductions and scans by a body, as they are written: one line after the other.
#include "CombineOps.h"

#include "TileOps.h"

using namespace mlir;

namespace kiln::simulator {

int64_t countLines(tile::CombiningInterface op) {
  return cast<tile::TileType>(op.getTiles()[0].getType()).getExtent(op.getAxis());
}

Lines lineOf(Interpreter &in, tile::CombiningInterface op, int64_t number) {
  int64_t at = op.isReverse() ? countLines(op) - 1 - number : number;
  Lines lines;
  for (mlir::Value value : op.getTiles()) {
    TilePtr tile = in.tile(value);
    lines.push_back(op.getAxis() == 0 ? extractBox(*tile, at, 0, 1, tile->cols)
                                      : extractBox(*tile, 0, at, tile->rows, 1));
  }
  return lines;
}

Lines startOf(Interpreter &in, tile::CombiningInterface op) {
  Lines lines = lineOf(in, op, 0);
  for (auto [line, start] : llvm::zip(lines, op.getStarts())) {
    if (isa<tile::TileType>(start.getType())) {
      line = in.tile(start);
      continue;
    }
    NewTile filled = splat(line->rows, line->cols, in.scalar(start));
    if (in.memory().watcher())
      filled->origins.assign(line->rows * line->cols, Origin::constant());
    line = std::move(filled);
  }
  return lines;
}

Expected<Lines> combine(Interpreter &in, tile::CombiningInterface op, const Lines &soFar,
                        const Lines &next) {
  Block &body = op.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    size_t number = argument.getArgNumber();
    in.set(argument, number < soFar.size() ? soFar[number] : next[number - soFar.size()]);
  }
  for (Operation &inner : body.without_terminator())
    if (Status bad = in.execute(&inner); !bad.isOk())
      return bad;
  Lines combined;
  for (mlir::Value yielded : body.getTerminator()->getOperands())
    combined.push_back(in.tile(yielded));
  return combined;
}

namespace {

Status run(Interpreter &in, tile::CombiningInterface op) {
  bool keepsSteps = isa<tile::ScanWithOp>(op);
  std::vector<Lines> steps(op.getTiles().size());
  Lines soFar = startOf(in, op);
  for (int64_t i = 0, count = countLines(op); i < count; ++i) {
    Expected<Lines> next = combine(in, op, soFar, lineOf(in, op, i));
    if (!next)
      return next.status();
    if (keepsSteps || i + 1 == count)
      for (auto [kept, line] : llvm::zip(steps, op.isExclusive() ? soFar : *next))
        kept.push_back(line);
    soFar = *next;
  }
  for (auto [kept, result] : llvm::zip(steps, op->getResults())) {
    if (op.isReverse())
      std::reverse(kept.begin(), kept.end());
    NewTile made = concatenate(kept, op.getAxis());
    if (Watcher *watcher = in.memory().watcher())
      watcher->tileIsComputed(in, op, *made);
    in.set(result, TilePtr(std::move(made)));
  }
  if (Watcher *watcher = in.memory().watcher())
    watcher->linesAreCombined(in, op);
  return Status::ok();
}

} // namespace

void addCombineOps(OpTable &table) {
  table.add<tile::ReduceWithOp, run>();
  table.add<tile::ScanWithOp, run>();
}

} // namespace kiln::simulator
