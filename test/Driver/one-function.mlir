// A program of one kernel: the reference has no wrapper then, and is called by its own name.
// REQUIRES: torch
// RUN: %kiln run %s -p a2a3sim | FileCheck %s
// CHECK: y {{ *}}against torch {{.*}} ok
kiln.func @lonely(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %e = tile.exp %t : !tile.tile<8x8xf32>
  tile.store %e, %y[0, 0]
}
