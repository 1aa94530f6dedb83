#include "kiln/Dialect/Kiln/ParameterFacts.h"
#include "kiln/Program/Signature.h"
#include "kiln/Transforms/Passes.h"
#include "kiln/runtime/tensor_facts.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNSPECIALIZE
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// The type with what the facts add. Null if they contradict it; `problem` then says how.
ir::TensorType refine(ir::TensorType type, const TensorFacts &facts, std::string &problem) {
  if (dtypeOf(type.getElementType()) != facts.dtype || type.getRank() != facts.rank) {
    problem = "element type or rank is another";
    return {};
  }
  SmallVector<int64_t> shape(type.getShape()), strides(type.getStrides());
  if (strides.empty())
    strides.assign(shape.size(), ShapedType::kDynamic);
  auto add = [&](int64_t &known, std::optional<int64_t> fact, const char *what, int axis) {
    if (!fact)
      return;
    if (!ShapedType::isDynamic(known) && known != *fact)
      problem = std::string(what) + " of axis " + std::to_string(axis) + " is " +
                std::to_string(known) + " in the program and " + std::to_string(*fact) +
                " in the facts";
    known = *fact;
  };
  for (int axis = 0; axis < facts.rank; ++axis) {
    add(shape[axis], facts.extents[axis], "the extent", axis);
    add(strides[axis], axis == facts.leadingDim ? 1 : facts.strides[axis], "the stride", axis);
  }
  if (!problem.empty())
    return {};
  if (llvm::all_of(strides, ShapedType::isDynamic))
    strides.clear();
  return ir::TensorType::get(type.getContext(), shape, type.getElementType(), strides);
}

/// Removes whatever launches or calls the function, directly or not: that is not what is compiled,
/// and it passes tensors of the types the function had.
void eraseCallers(ModuleOp module, ir::FuncOp func) {
  llvm::SetVector<ir::FuncOp> callers;
  callers.insert(func);
  for (size_t i = 0; i < callers.size(); ++i) {
    ir::FuncOp called = callers[i];
    for (auto other : module.getOps<ir::FuncOp>())
      if (!SymbolTable::symbolKnownUseEmpty(called.getSymNameAttr(), other))
        callers.insert(other);
  }
  for (ir::FuncOp caller : callers)
    if (caller != func)
      caller.erase();
}

struct Specialize : impl::KilnSpecializeBase<Specialize> {
  using KilnSpecializeBase::KilnSpecializeBase;

  LogicalResult specialize(ir::FuncOp func, unsigned index, StringRef text) {
    std::optional<TensorFacts> known = parseTensorFacts(text);
    if (!known)
      return func.emitOpError("'") << text << "' are no facts about a tensor";
    for (size_t number = 0; number < numFacts; ++number)
      if (known->kinds().contains(Fact(number)) && !Declared.contains(Fact(number)))
        return func.emitError("internal error: kiln-specialize is given the fact '")
               << toString(Fact(number)) << "' of parameter '" << func.getArgName(index)
               << "', which the platform does not declare";
    std::string problem;
    auto type = refine(cast<ir::TensorType>(func.getArgumentTypes()[index]), *known, problem);
    if (!type)
      return func.emitOpError("parameter '")
             << func.getArgName(index) << "' contradicts the facts '" << text << "': " << problem;
    SmallVector<Type> inputs(func.getArgumentTypes());
    inputs[index] = type;
    func.setFunctionType(FunctionType::get(&getContext(), inputs, func.getResultTypes()));
    func.getBody().getArgument(index).setType(type);
    Builder builder(&getContext());
    if (known->use32bit)
      func.setArgAttr(index, ir::kOffsets32Attr, builder.getUnitAttr());
    if (known->divisibility != 1)
      func.setArgAttr(index, ir::kDivisibleAttr, builder.getI64IntegerAttr(known->divisibility));
    return success();
  }

  void runOnOperation() override {
    Expected<ir::FuncOp> found = findEntry(getOperation(), entry);
    if (!found) {
      getOperation().emitError(found.status().message());
      return signalPassFailure();
    }
    ParameterOrder order = parameterOrder(*found);
    SmallVector<StringRef> texts;
    if (!facts.empty())
      StringRef(facts).split(texts, ';');
    if (order.tensors.size() != texts.size()) {
      found->emitOpError("has ") << order.tensors.size() << " tensors; facts were given for "
                                 << texts.size();
      return signalPassFailure();
    }
    std::optional<FactSet> declared = parseFactSet(reads);
    if (!declared) {
      getOperation().emitError("'") << reads << "' are no kinds of facts";
      return signalPassFailure();
    }
    Declared = *declared;
    SmallVector<Attribute> names;
    for (size_t number = 0; number < numFacts; ++number)
      if (Declared.contains(Fact(number)))
        names.push_back(StringAttr::get(&getContext(), toString(Fact(number))));
    getOperation()->setAttr(ir::kReadsAttr, ArrayAttr::get(&getContext(), names));
    eraseCallers(getOperation(), *found);
    for (auto [index, text] : llvm::zip(order.tensors, texts))
      if (failed(specialize(*found, index, text)))
        return signalPassFailure();
  }

private:
  FactSet Declared = FactSet::all();
};
} // namespace
} // namespace kiln
