// A loop whose step is not positive is a fault in both.
// RUN: not %kiln run %s -p a2a3sim --arg s=0 2>&1 | FileCheck %s
// RUN: not %kiln run %s -p a2a3sim --arg s=-1 2>&1 | FileCheck %s
// CHECK: the step of the loop is {{-?[01]}}; it must be positive
kiln.func @k(%o: !kiln.tensor<8x8xf32>, %s: index) incore {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %t = tile.full %z : !tile.tile<8x8xf32>
  scf.for %i = %c4 to %c0 step %s {
    tile.store %t, %o[0, 0]
  }
}
