//===- wgmma_shapes.cuh - the matrix instructions, one for each width --------------------===//
//
// 64 x N += 64 x 16 times 16 x N, for the warpgroup. Of the accumulator a thread has two rows,
// `low` and `high`: of every 8 columns a pair. A is described in shared memory, or four registers
// of pairs. Each list of registers is written out because the instruction takes no array.
//
//===----------------------------------------------------------------------------===//
#pragma once

namespace kiln::ptx {

/// Of bf16 or of f16.
template <int N, bool isBf16> struct Wgmma;

#define KILN_PAIR(j) "+f"(low[j]), "+f"(low[j + 1]), "+f"(high[j]), "+f"(high[j + 1])
#define KILN_PAIRS4(j) KILN_PAIR(j), KILN_PAIR(j + 2), KILN_PAIR(j + 4), KILN_PAIR(j + 6)
#define KILN_PAIRS16(j) KILN_PAIRS4(j), KILN_PAIRS4(j + 8), KILN_PAIRS4(j + 16), KILN_PAIRS4(j + 24)

#define KILN_WGMMA(N, IS_BF16, NAME, PAIRS, REGISTERS, O0, O1, O2, O3, O4, O5, O6)                 \
  template <> struct Wgmma<N, IS_BF16> {                                                           \
    template <int transposeA, int transposeB>                                                      \
    static __device__ __forceinline__ void run(float *low, float *high, unsigned long long a,      \
                                               unsigned long long b, int accumulate) {             \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" O2 ", 0;\n"                                \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME "." NAME " {" REGISTERS  \
                   "}, %" O0 ", %" O1 ", p, 1, 1, %" O3 ", %" O4 ";\n}\n"                          \
                   : PAIRS                                                                         \
                   : "l"(a), "l"(b), "r"(accumulate), "n"(transposeA), "n"(transposeB));           \
    }                                                                                              \
    template <int transposeB>                                                                      \
    static __device__ __forceinline__ void run(float *low, float *high, const unsigned (&a)[4],    \
                                               unsigned long long b, int accumulate) {             \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" O5 ", 0;\n"                                \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME "." NAME " {" REGISTERS  \
                   "}, {%" O0 ", %" O1 ", %" O2 ", %" O3 "}, %" O4 ", p, 1, 1, %" O6 ";\n}\n"      \
                   : PAIRS                                                                         \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate),          \
                     "n"(transposeB));                                                             \
    }                                                                                              \
  };

// clang-format off
#define KILN_PAIRS_OF_8 KILN_PAIR(0)
#define KILN_REGISTERS_OF_8 \
  "%0, %1, %2, %3"
#define KILN_PAIRS_OF_16 KILN_PAIR(0), KILN_PAIR(2)
#define KILN_REGISTERS_OF_16 \
  "%0, %1, %2, %3, %4, %5, %6, %7"
#define KILN_PAIRS_OF_32 KILN_PAIRS4(0)
#define KILN_REGISTERS_OF_32 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define KILN_PAIRS_OF_64 KILN_PAIRS4(0), KILN_PAIRS4(8)
#define KILN_REGISTERS_OF_64 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define KILN_PAIRS_OF_96 KILN_PAIRS4(0), KILN_PAIRS4(8), KILN_PAIRS4(16)
#define KILN_REGISTERS_OF_96 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define KILN_PAIRS_OF_128 KILN_PAIRS16(0)
#define KILN_REGISTERS_OF_128 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define KILN_PAIRS_OF_176 KILN_PAIRS16(0), KILN_PAIRS4(32), KILN_PAIR(40), KILN_PAIR(42)
#define KILN_REGISTERS_OF_176 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87"
#define KILN_PAIRS_OF_192 KILN_PAIRS16(0), KILN_PAIRS4(32), KILN_PAIRS4(40)
#define KILN_REGISTERS_OF_192 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define KILN_PAIRS_OF_256 KILN_PAIRS16(0), KILN_PAIRS16(32)
#define KILN_REGISTERS_OF_256 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
KILN_WGMMA(8, true, "bf16", KILN_PAIRS_OF_8, KILN_REGISTERS_OF_8, "4", "5", "6", "7", "8", "9", "10")
KILN_WGMMA(8, false, "f16", KILN_PAIRS_OF_8, KILN_REGISTERS_OF_8, "4", "5", "6", "7", "8", "9", "10")
KILN_WGMMA(16, true, "bf16", KILN_PAIRS_OF_16, KILN_REGISTERS_OF_16, "8", "9", "10", "11", "12", "13", "14")
KILN_WGMMA(16, false, "f16", KILN_PAIRS_OF_16, KILN_REGISTERS_OF_16, "8", "9", "10", "11", "12", "13", "14")
KILN_WGMMA(32, true, "bf16", KILN_PAIRS_OF_32, KILN_REGISTERS_OF_32, "16", "17", "18", "19", "20", "21", "22")
KILN_WGMMA(32, false, "f16", KILN_PAIRS_OF_32, KILN_REGISTERS_OF_32, "16", "17", "18", "19", "20", "21", "22")
KILN_WGMMA(64, true, "bf16", KILN_PAIRS_OF_64, KILN_REGISTERS_OF_64, "32", "33", "34", "35", "36", "37", "38")
KILN_WGMMA(64, false, "f16", KILN_PAIRS_OF_64, KILN_REGISTERS_OF_64, "32", "33", "34", "35", "36", "37", "38")
KILN_WGMMA(96, true, "bf16", KILN_PAIRS_OF_96, KILN_REGISTERS_OF_96, "48", "49", "50", "51", "52", "53", "54")
KILN_WGMMA(96, false, "f16", KILN_PAIRS_OF_96, KILN_REGISTERS_OF_96, "48", "49", "50", "51", "52", "53", "54")
KILN_WGMMA(128, true, "bf16", KILN_PAIRS_OF_128, KILN_REGISTERS_OF_128, "64", "65", "66", "67", "68", "69", "70")
KILN_WGMMA(128, false, "f16", KILN_PAIRS_OF_128, KILN_REGISTERS_OF_128, "64", "65", "66", "67", "68", "69", "70")
KILN_WGMMA(176, true, "bf16", KILN_PAIRS_OF_176, KILN_REGISTERS_OF_176, "88", "89", "90", "91", "92", "93", "94")
KILN_WGMMA(176, false, "f16", KILN_PAIRS_OF_176, KILN_REGISTERS_OF_176, "88", "89", "90", "91", "92", "93", "94")
KILN_WGMMA(192, true, "bf16", KILN_PAIRS_OF_192, KILN_REGISTERS_OF_192, "96", "97", "98", "99", "100", "101", "102")
KILN_WGMMA(192, false, "f16", KILN_PAIRS_OF_192, KILN_REGISTERS_OF_192, "96", "97", "98", "99", "100", "101", "102")
KILN_WGMMA(256, true, "bf16", KILN_PAIRS_OF_256, KILN_REGISTERS_OF_256, "128", "129", "130", "131", "132", "133", "134")
KILN_WGMMA(256, false, "f16", KILN_PAIRS_OF_256, KILN_REGISTERS_OF_256, "128", "129", "130", "131", "132", "133", "134")
// clang-format on

#undef KILN_WGMMA

} // namespace kiln::ptx
