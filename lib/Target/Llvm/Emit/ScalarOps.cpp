// The arith dialect on scalars. Integers wrap, but an index that leaves its 64 bits fails the
// kernel. What arith leaves undefined is defined: a division by zero fails the kernel, a shift by
// the width or more shifts everything out, float to integer saturates.
#include "KernelEmitter.h"

#include "kiln/Dialect/IndexRange.h"

#include "llvm/IR/Intrinsics.h"

#include <limits>

using namespace mlir;

namespace kiln::llvmir {
namespace {

using Operands = llvm::ArrayRef<llvm::Value *>;

/// `F(Builder &, a, b)` makes the result of a float op, before it is rounded.
template <auto F> void floatBinary(KernelEmitter &e, Operation *op) {
  llvm::Value *value = F(e.b, e.scalar(op->getOperand(0)), e.scalar(op->getOperand(1)));
  e.setScalar(op->getResult(0), round(e.b, value, elementTypeOf(op->getResult(0).getType())));
}

template <auto F> void intBinary(KernelEmitter &e, Operation *op) {
  e.setScalar(op->getResult(0), F(e.b, e.scalar(op->getOperand(0)), e.scalar(op->getOperand(1))));
}

void checkFits(KernelEmitter &e, Operation *op, llvm::Value *fits) {
  Message message("the result for ");
  message << e.scalar(op->getOperand(0)) << std::string(" and ") << e.scalar(op->getOperand(1))
          << std::string(" does not fit the 64 bits of an index");
  e.check(fits, op, message);
}

/// Exact arithmetic: an integer wraps, but an index that leaves its 64 bits fails the kernel.
template <auto F, llvm::Intrinsic::ID withOverflow>
void sumOrProduct(KernelEmitter &e, Operation *op) {
  if (!mayLeaveIndex(op))
    return intBinary<F>(e, op);
  llvm::Value *x = e.scalar(op->getOperand(0)), *y = e.scalar(op->getOperand(1));
  llvm::Value *both = e.b.CreateBinaryIntrinsic(withOverflow, x, y);
  checkFits(e, op, e.b.CreateNot(e.b.CreateExtractValue(both, 1)));
  e.setScalar(op->getResult(0), e.b.CreateExtractValue(both, 0));
}

template <auto F> void division(KernelEmitter &e, Operation *op) {
  llvm::Value *divisor = e.scalar(op->getOperand(1));
  e.check(e.b.CreateICmpNE(divisor, e.b.bits(divisor, 0)), op,
          Message("integer division of ")
              << e.scalar(op->getOperand(0)) << std::string(" by zero"));
  intBinary<F>(e, op);
}

/// A signed quotient, which overflows only where the least index is divided by -1.
template <auto F> void quotient(KernelEmitter &e, Operation *op) {
  if (mayLeaveIndex(op)) {
    llvm::Value *x = e.scalar(op->getOperand(0)), *y = e.scalar(op->getOperand(1));
    llvm::Value *least = e.b.index(std::numeric_limits<int64_t>::min());
    checkFits(e, op, e.b.CreateOr(e.b.CreateICmpNE(x, least), e.b.CreateICmpNE(y, e.b.index(-1))));
  }
  division<F>(e, op);
}

/// Quotient and remainder, signed; dividing by -1, which overflows once, is a negation.
std::pair<llvm::Value *, llvm::Value *> divRem(Builder &b, llvm::Value *x, llvm::Value *y) {
  llvm::Value *isMinusOne = b.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(y->getType()));
  llvm::Value *safe = b.CreateSelect(isMinusOne, b.bits(y, 1), y);
  return {b.CreateSelect(isMinusOne, b.CreateNeg(x), b.CreateSDiv(x, safe)),
          b.CreateSelect(isMinusOne, b.bits(x, 0), b.CreateSRem(x, safe))};
}

/// The quotient, moved by `step` if it is not exact and the signs of the operands are (un)equal.
llvm::Value *roundedDiv(Builder &b, llvm::Value *x, llvm::Value *y, bool isUp) {
  auto [quotient, rest] = divRem(b, x, y);
  llvm::Value *isExact = b.CreateICmpEQ(rest, b.bits(rest, 0));
  llvm::Value *differ = b.CreateICmpSLT(b.CreateXor(x, y), b.bits(x, 0));
  llvm::Value *moves = b.CreateAnd(b.CreateNot(isExact), isUp ? b.CreateNot(differ) : differ);
  llvm::Value *step = b.CreateZExt(moves, x->getType());
  return isUp ? b.CreateAdd(quotient, step) : b.CreateSub(quotient, step);
}

/// A shift whose count is below the width, else `otherwise`.
llvm::Value *shifted(Builder &b, llvm::Value *x, llvm::Value *y, llvm::Instruction::BinaryOps how,
                     llvm::Value *otherwise) {
  unsigned width = x->getType()->getIntegerBitWidth();
  llvm::Value *isInside = b.CreateICmpULT(y, b.bits(y, width));
  llvm::Value *count = b.CreateSelect(isInside, y, b.bits(y, 0));
  return b.CreateSelect(isInside, b.CreateBinOp(how, x, count), otherwise);
}

void constantOp(KernelEmitter &e, arith::ConstantOp op) {
  if (!isa<IntegerType, IndexType, FloatType>(op.getType()))
    return e.unsupported(op, "constants are scalars");
  DType type = elementTypeOf(op.getType());
  ScalarBits bits;
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    bits = ScalarBits::fromInt(type, type == DType::I1 ? integer.getValue().getZExtValue()
                                                       : integer.getValue().getSExtValue());
  else
    bits = ScalarBits::fromDouble(type, cast<FloatAttr>(op.getValue()).getValueAsDouble());
  e.setScalar(op.getResult(), constant(e.b, bits));
}

void select(KernelEmitter &e, arith::SelectOp op) {
  e.setScalar(op.getResult(),
              e.b.CreateSelect(e.scalar(op.getCondition()), e.scalar(op.getTrueValue()),
                               e.scalar(op.getFalseValue())));
}

void compareInts(KernelEmitter &e, arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  using L = llvm::CmpInst;
  static const std::map<P, L::Predicate> table = {
      {P::eq, L::ICMP_EQ},   {P::ne, L::ICMP_NE},   {P::slt, L::ICMP_SLT}, {P::sle, L::ICMP_SLE},
      {P::sgt, L::ICMP_SGT}, {P::sge, L::ICMP_SGE}, {P::ult, L::ICMP_ULT}, {P::ule, L::ICMP_ULE},
      {P::ugt, L::ICMP_UGT}, {P::uge, L::ICMP_UGE}};
  e.setScalar(op.getResult(), e.b.CreateICmp(table.at(op.getPredicate()), e.scalar(op.getLhs()),
                                             e.scalar(op.getRhs())));
}

void compareFloats(KernelEmitter &e, arith::CmpFOp op) {
  using P = arith::CmpFPredicate;
  using L = llvm::CmpInst;
  static const std::map<P, L::Predicate> table = {
      {P::AlwaysFalse, L::FCMP_FALSE}, {P::AlwaysTrue, L::FCMP_TRUE},
      {P::ORD, L::FCMP_ORD},           {P::UNO, L::FCMP_UNO},
      {P::OEQ, L::FCMP_OEQ},           {P::UEQ, L::FCMP_UEQ},
      {P::ONE, L::FCMP_ONE},           {P::UNE, L::FCMP_UNE},
      {P::OLT, L::FCMP_OLT},           {P::ULT, L::FCMP_ULT},
      {P::OLE, L::FCMP_OLE},           {P::ULE, L::FCMP_ULE},
      {P::OGT, L::FCMP_OGT},           {P::UGT, L::FCMP_UGT},
      {P::OGE, L::FCMP_OGE},           {P::UGE, L::FCMP_UGE}};
  e.setScalar(op.getResult(), e.b.CreateFCmp(table.at(op.getPredicate()), e.scalar(op.getLhs()),
                                             e.scalar(op.getRhs())));
}

template <bool isSigned> void resize(KernelEmitter &e, Operation *op) {
  llvm::Type *type = registerType(e.b, elementTypeOf(op->getResult(0).getType()));
  e.setScalar(op->getResult(0), e.b.CreateIntCast(e.scalar(op->getOperand(0)), type, isSigned));
}

template <bool isSigned> void toFloat(KernelEmitter &e, Operation *op) {
  llvm::Value *x = e.scalar(op->getOperand(0));
  llvm::Value *value =
      isSigned ? e.b.CreateSIToFP(x, e.b.getFloatTy()) : e.b.CreateUIToFP(x, e.b.getFloatTy());
  e.setScalar(op->getResult(0), round(e.b, value, elementTypeOf(op->getResult(0).getType())));
}

void toInt(KernelEmitter &e, arith::FPToSIOp op) {
  e.setScalar(op.getResult(),
              convert(e.b, e.scalar(op.getIn()), elementTypeOf(op.getIn().getType()),
                      elementTypeOf(op.getType())));
}

void resizeFloat(KernelEmitter &e, Operation *op) {
  e.setScalar(op->getResult(0),
              round(e.b, e.scalar(op->getOperand(0)), elementTypeOf(op->getResult(0).getType())));
}

void negate(KernelEmitter &e, arith::NegFOp op) {
  e.setScalar(op.getResult(), e.b.CreateFNeg(e.scalar(op.getOperand())));
}

template <llvm::Intrinsic::ID id>
llvm::Value *intrinsic(Builder &b, llvm::Value *x, llvm::Value *y) {
  return b.CreateBinaryIntrinsic(id, x, y);
}

using B = Builder;
using V = llvm::Value;

} // namespace

void addScalarOps(OpTable &table) {
  namespace I = llvm::Intrinsic;
  table.add<arith::ConstantOp, constantOp>();
  table.add<arith::SelectOp, select>();
  table.add<arith::CmpIOp, compareInts>();
  table.add<arith::CmpFOp, compareFloats>();

  table.add<arith::AddIOp, sumOrProduct<[](B &b, V *x, V *y) { return b.CreateAdd(x, y); },
                                        I::sadd_with_overflow>>();
  table.add<arith::SubIOp, sumOrProduct<[](B &b, V *x, V *y) { return b.CreateSub(x, y); },
                                        I::ssub_with_overflow>>();
  table.add<arith::MulIOp, sumOrProduct<[](B &b, V *x, V *y) { return b.CreateMul(x, y); },
                                        I::smul_with_overflow>>();
  table.add<arith::AndIOp, intBinary<[](B &b, V *x, V *y) { return b.CreateAnd(x, y); }>>();
  table.add<arith::OrIOp, intBinary<[](B &b, V *x, V *y) { return b.CreateOr(x, y); }>>();
  table.add<arith::XOrIOp, intBinary<[](B &b, V *x, V *y) { return b.CreateXor(x, y); }>>();
  table.add<arith::ShLIOp, intBinary<[](B &b, V *x, V *y) {
              return shifted(b, x, y, llvm::Instruction::Shl, b.bits(x, 0));
            }>>();
  table.add<arith::ShRUIOp, intBinary<[](B &b, V *x, V *y) {
              return shifted(b, x, y, llvm::Instruction::LShr, b.bits(x, 0));
            }>>();
  table.add<arith::ShRSIOp, intBinary<[](B &b, V *x, V *y) {
              V *most = b.bits(y, x->getType()->getIntegerBitWidth() - 1);
              return b.CreateAShr(x, b.CreateSelect(b.CreateICmpULT(y, most), y, most));
            }>>();
  table.add<arith::MinSIOp, intBinary<intrinsic<I::smin>>>();
  table.add<arith::MaxSIOp, intBinary<intrinsic<I::smax>>>();
  table.add<arith::MinUIOp, intBinary<intrinsic<I::umin>>>();
  table.add<arith::MaxUIOp, intBinary<intrinsic<I::umax>>>();
  table.add<arith::DivSIOp, quotient<[](B &b, V *x, V *y) { return divRem(b, x, y).first; }>>();
  table.add<arith::RemSIOp, division<[](B &b, V *x, V *y) { return divRem(b, x, y).second; }>>();
  table.add<arith::FloorDivSIOp,
            quotient<[](B &b, V *x, V *y) { return roundedDiv(b, x, y, false); }>>();
  table.add<arith::CeilDivSIOp,
            quotient<[](B &b, V *x, V *y) { return roundedDiv(b, x, y, true); }>>();
  table.add<arith::DivUIOp, division<[](B &b, V *x, V *y) { return b.CreateUDiv(x, y); }>>();
  table.add<arith::RemUIOp, division<[](B &b, V *x, V *y) { return b.CreateURem(x, y); }>>();
  table.add<arith::CeilDivUIOp, division<[](B &b, V *x, V *y) {
              V *rest = b.CreateURem(x, y), *more = b.CreateICmpNE(rest, b.bits(rest, 0));
              return b.CreateAdd(b.CreateUDiv(x, y), b.CreateZExt(more, x->getType()));
            }>>();

  table.add<arith::AddFOp, floatBinary<[](B &b, V *x, V *y) { return b.CreateFAdd(x, y); }>>();
  table.add<arith::SubFOp, floatBinary<[](B &b, V *x, V *y) { return b.CreateFSub(x, y); }>>();
  table.add<arith::MulFOp, floatBinary<[](B &b, V *x, V *y) { return b.CreateFMul(x, y); }>>();
  table.add<arith::DivFOp, floatBinary<[](B &b, V *x, V *y) { return b.CreateFDiv(x, y); }>>();
  table.add<arith::RemFOp, floatBinary<[](B &b, V *x, V *y) { return b.CreateFRem(x, y); }>>();
  table.add<arith::MaximumFOp, floatBinary<intrinsic<I::maximum>>>();
  table.add<arith::MinimumFOp, floatBinary<intrinsic<I::minimum>>>();
  table.add<arith::NegFOp, negate>();

  table.add<arith::IndexCastOp, resize<true>>();
  table.add<arith::ExtSIOp, resize<true>>();
  table.add<arith::TruncIOp, resize<true>>();
  table.add<arith::IndexCastUIOp, resize<false>>();
  table.add<arith::ExtUIOp, resize<false>>();
  table.add<arith::SIToFPOp, toFloat<true>>();
  table.add<arith::UIToFPOp, toFloat<false>>();
  table.add<arith::FPToSIOp, toInt>();
  table.add<arith::ExtFOp, resizeFloat>();
  table.add<arith::TruncFOp, resizeFloat>();
}

} // namespace kiln::llvmir
