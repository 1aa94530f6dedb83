#include "TestSupport.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

using namespace kiln;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A format as seen from outside, described independently of the implementation.
struct Format {
  const char *name;
  int bits, mantissa, bias;
  double max;
  bool hasInfinity;
  std::function<double(uint32_t)> decode;
  std::function<uint32_t(double)> encode;
};

std::vector<Format> formats() {
  auto u16 = [](uint32_t b) { return static_cast<uint16_t>(b); };
  auto u8 = [](uint32_t b) { return static_cast<uint8_t>(b); };
  return {
      {"f16", 16, 10, 15, 65504.0, true, [=](uint32_t b) { return decodeF16(u16(b)); }, encodeF16},
      {"bf16", 16, 7, 127, std::ldexp(255.0, 120), true,
       [=](uint32_t b) { return decodeBF16(u16(b)); }, encodeBF16},
      {"f8E5M2", 8, 2, 15, 57344.0, true, [=](uint32_t b) { return decodeF8E5M2(u8(b)); },
       encodeF8E5M2},
      {"f8E4M3FN", 8, 3, 7, 448.0, false, [=](uint32_t b) { return decodeF8E4M3FN(u8(b)); },
       encodeF8E4M3FN},
  };
}

/// The value of a bit pattern by the definition of the format, by arithmetic alone.
double reference(const Format &f, uint32_t bits) {
  uint32_t sign = bits >> (f.bits - 1), magnitude = bits & ((1u << (f.bits - 1)) - 1);
  int exponent = static_cast<int>(magnitude >> f.mantissa),
      exponents = 1 << (f.bits - 1 - f.mantissa);
  uint32_t mantissa = magnitude & ((1u << f.mantissa) - 1);
  double value;
  if (f.hasInfinity && exponent == exponents - 1)
    value = mantissa ? NAN : infinity;
  else if (!f.hasInfinity && magnitude == (1u << (f.bits - 1)) - 1)
    value = NAN;
  else if (exponent == 0)
    value = mantissa * std::pow(2.0, 1 - f.bias - f.mantissa);
  else
    value = (1.0 + mantissa / std::pow(2.0, f.mantissa)) * std::pow(2.0, exponent - f.bias);
  return sign ? -value : value;
}

} // namespace

TEST(DType, EveryBitPatternDecodesToItsDefinitionAndBack) {
  for (const Format &f : formats()) {
    int nans = 0;
    for (uint32_t bits = 0; bits < 1u << f.bits; ++bits) {
      double value = f.decode(bits), expected = reference(f, bits);
      if (std::isnan(expected)) {
        ++nans;
        ASSERT_TRUE(std::isnan(value)) << f.name << " " << bits;
        ASSERT_TRUE(std::isnan(f.decode(f.encode(value)))) << f.name << " " << bits;
        continue;
      }
      ASSERT_EQ(value, expected) << f.name << " " << bits;
      ASSERT_EQ(std::signbit(value), std::signbit(expected)) << f.name << " " << bits;
      ASSERT_EQ(f.encode(value), bits) << f.name << " " << value;
    }
    int expectedNans = f.hasInfinity ? 2 * ((1 << f.mantissa) - 1) : 2;
    EXPECT_EQ(nans, expectedNans) << f.name;
  }
}

TEST(DType, EveryMidpointRoundsToEvenAndItsNeighboursToTheNearest) {
  for (const Format &f : formats()) {
    uint32_t largest = f.encode(f.max);
    ASSERT_EQ(f.decode(largest), f.max) << f.name;
    for (uint32_t bits = 0; bits < largest; ++bits) {
      double low = f.decode(bits), high = f.decode(bits + 1), middle = low + (high - low) / 2;
      for (double sign : {1.0, -1.0}) {
        uint32_t signBit = sign < 0 ? 1u << (f.bits - 1) : 0;
        ASSERT_EQ(f.encode(sign * middle), signBit | (bits % 2 ? bits + 1 : bits))
            << f.name << " " << middle;
        ASSERT_EQ(f.encode(sign * std::nextafter(middle, 0.0)), signBit | bits)
            << f.name << " " << middle;
        ASSERT_EQ(f.encode(sign * std::nextafter(middle, infinity)), signBit | (bits + 1))
            << f.name << " " << middle;
      }
    }
  }
}

TEST(DType, OverflowIsInfinityOrNan) {
  EXPECT_EQ(encodeF16(65519.99), 0x7bff);
  EXPECT_EQ(encodeF16(65520.0), 0x7c00); // halfway to what would be 65536
  EXPECT_EQ(encodeF16(-1e300), 0xfc00);
  EXPECT_EQ(encodeBF16(3.4e38), 0x7f80);
  EXPECT_EQ(encodeBF16(-infinity), 0xff80);
  EXPECT_EQ(encodeF8E5M2(61439.9), 0x7b);
  EXPECT_EQ(encodeF8E5M2(61440.0), 0x7c);
  // torch.float8_e4m3fn: 464 ties to even = 448; beyond that NaN, as is infinity.
  EXPECT_EQ(encodeF8E4M3FN(464.0), 0x7e);
  EXPECT_EQ(encodeF8E4M3FN(std::nextafter(464.0, 500.0)), 0x7f);
  EXPECT_EQ(encodeF8E4M3FN(480.0), 0x7f);
  EXPECT_EQ(encodeF8E4M3FN(-infinity), 0xff);
  EXPECT_EQ(encodeF8E4M3FN(NAN), 0x7f);
  EXPECT_EQ(encodeF16(NAN), 0x7e00);
  EXPECT_EQ(encodeBF16(NAN), 0x7fc0);
  EXPECT_EQ(encodeF8E5M2(NAN), 0x7e);
}

TEST(DType, RoundsOnceNotThroughF32) {
  // Just above the midpoint of 1 and 1 + 2^-10; as an f32 it would be the midpoint and tie down
  // to 1.
  double value = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(encodeF16(value), 0x3c01);
  EXPECT_EQ(encodeF16(static_cast<float>(value)), 0x3c00);
}

TEST(DType, TableIsConsistent) {
  for (const DTypeInfo &row : dtypeTable) {
    EXPECT_EQ(parseDType(row.name), row.type);
    EXPECT_EQ(&info(row.type), &row);
  }
  EXPECT_EQ(parseDType("f64"), std::nullopt);
  EXPECT_EQ(parseDType(""), std::nullopt);
  EXPECT_STREQ(toString(DType::F8E4M3FN), "f8E4M3FN");
  EXPECT_EQ(sizeOf(DType::I1), 1);
  EXPECT_FALSE(info(DType::Index).isElement);
}

TEST(DType, StoresSaturateFromFloatAndWrapFromInteger) {
  int8_t i8;
  storeElement(DType::I8, &i8, 300.0);
  EXPECT_EQ(i8, 127);
  storeElement(DType::I8, &i8, -1e30);
  EXPECT_EQ(i8, -128);
  storeElement(DType::I8, &i8, NAN);
  EXPECT_EQ(i8, 0);
  storeElement(DType::I8, &i8, -3.9);
  EXPECT_EQ(i8, -3);
  storeElementInt(DType::I8, &i8, 300);
  EXPECT_EQ(i8, 44);
  int64_t i64;
  storeElement(DType::I64, &i64, 9.3e18);
  EXPECT_EQ(i64, INT64_MAX);
  storeElement(DType::I64, &i64, -9.3e18);
  EXPECT_EQ(i64, INT64_MIN);
  storeElementInt(DType::I64, &i64, INT64_MAX - 1);
  EXPECT_EQ(loadElementInt(DType::I64, &i64), INT64_MAX - 1);
  uint8_t i1;
  storeElement(DType::I1, &i1, 0.25);
  EXPECT_EQ(i1, 1);
  storeElementInt(DType::I1, &i1, 256);
  EXPECT_EQ(i1, 1);
}

TEST(DType, ScalarsEncodeIntoSlotsAsTheAbiSays) {
  EXPECT_EQ(ScalarBits::fromInt(DType::I8, -1).bits, UINT64_MAX);
  EXPECT_EQ(ScalarBits::fromInt(DType::I8, 255).bits, UINT64_MAX);
  EXPECT_EQ(ScalarBits::fromInt(DType::I1, 2).bits, 1u);
  EXPECT_EQ(ScalarBits::fromDouble(DType::F32, -1.0).bits, 0xbf800000u);
  EXPECT_EQ(ScalarBits::fromDouble(DType::F16, 1.0).bits, 0x3c00u);
  EXPECT_EQ(ScalarBits::fromDouble(DType::BF16, 1.0).bits, 0x3f80u);
  EXPECT_EQ(ScalarBits::fromDouble(DType::Index, -5.0).asInt(), -5);
  EXPECT_EQ(ScalarBits::fromDouble(DType::F32, 0.1).str(), "0.1");
  EXPECT_EQ(ScalarBits::fromDouble(DType::F32, 16777217.0 / 3).str(), "5592405.5");
  EXPECT_EQ(ScalarBits::fromDouble(DType::F32, NAN).str(), "nan");
  EXPECT_EQ(ScalarBits::fromInt(DType::I1, 1).str(), "true");
  EXPECT_EQ(ScalarBits::fromInt(DType::I64, INT64_MIN).str(), "-9223372036854775808");
}
