// Ops that compute each element from the elements of their operands at the same place. Floats
// compute in f32 and round to the element type; integers wrap.
#include "Builder/Pad.h"
#include "Builder/VectorMath.h"
#include "KernelEmitter.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

using B = Builder;
using V = llvm::Value;
using Operands = llvm::ArrayRef<V *>;

DType resultType(Operation *op) { return elementTypeOf(op->getResult(0).getType()); }

/// `F` on f32, `G` on integers; i1 counts as an integer of one bit unless `G` knows better.
template <auto F, auto G>
V *arithmetic(KernelEmitter &e, Operation *op, Operands x, const Cursor &) {
  DType type = resultType(op);
  return isFloat(type) ? round(e.b, F(e.b, x), type) : G(e, op, x);
}

/// A function of floats alone.
template <auto F> V *ofFloat(KernelEmitter &e, Operation *op, Operands x, const Cursor &) {
  return round(e.b, F(e.b, x), resultType(op));
}
/// A function of integers alone.
template <auto F> V *ofInt(KernelEmitter &e, Operation *, Operands x, const Cursor &) {
  return F(e.b, x);
}

template <llvm::Instruction::BinaryOps how> V *binary(B &b, Operands x) {
  return b.CreateBinOp(how, x[0], x[1]);
}
template <llvm::Instruction::BinaryOps how>
V *intBinary(KernelEmitter &e, Operation *, Operands x) {
  return e.b.CreateBinOp(how, x[0], x[1]);
}

bool isBool(V *x) { return x->getType()->isIntOrIntVectorTy(1); }

/// The larger or smaller of two floats: the first if it is NaN, the second if that is.
template <bool isMax> V *floatExtreme(B &b, Operands x) {
  V *better = isMax ? b.CreateFCmpOGT(x[0], x[1]) : b.CreateFCmpOLT(x[0], x[1]);
  V *extreme = b.CreateSelect(better, x[0], x[1]);
  return b.CreateSelect(b.CreateFCmpUNO(x[0], x[0]), x[0], extreme);
}
template <bool isMax> V *intExtreme(KernelEmitter &e, Operation *, Operands x) {
  if (isBool(x[0])) // as a signed number the bit would be -1
    return isMax ? e.b.CreateOr(x[0], x[1]) : e.b.CreateAnd(x[0], x[1]);
  return e.b.CreateBinaryIntrinsic(isMax ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, x[0],
                                   x[1]);
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

V *intNeg(KernelEmitter &e, Operation *, Operands x) { return e.b.CreateNeg(x[0]); }
V *intAbs(KernelEmitter &e, Operation *, Operands x) {
  return isBool(x[0]) ? x[0]
                      : e.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x[0], e.b.getFalse());
}

V *shiftLeft(B &b, Operands x) {
  V *width = b.bits(x[1], x[1]->getType()->getScalarSizeInBits());
  V *isInside = b.CreateICmpULT(x[1], width);
  V *count = b.CreateSelect(isInside, x[1], b.bits(x[1], 0));
  return b.CreateSelect(isInside, b.CreateShl(x[0], count), b.bits(x[0], 0));
}
V *shiftRight(B &b, Operands x) {
  V *most = b.bits(x[1], x[1]->getType()->getScalarSizeInBits() - 1);
  return b.CreateAShr(x[0], b.CreateSelect(b.CreateICmpULT(x[1], most), x[1], most));
}

template <llvm::Intrinsic::ID id> V *unaryIntrinsic(B &b, Operands x) {
  return b.CreateUnaryIntrinsic(id, x[0]);
}
template <auto F> V *function(B &b, Operands x) { return F(b, x[0]); }

V *quotient(B &b, Operands x) { return emitQuotient(b, x[0], x[1]); }
V *reciprocal(B &b, V *x) { return b.CreateFDiv(b.real(x, 1.0), x); }

/// 1 / (1 + e^-x), or e^x / (1 + e^x) where e^-x would overflow.
V *sigmoid(B &b, Operands x) {
  V *power = emitExp(b, b.CreateFNeg(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x[0])));
  V *one = b.real(power, 1.0), *isNegative = b.CreateFCmpOLT(x[0], b.real(power, 0.0));
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
  V *isValid = b.CreateAnd(b.CreateICmpSLT(coordinates(e, at, 0), b.splat(at.width, valid[0])),
                           b.CreateICmpSLT(coordinates(e, at, 1), b.splat(at.width, valid[1])));
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
  table.addPointwise<tile::AddOp>(arithmetic<binary<I::FAdd>, intBinary<I::Add>>);
  table.addPointwise<tile::SubOp>(arithmetic<binary<I::FSub>, intBinary<I::Sub>>);
  table.addPointwise<tile::MulOp>(arithmetic<binary<I::FMul>, intBinary<I::Mul>>);
  table.addPointwise<tile::DivOp>(arithmetic<quotient, intDivide<true>>);
  table.addPointwise<tile::FmodOp>(arithmetic<binary<I::FRem>, intDivide<false>>);
  table.addPointwise<tile::MaxOp>(arithmetic<floatExtreme<true>, intExtreme<true>>);
  table.addPointwise<tile::MinOp>(arithmetic<floatExtreme<false>, intExtreme<false>>);
  table.addPointwise<tile::NegOp>(
      arithmetic<[](B &b, Operands x) { return b.CreateFNeg(x[0]); }, intNeg>);
  table.addPointwise<tile::AbsOp>(arithmetic<unaryIntrinsic<N::fabs>, intAbs>);

  table.addPointwise<tile::AndOp>(ofInt<binary<I::And>>);
  table.addPointwise<tile::OrOp>(ofInt<binary<I::Or>>);
  table.addPointwise<tile::XorOp>(ofInt<binary<I::Xor>>);
  table.addPointwise<tile::NotOp>(ofInt<[](B &b, Operands x) { return b.CreateNot(x[0]); }>);
  table.addPointwise<tile::ShlOp>(ofInt<shiftLeft>);
  table.addPointwise<tile::ShrOp>(ofInt<shiftRight>);

  table.addPointwise<tile::ExpOp>(ofFloat<function<emitExp>>);
  table.addPointwise<tile::Exp2Op>(ofFloat<function<emitExp2>>);
  table.addPointwise<tile::LogOp>(ofFloat<function<emitLog>>);
  table.addPointwise<tile::TanhOp>(ofFloat<function<emitTanh>>);
  table.addPointwise<tile::ErfOp>(ofFloat<function<emitErf>>);
  table.addPointwise<tile::SigmoidOp>(ofFloat<sigmoid>);
  table.addPointwise<tile::SqrtOp>(ofFloat<unaryIntrinsic<N::sqrt>>);
  table.addPointwise<tile::RecipOp>(ofFloat<function<reciprocal>>);
  table.addPointwise<tile::RsqrtOp>(ofFloat<[](B &b, Operands x) {
    return reciprocal(b, b.CreateUnaryIntrinsic(N::sqrt, x[0]));
  }>);
  // Rare, and hard to get right for all arguments: libm's, element by element.
  table.addPointwise<tile::SinOp>(ofFloat<unaryIntrinsic<N::sin>>);
  table.addPointwise<tile::CosOp>(ofFloat<unaryIntrinsic<N::cos>>);
  table.addPointwise<tile::PowOp>(
      ofFloat<[](B &b, Operands x) { return b.CreateBinaryIntrinsic(N::pow, x[0], x[1]); }>);

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
