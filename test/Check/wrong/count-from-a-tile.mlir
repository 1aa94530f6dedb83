// The trip count is an element of a tile; the simulator sees what happens.
// RUN: not %kiln check %s --arg k=1:ones 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %k: !kiln.tensor<1xi64>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %it = tile.load %k[0] : !tile.tile<1x1xi64>
  %e = tile.element %it[0, 0] : i64
  %n = arith.index_cast %e : i64 to index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-DAG: count-from-a-tile.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 1 tile is left in pipe 'to_aiv' when the group ends
    tile.push %t, %p
  }
}
kiln.func @vec(%p: !p) role(aiv) {
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %k: !kiln.tensor<1xi64>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %k, %p)
  kiln.call @vec(%p)
}
// CHECK: pipes of @pair: undecided
// CHECK: note: the trip count depends on tile.element, whose result is known only when the program runs
