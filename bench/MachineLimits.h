//===- MachineLimits.h - what the machine can do at most -----------------------===//
//
// What: copying, reading and multiplying on two threads as fast as it goes, to hold kernels
// against.
//   One caller at a time. Benchmarks only.
//
//===---------------------------------------------------------------------------===//
#ifndef KILN_BENCH_MACHINELIMITS_H
#define KILN_BENCH_MACHINELIMITS_H

#include <cstdint>

namespace kiln::bench {

/// Ways to copy memory; the fastest is what the machine can do.
enum class Copy { Memcpy, NonTemporal, NonTemporalFetchingAhead };
void copyFloats(Copy how, const float *from, float *to, int64_t count);

/// Ways to read memory: some ask for what comes next, others leave that to the machine.
enum class Read { Plain, FetchingAhead, FourPlaces, SixteenPlaces };
void readBytes(Read how, const void *from, int64_t bytes);

/// Multiplies and adds in registers alone: products of f32, or of bf16 or i8 by the fastest
/// instruction there is. The number of operations (a product and an addition are two); 0 where the
/// machine has no such instruction.
enum class Multiply { F32, Bf16, I8 };
double multiplyInRegisters(Multiply how);

} // namespace kiln::bench

#endif // KILN_BENCH_MACHINELIMITS_H
