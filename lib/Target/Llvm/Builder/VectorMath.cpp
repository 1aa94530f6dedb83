#include "VectorMath.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <limits>

using namespace llvm;

namespace kiln::llvmir {
namespace {

Value *fma(Builder &b, Value *x, Value *y, Value *z) {
  return b.CreateIntrinsic(Intrinsic::fma, {x->getType()}, {x, y, z});
}

/// c[0] + c[1] x + c[2] x^2 + ...
Value *polynomial(Builder &b, Value *x, ArrayRef<double> c) {
  Value *sum = b.real(x, c.back());
  for (double next : reverse(c.drop_back()))
    sum = fma(b, sum, x, b.real(x, next));
  return sum;
}

Value *asBits(Builder &b, Value *x) {
  return b.CreateBitCast(x, Builder::shapedAs(x, b.getInt32Ty()));
}
Value *asFloat(Builder &b, Value *x) {
  return b.CreateBitCast(x, Builder::shapedAs(x, b.getFloatTy()));
}
Value *magnitude(Builder &b, Value *x) { return b.CreateUnaryIntrinsic(Intrinsic::fabs, x); }
Value *withSignOf(Builder &b, Value *x, Value *sign) {
  return b.CreateBinaryIntrinsic(Intrinsic::copysign, x, sign);
}

/// x clamped so that nothing below overflows an integer; NaN stays.
Value *clamped(Builder &b, Value *x, double low, double high) {
  x = b.CreateSelect(b.CreateFCmpOLT(x, b.real(x, low)), b.real(x, low), x);
  return b.CreateSelect(b.CreateFCmpOGT(x, b.real(x, high)), b.real(x, high), x);
}

/// The nearest integer of x times a factor, below 2^22, as a float and, in the low bits, as an
/// integer: adding 1.5 * 2^23 leaves no bits for a fraction. NaN stays one, where a conversion
/// would be undefined.
struct Nearest {
  Value *real, *integer;
};
Nearest nearest(Builder &b, Value *x, double factor = 1) {
  Value *magic = b.real(x, 0x1.8p23);
  Value *sum = factor == 1 ? b.CreateFAdd(x, magic) : fma(b, x, b.real(x, factor), magic);
  return {b.CreateFSub(sum, magic), b.CreateSub(asBits(b, sum), asBits(b, magic))};
}

/// Whether the instructions of AVX-512 that `perRegister` calls fit.
bool isWholeRegisters(Builder &b, Value *x) {
  return b.machine.hasAvx512 && x->getType()->isVectorTy() && Builder::widthOf(x) % kWidth == 0;
}

/// An intrinsic on the registers that vectors consist of.
Value *perRegister(Builder &b, Intrinsic::ID id, ArrayRef<Value *> vectors,
                   function_ref<void(Values &)> addRest) {
  Value *all = nullptr;
  unsigned width = Builder::widthOf(vectors[0]);
  for (unsigned lane = 0; lane < width; lane += kWidth) {
    Values args;
    for (Value *vector : vectors)
      args.push_back(b.lanesOf(vector, lane, kWidth));
    addRest(args);
    Value *part = b.CreateIntrinsic(id, args);
    all = all ? concatenateVectors(b, {all, part}) : part;
  }
  return all;
}

constexpr int32_t kRoundsAsUsual = 4;

/// x * 2^n, for an integer n as a float; rounded once.
Value *scaleByPower(Builder &b, Value *x, Value *n) {
  return perRegister(b, Intrinsic::x86_avx512_mask_scalef_ps_512, {x, n}, [&](Values &args) {
    args.append({args[0], b.getInt16(-1), b.getInt32(kRoundsAsUsual)});
  });
}

/// x * 2^n for |n| < 252, in two steps, so that the result may be subnormal or infinite.
Value *scaled(Builder &b, Value *x, Nearest exponent) {
  if (isWholeRegisters(b, x))
    return scaleByPower(b, x, exponent.real);
  Value *n = exponent.integer;
  auto power = [&](Value *of) {
    return asFloat(b, b.CreateShl(b.CreateAdd(of, b.bits(of, 127)), b.bits(of, 23)));
  };
  Value *half = b.CreateAShr(n, b.bits(n, 1));
  return b.CreateFMul(b.CreateFMul(x, power(half)), power(b.CreateSub(n, half)));
}

} // namespace

/// e^x = 2^n (1 + rest), where the rest is e^r - 1 with |r| <= ln(2) / 2.
struct Exponential {
  Nearest n;
  Value *rest;
};
static Exponential exponential(Builder &b, Value *x) {
  Nearest n = nearest(b, x, 0x1.715476p0);
  Value *minus = b.CreateFNeg(n.real);
  Value *r = fma(b, minus, b.real(x, 0x1.62e4p-1), x); // ln(2) in two parts, the first short
  r = fma(b, minus, b.real(x, 0x1.7f7d1cp-20), r);
  Value *q = polynomial(
      b, r, {0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558f2p-5, 0x1.1239e4p-7, 0x1.6a242ap-10});
  return {n, fma(b, b.CreateFMul(r, r), q, r)};
}

Value *emitExp(Builder &b, Value *x) {
  x = clamped(b, x, -104.0, 89.0);
  Exponential e = exponential(b, x);
  return scaled(b, b.CreateFAdd(e.rest, b.real(x, 1.0)), e.n);
}

// 2^n rest + (2^n - 1) near 0, where subtracting 1 from e^x would cancel; x itself where the next
// term of the series is below its last bit, which keeps the sign of zero.
Value *emitExpm1(Builder &b, Value *x) {
  Value *y = magnitude(b, x), *one = b.real(x, 1.0);
  Exponential e = exponential(b, clamped(b, x, -2.0, 2.0));
  Value *power = scaled(b, one, e.n);
  Value *nearZero = fma(b, e.rest, power, b.CreateFSub(power, one));
  nearZero = b.CreateSelect(b.CreateFCmpOLT(y, b.real(x, 0x1p-24)), x, nearZero);
  Value *far = b.CreateFSub(emitExp(b, x), one);
  return b.CreateSelect(b.CreateFCmpOLT(y, b.real(x, 2.0)), nearZero, far);
}

// 2^x = 2^n 2^r with |r| <= 1/2.
Value *emitExp2(Builder &b, Value *x) {
  x = clamped(b, x, -151.0, 129.0);
  Nearest n = nearest(b, x);
  Value *r = b.CreateFSub(x, n.real);
  Value *p = polynomial(b, r,
                        {1.0, 0.6931471824645996, 0.24022647738456726, 0.055503323674201965,
                         0.009618437848985195, 0.0013398901792243123, 0.00015353337221313268});
  return scaled(b, p, n);
}

/// x = m 2^e with m between 1 and 2 (of x's sign): zero, infinity and NaN come out right when m is
/// scaled by 2^e again.
struct Parts {
  Value *mantissa, *exponent;
};
static Parts partsOf(Builder &b, Value *x) {
  constexpr int32_t between1And2 = 0;
  auto rest = [&](Values &args) {
    args.append({args[0], b.getInt16(-1), b.getInt32(kRoundsAsUsual)});
  };
  auto restOfMantissa = [&](Values &args) {
    args.append({b.getInt32(between1And2), args[0], b.getInt16(-1), b.getInt32(kRoundsAsUsual)});
  };
  return {perRegister(b, Intrinsic::x86_avx512_mask_getmant_ps_512, {x}, restOfMantissa),
          perRegister(b, Intrinsic::x86_avx512_mask_getexp_ps_512, {x}, rest)};
}

// The remainder of a quotient is exact with a fused multiply-add; with the divisor's rounded
// reciprocal it corrects the quotient to the last bit (Markstein). Two corrections, because the
// first quotient may be off by more than one unit. On mantissas, where nothing overflows; only a
// quotient that is subnormal is rounded a second time.
Value *emitQuotient(Builder &b, Value *x, Value *divisor) {
  if (!getSplatValue(divisor) || isa<Constant>(divisor) || !isWholeRegisters(b, x))
    return b.CreateFDiv(x, divisor);
  Parts of = partsOf(b, x), by = partsOf(b, divisor);
  Value *inverse = b.CreateFDiv(b.real(x, 1.0), by.mantissa), *minus = b.CreateFNeg(by.mantissa);
  Value *quotient = b.CreateFMul(of.mantissa, inverse);
  for (int correction = 0; correction < 2; ++correction)
    quotient = fma(b, fma(b, quotient, minus, of.mantissa), inverse, quotient);
  return scaleByPower(b, quotient, b.CreateFSub(of.exponent, by.exponent));
}

// log(x) = e log(2) + log(m) with m between sqrt(1/2) and sqrt(2).
Value *emitLog(Builder &b, Value *x) {
  Value *isSmall = b.CreateFCmpOLT(x, b.real(x, 0x1p-126)); // subnormal: make it normal
  Value *normal = b.CreateSelect(isSmall, b.CreateFMul(x, b.real(x, 0x1p23)), x);
  Value *bits = asBits(b, normal);
  // Moves the exponent's step from 1 to sqrt(1/2).
  Value *shifted = b.CreateSub(bits, b.bits(bits, 0x3f3504f3));
  Value *exponent = b.CreateAShr(shifted, b.bits(bits, 23));
  Value *m = asFloat(b, b.CreateSub(bits, b.CreateShl(exponent, b.bits(bits, 23))));
  Value *e = b.CreateSIToFP(exponent, x->getType());
  e = b.CreateFSub(e, b.CreateSelect(isSmall, b.real(x, 23.0), b.real(x, 0.0)));
  Value *f = b.CreateFSub(m, b.real(x, 1.0)), *square = b.CreateFMul(f, f);
  Value *p = polynomial(b, f,
                        {0.3333333134651184, -0.250008225440979, 0.20001232624053955,
                         -0.16623295843601227, 0.14201565086841583, -0.13160617649555206,
                         0.1276325285434723, -0.07635468989610672});
  Value *tail = fma(b, b.CreateFMul(square, f), p, b.CreateFMul(e, b.real(x, 0x1.7f7d1cp-20)));
  tail = fma(b, square, b.real(x, -0.5), tail);
  Value *result = fma(b, e, b.real(x, 0x1.62e4p-1), b.CreateFAdd(f, tail));
  double inf = std::numeric_limits<double>::infinity();
  result = b.CreateSelect(b.CreateFCmpOEQ(x, b.real(x, inf)), x, result);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, b.real(x, 0.0)), b.real(x, -inf), result);
  Value *nan = b.real(x, std::numeric_limits<double>::quiet_NaN());
  return b.CreateSelect(b.CreateFCmpULT(x, b.real(x, 0.0)), nan, result);
}

// What 1 + x loses by rounding is known exactly, and the logarithm grows by that divided by 1 + x.
Value *emitLog1p(Builder &b, Value *x) {
  Value *one = b.real(x, 1.0), *sum = b.CreateFAdd(x, one), *log = emitLog(b, sum);
  Value *lost = b.CreateSelect(b.CreateFCmpOGE(x, one), b.CreateFSub(one, b.CreateFSub(sum, x)),
                               b.CreateFSub(x, b.CreateFSub(sum, one)));
  Value *result = b.CreateFAdd(log, b.CreateFDiv(lost, sum));
  // At the pole, at infinity and where there is no logarithm, nothing was lost.
  Value *isOrdinary =
      b.CreateAnd(b.CreateFCmpOGT(sum, b.real(x, 0.0)),
                  b.CreateFCmpOLT(sum, b.real(x, std::numeric_limits<double>::infinity())));
  result = b.CreateSelect(isOrdinary, result, log);
  return b.CreateSelect(b.CreateFCmpOEQ(sum, one), x, result); // keeps the sign of zero
}

// An odd polynomial near 0, where the other form would cancel; 1 - 2 / (e^2x + 1) elsewhere.
Value *emitTanh(Builder &b, Value *x) {
  Value *y = magnitude(b, x), *square = b.CreateFMul(x, x), *one = b.real(x, 1.0);
  Value *p = polynomial(b, square,
                        {-0.3333328068256378, 0.13331440091133118, -0.0537395253777504,
                         0.020638443529605865, -0.005704235751181841});
  Value *nearZero = fma(b, b.CreateFMul(square, x), p, x);
  Value *twice = b.CreateFAdd(y, y);
  Value *quotient = b.CreateFDiv(b.real(x, 2.0), b.CreateFAdd(emitExp(b, twice), one));
  Value *far = withSignOf(b, b.CreateFSub(one, quotient), x);
  return b.CreateSelect(b.CreateFCmpOLT(y, b.real(x, 0.625)), nearZero, far);
}

// An odd polynomial up to 1; 1 - e^-p(x) above, with p fitted to -log(erfc(x)).
Value *emitErf(Builder &b, Value *x) {
  Value *y = magnitude(b, x), *square = b.CreateFMul(x, x), *one = b.real(x, 1.0);
  // 2 / sqrt(pi) in two parts: it alone decides the last bit of a small result.
  Value *p =
      polynomial(b, square,
                 {0x1.fca696p-25, -0.3761262595653534, 0.1128358542919159, -0.02685381844639778,
                  0.00518833938986063, -0.0008010288001969457, 7.854148861952126e-05});
  Value *nearZero = fma(b, x, b.real(x, 1.1283791065216064), b.CreateFMul(x, p));
  Value *most = b.CreateSelect(b.CreateFCmpOGT(y, b.real(x, 4.0)), b.real(x, 4.0), y);
  Value *q = polynomial(b, most,
                        {-0.00018847336468752474, 1.1295803785324097, 0.6332163214683533,
                         0.10842215269804001, -0.025210371240973473, 0.004205296281725168,
                         -0.0004414748982526362, 2.1697798729292117e-05});
  Value *far = withSignOf(b, b.CreateFSub(one, emitExp(b, b.CreateFNeg(q))), x);
  return b.CreateSelect(b.CreateFCmpOLT(y, one), nearZero, far);
}

// A third of the exponent, by dividing the bits, is right to 5 bits; each of two steps of Halley's
// method triples them. Far from 1 on a number 2^24 times as large or as small, so that no cube
// overflows and none is subnormal.
Value *emitCbrt(Builder &b, Value *x) {
  Value *y = magnitude(b, x), *one = b.real(x, 1.0);
  Value *isSmall = b.CreateFCmpOLT(y, b.real(x, 0x1p-96));
  Value *isLarge = b.CreateFCmpOGT(y, b.real(x, 0x1p96));
  auto choose = [&](double small, double large) {
    return b.CreateSelect(isSmall, b.real(x, small),
                          b.CreateSelect(isLarge, b.real(x, large), one));
  };
  Value *cube = b.CreateFMul(y, choose(0x1p24, 0x1p-24)), *bits = asBits(b, cube);
  Value *third = b.CreateUDiv(bits, b.bits(bits, 3));
  Value *root = asFloat(b, b.CreateAdd(third, b.bits(bits, 709958130)));
  for (int step = 0; step < 2; ++step) {
    Value *own = b.CreateFMul(root, b.CreateFMul(root, root));
    Value *excess = b.CreateFSub(own, cube), *sum = fma(b, own, b.real(x, 2.0), cube);
    root = fma(b, b.CreateFNeg(root), b.CreateFDiv(excess, sum), root);
  }
  Value *result = withSignOf(b, b.CreateFMul(root, choose(0x1p-8, 0x1p8)), x);
  // Zeros, infinities and NaN are their own roots.
  Value *isOrdinary =
      b.CreateAnd(b.CreateFCmpOGT(y, b.real(x, 0.0)),
                  b.CreateFCmpOLT(y, b.real(x, std::numeric_limits<double>::infinity())));
  return b.CreateSelect(isOrdinary, result, x);
}

} // namespace kiln::llvmir
