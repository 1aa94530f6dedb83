#include "Elements.h"

#include "kiln/Program/Signature.h"

#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace kiln::llvmir {

DType elementTypeOf(mlir::Type type) {
  if (auto tile = mlir::dyn_cast<tile::TileType>(type))
    type = tile.getElementType();
  if (auto tensor = mlir::dyn_cast<ir::TensorType>(type))
    type = tensor.getElementType();
  return *dtypeOf(type);
}

Type *memoryType(Builder &b, DType type) {
  return type == DType::F32 ? b.getFloatTy() : b.getIntNTy(8 * sizeOf(type));
}

Type *registerType(Builder &b, DType type) {
  if (isFloat(type))
    return b.getFloatTy();
  return type == DType::I1 ? b.getInt1Ty() : b.getIntNTy(8 * sizeOf(type));
}

//===----------------------------------------------------------------------===//
// Small floats
//===----------------------------------------------------------------------===//

static Value *asBits(Builder &b, Value *value) {
  return b.CreateBitCast(value, Builder::shapedAs(value, b.getInt32Ty()));
}
static Value *asFloat(Builder &b, Value *bits) {
  return b.CreateBitCast(bits, Builder::shapedAs(bits, b.getFloatTy()));
}
static Value *isNaN(Builder &b, Value *value) { return b.CreateFCmpUNO(value, value); }

/// A half as f32; every half is one.
static Value *decodeHalf(Builder &b, Value *stored) {
  Value *half = b.CreateBitCast(stored, Builder::shapedAs(stored, b.getHalfTy()));
  return b.CreateFPExt(half, Builder::shapedAs(stored, b.getFloatTy()));
}

/// f8E4M3FN has the bits of a half with a shorter exponent, whose bias is 8 less.
static Value *decodeE4M3(Builder &b, Value *stored) {
  Value *wide = b.CreateZExt(stored, Builder::shapedAs(stored, b.getInt16Ty()));
  Value *sign = b.CreateShl(b.CreateAnd(wide, b.bits(wide, 0x80)), b.bits(wide, 8));
  Value *magnitude = b.CreateAnd(wide, b.bits(wide, 0x7f));
  Value *half = decodeHalf(b, b.CreateOr(sign, b.CreateShl(magnitude, b.bits(wide, 7))));
  Value *value = b.CreateFMul(half, b.real(half, 256.0));
  Value *nan = b.real(half, std::numeric_limits<double>::quiet_NaN());
  return b.CreateSelect(b.CreateICmpEQ(magnitude, b.bits(wide, 0x7f)), nan, value);
}

static Value *roundToBF16(Builder &b, Value *value) {
  Value *bits = asBits(b, value);
  Value *odd = b.CreateAnd(b.CreateLShr(bits, b.bits(bits, 16)), b.bits(bits, 1));
  Value *rounded = b.CreateAdd(b.CreateAdd(bits, b.bits(bits, 0x7fff)), odd);
  // Rounding would carry some NaNs over to infinity or zero.
  Value *quiet = b.CreateOr(bits, b.bits(bits, 0x400000));
  Value *safe = b.CreateSelect(isNaN(b, value), quiet, rounded);
  return asFloat(b, b.CreateAnd(safe, b.bits(bits, 0xffff0000)));
}

/// The bits of an 8-bit float, in the low bits of an i32: one sign bit, `mantissaBits` of mantissa.
static Value *encodeF8(Builder &b, Value *value, int mantissaBits, int bias, uint32_t maxFinite,
                       uint32_t overflow, uint32_t nan) {
  Value *bits = asBits(b, value);
  Value *sign = b.CreateAnd(b.CreateLShr(bits, b.bits(bits, 24)), b.bits(bits, 0x80));
  Value *magnitude = b.CreateAnd(bits, b.bits(bits, 0x7fffffff));
  int dropped = 23 - mantissaBits;
  // Normal: round the mantissa, where a carry goes on into the exponent, and change the bias.
  Value *odd = b.CreateAnd(b.CreateLShr(magnitude, b.bits(bits, dropped)), b.bits(bits, 1));
  Value *rounded =
      b.CreateAdd(b.CreateAdd(magnitude, b.bits(bits, (1u << (dropped - 1)) - 1)), odd);
  Value *normal = b.CreateSub(b.CreateLShr(rounded, b.bits(bits, dropped)),
                              b.bits(bits, uint64_t(127 - bias) << mantissaBits));
  // Subnormal: adding a number whose last bit is the format's smallest value rounds to it.
  auto unit = ConstantFP::get(value->getType(), std::ldexp(1.0, 23 + 1 - bias - mantissaBits));
  Value *sum = b.CreateFAdd(asFloat(b, magnitude), unit);
  Value *subnormal = b.CreateSub(asBits(b, sum), asBits(b, unit));
  Value *isSmall = b.CreateICmpULT(magnitude, b.bits(bits, uint64_t(127 + 1 - bias) << 23));
  Value *finite = b.CreateSelect(isSmall, subnormal, normal);
  Value *result = b.CreateSelect(b.CreateICmpUGT(finite, b.bits(bits, maxFinite)),
                                 b.bits(bits, overflow), finite);
  result = b.CreateSelect(b.CreateICmpEQ(magnitude, b.bits(bits, 0x7f800000)),
                          b.bits(bits, overflow), result);
  result = b.CreateSelect(isNaN(b, value), b.bits(bits, nan), result);
  return b.CreateOr(sign, result);
}

static Value *encodeF8(Builder &b, Value *value, DType type) {
  Value *bits = type == DType::F8E5M2 ? encodeF8(b, value, 2, 15, 0x7b, 0x7c, 0x7e)
                                      : encodeF8(b, value, 3, 7, 0x7e, 0x7f, 0x7f);
  return b.CreateTrunc(bits, Builder::shapedAs(value, b.getInt8Ty()));
}

static Value *encodeHalf(Builder &b, Value *value) {
  Value *half = b.CreateFPTrunc(value, Builder::shapedAs(value, b.getHalfTy()));
  return b.CreateBitCast(half, Builder::shapedAs(value, b.getInt16Ty()));
}

//===----------------------------------------------------------------------===//
// All types
//===----------------------------------------------------------------------===//

Value *decode(Builder &b, Value *stored, DType type) {
  switch (type) {
  case DType::F16:
    return decodeHalf(b, stored);
  case DType::BF16: {
    Value *wide = b.CreateZExt(stored, Builder::shapedAs(stored, b.getInt32Ty()));
    return asFloat(b, b.CreateShl(wide, b.bits(wide, 16)));
  }
  case DType::F8E5M2: { // the upper half of a half
    Value *wide = b.CreateZExt(stored, Builder::shapedAs(stored, b.getInt16Ty()));
    return decodeHalf(b, b.CreateShl(wide, b.bits(wide, 8)));
  }
  case DType::F8E4M3FN:
    return decodeE4M3(b, stored);
  case DType::I1:
    return b.CreateICmpNE(stored, b.bits(stored, 0));
  default:
    return stored;
  }
}

Value *encode(Builder &b, Value *value, DType type) {
  switch (type) {
  case DType::F16:
    return encodeHalf(b, value);
  case DType::BF16: {
    Value *bits = asBits(b, value);
    return b.CreateTrunc(b.CreateLShr(bits, b.bits(bits, 16)),
                         Builder::shapedAs(value, b.getInt16Ty()));
  }
  case DType::F8E5M2:
  case DType::F8E4M3FN:
    return encodeF8(b, value, type);
  case DType::I1:
    return b.CreateZExt(value, Builder::shapedAs(value, b.getInt8Ty()));
  default:
    return value;
  }
}

Value *round(Builder &b, Value *value, DType type) {
  switch (type) {
  case DType::BF16:
    return roundToBF16(b, value);
  case DType::F16:
  case DType::F8E5M2:
  case DType::F8E4M3FN:
    return decode(b, encode(b, value, type), type);
  default:
    return value;
  }
}

Value *convert(Builder &b, Value *value, DType from, DType to) {
  Type *result = Builder::shapedAs(value, registerType(b, to));
  if (isFloat(from)) {
    if (isFloat(to))
      return round(b, value, to);
    if (to == DType::I1)
      return b.CreateFCmpUNE(value, b.real(value, 0.0));
    return b.CreateIntrinsic(Intrinsic::fptosi_sat, {result, value->getType()}, {value});
  }
  if (isFloat(to)) {
    Value *real = from == DType::I1 ? b.CreateUIToFP(value, result) : b.CreateSIToFP(value, result);
    return round(b, real, to);
  }
  if (to == DType::I1)
    return b.CreateICmpNE(value, b.bits(value, 0));
  return b.CreateIntCast(value, result, /*isSigned=*/from != DType::I1);
}

Value *constant(Builder &b, ScalarBits value) {
  if (isFloat(value.type))
    return ConstantFP::get(b.getFloatTy(), value.asDouble());
  return ConstantInt::getSigned(registerType(b, value.type),
                                value.type == DType::I1 ? (value.bits ? -1 : 0) : value.asInt());
}

Value *fromSlot(Builder &b, Value *slot, DType type) {
  if (isFloat(type)) {
    Value *bits = b.CreateTrunc(slot, b.getIntNTy(8 * sizeOf(type)));
    return decode(b, b.CreateBitCast(bits, memoryType(b, type)), type);
  }
  return b.CreateTrunc(slot, registerType(b, type));
}

Value *loadElements(Builder &b, Value *address, DType type, unsigned width) {
  Type *memory = memoryType(b, type);
  Value *stored =
      b.CreateAlignedLoad(Builder::vectorOf(memory, width), address, Align(sizeOf(type)));
  return decode(b, stored, type);
}

void emitPrefetch(Builder &b, Value *address, bool intoNearest) {
  constexpr int32_t reads = 0, intoL1 = 3, intoL2 = 2, isData = 1;
  b.CreateIntrinsic(
      Intrinsic::prefetch, {b.getPtrTy()},
      {address, b.getInt32(reads), b.getInt32(intoNearest ? intoL1 : intoL2), b.getInt32(isData)});
}

void storeElements(Builder &b, Value *value, Value *address, DType type) {
  b.CreateAlignedStore(encode(b, value, type), address, Align(sizeOf(type)));
}

void streamElements(Builder &b, Value *value, Value *address, DType type) {
  auto *one = ConstantAsMetadata::get(b.getInt32(1));
  StoreInst *store =
      b.CreateAlignedStore(encode(b, value, type), address, Align(sizeOf(type) * kWidth));
  store->setMetadata(LLVMContext::MD_nontemporal, MDNode::get(b.getContext(), one));
}

} // namespace kiln::llvmir
