// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// What NCCL does not combine as the language has it is combined by a kernel, one for each type and way: sums in fixed
// order, floats of 16 and 8 bits, max and min of floats, for which NaN wins, integers of 16 bits and bools.

// CHECK-LABEL: // ranks.max.bf16
// CHECK:       combineRanks<bf16, CombineMax>(args);
// CHECK-LABEL: // ranks.prod.i16
// CHECK:       combineRanks<short, CombineProd>(args);
// CHECK-LABEL: // ranks.sum.f32: what the ranks exchanged, combined in their order
// CHECK-NEXT:  extern "C" __global__ void __launch_bounds__(256)
// CHECK-NEXT:  kiln_ranks_sum_f32(const __grid_constant__ CombineArgs args) {
// CHECK-NEXT:    combineRanks<float, CombineSum>(args);
// CHECK-LABEL: // ranks.sum.f8E4M3FN
// CHECK:       kiln_ranks_sum_f8e4m3fn(
// CHECK:       combineRanks<f8e4m3, CombineSum>(args);
// CHECK-NOT:   combineRanks

kiln.func @main(%a: !kiln.tensor<64xf32> inout, %b: !kiln.tensor<64xbf16> inout, %c: !kiln.tensor<?xi16> in,
                %d: !kiln.tensor<?xi16> out, %e: !kiln.tensor<64xf8E4M3FN> inout, %f: !kiln.tensor<64xi32> inout) orchestration {
  %0 = kiln.all_reduce %a, sum fixed_order
  %1 = kiln.all_reduce %a, sum fixed_order along <one of one = 1, rest = ?>
  %2 = kiln.all_reduce %b, max
  %3 = kiln.reduce_scatter %c to %d, prod
  %4 = kiln.all_reduce %e, sum
  %5 = kiln.all_reduce %a, prod
  %6 = kiln.all_reduce %f, max fixed_order
}
