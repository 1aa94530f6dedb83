// Ops that compute each element from the elements of their operands at the same place. Floats
// compute in f32 and round to the element type; integers wrap.
#include "Builder/VectorMath.h"
#include "KernelEmitter.h"

#include "kiln/Program/PadValue.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

using B = Builder;
using V = llvm::Value;
using Operands = llvm::ArrayRef<V *>;

DType resultType(Operation *op) { return elementTypeOf(op->getResult(0).getType()); }

/// What a row of the table names, whichever of these it is: a function of one or two vectors, of
/// all of them, or one that must also know the op.
template <auto F> V *call(KernelEmitter &e, Operation *op, Operands x) {
  using Function = decltype(F);
  if constexpr (std::is_invocable_v<Function, B &, Operands>) // first: one vector is a list, too
    return F(e.b, x);
  else if constexpr (std::is_invocable_v<Function, B &, V *>)
    return F(e.b, x[0]);
  else if constexpr (std::is_invocable_v<Function, B &, V *, V *>)
    return F(e.b, x[0], x[1]);
  else
    return F(e, op, x);
}

/// `F` on f32, `G` on integers, where i1 counts as an integer of one bit unless `G` knows better;
/// null for elements that the op is not for.
template <auto F, auto G>
V *elementwise(KernelEmitter &e, Operation *op, Operands x, const Cursor &) {
  DType type = resultType(op);
  if constexpr (!std::is_same_v<decltype(F), std::nullptr_t>)
    if (isFloat(type))
      return round(e.b, call<F>(e, op, x), type);
  if constexpr (!std::is_same_v<decltype(G), std::nullptr_t>)
    return call<G>(e, op, x);
  else
    llvm_unreachable("the verifier knows what elements a row is for");
}

template <llvm::Instruction::BinaryOps how> V *binary(B &b, V *x, V *y) {
  return b.CreateBinOp(how, x, y);
}

bool isBool(V *x) { return x->getType()->isIntOrIntVectorTy(1); }

/// The larger or smaller of two floats: the first if it is NaN, the second if that is.
template <bool isMax> V *floatExtreme(B &b, V *x, V *y) {
  V *better = isMax ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
  V *extreme = b.CreateSelect(better, x, y);
  return b.CreateSelect(b.CreateFCmpUNO(x, x), x, extreme);
}
template <bool isMax> V *intExtreme(B &b, V *x, V *y) {
  if (isBool(x)) // as a signed number the bit would be -1
    return isMax ? b.CreateOr(x, y) : b.CreateAnd(x, y);
  return b.CreateBinaryIntrinsic(isMax ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, x, y);
}

/// Quotient or remainder of integers; fails the kernel where it would divide by zero.
template <bool isQuotient> V *intDivide(KernelEmitter &e, Operation *op, Operands x) {
  B &b = e.b;
  V *isZero = b.CreateICmpEQ(x[1], b.bits(x[1], 0));
  e.check(b.CreateNot(b.CreateOrReduce(isZero)), op, "integer division by zero");
  if (isBool(x[0])) // the divisor is 1
    return isQuotient ? x[0] : static_cast<V *>(b.bits(x[0], 0));
  // Dividing by -1 overflows once; it is a negation.
  V *isMinusOne = b.CreateICmpEQ(x[1], llvm::Constant::getAllOnesValue(x[1]->getType()));
  V *safe = b.CreateSelect(isMinusOne, b.bits(x[1], 1), x[1]);
  return isQuotient ? b.CreateSelect(isMinusOne, b.CreateNeg(x[0]), b.CreateSDiv(x[0], safe))
                    : b.CreateSelect(isMinusOne, b.bits(x[0], 0), b.CreateSRem(x[0], safe));
}

V *negate(B &b, V *x) { return b.CreateFNeg(x); }
V *negateInt(B &b, V *x) { return b.CreateNeg(x); }
V *flip(B &b, V *x) { return b.CreateNot(x); }
V *intAbs(B &b, V *x) {
  return isBool(x) ? x : b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse());
}

V *shiftLeft(B &b, V *x, V *y) {
  V *width = b.bits(y, y->getType()->getScalarSizeInBits());
  V *isInside = b.CreateICmpULT(y, width);
  V *count = b.CreateSelect(isInside, y, b.bits(y, 0));
  return b.CreateSelect(isInside, b.CreateShl(x, count), b.bits(x, 0));
}
V *shiftRight(B &b, V *x, V *y) {
  V *most = b.bits(y, y->getType()->getScalarSizeInBits() - 1);
  return b.CreateAShr(x, b.CreateSelect(b.CreateICmpULT(y, most), y, most));
}

template <llvm::Intrinsic::ID id> V *intrinsic(B &b, Operands x) {
  return b.CreateIntrinsic(id, {x[0]->getType()}, x);
}

V *reciprocal(B &b, V *x) { return b.CreateFDiv(b.real(x, 1.0), x); }
V *inverseRoot(B &b, V *x) {
  return reciprocal(b, b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
}

/// 1 / (1 + e^-x), or e^x / (1 + e^x) where e^-x would overflow.
V *sigmoid(B &b, V *x) {
  V *power = emitExp(b, b.CreateFNeg(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x)));
  V *one = b.real(power, 1.0), *isNegative = b.CreateFCmpOLT(x, b.real(power, 0.0));
  return b.CreateFDiv(b.CreateSelect(isNegative, power, one), b.CreateFAdd(one, power));
}

V *compare(KernelEmitter &e, Operation *op, Operands x, const Cursor &) {
  using L = llvm::CmpInst;
  static constexpr L::Predicate floats[] = {L::FCMP_OEQ, L::FCMP_UNE, L::FCMP_OLT,
                                            L::FCMP_OLE, L::FCMP_OGT, L::FCMP_OGE};
  static constexpr L::Predicate ints[] = {L::ICMP_EQ,  L::ICMP_NE,  L::ICMP_SLT,
                                          L::ICMP_SLE, L::ICMP_SGT, L::ICMP_SGE};
  auto kind = static_cast<unsigned>(cast<tile::CmpOp>(op).getKind());
  if (x[0]->getType()->isFPOrFPVectorTy())
    return e.b.CreateFCmp(floats[kind], x[0], x[1]);
  L::Predicate how = isBool(x[0]) ? llvm::ICmpInst::getUnsignedPredicate(ints[kind]) : ints[kind];
  return e.b.CreateICmp(how, x[0], x[1]);
}

V *select(KernelEmitter &e, Operation *, Operands x, const Cursor &) {
  return e.b.CreateSelect(x[0], x[1], x[2]);
}

V *castElements(KernelEmitter &e, Operation *op, Operands x, const Cursor &) {
  return convert(e.b, x[0], elementTypeOf(op->getOperand(0).getType()), resultType(op));
}

V *pass(KernelEmitter &, Operation *, Operands x, const Cursor &) { return x[0]; }

/// Rows or columns of the elements under the cursor, as i64.
V *coordinates(KernelEmitter &e, const Cursor &at, unsigned axis) {
  B &b = e.b;
  V *first = b.splat(at.width, axis == 0 ? at.row : at.col);
  return at.down == (axis == 0) ? b.CreateAdd(first, b.lanes(at.width)) : first;
}

V *iota(KernelEmitter &e, Operation *op, Operands, const Cursor &at) {
  DType type = resultType(op);
  auto tile = cast<tile::TileType>(op->getResult(0).getType());
  unsigned axis = cast<tile::IotaOp>(op).getAxis();
  V *number = coordinates(e, at, axis);
  if (tile.getExtent(axis) == 1) // broadcast
    number = e.b.bits(number, 0);
  // To i1 it is the lowest bit, not "not zero".
  if (type == DType::I1)
    return e.b.CreateTrunc(number, B::shapedAs(number, e.b.getInt1Ty()));
  return convert(e.b, number, DType::I64, type);
}

V *mask(KernelEmitter &e, Operation *op, Operands x, const Cursor &at) {
  B &b = e.b;
  auto masked = cast<tile::MaskOp>(op);
  Values valid = e.indices(masked.getStaticValid(), masked.getValid());
  V *pad = b.splat(at.width, constant(b, padValue(masked.getPadAttr(), resultType(op))));
  // How many of the lanes are valid is a number; lanes are compared with it as the 32 bits they
  // fit.
  unsigned along = at.down ? 0 : 1;
  V *first = at.down ? at.row : at.col, *line = at.down ? at.col : at.row;
  V *count = b.max(b.index(0), b.min(b.CreateSub(valid[along], first), b.index(at.width)));
  count = b.CreateSelect(b.CreateICmpSLT(line, valid[1 - along]), count, b.index(0));
  V *numbers = b.CreateTrunc(b.lanes(at.width), B::vectorOf(b.getInt32Ty(), at.width));
  V *isValid = b.CreateICmpSLT(numbers, b.splat(at.width, b.CreateTrunc(count, b.getInt32Ty())));
  return b.CreateSelect(isValid, x[0], pad);
}

V *maskDiag(KernelEmitter &e, Operation *op, Operands x, const Cursor &at) {
  B &b = e.b;
  auto masked = cast<tile::MaskDiagOp>(op);
  V *pad = b.splat(at.width, constant(b, padValue(masked.getPadAttr(), resultType(op))));
  V *distance = b.CreateSub(coordinates(e, at, 1), coordinates(e, at, 0));
  return b.CreateSelect(b.CreateICmpSLE(distance, x[1]), x[0], pad);
}

} // namespace

void addPointwiseOps(OpTable &table) {
  using I = llvm::Instruction;
  namespace N = llvm::Intrinsic;
#include "kiln/Dialect/Tile/Elementwise/Cpu.inc"
  table.addPointwise<tile::CmpOp>(compare);
  table.addPointwise<tile::SelectOp>(select);
  table.addPointwise<arith::SelectOp>(select);
  table.addPointwise<tile::CastOp>(castElements);
  table.addPointwise<tile::FullOp>(pass);
  table.addPointwise<tile::ExtractOp>(pass);
  table.addPointwise<tile::IotaOp>(iota);
  table.addPointwise<tile::MaskOp>(mask);
  table.addPointwise<tile::MaskDiagOp>(maskDiag);
}

} // namespace kiln::llvmir
