#include "CudaFunction.h"

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
    return "signed char";
  case DType::I16:
    return "short";
  case DType::I32:
    return "int";
  case DType::I64:
  case DType::Index:
    return "i64";
  default:
    return ""; // 8-bit floats
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

std::string FunctionEmitter::list(ArrayRef<int64_t> constants, ValueRange values) {
  return "{" +
         llvm::join(text::mixedList(constants, values, [&](Value value) { return text(value); }),
                    ", ") +
         "}";
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
  if (isa<ir::ReturnOp, ir::RequireOp, scf::YieldOp, ir::DumpOp, tile::PrefetchOp>(op))
    return;
  if (!emitScalar(op) && !emitTile(op))
    unsupported(op, "the backend does not have this operation yet");
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void FunctionEmitter::emitFor(scf::ForOp loop) {
  SmallVector<std::string> carried;
  for (auto [init, argument, result] :
       llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs(), loop.getResults())) {
    carried.push_back(freshName("c"));
    std::string type = isa<tile::TileType>(init.getType()) ? "auto" : cppType(init.getType());
    line(type + " " + carried.back() + " = " + text(init) + ";");
    set(argument, carried.back());
    set(result, carried.back());
  }
  std::string index = freshName("i");
  set(loop.getInductionVar(), index);
  std::string type = cppType(loop.getInductionVar().getType());
  if (auto kind = loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr);
      kind && kind.getKind() == ir::LoopKind::Unroll)
    line("#pragma unroll");
  else
    line("#pragma unroll 1");
  line("for (" + type + " " + index + " = " + text(loop.getLowerBound()) + "; " + index + " < " +
       text(loop.getUpperBound()) + "; " + index + " += " + text(loop.getStep()) + ") {");
  Out.indented([&] {
    emitBlock(*loop.getBody());
    // All at once: what is yielded may be what another variable holds.
    SmallVector<std::string> yielded;
    for (Value value : loop.getYieldedValues())
      yielded.push_back(text(value));
    for (auto [k, value] : llvm::enumerate(yielded))
      if (value != carried[k] && llvm::is_contained(carried, value)) {
        std::string saved = freshName("s");
        line("auto " + saved + " = " + value + ";");
        value = saved;
      }
    for (auto [name, value] : llvm::zip_equal(carried, yielded))
      if (name != value)
        line(name + " = " + value + ";");
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
  line("if (" + text(branch.getCondition()) + ") {");
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
  std::string cast = isUnsigned(op.getPredicate()) ? "u64" : "";
  return cast + "(" + text(op.getLhs()) + ") " + sign + " " + cast + "(" + text(op.getRhs()) + ")";
}

std::string FunctionEmitter::compareText(arith::CmpFOp op) {
  using P = arith::CmpFPredicate;
  std::string a = "widen(" + text(op.getLhs()) + ")", b = "widen(" + text(op.getRhs()) + ")";
  switch (op.getPredicate()) {
  case P::OEQ:
    return a + " == " + b;
  case P::UNE:
    return a + " != " + b;
  case P::OLT:
    return a + " < " + b;
  case P::OLE:
    return a + " <= " + b;
  case P::OGT:
    return a + " > " + b;
  case P::OGE:
    return a + " >= " + b;
  default:
    return "";
  }
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
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) { return "static_cast<" + to + ">(" + operand(0) + ")"; })
      .Case<arith::SIToFPOp, arith::FPToSIOp, arith::ExtFOp, arith::TruncFOp>(
          [&](auto) { return "convert<" + to + ">(" + operand(0) + ")"; })
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

} // namespace kiln::cuda
