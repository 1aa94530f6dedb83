// Two sums over the same k, each of a tile with itself: both tiles are made before either is packed.
// REQUIRES: torch
// RUN: %kiln run %s -p cpu | FileCheck %s
// CHECK: y {{.*}} ok
// CHECK: z {{.*}} ok
// CHECK: PASS
kiln.func @k(%x: !kiln.tensor<2x4xf32> in, %y: !kiln.tensor<2x2xf32> out, %z: !kiln.tensor<2x2xf32> out) incore {
  %v21 = tile.load %x[0, 0] : !tile.tile<2x4xf32>
  %v22 = arith.constant 0.0 : f32
  %v23 = tile.full %v22 : !tile.tile<2x2xf32>
  %v24 = arith.constant 0 : index
  %v25 = arith.constant 2 : index
  %v26 = arith.constant 4 : index
  %v27 = scf.for %v29 = %v24 to %v26 step %v25 iter_args(%v28 = %v23) -> (!tile.tile<2x2xf32>) {
    %v30 = tile.extract %v21[0, %v29] : !tile.tile<2x2xf32>
    %v31 = tile.matmul_acc %v28, %v30, %v30 trans_b : !tile.tile<2x2xf32>
    scf.yield %v31 : !tile.tile<2x2xf32>
  }
  %v37 = arith.constant 0.500000 : f32
  %v38 = tile.max %v21, %v37 : !tile.tile<2x4xf32>
  %v90 = scf.for %v92 = %v24 to %v26 step %v25 iter_args(%v91 = %v23) -> (!tile.tile<2x2xf32>) {
    %v93 = tile.extract %v38[0, %v92] : !tile.tile<2x2xf32>
    %v94 = tile.matmul_acc %v91, %v93, %v93 trans_b : !tile.tile<2x2xf32>
    scf.yield %v94 : !tile.tile<2x2xf32>
  }
  tile.store %v27, %y[0, 0]
  tile.store %v90, %z[0, 0]
}
kiln.func @main(%x: !kiln.tensor<2x4xf32> in, %y: !kiln.tensor<2x2xf32> out, %z: !kiln.tensor<2x2xf32> out) orchestration {
  %t = kiln.submit @k(%x, %y, %z) grid(1)
}
