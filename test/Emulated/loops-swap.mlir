// REQUIRES: kiln, emulated-gpu, torch
// RUN: %emulate %kiln run %s -p h200 --data-seed 3 | FileCheck %s
// RUN: %kiln run %s -p a2a3sim --data-seed 3 | FileCheck %s
// RUN: %kiln run %s -p cpu --data-seed 3 | FileCheck %s

// Tiles that a loop carries change places in each iteration.

// CHECK: PASS

kiln.func @main(%x: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x32xf32> out, %z: !kiln.tensor<16x32xf32> out) orchestration {
  kiln.incore "k" split(none) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
    %b = tile.load %x[0, 16] : !tile.tile<16x16xf32>
    %f:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %a, %t = %b) -> (!tile.tile<16x16xf32>, !tile.tile<16x16xf32>) {
      scf.yield %t, %s : !tile.tile<16x16xf32>, !tile.tile<16x16xf32>
    }
    tile.store %f#0, %z[0, 0]
    tile.store %f#1, %z[0, 16]
    %r:3 = scf.while (%i = %c0, %s = %a, %t = %b) : (index, !tile.tile<16x16xf32>, !tile.tile<16x16xf32>) -> (index, !tile.tile<16x16xf32>, !tile.tile<16x16xf32>) {
      %more = arith.cmpi ult, %i, %c3 : index
      scf.condition(%more) %i, %t, %s : index, !tile.tile<16x16xf32>, !tile.tile<16x16xf32>
    } do {
    ^bb0(%i: index, %s: !tile.tile<16x16xf32>, %t: !tile.tile<16x16xf32>):
      %next = arith.addi %i, %c1 : index
      %e = tile.exp %s : !tile.tile<16x16xf32>
      scf.yield %next, %e, %t : index, !tile.tile<16x16xf32>, !tile.tile<16x16xf32>
    }
    tile.store %r#1, %y[0, 0]
    tile.store %r#2, %y[0, 16]
  }
}
