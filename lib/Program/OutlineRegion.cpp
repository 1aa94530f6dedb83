#include "kiln/Program/OutlineRegion.h"

#include "kiln/Dialect/Kiln/ParameterFacts.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {

StringRef givenName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto func = dyn_cast<ir::FuncOp>(argument.getOwner()->getParentOp());
    return func ? func.getArgName(argument.getArgNumber()) : StringRef();
  }
  if (auto alloc = value.getDefiningOp<ir::AllocOp>())
    return alloc.getName().value_or("");
  if (auto pipe = value.getDefiningOp<tile::PipeOp>())
    return pipe.getName().value_or("");
  return {};
}

/// A parameter of the new function knows what the parameter it stands for knows.
static void copyFacts(Value value, ir::FuncOp func, unsigned index) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto parent = argument ? dyn_cast<ir::FuncOp>(argument.getOwner()->getParentOp()) : ir::FuncOp();
  if (!parent)
    return;
  for (StringRef name : {ir::kOffsets32Attr, ir::kDivisibleAttr})
    if (Attribute fact = parent.getArgAttr(argument.getArgNumber(), name))
      func.setArgAttr(index, name, fact);
}

/// Values from outside in order of first use. MLIR's getUsedValuesDefinedAbove looks into the body
/// of a loop before it looks at the bounds, so its order is another one.
static SmallVector<Value> valuesFromOutside(Region &region) {
  llvm::SetVector<Value> found;
  region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!region.isAncestor(operand.getParentRegion()))
        found.insert(operand);
  });
  return found.takeVector();
}

OutlinedRegion outlineRegion(Region &region, StringRef name, ir::FuncKind kind, StringRef role) {
  Operation *holder = region.getParentOp();
  auto parent = holder->getParentOfType<ir::FuncOp>();
  SmallVector<Value> outside = valuesFromOutside(region);

  // What can be recomputed inside is no parameter.
  SmallVector<Value> args;
  SmallVector<Operation *> recomputed;
  for (Value value : outside) {
    Operation *def = value.getDefiningOp();
    auto dim = dyn_cast_or_null<ir::DimOp>(def);
    if (isa_and_nonnull<arith::ConstantOp>(def) ||
        (dim && llvm::is_contained(outside, dim.getTensor())))
      recomputed.push_back(def);
    else
      args.push_back(value);
  }

  SmallVector<Type> inputs;
  std::vector<std::string> names;
  for (Value value : args) {
    inputs.push_back(value.getType());
    bool isTensor = isa<ir::TensorType>(value.getType());
    names.push_back(givenName(isTensor ? ir::rootOf(value) : value).str()); // a view is its tensor
    if (names.back().empty())
      names.back() = (isTensor ? "t" : "s") + std::to_string(names.size() - 1);
  }

  OpBuilder builder(parent);
  auto func = ir::FuncOp::create(builder, holder->getLoc(), name,
                                 builder.getFunctionType(inputs, {}), kind, role, names);
  SymbolTable symbols(parent->getParentOp());
  func->remove();
  symbols.insert(func, Block::iterator(parent));

  for (auto [index, value] : llvm::enumerate(args))
    copyFacts(value, func, index);

  Block &entry = func.getBody().front();
  entry.getOperations().splice(entry.begin(), region.front().getOperations());
  auto replaceInside = [&](Value from, Value to) {
    from.replaceUsesWithIf(to,
                           [&](OpOperand &use) { return func->isProperAncestor(use.getOwner()); });
  };
  for (auto [value, argument] : llvm::zip(args, entry.getArguments()))
    replaceInside(value, argument);
  builder.setInsertionPointToStart(&entry);
  IRMapping mapping;
  for (auto [value, argument] : llvm::zip(args, entry.getArguments()))
    mapping.map(value, argument);
  for (Operation *def : recomputed)
    replaceInside(def->getResult(0), builder.clone(*def, mapping)->getResult(0));
  return {func, args};
}

} // namespace kiln
