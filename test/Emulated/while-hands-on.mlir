// REQUIRES: kiln, emulated-gpu, torch
// RUN: %emulate %kiln run %s -p h200 --data-seed 3 | FileCheck %s
// RUN: %kiln run %s -p a2a3sim --data-seed 3 | FileCheck %s
// RUN: %kiln run %s -p cpu --data-seed 3 | FileCheck %s

// A loop hands on a tile that it does not carry: what its condition has made.

// CHECK: PASS

kiln.func @main(%x: !kiln.tensor<16x64xf32> in, %y: !kiln.tensor<32x16xf32> out) orchestration {
  kiln.incore "k" split(none) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %lim = arith.constant 60.0 : f32
    %r:2 = scf.while (%i = %c0) : (index) -> (index, !tile.tile<16x16xf32>) {
      %t = tile.load %x[0, %i] : !tile.tile<16x16xf32>
      %u = tile.exp %t : !tile.tile<16x16xf32>
      %more = arith.cmpi ult, %i, %c3 : index
      scf.condition(%more) %i, %u : index, !tile.tile<16x16xf32>
    } do {
    ^bb0(%i: index, %t: !tile.tile<16x16xf32>):
      %next = arith.addi %i, %c1 : index
      tile.store %t, %y[16, 0]
      scf.yield %next : index
    }
    tile.store %r#1, %y[0, 0]
  }
}
