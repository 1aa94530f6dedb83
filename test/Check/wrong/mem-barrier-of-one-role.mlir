// A barrier orders what those who take part in it did and knew: not the other role, unless a pipe hands it on.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/undecided.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// CHECK: wrong.mlir:{{[0-9]+}}:{{[0-9]+}}: error: race: {{.*}} element {{.*}} of 'x'
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
!p = !tile.pipe<aic -> aiv, 4x8xf32>
kiln.func @cube(%x: !kiln.tensor<16x8xf32>, %p: !p) role(aic) {
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %v = tile.full %one : !tile.tile<4x8xf32>
  tile.push %v, %p
  %b = tile.block_idx 0
  %j = arith.muli %b, %c4 : index
  tile.store %v, %x[%j, 0]
}
kiln.func @vec(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>, %p: !p) role(aiv) {
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %b = tile.block_idx 0
  %n = arith.addi %b, %c1 : index
  %f = arith.remsi %n, %c4 : index
  %i = arith.muli %f, %c4 : index
  %j = arith.muli %b, %c4 : index
  %q = tile.pop %p : !tile.tile<4x8xf32>
  tile.barrier
  %u = tile.load %x[%i, 0] : !tile.tile<4x8xf32>
  %s = tile.add %u, %q : !tile.tile<4x8xf32>
  tile.store %s, %y[%j, 0]
}
kiln.func @g(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%x, %y, %p)
}
kiln.func @main(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) orchestration {
  %c4 = arith.constant 4 : index
  %t = kiln.submit @g(%x, %y) grid(%c4) sync_start
}

//--- undecided.mlir
!p = !tile.pipe<aiv -> aic, 4x8xf32>
kiln.func @cube(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>, %p: !p) role(aic) {
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %q = tile.pop %p : !tile.tile<4x8xf32>
  %b = tile.block_idx 0
  %n = arith.addi %b, %c1 : index
  %f = arith.remsi %n, %c4 : index
  %i = arith.muli %f, %c4 : index
  %j = arith.muli %b, %c4 : index
  %u = tile.load %x[%i, 0] : !tile.tile<4x8xf32>
  tile.store %u, %y[%j, 0]
}
kiln.func @vec(%x: !kiln.tensor<16x8xf32>, %p: !p) role(aiv) {
  %c4 = arith.constant 4 : index
  %b = tile.block_idx 0
  %j = arith.muli %b, %c4 : index
  %one = arith.constant 1.0 : f32
  %v = tile.full %one : !tile.tile<4x8xf32>
  tile.store %v, %x[%j, 0]
  tile.barrier
  tile.push %v, %p
}
kiln.func @g(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %y, %p)
  kiln.call @vec(%x, %p)
}
kiln.func @main(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) orchestration {
  %c4 = arith.constant 4 : index
  %t = kiln.submit @g(%x, %y) grid(%c4) sync_start
}
