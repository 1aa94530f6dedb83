// Where the products of one iteration run beside those of the next, a loop stays whole and its masks are skipped.
// RUN: kiln-opt %s --tile-peel-masks="keeps-loops report" -verify-diagnostics | FileCheck %s

// CHECK-LABEL: kiln.func @two
// CHECK-COUNT-1: scf.for
// CHECK-NOT:     scf.for
// CHECK:         %[[S:.*]] = tile.matmul
// CHECK:         %[[LEFT:.*]] = arith.subi %n, %{{.*}} : index
// CHECK:         %[[CUTS:.*]] = arith.cmpi slt, %[[LEFT]], %{{.*}} : index
// CHECK:         %[[M:.*]] = scf.if
// CHECK-NEXT:      %[[T:.*]] = tile.mask %[[S]]
// CHECK-NEXT:      scf.yield %[[T]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[S]]
kiln.func @two(%x: !kiln.tensor<?x16xf32>, %y: !kiln.tensor<16x16xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %z = arith.constant 0.0 : f32
  %start = tile.full %z : !tile.tile<16x16xf32>
  // expected-remark @below {{masks of this loop that are skipped where they cut off nothing: 1}}
  %end = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %start) -> (!tile.tile<16x16xf32>) {
    %t = tile.load %x[%i, 0] : !tile.tile<16x16xf32>
    %s = tile.matmul %t, %t trans_b : !tile.tile<16x16xf32>
    %left = arith.subi %n, %i : index
    %m = tile.mask %s valid(16, %left) : !tile.tile<16x16xf32>
    %next = tile.matmul_acc %acc, %m, %t : !tile.tile<16x16xf32>
    scf.yield %next : !tile.tile<16x16xf32>
  }
  tile.store %end, %y[0, 0]
}
