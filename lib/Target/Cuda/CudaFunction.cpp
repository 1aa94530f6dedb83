#include "CudaFunction.h"

#include "kiln/Analysis/TensorBox.h"
#include "kiln/Dialect/Kiln/LoopAttributes.h"
#include "kiln/Program/ScalarText.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Text/Literals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace kiln::cuda {

std::string cppType(Type type) {
  std::optional<DType> dtype = dtypeOf(type);
  if (!dtype)
    return "";
  switch (*dtype) {
  case DType::F32:
    return "float";
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::I1:
    return "bool";
  case DType::I8:
    return "i8";
  case DType::I16:
    return "short";
  case DType::I32:
    return "int";
  case DType::I64:
  case DType::Index:
    return "i64";
  case DType::F8E4M3FN:
    return "f8e4m3";
  case DType::F8E5M2:
    return "f8e5m2";
  default:
    return "";
  }
}

FunctionEmitter::FunctionEmitter(ir::FuncOp func, KernelText &kernel, ArrayRef<std::string> given,
                                 ArrayRef<int> origin)
    : Func(func), Kernel(kernel) {
  for (auto [argument, name, number] :
       llvm::zip_equal(func.getBody().getArguments(), given, origin)) {
    set(argument, name);
    Origin[argument] = number;
  }
  if (!isCopying())
    findMeetings();
}

/// Finds the accesses of a tensor that come after others of the same elements, by other threads of
/// the lane. An operation may come after itself, in a loop.
void FunctionEmitter::findMeetings() {
  SmallVector<tile::TensorAccess> accesses;
  Func.walk([&](Operation *op) { llvm::append_range(accesses, tile::tensorAccesses(op)); });
  auto isInLoop = [](Operation *op) {
    return op->getParentOfType<scf::ForOp>() || op->getParentOfType<scf::WhileOp>();
  };
  auto areApart = [&](const tile::TensorAccess &a, const tile::TensorAccess &b) {
    std::optional<TensorBox> one = boxOf(a), other = boxOf(b);
    if (areAlternatives(a.op, b.op))
      return true;
    if (a.op != b.op)
      return one && other && areDisjoint(*one, *other);
    if (!isInLoop(a.op))
      return true;
    // The same elements again are the same threads'.
    for (int axis = 0; one && axis < int(one->start.size()); ++axis)
      if (!areSameOrApart(*one, *one, axis))
        return false;
    return one.has_value();
  };
  for (const tile::TensorAccess &a : accesses)
    for (const tile::TensorAccess &b : accesses)
      if ((a.writes || b.writes) && !(a.isAtomic() && b.isAtomic()) &&
          ir::rootOf(a.tensor) == ir::rootOf(b.tensor) && !areApart(a, b))
        Meetings.insert(b.op);
}

Expected<std::string> FunctionEmitter::emitBody() {
  emitBlock(Func.getBody().front());
  if (Failure)
    return *Failure;
  return Out.take();
}

void FunctionEmitter::unsupported(Operation *op, const Twine &why) {
  if (!Failure)
    Failure = Status(StatusCode::Unsupported,
                     "'" + op->getName().getStringRef().str() +
                         "' cannot be compiled for h200: " + why.str(),
                     sourceLocOf(op->getLoc()));
}

const std::string &FunctionEmitter::text(Value value) { return Values[value]; }

std::string FunctionEmitter::commas(ArrayRef<int64_t> constants, ValueRange values) {
  return llvm::join(text::mixedList(constants, values, [&](Value value) { return text(value); }),
                    ", ");
}

std::string FunctionEmitter::list(ArrayRef<int64_t> constants, ValueRange values) {
  return "{" + commas(constants, values) + "}";
}

void FunctionEmitter::define(Value value, const std::string &expression) {
  bool isTile = isa<tile::TileType>(value.getType());
  std::string name = freshName(isTile ? "t" : "n");
  line((isTile ? "auto" : cppType(value.getType())) + " " + name + " = " + expression + ";");
  set(value, name);
}

void FunctionEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    if (Failure)
      return;
    emitOp(&op);
  }
}

void FunctionEmitter::emitOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (isa<ir::ReturnOp, ir::RequireOp, scf::YieldOp, scf::ConditionOp, ir::DumpOp, tile::PrefetchOp,
          tile::YieldOp>(op))
    return;
  if (Meetings.contains(op))
    line("barrier::meet(1 + int(lane)); // others of the lane are done with the same memory");
  if (!emitScalar(op) && !emitTensor(op) && !emitTile(op))
    unsupported(op, "the backend does not have this operation yet");
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<std::string> FunctionEmitter::carry(ValueRange values) {
  SmallVector<std::string> names;
  for (Value value : values) {
    names.push_back(freshName("c"));
    std::string type = isa<tile::TileType>(value.getType()) ? "auto" : cppType(value.getType());
    line(type + " " + names.back() + " = " + text(value) + ";");
  }
  return names;
}

void FunctionEmitter::assign(ArrayRef<std::string> names, ValueRange values) {
  SmallVector<std::string> given;
  for (Value value : values)
    given.push_back(text(value));
  for (auto [k, value] : llvm::enumerate(given))
    if (value != names[k] && llvm::is_contained(names, value)) {
      std::string saved = freshName("s");
      line("auto " + saved + " = " + value + ";");
      value = saved;
    }
  for (auto [name, value] : llvm::zip_equal(names, given))
    if (name != value)
      line(name + " = " + value + ";");
}

void FunctionEmitter::emitFor(scf::ForOp loop) {
  SmallVector<std::string> carried = carry(loop.getInits());
  for (auto [name, argument, result] :
       llvm::zip_equal(carried, loop.getRegionIterArgs(), loop.getResults())) {
    set(argument, name);
    set(result, name);
  }
  // Not i: there would be an i8 and an i64, which are types.
  std::string index = freshName("at");
  set(loop.getInductionVar(), index);
  std::string type = cppType(loop.getInductionVar().getType());
  if (auto kind = loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr);
      kind && kind.getKind() == ir::LoopKind::Unroll)
    line("#pragma unroll");
  else
    line("#pragma unroll 1");
  auto bound = [&](const std::string &value) {
    return loop.getUnsignedCmp() ? "bitsOf(" + value + ")" : value;
  };
  line("for (" + type + " " + index + " = " + text(loop.getLowerBound()) + "; " + bound(index) +
       " < " + bound(text(loop.getUpperBound())) + "; " + index + " += " + text(loop.getStep()) +
       ") {");
  Out.indented([&] {
    emitBlock(*loop.getBody());
    assign(carried, loop.getYieldedValues());
  });
  line("}");
}

/// What is carried is a variable; what the condition hands on is another, for it may be something
/// else.
void FunctionEmitter::emitWhile(scf::WhileOp loop) {
  SmallVector<std::string> carried = carry(loop.getInits()), handed;
  for (auto [name, argument] : llvm::zip_equal(carried, loop.getBeforeArguments()))
    set(argument, name);
  for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults())) {
    auto type = dyn_cast<tile::TileType>(result.getType());
    handed.push_back(freshName("w"));
    line((type ? registerType(type) : cppType(result.getType())) + " " + handed.back() + ";");
    set(argument, handed.back());
    set(result, handed.back());
  }
  line("while (true) {");
  Out.indented([&] {
    emitBlock(*loop.getBeforeBody());
    scf::ConditionOp condition = loop.getConditionOp();
    if (Failure)
      return;
    assign(handed, condition.getArgs());
    line("if (!(" + text(condition.getCondition()) + "))");
    line("  break;");
    emitBlock(*loop.getAfterBody());
    assign(carried, loop.getYieldOp().getResults());
  });
  line("}");
}

void FunctionEmitter::emitIf(scf::IfOp branch) {
  SmallVector<std::string> results;
  for (Value result : branch.getResults()) {
    auto type = dyn_cast<tile::TileType>(result.getType());
    if (type && type.getSpace() != tile::Space::Vec && type.getSpace() != tile::Space::Acc)
      return unsupported(branch, "a branch gives a tile in shared memory");
    results.push_back(freshName("b"));
    line((type ? registerType(type) : cppType(result.getType())) + " " + results.back() + ";");
    set(result, results.back());
  }
  auto emitSide = [&](Region &region) {
    Out.indented([&] {
      emitBlock(region.front());
      for (auto [name, value] : llvm::zip(results, region.front().getTerminator()->getOperands()))
        line(name + " = " + text(value) + ";");
    });
  };
  std::string whole = branch->hasAttr(ir::kOneTileAttr) ? wholeText(branch) : "";
  line("if (" + text(branch.getCondition()) + whole + ") {");
  emitSide(branch.getThenRegion());
  if (!branch.getElseRegion().empty()) {
    line("} else {");
    emitSide(branch.getElseRegion());
  }
  line("}");
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static std::string literal(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    if (integer.getType().isInteger(1))
      return integer.getValue().isZero() ? "false" : "true";
    int64_t value = integer.getValue().getSExtValue();
    std::string type = cppType(integer.getType());
    if (value == INT64_MIN)
      return "least<i64>()";
    return type == "int" ? std::to_string(value) : type + "(" + std::to_string(value) + ")";
  }
  auto floating = cast<FloatAttr>(attribute);
  float value = static_cast<float>(floating.getValueAsDouble());
  std::string number = std::isnan(value)   ? "notANumber()"
                       : std::isinf(value) ? value < 0 ? "-infinity()" : "infinity()"
                                           : text::cppFloat(value);
  return floating.getType().isF32()
             ? number
             : "convert<" + cppType(floating.getType()) + ">(" + number + ")";
}

std::string FunctionEmitter::compareText(arith::CmpIOp op) {
  std::string sign = signOf(op.getPredicate()).str();
  // The one bit of an i1 is its sign.
  bool isBit = op.getLhs().getType().isInteger(1);
  std::string cast = isUnsigned(op.getPredicate()) ? "bitsOf" : isBit ? "signedOf" : "";
  return cast + "(" + text(op.getLhs()) + ") " + sign + " " + cast + "(" + text(op.getRhs()) + ")";
}

std::string FunctionEmitter::compareText(arith::CmpFOp op) {
  using P = arith::CmpFPredicate;
  std::string a = "widen(" + text(op.getLhs()) + ")", b = "widen(" + text(op.getRhs()) + ")";
  auto ordered = [&](StringRef sign) { return a + " " + sign.str() + " " + b; };
  auto either = [&](StringRef opposite) { return "!(" + ordered(opposite) + ")"; };
  std::string isOrdered = "(" + a + " == " + a + " && " + b + " == " + b + ")";
  switch (op.getPredicate()) {
  case P::AlwaysFalse:
    return "false";
  case P::OEQ:
    return ordered("==");
  case P::OGT:
    return ordered(">");
  case P::OGE:
    return ordered(">=");
  case P::OLT:
    return ordered("<");
  case P::OLE:
    return ordered("<=");
  case P::ONE:
    return isOrdered + " && " + ordered("!=");
  case P::ORD:
    return isOrdered;
  case P::UEQ:
    return "!" + isOrdered + " || " + ordered("==");
  case P::UGT:
    return either("<=");
  case P::UGE:
    return either("<");
  case P::ULT:
    return either(">=");
  case P::ULE:
    return either(">");
  case P::UNE:
    return ordered("!=");
  case P::UNO:
    return "!" + isOrdered;
  case P::AlwaysTrue:
    return "true";
  }
  llvm_unreachable("all predicates are above");
}

/// From one type of numbers to another.
std::string FunctionEmitter::convertText(Operation *op) {
  Value from = op->getOperand(0);
  std::string to = cppType(op->getResult(0).getType()), given = text(from);
  bool isBit = from.getType().isInteger(1);
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return "wrapped<" + to + ">(bitsOf(" + given + "))";
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    if (op->getResult(0).getType().isInteger(1))
      return "wrapped<bool>(u64(" + given + "))";
    return "static_cast<" + to + ">(" + (isBit ? "signedOf(" + given + ")" : given) + ")";
  }
  if (isa<arith::UIToFPOp>(op))
    return "convert<" + to + ">(float(bitsOf(" + given + ")))";
  if (isa<arith::SIToFPOp>(op) && isBit)
    return "convert<" + to + ">(signedOf(" + given + "))";
  if (isa<arith::FPToSIOp>(op) && to == "bool")
    return "";
  return "convert<" + to + ">(" + given + ")";
}

std::string FunctionEmitter::scalarText(Operation *op) {
  Type type = op->getResult(0).getType();
  std::string to = cppType(type);
  auto operand = [&](unsigned k) { return text(op->getOperand(k)); };
  auto infix = [&](StringRef sign) { return operand(0) + " " + sign.str() + " " + operand(1); };
  if (type.isIndex()) { // no index comes near the end of 64 bits: plain arithmetic is meant
    if (isa<arith::AddIOp>(op))
      return infix("+");
    if (isa<arith::SubIOp>(op))
      return infix("-");
    if (isa<arith::MulIOp>(op))
      return infix("*");
  }
  if (const ScalarFunctions *functions = scalarFunctions(op);
      functions && !functions->cuda.empty()) {
    std::string compute = isa<FloatType>(type) ? "float" : to;
    std::string call =
        functions->cuda.str() + "<" + compute + ">(" +
        (isa<FloatType>(type) ? "widen(" + operand(0) + "), widen(" + operand(1) + ")"
                              : operand(0) + ", " + operand(1)) +
        ")";
    return compute == to ? call : "convert<" + to + ">(" + call + ")";
  }
  return TypeSwitch<Operation *, std::string>(op)
      .Case<arith::FloorDivSIOp>(
          [&](auto) { return to + "(floorDiv(" + operand(0) + ", " + operand(1) + "))"; })
      .Case<arith::CeilDivSIOp>(
          [&](auto) { return to + "(ceilDiv(" + operand(0) + ", " + operand(1) + "))"; })
      .Case<arith::AndIOp>([&](auto) { return to + "(" + infix("&") + ")"; })
      .Case<arith::OrIOp>([&](auto) { return to + "(" + infix("|") + ")"; })
      .Case<arith::XOrIOp>([&](auto) { return to + "(" + infix("^") + ")"; })
      .Case<arith::NegFOp>([&](auto) { return "convert<" + to + ">(-widen(" + operand(0) + "))"; })
      .Case<arith::SelectOp>(
          [&](auto) { return operand(0) + " ? " + operand(1) + " : " + operand(2); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::ExtFOp,
            arith::TruncFOp>([&](auto) { return convertText(op); })
      .Case<arith::CmpIOp, arith::CmpFOp>([&](auto compare) { return compareText(compare); })
      .Default(std::string());
}

bool FunctionEmitter::emitScalar(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (cppType(constant.getType()).empty())
      return false;
    // A number of type index reads best as such.
    auto integer = dyn_cast<IntegerAttr>(constant.getValue());
    set(constant, integer && constant.getType().isIndex() ? std::to_string(integer.getInt())
                                                          : literal(constant.getValue()));
    return true;
  }
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    auto type = cast<ir::TensorType>(dim.getTensor().getType());
    int64_t axis = dim.getDim();
    set(dim, type.isDynamicDim(axis)
                 ? text(dim.getTensor()) + ".extents[" + std::to_string(axis) + "]"
                 : std::to_string(type.getShape()[axis]));
    return true;
  }
  if (auto block = dyn_cast<tile::BlockIdxOp>(op)) {
    set(block, "block.index[" + std::to_string(block.getDim()) + "]");
    return true;
  }
  if (auto count = dyn_cast<tile::BlockCountOp>(op)) {
    set(count, "args.grid[" + std::to_string(count.getDim()) + "]");
    return true;
  }
  if (isa<tile::BarrierOp>(op)) {
    Kernel.hasBarrier = true;
    line(isCopying() ? "allBlocks.meetByWarp();" : "allBlocks.meet(lane);");
    return true;
  }
  if (auto lane = dyn_cast<tile::LaneOp>(op)) {
    set(lane, "lane");
    return true;
  }
  if (auto read = dyn_cast<ir::ReadOp>(op)) {
    std::string type = cppType(read.getType());
    if (type.empty())
      return false;
    define(read, "*elementOf<" + type + ">(" + text(read.getTensor()) + ", " +
                     list(read.getStaticIndices(), read.getIndices()) + ")");
    return true;
  }
  if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1)
    return false;
  std::string expression = scalarText(op);
  if (expression.empty())
    return false;
  define(op->getResult(0), expression);
  return true;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Views, as descriptors in registers; and single elements.
bool FunctionEmitter::emitTensor(Operation *op) {
  auto view = [&](Value result, const std::string &expression) {
    std::string name = freshName("v");
    line("Tensor " + name + " = " + expression + ";");
    set(result, name);
    return true;
  };
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    unsigned kept = 0;
    for (unsigned axis = 0; axis < slice.getStaticOffsets().size(); ++axis)
      if (!llvm::is_contained(slice.getDropped(), int64_t(axis)))
        kept |= 1u << axis;
    int64_t bytes = std::max(1u, slice.getType().getElementType().getIntOrFloatBitWidth() / 8);
    return view(slice, "slice<" + std::to_string(kept) + ">(" + text(slice.getTensor()) + ", " +
                           list(slice.getStaticOffsets(), slice.getOffsets()) + ", " +
                           list(slice.getStaticSizes(), slice.getSizes()) + ", " +
                           std::to_string(bytes) + ")");
  }
  if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    std::string axes;
    for (int64_t axis : transpose.getPermutation())
      axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
    return view(transpose, "permuted<" + axes + ">(" + text(transpose.getTensor()) + ")");
  }
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return view(reshape, "reshaped(" + text(reshape.getTensor()) + ", " +
                             list(reshape.getStaticSizes(), reshape.getSizes()) + ")");
  if (auto write = dyn_cast<ir::WriteOp>(op))
    return emitWrite(write), true;
  return false;
}

/// One thread of the lane writes.
void FunctionEmitter::emitWrite(ir::WriteOp op) {
  std::string type = cppType(op.getValue().getType());
  line("if (threadInGroup() == 0)");
  line("  *elementOf<" + type + ">(" + text(op.getTensor()) + ", " +
       list(op.getStaticIndices(), op.getIndices()) + ") = " + text(op.getValue()) + ";");
}

} // namespace kiln::cuda
