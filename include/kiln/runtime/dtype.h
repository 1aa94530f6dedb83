//===- kiln/runtime/dtype.h - element types and their conversions --------===//
//
// What: the element types of tensors and the types of scalars as one constexpr table, and exact
//   conversions between double/float and the 16- and 8-bit floats.
//
// Numerics (the language's, see docs): rounding is to nearest, ties to even, in one step from the
//   source value; subnormals are exact. Overflow gives infinity in f16, bf16 and f8E5M2. f8E4M3FN
//   has no infinity: whatever rounds beyond 448, and infinity itself, becomes NaN, as in torch's
//   float8_e4m3fn cast. NaN encodes to the type's quiet NaN with the sign kept and the payload
//   dropped. Float to integer truncates and saturates, NaN becomes 0; anything non-zero is i1
//   `true`.
//
// Threads: pure functions and constants; callable from anywhere.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DTYPE_H
#define KILN_RUNTIME_DTYPE_H

#include "kiln/abi.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

/// Same values as `kiln_dtype`.
enum class DType : uint8_t {
  F32 = KILN_F32,
  F16 = KILN_F16,
  BF16 = KILN_BF16,
  F8E4M3FN = KILN_F8E4M3FN,
  F8E5M2 = KILN_F8E5M2,
  I8 = KILN_I8,
  I16 = KILN_I16,
  I32 = KILN_I32,
  I64 = KILN_I64,
  I1 = KILN_I1,
  Index = KILN_INDEX // scalars only
};

enum class DTypeClass : uint8_t { Float, Integer, Bool };

struct DTypeInfo {
  DType type;
  const char *name; // Kiln's spelling, also MLIR's
  uint8_t size;     // bytes in memory
  DTypeClass cls;
  bool isElement; // may be a tensor's element type
  // The numpy descr a tensor of this type is written with. numpy has no bf16 and no f8: those are
  // written as '<f4', which holds every value of them exactly; `npyWidened` says so.
  const char *npy;
  bool npyWidened;
};

inline constexpr DTypeInfo dtypeTable[KILN_NUM_DTYPES] = {
    {DType::F32, "f32", 4, DTypeClass::Float, true, "<f4", false},
    {DType::F16, "f16", 2, DTypeClass::Float, true, "<f2", false},
    {DType::BF16, "bf16", 2, DTypeClass::Float, true, "<f4", true},
    {DType::F8E4M3FN, "f8E4M3FN", 1, DTypeClass::Float, true, "<f4", true},
    {DType::F8E5M2, "f8E5M2", 1, DTypeClass::Float, true, "<f4", true},
    {DType::I8, "i8", 1, DTypeClass::Integer, true, "|i1", false},
    {DType::I16, "i16", 2, DTypeClass::Integer, true, "<i2", false},
    {DType::I32, "i32", 4, DTypeClass::Integer, true, "<i4", false},
    {DType::I64, "i64", 8, DTypeClass::Integer, true, "<i8", false},
    {DType::I1, "i1", 1, DTypeClass::Bool, true, "|b1", false},
    {DType::Index, "index", 8, DTypeClass::Integer, false, "<i8", false},
};

constexpr const DTypeInfo &info(DType type) { return dtypeTable[static_cast<uint8_t>(type)]; }
constexpr const char *toString(DType type) { return info(type).name; }
constexpr int64_t sizeOf(DType type) { return info(type).size; }
constexpr bool isFloat(DType type) { return info(type).cls == DTypeClass::Float; }
/// Whether `raw` is a value of the enum; check before casting a number from outside.
constexpr bool isValidDType(int64_t raw) { return raw >= 0 && raw < KILN_NUM_DTYPES; }

/// The type with this name ("f32", "bf16", ...), if any.
std::optional<DType> parseDType(std::string_view name);

// Bit patterns. Decoding to float is exact for all of these types.
float decodeF16(uint16_t bits);
float decodeBF16(uint16_t bits);
float decodeF8E4M3FN(uint8_t bits);
float decodeF8E5M2(uint8_t bits);
uint16_t encodeF16(double value);
uint16_t encodeBF16(double value);
uint8_t encodeF8E4M3FN(double value);
uint8_t encodeF8E5M2(double value);

/// One element in memory as a double. Exact except for i64 values beyond 2^53.
double loadElement(DType type, const void *address);
void storeElement(DType type, void *address, double value);
/// Integer access without the detour through double; floats convert by the rules above.
int64_t loadElementInt(DType type, const void *address);
void storeElementInt(DType type, void *address, int64_t value);

/// A scalar argument in a 64-bit slot, with its type. See `kiln_args` for the encoding.
struct ScalarBits {
  uint64_t bits = 0;
  DType type = DType::Index;

  static ScalarBits fromDouble(DType type, double value);
  static ScalarBits fromInt(DType type, int64_t value);
  double asDouble() const;
  int64_t asInt() const;
  /// The value as a person writes it: "3", "true", "0.5", "nan".
  std::string str() const;
  friend bool operator==(const ScalarBits &, const ScalarBits &) = default;
};

} // namespace kiln

#endif // KILN_RUNTIME_DTYPE_H
