//===- TorchFunction.cpp - statements ----------------------------------------------===//
#include "TorchFunction.h"

#include "kiln/Dialect/Sync/SyncDialect.h"
#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Program/Requirements.h"
#include "kiln/Target/Text/Literals.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace kiln::torch {

const text::NameRules &nameRules() {
  // The modules that the file imports.
  static const text::NameRules rules = text::NameRules::python("collections math torch");
  return rules;
}

static ArrayRef<BlockArgument> userParameters(ir::FuncOp func) {
  return ArrayRef<BlockArgument>(func.getArguments()).take_front(ir::numUserParameters(func));
}

FunctionEmitter::FunctionEmitter(ir::FuncOp func, const Program &program)
    : Func(func), Prog(program), Names(nameRules(), &program.names) {}

Expected<std::string> FunctionEmitter::emit() {
  SmallVector<std::string> parameters;
  // Internal tensors are memory for pipes, which are queues here.
  for (BlockArgument argument : userParameters(Func)) {
    StringRef hint = Func.getArgName(argument.getArgNumber());
    std::string fallback = "arg" + std::to_string(argument.getArgNumber());
    parameters.push_back(Names.unique(hint.empty() ? StringRef(fallback) : hint));
    Values[argument] = {parameters.back()};
  }
  std::string list = llvm::join(parameters, ", ");
  bool isGroup = Func.getKind() == ir::FuncKind::Group;
  std::string name = isGenerator()                               ? Prog.generators.lookup(Func)
                     : isGroup && Prog.taskMakers.contains(Func) ? Prog.taskMakers.lookup(Func)
                                                                 : Prog.nameOf(Func);
  line("def " + Twine(name) + "(" + list + "):");
  emitIndented([&] {
    emitDocstring();
    if (Prog.options.checkShapes)
      for (BlockArgument argument : userParameters(Func))
        check(argument, text(argument));
    if (isGroup)
      line("_reset_pipes()");
    emitBlock(Func.getBody().front());
    if (isGroup)
      emitMembers();
    if (auto end = cast<ir::ReturnOp>(Func.getBody().front().getTerminator()); end.getNumOperands())
      line("return " + Twine(arguments(end.getArgs())));
  });
  if (name != Prog.nameOf(Func))
    emitPlainForm(list);
  if (!Error.isOk())
    return Error;
  return Parts + Out.text();
}

std::string describe(Type type) {
  std::string printed = llvm::to_string(type);
  StringRef text = printed;
  if (isa<tile::PipeType>(type) && text.consume_front("!tile.pipe<"))
    return "pipe " + text.drop_back().str();
  if (text.consume_front("!kiln.tensor<") || text.consume_front("!tile.tile<"))
    return text.drop_back().str();
  return printed;
}

void FunctionEmitter::emitDocstring() {
  std::string summary;
  switch (Func.getKind()) {
  case ir::FuncKind::Role:
    summary = "Role " + Func.getRole()->str();
    summary += isGenerator() ? ", a task of the scheduler: yields wherever it may wait." : ".";
    break;
  case ir::FuncKind::Incore:
    summary =
        isGenerator() ? "Kernel, a task of the scheduler: yields at every barrier." : "Kernel.";
    break;
  case ir::FuncKind::Group:
    summary =
        Prog.taskMakers.contains(Func) ? "The tasks of one core group." : "Runs one core group.";
    break;
  case ir::FuncKind::Orchestration:
    summary = isGenerator() ? "Orchestration of one rank: yields where it may wait for others."
                            : "Orchestration: tasks run in the order they are submitted.";
    break;
  }
  if (userParameters(Func).empty()) {
    line("\"\"\"" + Twine(summary) + "\"\"\"");
    return;
  }
  line("\"\"\"" + Twine(summary));
  Out.blank();
  for (BlockArgument argument : userParameters(Func)) {
    std::optional<ir::Direction> direction = Func.getArgDirection(argument.getArgNumber());
    line(Twine(text(argument)) + ": " + describe(argument.getType()) +
         (direction ? " " + ir::stringifyDirection(*direction) : Twine()));
  }
  line("\"\"\"");
}

/// A suite; `pass` if the body writes nothing.
void FunctionEmitter::emitIndented(function_ref<void()> body) {
  if (!Out.indented(body))
    Out.indented([&] { line("pass"); });
}

Expr FunctionEmitter::fail(Operation *op, const Twine &why) {
  if (Error.isOk())
    Error = Status(StatusCode::Unsupported,
                   "'" + op->getName().getStringRef().str() +
                       "' cannot be emitted as PyTorch: " + why.str(),
                   sourceLocOf(op->getLoc()));
  return {"None"};
}

void FunctionEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (Error.isOk() && !op.hasTrait<OpTrait::IsTerminator>())
      emitOp(&op);
}

void FunctionEmitter::line(const Twine &text) {
  bool isMarked = Prog.marks && Current;
  Out.line(isMarked ? Twine(Prog.marks->mark(text, Current->getLoc())) : text);
}

void FunctionEmitter::emitOp(Operation *op) {
  llvm::SaveAndRestore current(Current, op);
  emitSettle(op);
  auto alloc = dyn_cast<ir::AllocOp>(op);
  if (isOpTriviallyDead(op) || (alloc && ir::isInternal(alloc)) || emitStatement(op))
    return;
  Expr expr = expressionOf(op);
  Value result = op->getResult(0);
  if (isInlined(op, expr)) {
    Values[result] = std::move(expr);
    return;
  }
  std::string name = Names.unique(hintFor(result));
  line(Twine(name) + " = " + expr.text);
  Values[result] = {name};
  if (isa<tile::LoadOp>(op))
    check(result, name);
}

/// Ops that are statements of their own; false for one that is an expression.
bool FunctionEmitter::emitStatement(Operation *op) {
  // Python takes some twenty nested loops and a hundred levels of indentation, not more.
  constexpr unsigned deepest = 16;
  if (Out.depth() >= deepest && op->getNumRegions() > 0 && !isa<ir::ScopeOp>(op))
    return emitPart(op), true;
  if (std::optional<ir::Collective> collective = ir::collectiveOf(op))
    return emitCollective(*collective), true;
  return TypeSwitch<Operation *, bool>(op)
      .Case<scf::ForOp>([&](auto loop) { return emitFor(loop), true; })
      .Case<scf::WhileOp>([&](auto loop) { return emitWhile(loop), true; })
      .Case<scf::IfOp>([&](auto branch) { return emitIf(branch), true; })
      .Case<ir::SubmitOp>([&](auto submit) { return emitSubmit(submit), true; })
      .Case<ir::IncoreOp>([&](auto incore) { return emitIncore(incore), true; })
      .Case<ir::ScopeOp>([&](auto scope) { return emitBlock(scope.getBody().front()), true; })
      .Case<ir::CallOp>([&](auto call) { return emitCall(call), true; })
      .Case<ir::WriteOp>([&](auto write) {
        line("_write(" + Twine(text(write.getValue())) + ", " + text(write.getTensor()) + ", " +
             mixedTuple(write.getStaticIndices(), write.getIndices()) + ")");
        return true;
      })
      .Case<tile::StoreOp>([&](auto store) { return emitStore(store), true; })
      .Case<tile::ScatterRowsOp>([&](auto scatter) { return emitScatterRows(scatter), true; })
      .Case<tile::SortRowsOp>([&](tile::SortRowsOp sort) {
        assignResults(sort, "_sort_rows(" + text(sort.getOperand()) +
                                (sort.getDescending() ? ", descending=True)" : ")"));
        return true;
      })
      .Case<tile::TopkRowsOp>([&](tile::TopkRowsOp topk) {
        assignResults(topk, "_topk_rows(" + text(topk.getOperand()) + ", " +
                                Twine(topk.getValues().getType().getCols()) + ")");
        return true;
      })
      .Case<tile::CombiningInterface>(
          [&](auto combining) { return emitCombining(combining), true; })
      .Case<tile::BarrierOp>([&](auto) {
        Yields = true;
        line("yield _WaitBarrier()");
        return true;
      })
      .Case<tile::PrefetchOp, sync::SetOp, sync::WaitOp, sync::BarrierOp>(
          [](auto) { return true; }) // computes nothing: a hint, or order that this has anyway
      .Case<ir::DumpOp>([&](auto dump) {
        line("# " + Twine(text(dump.getTensor())) + " is marked for the argument dump.");
        return true;
      })
      .Case<ir::RequireOp>([&](auto require) { return emitRequire(require), true; })
      .Case<tile::PipeOp>([&](auto pipe) { return emitPipe(pipe), true; })
      .Case<tile::PushOp>([&](auto push) { return emitPush(push), true; })
      .Case<tile::PopOp>([&](auto pop) { return emitPop(pop), true; })
      .Case<tile::FreeOp>([&](auto free) { return emitFree(free.getPipe()), true; })
      .Default(false);
}

void FunctionEmitter::emitRequire(ir::RequireOp require) {
  line("if not " + Twine(text(require.getCondition(), Prec::Not)) + ":");
  emitIndented([&] {
    line("raise ValueError(" + Twine(text::pythonString(kiln::describe(require))) + ")");
  });
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void FunctionEmitter::collectLocals(StringRef text, SmallVectorImpl<std::string> &locals) const {
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\'') { // the name of a pipe
      at = std::min(text.find('\'', at + 1), text.size() - 1) + 1;
      continue;
    }
    StringRef word = text.substr(at).take_while(text::isNamePart);
    bool isMember = at > 0 && text[at - 1] == '.';
    if (!word.empty() && !isMember && Names.holds(word) && !llvm::is_contained(locals, word))
      locals.push_back(word.str());
    at += std::max<size_t>(word.size(), 1);
  }
}

/// A loop or branch that stands too deep, as a function of its own: it is given the variables it
/// uses and returns those it makes.
void FunctionEmitter::emitPart(Operation *op) {
  SmallVector<std::string> locals;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        collectLocals(text(operand), locals);
  });
  std::string name = Names.unique(Prog.nameOf(Func) + "_part");
  std::string call = name + "(" + llvm::join(locals, ", ") + ")";
  text::Lines around = std::exchange(Out, text::Lines(4));
  bool yieldsAround = std::exchange(Yields, false);
  line("def " + Twine(call) + ":");
  std::string results;
  emitIndented([&] {
    emitStatement(op);
    // A launch makes a task, for which there is no variable.
    if (!isa<ir::IncoreOp>(op) && op->getNumResults() > 0)
      line("return " + Twine(results = arguments(op->getResults())));
  });
  Parts += Out.text() + "\n\n";
  Out = std::move(around);
  line(results + (results.empty() ? "" : " = ") + (Yields ? "yield from " : "") + call);
  Yields |= yieldsAround;
}

/// Assigns all at once, so that values may be exchanged.
void FunctionEmitter::assign(ArrayRef<std::string> targets, ValueRange values) {
  SmallVector<std::string> left, right;
  for (auto [target, value] : llvm::zip_equal(targets, values))
    if (target != valueOf(value).text) {
      left.push_back(target);
      right.push_back(text(value));
    }
  if (!left.empty())
    line(llvm::join(left, ", ") + " = " + llvm::join(right, ", "));
}

/// The first values of loop-carried variables. Those are new, so one line each will do.
void FunctionEmitter::initialise(ArrayRef<std::string> targets, ValueRange values) {
  for (auto [target, value] : llvm::zip_equal(targets, values))
    line(Twine(target) + " = " + text(value));
}

/// New variables for `values`, called like `hints` where those say something, else like
/// `otherHints`.
SmallVector<std::string> FunctionEmitter::nameAll(ValueRange values, ValueRange hints,
                                                  ValueRange otherHints) {
  SmallVector<std::string> names;
  for (auto [value, hint, otherHint] : llvm::zip_equal(values, hints, otherHints)) {
    std::string name = hintFor(hint);
    names.push_back(Names.unique(name.empty() ? hintFor(otherHint) : name));
  }
  for (auto [value, name] : llvm::zip_equal(values, names))
    Values[value] = {name};
  return names;
}

void FunctionEmitter::emitFor(scf::ForOp loop) {
  if (loop.getUnsignedCmp())
    return (void)fail(loop, "an unsigned loop");
  ValueRange yields = loop.getYieldedValues();
  SmallVector<std::string> carried = nameAll(loop.getRegionIterArgs(), yields, loop.getInits());
  initialise(carried, loop.getInits());
  std::string index = Names.unique(StringRef("ijk").substr(std::min(LoopDepth, 2u), 1));
  Values[loop.getInductionVar()] = {index};

  std::string from = text(loop.getLowerBound()), to = text(loop.getUpperBound()),
              step = text(loop.getStep());
  std::string range = step != "1"   ? from + ", " + to + ", " + step
                      : from != "0" ? from + ", " + to
                                    : to;
  std::string comment;
  if (auto kind = loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr)) {
    comment = "  # " + ir::stringifyLoopKind(kind.getKind()).str();
    if (kind.getStages())
      comment += ", " + std::to_string(kind.getStages()) + " stages";
  }
  bool isPositive = !step.empty() && llvm::all_of(step, llvm::isDigit) && step != "0";
  line("for " + Twine(index) + " in " + (isPositive ? "range(" : "_range(") + range +
       "):" + comment);
  ++LoopDepth;
  emitIndented([&] {
    emitBlock(*loop.getBody());
    assign(carried, yields);
  });
  --LoopDepth;
  for (auto [result, name] : llvm::zip_equal(loop.getResults(), carried))
    Values[result] = {name};
}

/// The body is a function, which a helper calls for one line after the other.
void FunctionEmitter::emitCombining(tile::CombiningInterface op) {
  Block &body = op.getBody().front();
  size_t count = op.getTiles().size();
  SmallVector<std::string> parameters;
  for (BlockArgument argument : body.getArguments()) {
    parameters.push_back(Names.unique(argument.getArgNumber() < count ? "so_far" : "next"));
    Values[argument] = {parameters.back()};
  }
  auto tuple = [&](ValueRange values) {
    return "(" + arguments(values) + (values.size() == 1 ? ",)" : ")");
  };
  std::string name = Names.unique("combine");
  line("def " + Twine(name) + "(" + llvm::join(parameters, ", ") + "):");
  emitIndented([&] {
    emitBlock(body);
    line("return " + Twine(tuple(body.getTerminator()->getOperands())));
  });
  bool keepsSteps = isa<tile::ScanWithOp>(op);
  assignResults(op, Twine(keepsSteps ? "_scan_with(" : "_reduce_with(") + tuple(op.getTiles()) +
                        ", " + Twine(op.getAxis()) + ", " + tuple(op.getStarts()) + ", " + name +
                        (op.isExclusive() ? ", exclusive=True" : "") +
                        (op.isReverse() ? ", reverse=True" : "") + ")" + (count == 1 ? "[0]" : ""));
}

void FunctionEmitter::emitWhile(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  ValueRange yields = loop.getYieldOp().getResults();
  SmallVector<std::string> carried = nameAll(loop.getBeforeArguments(), yields, loop.getInits());
  initialise(carried, loop.getInits());
  ValueRange args = condition.getArgs();
  SmallVector<std::string> passed = nameAll(loop.getAfterArguments(), args, args);
  line("while True:");
  emitIndented([&] {
    emitBlock(*loop.getBeforeBody());
    assign(passed, args);
    line("if not " + Twine(text(condition.getCondition(), Prec::Not)) + ":");
    emitIndented([&] { line("break"); });
    emitBlock(*loop.getAfterBody());
    assign(carried, yields);
  });
  for (auto [result, name] : llvm::zip_equal(loop.getResults(), passed))
    Values[result] = {name};
}

void FunctionEmitter::emitIf(scf::IfOp branch) {
  auto yieldsOf = [](Region &region) -> ValueRange {
    return region.front().getTerminator()->getOperands();
  };
  SmallVector<std::string> results;
  if (branch.getNumResults() > 0)
    results = nameAll(branch.getResults(), yieldsOf(branch.getThenRegion()),
                      yieldsOf(branch.getElseRegion()));
  line("if " + Twine(text(branch.getCondition())) + ":");
  emitIndented([&] {
    emitBlock(*branch.thenBlock());
    assign(results, yieldsOf(branch.getThenRegion()));
  });
  if (branch.getElseRegion().empty())
    return;
  line("else:");
  emitIndented([&] {
    emitBlock(*branch.elseBlock());
    assign(results, yieldsOf(branch.getElseRegion()));
  });
}

//===----------------------------------------------------------------------===//
// Launches and pipes
//===----------------------------------------------------------------------===//

void FunctionEmitter::emitCall(ir::CallOp call) {
  if (Func.getKind() == ir::FuncKind::Group)
    return; // a group calls its members all at once, at its end
  ir::FuncOp callee = Prog.lookup(call.getCalleeAttr());
  std::string generator = Prog.generators.lookup(callee);
  Yields |= !generator.empty();
  assignResults(call, (generator.empty() ? Prog.nameOf(callee) : "yield from " + generator) + "(" +
                          arguments(call.getArgs()) + ")");
}

void FunctionEmitter::emitSubmit(ir::SubmitOp submit) {
  Values[submit.getTask()] = {"None"}; // tasks run in order; only a loop or branch may pass one on
  if (!submit.getCallee()) {
    line("# A task without a kernel: it only orders others.");
    return;
  }
  ir::FuncOp kernel = Prog.lookup(submit.getCalleeAttr());
  ValueRange given = submit.getArgs().take_front(ir::numUserParameters(kernel));
  std::string args = arguments(given),
              grid = submit.getStaticGrid().empty()
                         ? "(1,)"
                         : mixedTuple(submit.getStaticGrid(), submit.getGrid());
  if (Prog.options.namedTasks)
    emitLaunch(submit, "_run_task(" + text::pythonString(kernel.getSymName()) + ", " + grid +
                           (args.empty() ? "" : ", ") + args + ")");
  else if (submit.getStaticGrid().empty())
    emitLaunch(submit, Prog.nameOf(kernel) + "(" + args + ")");
  else
    emitLaunch(submit, launch(Prog, kernel, grid, args));
}

/// A kernel written in place is a function in the function: it sees what is around it.
void FunctionEmitter::emitIncore(ir::IncoreOp incore) {
  Values[incore.getTask()] = {"None"};
  std::string name = Names.unique(incore.getName());
  line("def " + Twine(name) + "():");
  bool yieldsAround = Yields;
  emitIndented([&] { emitBlock(incore.getBody().front()); });
  Yields = yieldsAround; // the kernel is a function of its own
  std::string grid = mixedTuple(incore.getStaticGrid(), incore.getGrid());
  bool meets =
      incore.walk([](tile::BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (meets)
    return emitLaunch(incore, "_launch_together(lambda: [('" + name + "', " + name + "(), 0)], ('" +
                                  name + "',), " +
                                  (incore.getStaticGrid().empty() ? "(1,)" : grid) + ")");
  emitLaunch(incore,
             incore.getStaticGrid().empty() ? name + "()" : "_launch(" + name + ", " + grid + ")");
}

/// The call that launches a task, under its predicate if it has one.
template <typename Op> void FunctionEmitter::emitLaunch(Op op, const std::string &call) {
  if (!op.getPredicate())
    return line(call);
  using P = arith::CmpIPredicate;
  P cmp = *op.getPredicateCmp();
  if (cmp > P::sge)
    return (void)fail(op, "an unsigned predicate");
  static constexpr const char *signs[] = {"==", "!=", "<",
                                          "<=", ">",  ">="}; // in the order of the enum
  line("if _read(" + Twine(text(op.getPredicate())) + ", " +
       mixedTuple(*op.getStaticPredicateIndices(), op.getPredicateIndices()) + ") " +
       signs[unsigned(cmp)] + " " + std::to_string(int64_t(*op.getPredicateConstant())) + ":");
  emitIndented([&] { line(call); });
}

void FunctionEmitter::emitPush(tile::PushOp push) {
  tile::PipeType type = push.getPipe().getType();
  std::string tiles = push.getTiles().size() == 1 ? text(push.getTiles()[0])
                                                  : "(" + arguments(push.getTiles()) + ")";
  Yields |= isGenerator();
  line(Twine(isGenerator() ? "yield from " : "") + "_tpush_to_" + type.getTo() +
       (isGenerator() ? "_g" : "") + "(" + text(push.getPipe()) + ", " + tiles + ", " +
       Twine(unsigned(type.getSplit())) + ")");
}

void FunctionEmitter::emitPop(tile::PopOp pop) {
  tile::PipeType type = pop.getPipe().getType();
  std::string args = text(pop.getPipe()) + ", " + std::to_string(unsigned(type.getSplit()));
  if (type.getSplit() != tile::Split::None && !pop.getTiles().empty()) {
    auto first = cast<tile::TileType>(pop.getTiles()[0].getType());
    args += ", " + std::to_string(first.getExtent(type.getSplitAxis()));
  }
  Yields |= isGenerator();
  assignResults(pop, Twine(isGenerator() ? "yield from " : "") + "_tpop_from_" + type.getFrom() +
                         (isGenerator() ? "_g" : "") + "(" + args + ")");
  for (Value tile : pop.getTiles())
    check(tile, text(tile));
  // Before tile-place-frees nothing says when a slot is free again. The tile is a copy, so: now.
  bool hasFrees = llvm::any_of(pop.getPipe().getUsers(), llvm::IsaPred<tile::FreeOp>);
  if (!hasFrees)
    emitFree(pop.getPipe());
}

void FunctionEmitter::emitFree(Value pipe) {
  line("_tfree_to_" + Twine(cast<tile::PipeType>(pipe.getType()).getFrom()) + "(" + text(pipe) +
       ")");
}

void FunctionEmitter::assignResults(Operation *op, const Twine &value) {
  SmallVector<std::string> names;
  for (Value result : op->getResults()) {
    names.push_back(Names.unique(hintFor(result)));
    Values[result] = {names.back()};
  }
  line(llvm::join(names, ", ") + (names.empty() ? "" : " = ") + value);
}

void FunctionEmitter::check(Value value, StringRef name) {
  if (!Prog.options.checkShapes)
    return;
  SmallVector<std::string> shape;
  StringRef dtype;
  if (auto tensor = dyn_cast<ir::TensorType>(value.getType())) {
    for (int64_t extent : tensor.getShape())
      shape.push_back(ShapedType::isDynamic(extent) ? "None" : std::to_string(extent));
    dtype = tensorDtype(tensor.getElementType());
  } else if (auto tile = dyn_cast<tile::TileType>(value.getType())) {
    shape = {std::to_string(tile.getRows()), std::to_string(tile.getCols())};
    dtype = tileDtype(tile.getElementType());
  } else {
    return;
  }
  line("_check('" + name + "', " + name + ", " + dtype + ", " + tuple(shape) + ")");
}

std::string FunctionEmitter::mixedTuple(ArrayRef<int64_t> constants, ValueRange values) {
  return tuple(text::mixedList(constants, values, [&](Value value) { return text(value); }));
}

std::string FunctionEmitter::arguments(ValueRange values) {
  return llvm::join(llvm::map_range(values, [&](Value value) { return text(value); }), ", ");
}

} // namespace kiln::torch
