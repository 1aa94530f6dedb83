// What clang calls to round a float to bfloat16, which the compiler library of Debian 12 lacks.
#include <cstdint>
#include <cstring>

extern "C" __attribute__((visibility("hidden"))) __bf16 __truncsfbf2(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bool isNan = (bits & 0x7fffffff) > 0x7f800000;
  uint16_t rounded = isNan ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  __bf16 result;
  memcpy(&result, &rounded, sizeof result);
  return result;
}
