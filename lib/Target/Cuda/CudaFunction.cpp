#include "CudaFunction.h"

#include "kiln/Analysis/TensorBox.h"
#include "kiln/Dialect/Kiln/LoopAttributes.h"
#include "kiln/Dialect/Tile/Unwritten.h"
#include "kiln/Program/Signature.h"
#include "kiln/Program/Unsupported.h"
#include "kiln/Target/Text/Literals.h"
#include "kiln/Target/Text/Names.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

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
                                 ArrayRef<int> origin, bool isAhead)
    : Func(func), Kernel(kernel), Facts(func), IsAhead(isAhead), Names(nameRules()) {
  for (auto [argument, name, number] :
       llvm::zip_equal(func.getBody().getArguments(), given, origin)) {
    set(argument, name);
    Names.reserve(name); // that of a pipe
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

bool canRunAhead(ir::FuncOp role) {
  bool sendsUnwritten = false, knowsWhere = true;
  role.walk([&](Operation *op) {
    sendsUnwritten |= op->hasAttr(tile::kUnwrittenAttr);
    knowsWhere &= isa<ir::FuncOp, ir::ReturnOp, ir::RequireOp, ir::DimOp, ir::SliceOp,
                      ir::TransposeOp, ir::ReshapeOp, scf::ForOp, scf::IfOp, scf::YieldOp,
                      tile::BlockIdxOp, tile::LaneOp, tile::LoadOp, tile::PushOp>(op) ||
                  isa<arith::ArithDialect>(op->getDialect());
  });
  return sendsUnwritten && knowsWhere;
}

Expected<std::string> FunctionEmitter::emitBody() {
  emitBlock(Func.getBody().front());
  if (Failure)
    return *Failure;
  return Out.take();
}

void FunctionEmitter::unsupported(Operation *op, const Twine &why) {
  if (!Failure)
    Failure = cannotBeCompiled(op, "h200", why);
}

// A character that no text has stands before a statement and behind its number.
static constexpr char kMark = 1;

std::string KernelText::marked(const Twine &statement, size_t number) {
  return kMark + std::to_string(number) + kMark + statement.str();
}

CudaText KernelText::withLines(StringRef markedText) const {
  CudaText result;
  SmallVector<StringRef> all;
  markedText.split(all, '\n');
  for (StringRef line : ArrayRef(all).drop_back()) {
    auto [indent, rest] = line.split(kMark);
    auto [number, statement] = rest.split(kMark);
    size_t at = 0;
    bool isMarked = !number.getAsInteger(10, at);
    result.lines.push_back(isMarked ? lines[at] : SourceLoc());
    result.text += (isMarked ? indent + statement : Twine(line)).str() + "\n";
  }
  return result;
}

void FunctionEmitter::line(const Twine &statement) {
  SourceLoc of = Here ? sourceLocOf(Here->getLoc()) : SourceLoc();
  if (Kernel.lines.empty() || !(Kernel.lines.back() == of))
    Kernel.lines.push_back(of);
  Out.line(KernelText::marked(statement, Kernel.lines.size() - 1));
}

std::string FunctionEmitter::operand(Value value, Binding least) {
  const Expression &expression = Values[value];
  return expression.binds < least ? "(" + expression.text + ")" : expression.text;
}

std::string FunctionEmitter::commas(ArrayRef<int64_t> constants, ValueRange values) {
  return llvm::join(
      text::mixedList(constants, values, [&](Value value) { return argument(value); }), ", ");
}

std::string FunctionEmitter::list(ArrayRef<int64_t> constants, ValueRange values) {
  return "{" + commas(constants, values) + "}";
}

void FunctionEmitter::define(Value value, const std::string &expression, bool isInt) {
  bool isTile = isa<tile::TileType>(value.getType());
  if (std::string into = Into.lookup(value); !into.empty()) {
    line(into + " = " + expression + ";");
    return set(value, into);
  }
  std::string name = nameFor(value, isTile ? "t" : "n");
  std::string type = isTile ? "auto" : isInt ? "int" : cppType(value.getType());
  line(type + " " + name + " = " + expression + ";");
  set(value, name, Binding::Primary, isInt);
  Owned.insert(value);
}

void FunctionEmitter::emitBlock(Block &block) {
  Operation *around = Here;
  for (Operation &op : block) {
    if (Failure)
      return;
    Here = &op;
    emitOp(&op);
  }
  Here = around;
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
  widenAgain(op);
  if (Meetings.contains(op))
    line("barrier::meet(1 + int(" + Kernel.warpgroup() +
         ")); // others of the lane are done with the same memory");
  if (!emitScalar(op) && !emitTensor(op) && !emitTile(op))
    unsupported(op, "the backend does not have this operation yet");
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<std::string> FunctionEmitter::carry(Operation *loop, ValueRange values) {
  SmallVector<std::string> names;
  auto carriedAs = [&](size_t number) { // what a `while` hands on may be something else
    return isa<scf::ForOp>(loop) ? Value(loop->getResult(number)) : values[number];
  };
  for (auto [number, value] : llvm::enumerate(values)) {
    // A variable that nobody else reads goes on as what is carried.
    if (Owned.contains(value) && !Values[value].isInt && value.hasOneUse() &&
        value.getParentBlock() == loop->getBlock()) {
      names.push_back(text(value));
      continue;
    }
    names.push_back(nameFor(carriedAs(number), "c"));
    std::string type = isa<tile::TileType>(value.getType()) ? "auto" : cppType(value.getType());
    line(type + " " + names.back() + " = " + argument(value) + ";");
  }
  return names;
}

/// The last operation of a block that reads a tile, or what is the same tile by another name.
static Operation *lastReader(Value tile, Block &block) {
  Operation *last = nullptr;
  for (Operation *user : tile.getUsers()) {
    Operation *reader = block.findAncestorOpInBlock(*user);
    if (isa<tile::MoveOp>(user))
      if (Operation *later = lastReader(user->getResult(0), block))
        reader = later;
    if (reader && (!last || last->isBeforeInBlock(reader)))
      last = reader;
  }
  return last;
}

/// A tile that a loop yields is made in the variable that carries it, if nobody reads what is there
/// any more.
void FunctionEmitter::updateInPlace(Block &body, ValueRange carried, ValueRange yielded,
                                    ArrayRef<std::string> names) {
  for (auto [argument, value, name] : llvm::zip_equal(carried, yielded, names)) {
    Operation *maker = value.getDefiningOp();
    if (!isa<tile::TileType>(value.getType()) || !maker || maker->getBlock() != &body ||
        !value.hasOneUse() || maker->getNumRegions() > 0)
      continue;
    Operation *last = lastReader(argument, body);
    if (!last || last == maker || last->isBeforeInBlock(maker))
      Into[value] = name;
  }
}

/// Whether a name stands in a text, not as part of another.
static bool mentions(StringRef text, StringRef name) {
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    auto isPart = [&](size_t place) {
      return place < text.size() && text::isNamePart(text[place]);
    };
    if (!isPart(at + name.size()) && (at == 0 || !isPart(at - 1)))
      return true;
  }
  return false;
}

void FunctionEmitter::assign(ArrayRef<std::string> names, ValueRange values) {
  SmallVector<std::string> given;
  for (Value value : values)
    given.push_back(argument(value));
  for (auto [k, value] : llvm::enumerate(given)) {
    auto isAssignedBefore = [&](size_t other) {
      return names[other] != given[other] && mentions(value, names[other]);
    };
    if (llvm::any_of(llvm::seq<size_t>(0, k), isAssignedBefore)) {
      std::string saved = freshName("s");
      line("auto " + saved + " = " + value + ";");
      value = saved;
    }
  }
  for (auto [name, value] : llvm::zip_equal(names, given))
    if (name != value)
      line(name + " = " + value + ";");
}

/// Of a loop that runs ahead: what more is asked before each iteration.
std::string FunctionEmitter::roomFor(scf::ForOp loop) {
  llvm::SetVector<Value> pipes;
  loop.walk([&](tile::PushOp push) { pipes.insert(push.getPipe()); });
  if (!IsAhead || pipes.empty())
    return "";
  SmallVector<std::string> rooms;
  for (Value pipe : pipes)
    rooms.push_back(text(pipe) + ".hasRoom()");
  std::string any = llvm::join(rooms, " || ");
  return " && " + (rooms.size() > 1 ? "(" + any + ")" : any);
}

void FunctionEmitter::emitFor(scf::ForOp loop) {
  SmallVector<std::string> carried = carry(loop, loop.getInits());
  for (auto [name, argument, result] :
       llvm::zip_equal(carried, loop.getRegionIterArgs(), loop.getResults())) {
    set(argument, name);
    set(result, name);
    Owned.insert(argument);
    Owned.insert(result);
  }
  updateInPlace(*loop.getBody(), loop.getRegionIterArgs(), loop.getYieldedValues(), carried);
  // Not i: there would be an i8 and an i64, which are types.
  std::string index = freshName("at");
  std::string type = cppType(loop.getInductionVar().getType());
  // With the step that leads out of the loop.
  int64_t step = getConstantIntValue(loop.getStep()).value_or(INT32_MAX);
  bool isInt = type == "i64" && loop.getInductionVar().getType().isIndex() &&
               !loop.getUnsignedCmp() && Facts.rangeOf(loop.getInductionVar()).isNarrow() &&
               Facts.rangeOf(loop.getLowerBound()).isNarrow() &&
               Facts.rangeOf(loop.getInductionVar()).most <= INT32_MAX - step;
  if (isInt)
    type = "int";
  set(loop.getInductionVar(), index, Binding::Primary, isInt);
  if (auto kind = loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr);
      kind && kind.getKind() == ir::LoopKind::Unroll)
    line("#pragma unroll");
  else
    line("#pragma unroll 1");
  auto bound = [&](Value value) {
    return loop.getUnsignedCmp() ? "bitsOf<" + type + ">(" + argument(value) + ")"
                                 : operand(value, Binding::Sum);
  };
  bool isByOne = matchPattern(loop.getStep(), m_One());
  line("for (" + type + " " + index + " = " + argument(loop.getLowerBound()) + "; " +
       bound(loop.getInductionVar()) + " < " + bound(loop.getUpperBound()) + roomFor(loop) + "; " +
       (isByOne ? "++" + index : index + " += " + argument(loop.getStep())) + ") {");
  Out.indented([&] {
    if (emitWholeOrNot(loop))
      return;
    emitBlock(*loop.getBody());
    assign(carried, loop.getYieldedValues());
  });
  line("}");
}

/// What is carried is a variable; what the condition hands on is another, for it may be something
/// else.
void FunctionEmitter::emitWhile(scf::WhileOp loop) {
  SmallVector<std::string> carried = carry(loop, loop.getInits()), handed;
  for (auto [name, argument] : llvm::zip_equal(carried, loop.getBeforeArguments()))
    set(argument, name);
  for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults())) {
    auto type = dyn_cast<tile::TileType>(result.getType());
    handed.push_back(nameFor(result, "w"));
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
    line("if (!(" + argument(condition.getCondition()) + "))");
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
    results.push_back(nameFor(result, "b"));
    line((type ? registerType(type) : cppType(result.getType())) + " " + results.back() + ";");
    set(result, results.back());
  }
  auto emitSide = [&](Region &region) {
    ValueRange yielded = region.front().getTerminator()->getOperands();
    for (auto [name, value] : llvm::zip_equal(results, yielded))
      if (value.hasOneUse() && value.getParentBlock() == &region.front())
        Into[value] = name;
    Out.indented([&] {
      emitBlock(region.front());
      for (auto [name, value] : llvm::zip_equal(results, yielded))
        if (text(value) != name)
          line(name + " = " + argument(value) + ";");
    });
  };
  bool isOneTile = branch->hasAttr(ir::kOneTileAttr);
  std::string whole = isOneTile ? wholeText(*branch.thenBlock()) : "";
  line("if (" + argument(branch.getCondition()) + (whole.empty() ? "" : " && " + whole) + ") {");
  emitSide(branch.getThenRegion());
  if (!branch.getElseRegion().empty()) {
    llvm::SaveAndRestore beside(IsBesideWhole, IsBesideWhole || isOneTile);
    line("} else {");
    emitSide(branch.getElseRegion());
  }
  line("}");
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
       list(op.getStaticIndices(), op.getIndices()) + ") = " + argument(op.getValue()) + ";");
}

} // namespace kiln::cuda
