// Statements of an orchestration: allocations, views, loops, branches and launches.
#include "OrchestrationFunction.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Text/Literals.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::orchestration {

constexpr size_t kColumns = 100;

// What the standard or common headers define as macros, and the names that emitted files use
// themselves.
static constexpr const char *kReserved = R"(
assert errno stdin stdout stderr linux unix main std NULL EOF INFINITY NAN INT64_MIN

Arguments CollectiveArgs CollectiveKind Compare DType Dims Direction Engine Entry Failure Index Indices Mark Orchestrator Range Reduction
Scope ScalarBits ScalarParam Signature Status Task TaskArgs TaskId Tensor TensorParam kiln orch
any args as_signed as_unsigned bit_and bit_or bit_xor cast cast_unsigned ceil_div ceil_div_unsigned
check dim div_unsigned dtypeOf engine fail floor_div inout input is_unordered kernels max
max_unsigned maximum min min_unsigned minimum orchestrate output range range_of range_unsigned
rem_unsigned reshape round_to rt scope shift_left shift_right shift_right_unsigned signature slice
status task to_float to_float_unsigned to_integer transpose trunc_div trunc_rem wrap wrapping_add wrapping_mul
wrapping_sub int8_t int16_t int32_t int64_t uint64_t
)";

const text::NameRules &nameRules() {
  static const text::NameRules rules = text::NameRules::cpp(kReserved);
  return rules;
}

std::string callText(const std::string &function, ArrayRef<std::string> args, size_t indent) {
  std::string text = function + "(" + llvm::join(args, ", ") + ")";
  if (2 * indent + text.size() < kColumns - 2)
    return text;
  std::string separator = ",\n" + std::string(2 * indent + 4, ' ');
  return function + "(\n" + std::string(2 * indent + 4, ' ') + llvm::join(args, separator) + ")";
}

/// Whether `name` occurs in the text as a whole word.
static bool mentions(StringRef text, StringRef name) {
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    bool starts = at == 0 || !text::isNamePart(text[at - 1]);
    bool ends = at + name.size() == text.size() || !text::isNamePart(text[at + name.size()]);
    if (starts && ends)
      return true;
  }
  return false;
}

/// What keeps compilers from warning of a variable that `text` does not mention.
static StringRef unusedMark(StringRef text, StringRef name) {
  return mentions(text, name) ? "" : "[[maybe_unused]] ";
}

FunctionEmitter::FunctionEmitter(ir::FuncOp func, const text::NameScope &names,
                                 const llvm::DenseMap<Operation *, std::string> &functions)
    : Func(func), Functions(functions), Names(nameRules(), &names) {}

Expr FunctionEmitter::fail(Operation *op, const Twine &why) {
  if (Error.isOk())
    Error = Status(StatusCode::Unsupported, op->getName().getStringRef().str() + ": " + why.str(),
                   sourceLocOf(op->getLoc()));
  return {"0"};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void FunctionEmitter::nameParameters() {
  for (auto [argument, name] : llvm::zip_equal(Func.getArguments(), parameterNames(Func)))
    Values[argument] = {Names.unique(name)};
}

std::string FunctionEmitter::bodyText() {
  if (Func.getKind() == ir::FuncKind::Orchestration)
    emitBlock(Func.getBody().front());
  else // a kernel by itself: one task of one block
    emitTask(Func, Func.getArguments(), Func.getLoc(), "", [] {});
  return Out.take();
}

Expected<std::string> FunctionEmitter::emitFunction() {
  nameParameters();
  std::string body = bodyText();
  if (!Error.isOk())
    return Error;
  SmallVector<std::string> parameters{(unusedMark(body, "rt") + "Orchestrator &rt").str()};
  for (BlockArgument argument : Func.getArguments()) {
    std::string name = text(argument);
    std::string type = isa<ir::TensorType>(argument.getType()) ? "const Tensor &"
                                                               : cppType(argument.getType()) + " ";
    parameters.push_back(unusedMark(body, name).str() + type + name);
  }
  return callText("void " + Functions.find(Func)->second, parameters, 0) + " {\n" + body + "}\n";
}

Expected<std::string> FunctionEmitter::emitEntry() {
  nameParameters();
  std::string body = bodyText();
  if (!Error.isOk())
    return Error;
  ParameterOrder order = parameterOrder(Func);
  std::string parameters;
  for (auto [place, number] : llvm::enumerate(order.tensors)) {
    std::string name = text(Func.getArgument(number));
    parameters += "  " + unusedMark(body, name).str() + "const Tensor &" + name +
                  " = args.tensor(" + std::to_string(place) + ");\n";
  }
  for (auto [place, number] : llvm::enumerate(order.scalars)) {
    std::string name = text(Func.getArgument(number));
    std::string type = cppType(Func.getArgument(number).getType());
    parameters += "  " + unusedMark(body, name).str() + "const " + type + " " + name +
                  " = args.scalar<" + type + ">(" + std::to_string(place) + ");\n";
  }
  std::string head = "void " + Functions.find(Func)->second + "(" + unusedMark(body, "rt").str() +
                     "Orchestrator &rt, " + unusedMark(parameters, "args").str() +
                     "const Arguments &args) {\n";
  return head + parameters + (parameters.empty() || body.empty() ? "" : "\n") + body + "}\n";
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Arithmetic that nobody needs. Its users come later, so they are decided first.
static bool isDead(Operation *op) {
  return (isa<ir::DimOp, ir::RankIdOp, ir::RankCountOp>(op) ||
          isa_and_nonnull<arith::ArithDialect>(op->getDialect())) &&
         llvm::all_of(op->getUsers(), isDead);
}

void FunctionEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (Error.isOk())
      emitOp(&op);
}

void FunctionEmitter::emitOp(Operation *op) {
  if (isa<ir::ReturnOp, scf::YieldOp, scf::ConditionOp>(op))
    return; // their parents know what to do
  if (isa<ir::IncoreOp>(op)) {
    fail(op, "is still in place; run kiln-outline first");
    return;
  }
  if (emitLaunching(op))
    return;
  TypeSwitch<Operation *>(op)
      .Case<scf::ForOp>([&](auto loop) { emitFor(loop); })
      .Case<scf::WhileOp>([&](auto loop) { emitWhile(loop); })
      .Case<scf::IfOp>([&](auto branch) { emitIf(branch); })
      .Case<ir::SliceOp, ir::TransposeOp, ir::ReshapeOp>([&](Operation *view) { emitView(view); })
      .Default([&](Operation *scalar) {
        if (scalar->getNumRegions() || scalar->getNumResults() != 1)
          fail(scalar, "cannot be written as part of an orchestration");
        else
          emitScalar(scalar);
      });
}

bool FunctionEmitter::emitLaunching(Operation *op) {
  if (auto submit = dyn_cast<ir::SubmitOp>(op)) {
    emitSubmit(submit);
  } else if (auto call = dyn_cast<ir::CallOp>(op)) {
    emitCall(call);
  } else if (auto scope = dyn_cast<ir::ScopeOp>(op)) {
    emitScope(scope);
  } else if (std::optional<ir::Collective> collective = ir::collectiveOf(op)) {
    emitCollective(*collective);
  } else if (auto dump = dyn_cast<ir::DumpOp>(op)) {
    line("rt.dump(" + text(dump.getTensor()) + ");");
  } else if (auto require = dyn_cast<ir::RequireOp>(op)) {
    SourceLoc at = sourceLocOf(op->getLoc());
    line("rt.require(" + text(require.getCondition()) + ", " +
         text::cppString(require.getMessage()) + ", {" + text::cppString(at.file) + ", " +
         std::to_string(at.line) + ", " + std::to_string(at.col) + "});");
  } else if (auto alloc = dyn_cast<ir::AllocOp>(op)) {
    ir::TensorType type = alloc.getResult().getType();
    std::string name = Names.unique(alloc.getName().value_or("tensor"));
    line("const Tensor " + name + " = rt.alloc(" + dtypeText(type.getElementType()) + ", " +
         list(type.getShape(), alloc.getSizes()) + ");");
    Values[alloc.getResult()] = {name};
  } else if (auto get = dyn_cast<ir::GetOp>(op)) {
    std::string type = cppType(get.getResult().getType());
    std::string call = "rt.get<" + type + ">(" + text(get.getTensor()) + ", " +
                       list(get.getStaticIndices(), get.getIndices()) + ");";
    if (llvm::all_of(get->getUsers(), isDead)) {
      line(call); // it still waits
      return true;
    }
    std::string name = Names.unique(hintFor(get.getResult()));
    line("const " + type + " " + name + " = " + call);
    Values[get.getResult()] = {name};
  } else {
    return false;
  }
  return true;
}

void FunctionEmitter::emitScalar(Operation *op) {
  if (isDead(op))
    return;
  Expr expr = expressionOf(op);
  Value result = op->getResult(0);
  if (isInlined(op, expr)) {
    Values[result] = expr;
    return;
  }
  std::string name = Names.unique(hintFor(result));
  line("const " + cppType(result.getType()) + " " + name + " = " + expr.text + ";");
  Values[result] = {name};
}

void FunctionEmitter::emitView(Operation *op) {
  std::string from = text(op->getOperand(0));
  std::string view =
      TypeSwitch<Operation *, std::string>(op)
          .Case<ir::SliceOp>([&](ir::SliceOp slice) {
            std::string dropped =
                slice.getDropped().empty() ? "" : ", " + list(slice.getDropped(), {});
            return "slice(" + from + ", " + list(slice.getStaticOffsets(), slice.getOffsets()) +
                   ", " + list(slice.getStaticSizes(), slice.getSizes()) + dropped + ")";
          })
          .Case<ir::TransposeOp>([&](ir::TransposeOp transpose) {
            return "transpose(" + from + ", " + list(transpose.getPermutation(), {}) + ")";
          })
          .Case<ir::ReshapeOp>([&](ir::ReshapeOp reshape) {
            return "reshape(" + from + ", " + list(reshape.getStaticSizes(), reshape.getSizes()) +
                   ")";
          });
  std::string name = Names.unique(text(ir::rootOf(op->getOperand(0))) + "_view");
  line("const Tensor " + name + " = " + view + ";");
  Values[op->getResult(0)] = {name};
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void FunctionEmitter::declare(ValueRange inner, ValueRange outer, ValueRange values,
                              StringRef hint) {
  for (auto [i, variable] : llvm::enumerate(outer.empty() ? inner : outer)) {
    std::string type = cppType(variable.getType());
    if (type.empty()) {
      fail(Func, "carries a value that no scalar of a task has the type of");
      return;
    }
    bool isUsed = (inner.empty() || !llvm::all_of(inner[i].getUsers(), isDead)) ||
                  (outer.empty() || !llvm::all_of(outer[i].getUsers(), isDead));
    std::string name = Names.unique(hint);
    std::string start = values.empty() ? "{}" : " = " + text(values[i]);
    line((isUsed ? "" : "[[maybe_unused]] ") + type + " " + name + start + ";");
    if (!inner.empty())
      Values[inner[i]] = {name};
    if (!outer.empty())
      Values[outer[i]] = {name};
  }
}

void FunctionEmitter::assign(ValueRange targets, ValueRange values) {
  SmallVector<std::pair<std::string, std::string>> moves;
  for (auto [target, value] : llvm::zip_equal(targets, values))
    if (text(target) != text(value))
      moves.emplace_back(text(target), text(value));
  // What reads a variable that is assigned before it is kept first.
  for (size_t i = 1; i < moves.size(); ++i) {
    bool isLate = llvm::any_of(ArrayRef(moves).take_front(i), [&](auto &earlier) {
      return mentions(moves[i].second, earlier.first);
    });
    if (!isLate)
      continue;
    std::string kept = Names.unique("next_" + moves[i].first);
    line("const auto " + kept + " = " + moves[i].second + ";");
    moves[i].second = kept;
  }
  for (auto &[target, value] : moves)
    line(target + " = " + value + ";");
}

void FunctionEmitter::emitFor(scf::ForOp loop) {
  declare(loop.getRegionIterArgs(), loop.getResults(), loop.getInitArgs(), "carried");
  Value variable = loop.getInductionVar();
  std::string type = cppType(variable.getType());
  if (type.empty()) {
    fail(loop, "counts with a type that no scalar of a task has");
    return;
  }
  std::string name = Names.unique("i");
  Values[variable] = {name};
  bool isPlain = type == "Index" && !loop.getUnsignedCmp();
  auto bound = [&](Value value) { return isPlain ? text(value) : typed(value); };
  bool isUsed = !llvm::all_of(variable.getUsers(), isDead);
  line(std::string("for (") + (isUsed ? "" : "[[maybe_unused]] ") + "const " + type + " " + name +
       " : " +
       (isPlain                 ? "range("
        : loop.getUnsignedCmp() ? "range_unsigned("
                                : "range_of(") +
       bound(loop.getLowerBound()) + ", " + bound(loop.getUpperBound()) + ", " +
       bound(loop.getStep()) + ")) {");
  emitIndented([&] {
    emitBlock(*loop.getBody());
    assign(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands());
  });
  line("}");
}

void FunctionEmitter::emitWhile(scf::WhileOp loop) {
  declare(loop.getBeforeArguments(), {}, loop.getInits(), "carried");
  declare(loop.getAfterArguments(), loop.getResults(), {}, "passed");
  line("while (true) {");
  emitIndented([&] {
    emitBlock(*loop.getBeforeBody());
    scf::ConditionOp condition = loop.getConditionOp();
    assign(loop.getAfterArguments(), condition.getArgs());
    line("if (!" + text(condition.getCondition(), Prec::Primary) + ")");
    line("  break;");
    emitBlock(*loop.getAfterBody());
    assign(loop.getBeforeArguments(), loop.getYieldOp().getOperands());
  });
  line("}");
}

void FunctionEmitter::emitIf(scf::IfOp branch) {
  declare({}, branch.getResults(), {}, "chosen");
  auto emitBranch = [&](Region &region) {
    emitIndented([&] {
      emitBlock(region.front());
      assign(branch.getResults(), region.front().getTerminator()->getOperands());
    });
  };
  line("if (" + text(branch.getCondition()) + ") {");
  emitBranch(branch.getThenRegion());
  if (!branch.getElseRegion().empty()) {
    line("} else {");
    emitBranch(branch.getElseRegion());
  }
  line("}");
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

void FunctionEmitter::emitScope(ir::ScopeOp scope) {
  line("{");
  emitIndented([&] {
    line(scope.getManual() ? "const Scope scope(rt, Scope::Manual);" : "const Scope scope(rt);");
    emitBlock(scope.getBody().front());
  });
  line("}");
}

void FunctionEmitter::emitCall(ir::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(call, call.getCalleeAttr());
  if (call.getNumResults()) {
    fail(call, "returns tensors; run kiln-results-to-out-params first");
    return;
  }
  SmallVector<std::string> args{"rt"};
  for (Value arg : call.getArgs())
    args.push_back(typed(arg));
  line(callText(Functions.find(callee)->second, args, Out.depth()) + ";");
}

/// "fused: cube (aic) + vec (aiv, 2 lanes)"
static std::string describeKernel(ir::FuncOp kernel) {
  std::string text = kernel.getSymName().str();
  if (kernel.getKind() != ir::FuncKind::Group)
    return text;
  SmallVector<std::string> members;
  for (auto call : kernel.getBody().getOps<ir::CallOp>()) {
    auto member = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(kernel, call.getCalleeAttr());
    int64_t lanes = kernel.getLanesOf(*member.getRole());
    members.push_back(member.getSymName().str() + " (" + member.getRole()->str() +
                      (lanes > 1 ? ", " + std::to_string(lanes) + " lanes)" : ")"));
  }
  return text + ": " + llvm::join(members, " + ");
}

void FunctionEmitter::emitTask(ir::FuncOp kernel, ValueRange args, Location loc,
                               const std::string &result, llvm::function_ref<void()> rest) {
  line(kernel ? "{ // " + describeKernel(kernel) : "{ // only orders others");
  emitIndented([&] {
    line(kernel ? "TaskArgs task(" + text::cppString(kernel.getSymName()) + ");"
                : "TaskArgs task;");
    if (kernel) {
      ParameterOrder order = parameterOrder(kernel);
      std::vector<std::string> names = parameterNames(kernel);
      llvm::BitVector marked = markedParameters(kernel);
      auto add = [&](const std::string &call, unsigned number) {
        std::string name = text::cppIdentifier(names[number]);
        line("task." + call + (text(args[number]) == name ? "" : " // " + name));
      };
      for (unsigned number : order.tensors) {
        std::optional<ir::Direction> direction = kernel.getArgDirection(number);
        if (!direction) {
          fail(kernel, "has parameters without a direction; run kiln-infer-directions first");
          return;
        }
        StringRef call = *direction == ir::Direction::In    ? "add_input("
                         : *direction == ir::Direction::Out ? "add_output("
                                                            : "add_inout(";
        add(call.str() + text(args[number]) + (marked[number] ? ", Mark::Yes);" : ");"), number);
      }
      for (unsigned number : order.scalars) {
        Type type = args[number].getType();
        bool isSmall = isa<FloatType>(type) && !type.isF32();
        add("add_scalar(" + typed(args[number]) + (isSmall ? ", " + dtypeText(type) : "") + ");",
            number);
      }
    }
    rest();
    if (SourceLoc at = sourceLocOf(loc); at.isKnown())
      line("task.at(" + text::cppString(at.file) + ", " + std::to_string(at.line) + ", " +
           std::to_string(at.col) + ");");
    line((result.empty() ? "" : result + " = ") + "rt.submit(task);");
  });
  line("}");
}

void FunctionEmitter::emitPredicate(ir::SubmitOp submit) {
  using P = arith::CmpIPredicate;
  StringRef name = [&]() -> StringRef {
    switch (*submit.getPredicateCmp()) {
    case P::eq:
      return "Eq";
    case P::ne:
      return "Ne";
    case P::slt:
      return "Lt";
    case P::sle:
      return "Le";
    case P::sgt:
      return "Gt";
    case P::sge:
      return "Ge";
    default:
      return "";
    }
  }();
  if (name.empty()) {
    fail(submit, "a predicate compares signed integers");
    return;
  }
  Expr constant = submit.getPredicateConstant() == INT64_MIN
                      ? Expr{"INT64_MIN"}
                      : Expr{std::to_string(*submit.getPredicateConstant())};
  line("task.when(" + text(submit.getPredicate()) + ", " +
       list(*submit.getStaticPredicateIndices(), submit.getPredicateIndices()) +
       ", Compare::" + name + ", " + constant.text + ");");
}

void FunctionEmitter::emitSubmit(ir::SubmitOp submit) {
  ir::FuncOp kernel;
  if (submit.getCallee())
    kernel = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(submit, submit.getCalleeAttr());
  std::string name;
  if (!submit.getTask().use_empty()) {
    name = Names.unique((kernel ? kernel.getSymName().str() : std::string("order")) + "_task");
    line("TaskId " + name + ";");
    Values[submit.getTask()] = {name};
  }
  emitTask(kernel, submit.getArgs(), submit.getLoc(), name, [&] {
    if (!submit.getStaticGrid().empty())
      line("task.grid(" + list(submit.getStaticGrid(), submit.getGrid()) + ");");
    for (Value dep : submit.getDeps())
      line("task.after(" + text(dep) + ");");
    if (submit.getPredicate())
      emitPredicate(submit);
    if (submit.getSyncStart())
      line("task.sync_start();");
  });
}

} // namespace kiln::orchestration
