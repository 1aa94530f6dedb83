// REQUIRES: kiln, emulated-gpu, torch
// RUN: %emulate %kiln run %s -p h200 --data-seed 3 | FileCheck %s

// A tile that a loop carries and only its condition looks at has a place in shared memory.

// CHECK: PASS

kiln.func @main(%x: !kiln.tensor<8x64xf32> in, %y: !kiln.tensor<8x64xf32> out) orchestration {
  kiln.incore "k" split(none) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = tile.load %x[0, 0] : !tile.tile<8x64xf32>
    %far = arith.constant 9.5 : f32
    %first = tile.add %v, %far : !tile.tile<8x64xf32>
    %zero = arith.constant 0.0 : f32
    %count = scf.while (%t = %first, %n = %c0) : (!tile.tile<8x64xf32>, index) -> index {
      %e = tile.element %t[3, 17] : f32
      %more = arith.cmpf ogt, %e, %zero : f32
      scf.condition(%more) %n : index
    } do {
    ^bb0(%n: index):
      %next = arith.addi %n, %c1 : index
      %narrow = arith.index_cast %next : index to i32
      %number = arith.sitofp %narrow : i32 to f32
      %less = tile.sub %first, %number : !tile.tile<8x64xf32>
      scf.yield %less, %next : !tile.tile<8x64xf32>, index
    }
    %narrow = arith.index_cast %count : index to i32
    %number = arith.sitofp %narrow : i32 to f32
    %result = tile.add %v, %number : !tile.tile<8x64xf32>
    tile.store %result, %y[0, 0]
  }
}
