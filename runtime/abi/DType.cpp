#include "kiln/runtime/dtype.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace kiln;

// A row out of place would make info() lie about every type after it.
static constexpr bool tableIsIndexedByType() {
  for (int i = 0; i < KILN_NUM_DTYPES; ++i)
    if (static_cast<int>(dtypeTable[i].type) != i)
      return false;
  return true;
}
static_assert(tableIsIndexedByType(), "dtypeTable must list the types in the order of the enum");

namespace {

/// A small binary float: one sign bit, then exponent, then mantissa.
struct SmallFloat {
  int exponentBits;
  int mantissaBits;
  int bias;
  uint32_t maxFinite; // largest finite magnitude
  uint32_t overflow;  // what larger magnitudes and infinity become
  uint32_t nan;

  int width() const { return 1 + exponentBits + mantissaBits; }
};

constexpr SmallFloat f16{5, 10, 15, 0x7bff, 0x7c00, 0x7e00};
constexpr SmallFloat bf16{8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0};
constexpr SmallFloat f8E5M2{5, 2, 15, 0x7b, 0x7c, 0x7e};
// "FN": finite, plus one NaN per sign; the top exponent holds ordinary numbers up to 448.
constexpr SmallFloat f8E4M3FN{4, 3, 7, 0x7e, 0x7f, 0x7f};

/// Rounds once, straight from double, so no value suffers double rounding through f32.
uint32_t encode(const SmallFloat &format, double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint32_t sign = static_cast<uint32_t>(bits >> 63) << (format.width() - 1);
  if (std::isnan(value))
    return sign | format.nan;
  if (std::isinf(value))
    return sign | format.overflow;

  int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (exponent == -1023)
    return sign; // zero, or a double subnormal: far below half of any of these formats' smallest
                 // value
  uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;

  // Below the smallest normal exponent the quantum stays fixed, so more mantissa bits go.
  int minExponent = 1 - format.bias;
  int shift = 52 - format.mantissaBits;
  if (exponent < minExponent)
    shift += minExponent - exponent;
  if (shift > 53)
    return sign; // less than half of the smallest subnormal
  uint64_t kept = mantissa >> shift;
  uint64_t rest = mantissa & ((uint64_t{1} << shift) - 1);
  uint64_t half = uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;

  // With the implicit bit added to the exponent field, a carry out of the mantissa lands where it
  // should.
  uint64_t magnitude = kept;
  if (exponent >= minExponent)
    magnitude += static_cast<uint64_t>(exponent - minExponent) << format.mantissaBits;
  return sign | (magnitude > format.maxFinite ? format.overflow : static_cast<uint32_t>(magnitude));
}

float decode(const SmallFloat &format, uint32_t bits) {
  uint32_t magnitude = bits & ((1u << (format.width() - 1)) - 1);
  bool negative = bits >> (format.width() - 1) & 1;
  float result;
  if (magnitude > format.maxFinite) {
    bool isInfinity = magnitude == format.overflow && format.overflow != format.nan;
    result = isInfinity ? std::numeric_limits<float>::infinity()
                        : std::numeric_limits<float>::quiet_NaN();
  } else {
    int exponent = static_cast<int>(magnitude >> format.mantissaBits);
    uint32_t mantissa = magnitude & ((1u << format.mantissaBits) - 1);
    if (exponent != 0)
      mantissa |= 1u << format.mantissaBits;
    else
      exponent = 1;
    result = std::ldexp(static_cast<float>(mantissa), exponent - format.bias - format.mantissaBits);
  }
  return negative ? -result : result;
}

template <typename T> T loadAs(const void *address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}
template <typename T> void storeAs(void *address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

template <typename T> T saturate(double value) {
  if (std::isnan(value))
    return 0;
  // The upper limit of i64 is not a double; comparing with 2^(bits-1) is exact for every width.
  double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (value >= limit)
    return std::numeric_limits<T>::max();
  if (value <= -limit)
    return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

} // namespace

std::optional<DType> kiln::parseDType(std::string_view name) {
  for (const DTypeInfo &row : dtypeTable)
    if (name == row.name)
      return row.type;
  return std::nullopt;
}

float kiln::decodeF16(uint16_t bits) { return decode(f16, bits); }
float kiln::decodeBF16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
float kiln::decodeF8E4M3FN(uint8_t bits) { return decode(f8E4M3FN, bits); }
float kiln::decodeF8E5M2(uint8_t bits) { return decode(f8E5M2, bits); }
uint16_t kiln::encodeF16(double value) { return static_cast<uint16_t>(encode(f16, value)); }
uint16_t kiln::encodeBF16(double value) { return static_cast<uint16_t>(encode(bf16, value)); }
uint8_t kiln::encodeF8E4M3FN(double value) { return static_cast<uint8_t>(encode(f8E4M3FN, value)); }
uint8_t kiln::encodeF8E5M2(double value) { return static_cast<uint8_t>(encode(f8E5M2, value)); }

double kiln::loadElement(DType type, const void *address) {
  switch (type) {
  case DType::F32:
    return loadAs<float>(address);
  case DType::F16:
    return decodeF16(loadAs<uint16_t>(address));
  case DType::BF16:
    return decodeBF16(loadAs<uint16_t>(address));
  case DType::F8E4M3FN:
    return decodeF8E4M3FN(loadAs<uint8_t>(address));
  case DType::F8E5M2:
    return decodeF8E5M2(loadAs<uint8_t>(address));
  default:
    return static_cast<double>(loadElementInt(type, address));
  }
}

void kiln::storeElement(DType type, void *address, double value) {
  switch (type) {
  case DType::F32:
    return storeAs(address, static_cast<float>(value));
  case DType::F16:
    return storeAs(address, encodeF16(value));
  case DType::BF16:
    return storeAs(address, encodeBF16(value));
  case DType::F8E4M3FN:
    return storeAs(address, encodeF8E4M3FN(value));
  case DType::F8E5M2:
    return storeAs(address, encodeF8E5M2(value));
  case DType::I8:
    return storeAs(address, saturate<int8_t>(value));
  case DType::I16:
    return storeAs(address, saturate<int16_t>(value));
  case DType::I32:
    return storeAs(address, saturate<int32_t>(value));
  case DType::I64:
  case DType::Index:
    return storeAs(address, saturate<int64_t>(value));
  case DType::I1:
    return storeAs<uint8_t>(address, value != 0.0);
  }
}

int64_t kiln::loadElementInt(DType type, const void *address) {
  switch (type) {
  case DType::I8:
    return loadAs<int8_t>(address);
  case DType::I16:
    return loadAs<int16_t>(address);
  case DType::I32:
    return loadAs<int32_t>(address);
  case DType::I64:
  case DType::Index:
    return loadAs<int64_t>(address);
  case DType::I1:
    return loadAs<uint8_t>(address) != 0;
  default:
    return saturate<int64_t>(loadElement(type, address));
  }
}

void kiln::storeElementInt(DType type, void *address, int64_t value) {
  switch (type) {
  case DType::I8: // integers wrap
    return storeAs(address, static_cast<int8_t>(value));
  case DType::I16:
    return storeAs(address, static_cast<int16_t>(value));
  case DType::I32:
    return storeAs(address, static_cast<int32_t>(value));
  case DType::I64:
  case DType::Index:
    return storeAs(address, value);
  case DType::I1:
    return storeAs<uint8_t>(address, value != 0);
  default:
    return storeElement(type, address, static_cast<double>(value));
  }
}

ScalarBits ScalarBits::fromDouble(DType type, double value) {
  if (!isFloat(type)) {
    int64_t integer = 0;
    storeElement(type, &integer, value);
    return fromInt(type, loadElementInt(type, &integer));
  }
  ScalarBits scalar{0, type};
  storeElement(type, &scalar.bits, value); // little endian: the low bytes
  return scalar;
}

ScalarBits ScalarBits::fromInt(DType type, int64_t value) {
  if (isFloat(type))
    return fromDouble(type, static_cast<double>(value));
  int64_t wrapped = 0;
  storeElementInt(type, &wrapped, value);
  return {static_cast<uint64_t>(loadElementInt(type, &wrapped)), type};
}

double ScalarBits::asDouble() const { return loadElement(type, &bits); }
int64_t ScalarBits::asInt() const { return loadElementInt(type, &bits); }

std::string ScalarBits::str() const {
  if (info(type).cls == DTypeClass::Bool)
    return asInt() ? "true" : "false";
  if (!isFloat(type))
    return std::to_string(asInt());
  char text[32];
  // 9 digits identify any f32 and so any narrower float; fewer are nicer where they suffice.
  for (int digits = 6; digits <= 9; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, asDouble());
    if (std::strtof(text, nullptr) == static_cast<float>(asDouble()))
      break;
  }
  return text;
}
