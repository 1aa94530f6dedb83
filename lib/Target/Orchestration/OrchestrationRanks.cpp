// What several ranks do together: collectives, and who and how many ranks there are.
#include "OrchestrationFunction.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Text/Literals.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln::orchestration {

/// `{2, any}, 1`: the extents of the mesh, and the axis.
static std::string meshText(ir::AlongAttr along) {
  SmallVector<std::string> extents;
  for (int64_t extent : along.getExtents())
    extents.push_back(ShapedType::isDynamic(extent) ? "any" : std::to_string(extent));
  return "{" + llvm::join(extents, ", ") + "}, " + std::to_string(along.getAxis());
}

Expr FunctionEmitter::rankExpression(Operation *op) {
  auto asks = [](ir::AlongAttr along) { return along ? meshText(along) : std::string(); };
  if (auto rank = dyn_cast<ir::RankIdOp>(op))
    return {"rt.rank(" + asks(rank.getAlongAttr()) + ")"};
  return {"rt.ranks(" + asks(cast<ir::RankCountOp>(op).getAlongAttr()) + ")"};
}

/// "all_reduce" as "AllReduce".
static std::string enumeratorOf(StringRef mnemonic) {
  std::string name;
  for (StringRef word : llvm::split(mnemonic, '_'))
    name += StringRef(word).take_front().upper() + word.drop_front().str();
  return name;
}

void FunctionEmitter::emitCollective(const ir::Collective &collective) {
  std::string mnemonic = collective.op->getName().stripDialect().str(), name;
  if (!collective.task.use_empty()) {
    name = Names.unique(mnemonic + "_task");
    line("TaskId " + name + ";");
    Values[collective.task] = {name};
  }
  line("{ // " + mnemonic);
  emitIndented([&] {
    line("CollectiveArgs task(CollectiveKind::" + enumeratorOf(mnemonic) + ");");
    if (collective.source)
      line("task.source(" + text(collective.source) + ");");
    if (collective.target)
      line("task.target(" + text(collective.target) + ");");
    if (collective.reduces())
      line("task.combine(Reduction::" + enumeratorOf(tile::stringifyReduceKind(collective.how)) +
           (collective.fixedOrder ? ", /*fixedOrder=*/true);" : ");"));
    if (collective.peer)
      line("task.peer(" + text(collective.peer) + ");");
    if (collective.along)
      line("task.along(" + meshText(collective.along) + ");");
    for (Value dep : collective.deps)
      line("task.after(" + text(dep) + ");");
    if (SourceLoc at = sourceLocOf(collective.op->getLoc()); at.isKnown())
      line("task.at(" + text::cppString(at.file) + ", " + std::to_string(at.line) + ", " +
           std::to_string(at.col) + ");");
    line((name.empty() ? "" : name + " = ") + "rt.submit(task);");
  });
  line("}");
}

} // namespace kiln::orchestration
