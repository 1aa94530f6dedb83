#include "AscendFunction.h"

#include "kiln/Dialect/Sync/SyncDialect.h"
#include "kiln/Program/ScalarText.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Text/Literals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::ascend {

std::string cppType(Type type) {
  std::optional<DType> dtype = dtypeOf(type);
  if (!dtype)
    return "";
  switch (*dtype) {
  case DType::F32:
    return "float";
  case DType::F16:
    return "half";
  case DType::BF16:
    return "bfloat16_t";
  case DType::I1:
    return "bool";
  case DType::I8:
    return "int8_t";
  case DType::I16:
    return "int16_t";
  case DType::I32:
    return "int32_t";
  case DType::I64:
  case DType::Index:
    return "int64_t";
  default:
    return "";
  }
}

Expected<std::string> FunctionEmitter::emitBody() {
  emitBlock(Func.getBody().front());
  if (Failure)
    return *Failure;
  return Out.take();
}

std::string FunctionEmitter::list(ArrayRef<int64_t> constants, ValueRange values,
                                  const char *separator) {
  return llvm::join(text::mixedList(constants, values, [&](Value value) { return text(value); }),
                    separator);
}

void FunctionEmitter::define(Value value, const std::string &expression) {
  std::string name = nameFor(value, "n");
  line("const " + cppType(value.getType()) + " " + name + " = " + expression + ";");
  Values[value] = name;
}

/// Which line of the program the statements below are of.
void FunctionEmitter::sayWhere(Operation *op) {
  if (isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
    return;
  SourceLoc at = sourceLocOf(op->getLoc());
  std::string place =
      at.isKnown() ? at.file.substr(at.file.rfind('/') + 1) + ":" + std::to_string(at.line) : "";
  if (place != LastPlace && !place.empty())
    line("// " + place);
  LastPlace = place;
}

/// What nobody computes with: requirements are checked before a kernel is launched.
static bool isDead(Operation *op) {
  bool mayBe = isa<ir::DimOp, tile::BlockIdxOp, tile::BlockCountOp, tile::LaneOp>(op) ||
               isa_and_nonnull<arith::ArithDialect>(op->getDialect());
  return isa<ir::RequireOp>(op) || (mayBe && llvm::all_of(op->getUsers(), isDead));
}

void FunctionEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    if (Failure)
      return;
    if (!isDead(&op))
      emitOp(&op);
  }
}

void FunctionEmitter::emitOp(Operation *op) {
  if (isa<ir::ReturnOp, scf::YieldOp, ir::DumpOp, tile::PrefetchOp>(op))
    return;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (!emitSync(op) && !emitScalar(op) && !emitTile(op))
    unsupported(op, "the backend does not have this operation yet");
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void FunctionEmitter::assign(ArrayRef<std::pair<std::string, Value>> moves) {
  SmallVector<std::string> kept;
  for (auto &[name, value] : moves) {
    std::string given = text(value);
    if (moves.size() > 1 && given != name) {
      kept.push_back(freshName("next"));
      line("const auto " + kept.back() + " = " + given + ";");
    } else {
      kept.push_back(given);
    }
  }
  for (auto [move, value] : llvm::zip_equal(moves, kept))
    if (move.first != value)
      line(move.first + " = " + value + ";");
}

/// What a loop carries is a variable; a tile is where it was planned, and stays there.
void FunctionEmitter::emitFor(scf::ForOp loop) {
  SmallVector<std::pair<std::string, Value>> carried;
  for (auto [number, result] : llvm::enumerate(loop.getResults())) {
    BlockArgument argument = loop.getRegionIterArg(number);
    if (isa<tile::TileType>(result.getType())) {
      declare(result);
      Values[argument] = text(result);
      if (auto row = Rows.find(result); row != Rows.end())
        Rows[argument] = std::string(row->second);
      continue;
    }
    std::string type = cppType(result.getType());
    if (type.empty())
      return unsupported(loop, "it carries a value of a type that kernels do not have");
    std::string name = nameFor(result, "carried");
    line(type + " " + name + " = " + text(loop.getInits()[number]) + ";");
    Values[result] = Values[argument] = name;
    carried.emplace_back(name, loop.getYieldedValues()[number]);
  }
  if (loop.getUnsignedCmp())
    return unsupported(loop, "it counts without signs");
  std::string index = nameFor(loop.getInductionVar(), "i"),
              type = cppType(loop.getInductionVar().getType());
  Values[loop.getInductionVar()] = index;
  line("for (" + type + " " + index + " = " + text(loop.getLowerBound()) + "; " + index + " < " +
       text(loop.getUpperBound()) + "; " + index + " += " + text(loop.getStep()) + ") {");
  Out.indented([&] {
    emitBlock(*loop.getBody());
    assign(carried);
  });
  line("}");
}

void FunctionEmitter::emitIf(scf::IfOp branch) {
  SmallVector<unsigned> scalars;
  for (auto [number, result] : llvm::enumerate(branch.getResults())) {
    if (isa<tile::TileType>(result.getType())) {
      declare(result);
      continue;
    }
    std::string type = cppType(result.getType());
    if (type.empty())
      return unsupported(branch, "it gives a value of a type that kernels do not have");
    Values[result] = nameFor(result, "chosen");
    line(type + " " + text(result) + " = 0;");
    scalars.push_back(number);
  }
  auto emitSide = [&](Region &region) {
    Out.indented([&] {
      emitBlock(region.front());
      for (unsigned number : scalars)
        line(text(branch.getResult(number)) + " = " +
             text(region.front().getTerminator()->getOperand(number)) + ";");
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
// Flags and barriers
//===----------------------------------------------------------------------===//

static std::string pipeText(sync::UnitKind unit) {
  return "PIPE_" + StringRef(sync::stringifyUnitKind(unit)).upper();
}

bool FunctionEmitter::emitSync(Operation *op) {
  auto flag = [&](StringRef call, auto of) {
    line(call + "(" + pipeText(of.getFrom()) + ", " + pipeText(of.getTo()) + ", EVENT_ID" +
         Twine(of.getId()) + ");");
    return true;
  };
  if (auto set = dyn_cast<sync::SetOp>(op))
    return flag("set_flag", set);
  if (auto wait = dyn_cast<sync::WaitOp>(op))
    return flag("wait_flag", wait);
  if (auto barrier = dyn_cast<sync::BarrierOp>(op))
    return line("pipe_barrier(" + pipeText(barrier.getUnit()) + ");"), true;
  return false;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static std::string literal(TypedAttr constant) {
  std::string number =
      text::cppNumber(constant, {"INT64_MIN", "__builtin_nanf(\"\")", "__builtin_inff()"});
  Type type = constant.getType();
  bool isPlain = type.isInteger(1) || type.isInteger(32) || type.isIndex() || type.isF32();
  return isPlain || number == "INT64_MIN" ? number : cppType(type) + "(" + number + ")";
}

std::string FunctionEmitter::scalarText(Operation *op) {
  Type type = op->getResult(0).getType();
  std::string to = cppType(type);
  auto operand = [&](unsigned k) { return text(op->getOperand(k)); };
  auto infix = [&](StringRef sign) { return operand(0) + " " + sign.str() + " " + operand(1); };
  auto call = [&](StringRef name) {
    return name.str() + "(" + operand(0) + ", " + operand(1) + ")";
  };
  return TypeSwitch<Operation *, std::string>(op)
      .Case<arith::AddIOp, arith::AddFOp>([&](auto) { return infix("+"); })
      .Case<arith::SubIOp, arith::SubFOp>([&](auto) { return infix("-"); })
      .Case<arith::MulIOp, arith::MulFOp>([&](auto) { return infix("*"); })
      .Case<arith::DivSIOp, arith::DivFOp>([&](auto) { return infix("/"); })
      .Case<arith::RemSIOp>([&](auto) { return infix("%"); })
      .Case<arith::AndIOp>([&](auto) { return infix("&"); })
      .Case<arith::OrIOp>([&](auto) { return infix("|"); })
      .Case<arith::XOrIOp>([&](auto) { return infix("^"); })
      .Case<arith::FloorDivSIOp>([&](auto) { return call("floorDiv"); })
      .Case<arith::CeilDivSIOp>([&](auto) { return call("ceilDiv"); })
      .Case<arith::MinSIOp, arith::MinimumFOp>([&](auto) { return call("smaller<" + to + ">"); })
      .Case<arith::MaxSIOp, arith::MaximumFOp>([&](auto) { return call("larger<" + to + ">"); })
      .Case<arith::NegFOp>([&](auto) { return "-" + operand(0); })
      .Case<arith::SelectOp>(
          [&](auto) { return operand(0) + " ? " + operand(1) + " : " + operand(2); })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp, arith::SIToFPOp, arith::FPToSIOp,
            arith::ExtFOp, arith::TruncFOp>([&](auto) { return to + "(" + operand(0) + ")"; })
      .Case<arith::CmpIOp>([&](arith::CmpIOp compare) {
        return isUnsigned(compare.getPredicate()) ? std::string()
                                                  : infix(signOf(compare.getPredicate()));
      })
      .Default(std::string());
}

bool FunctionEmitter::emitScalar(Operation *op) {
  auto is = [&](Value value, std::string text) { return Values[value] = std::move(text), true; };
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return !cppType(constant.getType()).empty() && is(constant, literal(constant.getValue()));
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    auto type = cast<ir::TensorType>(dim.getTensor().getType());
    int64_t axis = dim.getDim();
    return is(dim, type.isDynamicDim(axis)
                       ? text(dim.getTensor()) + ".extents[" + std::to_string(axis) + "]"
                       : std::to_string(type.getShape()[axis]));
  }
  if (auto block = dyn_cast<tile::BlockIdxOp>(op))
    return is(block, "block.index[" + std::to_string(block.getDim()) + "]");
  if (auto count = dyn_cast<tile::BlockCountOp>(op))
    return is(count, "block.count[" + std::to_string(count.getDim()) + "]");
  if (auto lane = dyn_cast<tile::LaneOp>(op))
    return is(lane, "lane");
  if (auto read = dyn_cast<ir::ReadOp>(op)) {
    if (cppType(read.getType()).empty() || Values.lookup(read.getTensor()).empty())
      return false;
    sayWhere(op);
    define(read, "element(" + text(read.getTensor()) + ", {" +
                     list(read.getStaticIndices(), read.getIndices()) + "})");
    return true;
  }
  if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1)
    return false;
  std::string expression = scalarText(op);
  if (expression.empty() || cppType(op->getResult(0).getType()).empty())
    return false;
  define(op->getResult(0), expression);
  return true;
}

} // namespace kiln::ascend
