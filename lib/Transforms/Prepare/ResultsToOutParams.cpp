#include "kiln/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNRESULTSTOOUTPARAMS
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// What became of a result: a parameter the function had, or one appended for an alloc.
struct Result {
  unsigned parameter;
  bool appended;
};

/// Computes `value`, which the callee computes from its parameters, at the call.
FailureOr<Value> recomputeAtCall(OpBuilder &builder, Value value, IRMapping &mapping,
                                 ir::CallOp call) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  if (!def || !isPure(def) || def->getNumRegions() != 0) {
    InFlightDiagnostic diag =
        call.emitOpError("cannot allocate a result: its size is not computed from the parameters "
                         "alone");
    diag.attachNote(value.getLoc()) << "it depends on this value";
    return diag;
  }
  for (Value operand : def->getOperands())
    if (failed(recomputeAtCall(builder, operand, mapping, call)))
      return failure();
  builder.clone(*def, mapping);
  return mapping.lookup(value);
}

struct ResultsToOutParams : impl::KilnResultsToOutParamsBase<ResultsToOutParams> {
  LogicalResult rewriteCall(ir::CallOp call, ir::FuncOp callee, ArrayRef<Result> results,
                            ArrayRef<ir::AllocOp> allocs) {
    OpBuilder builder(call);
    SmallVector<Value> args(call.getArgs());
    IRMapping mapping;
    for (auto [parameter, arg] : llvm::zip(callee.getBody().getArguments(), args))
      mapping.map(parameter, arg);
    for (ir::AllocOp alloc : allocs) {
      SmallVector<Value> sizes;
      for (Value size : alloc.getSizes()) {
        FailureOr<Value> here = recomputeAtCall(builder, size, mapping, call);
        if (failed(here))
          return failure();
        sizes.push_back(*here);
      }
      args.push_back(ir::AllocOp::create(builder, alloc.getLoc(), alloc.getType(), sizes,
                                         alloc.getNameAttr()));
    }
    for (auto [value, result] : llvm::zip(call.getResults(), results))
      value.replaceAllUsesWith(args[result.parameter]);
    ir::CallOp::create(builder, call.getLoc(), TypeRange(), call.getCalleeAttr(), args);
    call.erase();
    return success();
  }

  LogicalResult rewriteFunction(ir::FuncOp func) {
    auto ret = cast<ir::ReturnOp>(func.getBody().front().getTerminator());
    SmallVector<Result> results;
    SmallVector<ir::AllocOp> allocs;
    for (Value value : ret.getArgs()) {
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        results.push_back({argument.getArgNumber(), false});
        continue;
      }
      results.push_back({unsigned(func.getNumArguments() + allocs.size()), true});
      allocs.push_back(value.getDefiningOp<ir::AllocOp>());
    }
    SmallVector<ir::CallOp> calls;
    getOperation().walk([&](ir::CallOp call) {
      if (call.getCallee() == func.getSymName())
        calls.push_back(call);
    });
    for (ir::CallOp call : calls)
      if (failed(rewriteCall(call, func, results, allocs)))
        return failure();
    Builder builder(func.getContext());
    for (auto [number, alloc] : llvm::enumerate(allocs)) {
      NamedAttrList attributes;
      attributes.set(ir::kArgNameAttr,
                     alloc.getName() ? alloc.getNameAttr()
                                     : builder.getStringAttr("result" + std::to_string(number)));
      // What a kernel makes of it is inferred; an orchestration promises to write what it returns.
      if (func.getKind() == ir::FuncKind::Orchestration)
        attributes.set(ir::kArgDirectionAttr,
                       ir::DirectionAttr::get(func.getContext(), ir::Direction::Out));
      if (failed(func.insertArgument(func.getNumArguments(), alloc.getType(),
                                     attributes.getDictionary(func.getContext()), alloc.getLoc())))
        return failure();
      alloc.getResult().replaceAllUsesWith(func.getBody().getArguments().back());
    }
    ret.getArgsMutable().clear();
    for (ir::AllocOp alloc : allocs)
      alloc.erase();
    func.setFunctionType(FunctionType::get(func.getContext(), func.getArgumentTypes(), {}));
    return success();
  }

  void runOnOperation() override {
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<ir::FuncOp>()))
      if (func.getNumResults() > 0 && failed(rewriteFunction(func)))
        return signalPassFailure();
  }
};
} // namespace
} // namespace kiln
