//===- KilnDialect.cpp - the kiln dialect and the verifiers of its plain ops ----===//
#include "../Lists.h"
#include "kiln/Dialect/Assembly.h"
#include "kiln/Dialect/Kiln/CompilerChoices.h"
#include "kiln/Dialect/Kiln/LoopAttributes.h"
#include "kiln/Dialect/Kiln/Members.h"
#include "kiln/Dialect/Kiln/ParameterFacts.h"
#include "kiln/Dialect/Tile/CoarseSums.h"
#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Dialect/Tile/MostlyOnes.h"
#include "kiln/Dialect/Tile/PartialSums.h"
#include "kiln/Dialect/Tile/Staged.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Dialect/Tile/Turns.h"
#include "kiln/Dialect/Tile/Unwritten.h"
#include "kiln/Dialect/Tile/Walk.h"

using namespace mlir;
using namespace kiln::assembly;

#include "kiln/Dialect/Kiln/KilnDialect.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/Dialect/Kiln/KilnOps.cpp.inc"

namespace kiln::ir {

void KilnDialect::initialize() {
  registerTypesAndAttributes();
  addOperations<
#define GET_OP_LIST
#include "kiln/Dialect/Kiln/KilnOps.cpp.inc"
      >();
}

Operation *KilnDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult KilnDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned arg,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kArgNameAttr) {
    if (isa<StringAttr>(attribute.getValue()))
      return success();
    return op->emitOpError("the name of parameter ") << arg << " is not a string";
  }
  if (attribute.getName() == kArgDirectionAttr) {
    auto func = dyn_cast<FuncOp>(op);
    if (!func || !isa<DirectionAttr>(attribute.getValue()) ||
        !isa<TensorType>(func.getArgumentTypes()[arg]))
      return op->emitOpError("parameter ")
             << arg << ": only a tensor has a direction, and it is in, out or inout";
    return success();
  }
  if (attribute.getName() == kInferredAttr) {
    auto func = dyn_cast<FuncOp>(op);
    if (!func || !isa<UnitAttr>(attribute.getValue()) || !func.getArgDirection(arg))
      return op->emitOpError("parameter ") << arg << ": only a direction can be " << kInferredAttr;
    return success();
  }
  if (attribute.getName() == kInternalAttr) {
    auto func = dyn_cast<FuncOp>(op);
    if (!func || func.getKind() != FuncKind::Group || !isa<UnitAttr>(attribute.getValue()) ||
        !isa<TensorType>(func.getArgumentTypes()[arg]) || arg + 1 != func.getNumArguments())
      return op->emitOpError("parameter ")
             << arg << ": only the last parameter of a group, a tensor, can be " << kInternalAttr;
    return success();
  }
  if (llvm::is_contained({kOffsets32Attr, kDivisibleAttr}, attribute.getName())) {
    auto func = dyn_cast<FuncOp>(op);
    if (!func || !isa<TensorType>(func.getArgumentTypes()[arg]))
      return op->emitOpError("parameter ")
             << arg << ": " << attribute.getName() << " is a fact about a tensor";
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    bool isGood = attribute.getName() == kDivisibleAttr ? number && number.getInt() >= 1
                                                        : isa<UnitAttr>(attribute.getValue());
    if (!isGood)
      return op->emitOpError("parameter ")
             << arg << ": " << attribute.getName() << " is not well-formed";
    return success();
  }
  return op->emitOpError("unknown attribute ") << attribute.getName() << " on parameter " << arg;
}

LogicalResult KilnDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kLoopAttr && isa<scf::ForOp>(op) &&
      isa<LoopAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == kPeeledAttr && isa<scf::ForOp>(op) &&
      isa<UnitAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == tile::kStreamsAttr && isa<tile::LoadOp, tile::StoreOp>(op) &&
      isa<UnitAttr>(attribute.getValue()))
    return success();
  if (llvm::is_contained({tile::kStagedAttr, tile::kDelayedAttr}, attribute.getName()) &&
      isa<tile::StoreOp>(op) && isa<UnitAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == kOneTileAttr && isa<scf::IfOp>(op) &&
      isa<UnitAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == tile::kExchangedAttr && isa<tile::ProductInterface>(op) &&
      isa<UnitAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == tile::kUnwrittenAttr && isa<tile::LoadOp>(op) &&
      isa<UnitAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == tile::kCoarseAttr && isa<tile::ProductInterface>(op) &&
      isa<UnitAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == tile::kMostlyOnesAttr && isa<tile::MulOp>(op) &&
      isa<UnitAttr>(attribute.getValue()))
    return success();
  if (llvm::is_contained({tile::kPartOfSumAttr, tile::kSumOfPartsAttr}, attribute.getName()))
    return tile::verifyPartialSum(op, attribute.getName(), attribute.getValue());
  if (attribute.getName() == tile::kAddressAttr)
    return tile::verifyAddresses(op, attribute.getValue());
  if (attribute.getName() == tile::kScratchAttr && isa<IntegerAttr>(attribute.getValue()) &&
      isa<tile::TileOpInterface>(op))
    return success();
  if ((attribute.getName() == tile::kTakesTurnAttr ||
       attribute.getName() == tile::kPassesTurnAttr) &&
      isa<tile::MatmulStartOp>(op) && isa<UnitAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == tile::kLocalRingAttr)
    return tile::verifyLocalRing(op, attribute.getValue());
  if (attribute.getName() == tile::kRingAttr)
    return tile::verifyRing(op, attribute.getValue());
  if (attribute.getName() == tile::kSharedRingAttr && isa<UnitAttr>(attribute.getValue()))
    if (auto func = dyn_cast<FuncOp>(op); func && func.getKind() == FuncKind::Group)
      return success();
  if (attribute.getName() == tile::kVariesAlongAttr && isa<tile::LoadOp>(op))
    if (auto axes = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
        axes && llvm::all_of(axes.asArrayRef(), [](int64_t axis) { return axis >= 0 && axis < 3; }))
      return success();
  if (llvm::is_contained({tile::kHandsOutBlocksAttr, tile::kPairsBlocksAttr},
                         attribute.getName()) &&
      isa<UnitAttr>(attribute.getValue()))
    if (auto func = dyn_cast<FuncOp>(op); func && func.getKind() == FuncKind::Group)
      return success();
  if (attribute.getName() == kReadsAttr && isa<ModuleOp>(op))
    if (auto names = dyn_cast<ArrayAttr>(attribute.getValue());
        names && llvm::all_of(names, llvm::IsaPred<StringAttr>))
      return success();
  if (attribute.getName() == kCompilerAttr && isa<ModuleOp>(op)) {
    if (areCompilerChoices(attribute.getValue()))
      return success();
    return op->emitOpError(kCompilerAttr) << " is a dictionary of lanes and slots, integers from 1 "
                                             "to 1024, and walk, \"in_turn\" or "
                                             "\"handed_out\"";
  }
  if (attribute.getName() == kMembersAttr && isMembersAttr(op, attribute.getValue()))
    return success();
  return op->emitOpError("has an unknown attribute ")
         << attribute.getName() << "; the kiln dialect puts only " << kLoopAttr
         << " on scf.for, and what passes note";
}

Value rootOf(Value tensor) {
  while (Operation *def = tensor.getDefiningOp()) {
    if (!isa<SliceOp, TransposeOp, ReshapeOp>(def))
      break;
    tensor = def->getOperand(0);
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Tensors and views
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  int64_t dynamic = llvm::count_if(getResult().getType().getShape(), ShapedType::isDynamic);
  if (int64_t(getSizes().size()) != dynamic)
    return emitOpError("needs one size for each of the ")
           << dynamic << " dynamic extents, has " << getSizes().size();
  return success();
}

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getName())
    setName(getResult(), *getName());
}

LogicalResult DimOp::verify() {
  int64_t dim = getDim(), rank = getTensor().getType().getRank();
  if (dim < 0 || dim >= rank)
    return emitOpError("axis ") << dim << " does not exist in a tensor of rank " << rank;
  return success();
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  int64_t extent = getTensor().getType().getShape()[getDim()];
  return ShapedType::isDynamic(extent) ? OpFoldResult()
                                       : IntegerAttr::get(IndexType::get(getContext()), extent);
}

LogicalResult SliceOp::verify() {
  TensorType from = getTensor().getType(), to = getResult().getType();
  ArrayRef<int64_t> offsets = getStaticOffsets(), sizes = getStaticSizes();
  int64_t rank = from.getRank();
  if (int64_t(offsets.size()) != rank || int64_t(sizes.size()) != rank)
    return emitOpError("needs one offset and one size for each of the ") << rank << " axes";
  if (failed(verifyList(*this, "offsets", offsets, getOffsets())) ||
      failed(verifyList(*this, "sizes", sizes, getSizes())))
    return failure();
  for (int64_t axis : getDropped())
    if (axis < 0 || axis >= rank)
      return emitOpError("dropped axis ") << axis << " does not exist";
  SmallVector<int64_t> shape;
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t extent = from.getShape()[axis], offset = offsets[axis], size = sizes[axis];
    if (!ShapedType::isDynamic(offset) && offset < 0)
      return emitOpError("offset ") << offset << " of axis " << axis << " is negative";
    if (!ShapedType::isDynamic(size) && size < 0)
      return emitOpError("size ") << size << " of axis " << axis << " is negative";
    if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(size)) {
      int64_t least = ShapedType::isDynamic(offset) ? 0 : offset;
      if (size > extent || least > extent - size)
        return emitOpError("axis ") << axis << ": offset " << least << " + size " << size
                                    << " overruns the extent " << extent;
    }
    if (!llvm::is_contained(getDropped(), axis))
      shape.push_back(size);
    else if (size != 1)
      return emitOpError("axis ") << axis << " is dropped, so its size must be the constant 1";
  }
  if (shape.empty())
    return emitOpError("drops every axis; for one element use kiln.read or kiln.get");
  if (!TensorType::get(shape, from.getElementType()).canPassAs(to))
    return emitOpError("makes ") << TensorType::get(shape, from.getElementType()) << ", not " << to;
  return success();
}

LogicalResult TransposeOp::verify() {
  TensorType from = getTensor().getType(), to = getResult().getType();
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<int64_t> shape;
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t axis : permutation) {
    if (axis < 0 || axis >= from.getRank() || !seen.insert(axis).second)
      return emitOpError("needs a permutation of the ") << from.getRank() << " axes";
    shape.push_back(from.getShape()[axis]);
  }
  if (int64_t(permutation.size()) != from.getRank())
    return emitOpError("needs a permutation of the ") << from.getRank() << " axes";
  if (!TensorType::get(shape, from.getElementType()).canPassAs(to))
    return emitOpError("makes ") << TensorType::get(shape, from.getElementType()) << ", not " << to;
  return success();
}

LogicalResult ReshapeOp::verify() {
  TensorType from = getTensor().getType(), to = getResult().getType();
  TensorType made =
      TensorType::getChecked([&] { return emitOpError(); }, getContext(), getStaticSizes(),
                             from.getElementType(), ArrayRef<int64_t>());
  if (!made || failed(verifyList(*this, "sizes", getStaticSizes(), getSizes())))
    return failure();
  if (!made.canPassAs(to))
    return emitOpError("makes ") << made << ", not " << to;
  auto count = [](TensorType type) {
    int64_t n = 1;
    for (int64_t extent : type.getShape())
      if (llvm::MulOverflow(n, extent, n))
        return int64_t(-1);
    return n;
  };
  if (from.hasStaticShape() && made.hasStaticShape() && count(from) != count(made))
    return emitOpError("has ") << count(from) << " elements before and " << count(made) << " after";
  return success();
}

// Views that show all of a tensor, unchanged, are the tensor.

OpFoldResult SliceOp::fold(FoldAdaptor) {
  TensorType type = getTensor().getType();
  bool isWhole =
      type == getType() && type.hasStaticShape() && llvm::equal(getStaticSizes(), type.getShape());
  return isWhole ? OpFoldResult(getTensor()) : OpFoldResult();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  bool keepsOrder = llvm::is_sorted(getPermutation()) && getTensor().getType() == getType();
  return keepsOrder ? OpFoldResult(getTensor()) : OpFoldResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  TensorType type = getTensor().getType();
  bool isSame = type == getType() && type.hasStaticShape();
  return isSame ? OpFoldResult(getTensor()) : OpFoldResult();
}

/// Indices and element type of an access to one element.
static LogicalResult verifyElement(Operation *op, TensorType tensor, ArrayRef<int64_t> indices,
                                   ValueRange values, Type scalar) {
  if (int64_t(indices.size()) != tensor.getRank())
    return op->emitOpError("needs one index for each of the ")
           << tensor.getRank() << " axes, has " << indices.size();
  if (failed(verifyList(op, "indices", indices, values)))
    return failure();
  if (scalar != tensor.getElementType())
    return op->emitOpError("the scalar is ")
           << scalar << " but the tensor holds " << tensor.getElementType();
  for (auto [index, extent] : llvm::zip(indices, tensor.getShape()))
    if (!ShapedType::isDynamic(index) &&
        (index < 0 || (!ShapedType::isDynamic(extent) && index >= extent)))
      return op->emitOpError("index ") << index << " is outside the tensor " << tensor;
  return success();
}

LogicalResult ReadOp::verify() {
  return verifyElement(*this, getTensor().getType(), getStaticIndices(), getIndices(),
                       getResult().getType());
}
LogicalResult WriteOp::verify() {
  return verifyElement(*this, getTensor().getType(), getStaticIndices(), getIndices(),
                       getValue().getType());
}
LogicalResult GetOp::verify() {
  return verifyElement(*this, getTensor().getType(), getStaticIndices(), getIndices(),
                       getResult().getType());
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static LogicalResult verifyGrid(Operation *op, ArrayRef<int64_t> grid, ValueRange values) {
  if (grid.size() > 3)
    return op->emitOpError("has ") << grid.size() << " grid dimensions; there are at most three";
  int64_t blocks = 1;
  bool isEmpty = llvm::is_contained(grid, 0), overflows = false;
  for (int64_t extent : grid) {
    if (ShapedType::isDynamic(extent))
      continue;
    if (extent < 0)
      return op->emitOpError("has the negative grid extent ") << extent;
    overflows |= !isEmpty && llvm::MulOverflow(blocks, extent, blocks);
  }
  if (overflows)
    return op->emitOpError("has more grid blocks than can be counted");
  return verifyList(op, "grid", grid, values);
}

/// The condition under which a task runs, of a submit or a kernel written in place.
template <typename Op> static LogicalResult verifyPredicate(Op op) {
  bool hasAll = op.getStaticPredicateIndices() && op.getPredicateCmp() && op.getPredicateConstant();
  bool hasAny = op.getStaticPredicateIndices() || op.getPredicateCmp() ||
                op.getPredicateConstant() || !op.getPredicateIndices().empty();
  if (op.getPredicate() ? !hasAll : hasAny)
    return op.emitOpError(
        "a predicate has a tensor, indices, a comparison and a constant, or there is none");
  if (!op.getPredicate())
    return success();
  using P = arith::CmpIPredicate;
  if (!llvm::is_contained({P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge}, *op.getPredicateCmp()))
    return op.emitOpError("a predicate compares signed integers, not with ")
           << arith::stringifyCmpIPredicate(*op.getPredicateCmp());
  auto tensor = cast<TensorType>(op.getPredicate().getType());
  if (!isa<IntegerType>(tensor.getElementType()))
    return op.emitOpError("a predicate reads an integer tensor, not ") << tensor;
  return verifyElement(op, tensor, *op.getStaticPredicateIndices(), op.getPredicateIndices(),
                       tensor.getElementType());
}

LogicalResult SubmitOp::verify() {
  if (failed(verifyGrid(*this, getStaticGrid(), getGrid())))
    return failure();
  if (!getCallee() && (!getArgs().empty() || !getStaticGrid().empty()))
    return emitOpError("without a kernel carries dependencies only: no arguments, no grid");
  return verifyPredicate(*this);
}

LogicalResult IncoreOp::verify() {
  if (!(*this)->getParentOfType<FuncOp>())
    return emitOpError("stands outside a kiln.func");
  if (getName().empty())
    return emitOpError("needs a name");
  if (failed(verifyGrid(*this, getStaticGrid(), getGrid())) ||
      failed(verifyWanted(*this, getLanes(), getSlots())))
    return failure();
  return verifyPredicate(*this);
}

LogicalResult DumpOp::verify() {
  Operation *kernel = (*this)->getParentOfType<IncoreOp>();
  if (auto func = (*this)->getParentOfType<FuncOp>(); !kernel && func && func.isKernel())
    kernel = func;
  if (Operation *maker = rootOf(getTensor()).getDefiningOp();
      kernel && maker && kernel->isProperAncestor(maker))
    return emitOpError("marks a parameter of a kernel; this tensor is made inside it");
  return success();
}

} // namespace kiln::ir
