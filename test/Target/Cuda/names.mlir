// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// Names that C++ keeps for itself, or that differ only in what C++ cannot spell, stay apart.

// CHECK:      // @a.b
// CHECK-NEXT: namespace kernel_a_b {
// CHECK:        Tensor v_new;
// CHECK-NEXT:   Tensor maps_1;
// CHECK:      kiln_a_b(
// CHECK:      // @a_b
// CHECK-NEXT: namespace kernel_a_b_1 {
// CHECK:      kiln_a_b_1(

kiln.func @main(%new: !kiln.tensor<?x?xf32>, %maps: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "a.b" {
    %v = tile.load %new[0, 0] : !tile.tile<16x64xf32>
    tile.store %v, %maps[0, 0]
  }
  kiln.incore "a_b" {
    %v = tile.load %new[0, 0] : !tile.tile<16x64xf32>
    tile.store %v, %maps[16, 0]
  }
}
