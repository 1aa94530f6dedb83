// The blocks of a launch each have a ring of their own in global memory. With one for all of them, what a block pushes
// lies where the other blocks push and pop too.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
!p = !tile.pipe<aic -> aiv, 4x8xf32>
kiln.func @cube(%a: !kiln.tensor<4x4xf32>, %b: !kiln.tensor<4x8xf32>, %p: !p) role(aic) {
  %x = tile.load %a[0, 0] : !tile.tile<4x4xf32>
  %y = tile.load %b[0, 0] : !tile.tile<4x8xf32>
  %z = tile.matmul %x, %y : !tile.tile<4x8xf32>
  tile.push %z, %p
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: block [1, 0, 0] writes element [0, 0] of '__gm_pipe' (f32[4, 8]), which block [0, 0, 0] of the same launch
}
kiln.func @vec(%out: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %c4 = arith.constant 4 : index
  %block = tile.block_idx 0
  %i = arith.muli %block, %c4 : index
  %x = tile.pop %p : !tile.tile<4x8xf32>
  tile.store %x, %out[%i, 0]
}
kiln.func @g(%a: !kiln.tensor<4x4xf32>, %b: !kiln.tensor<4x8xf32>, %out: !kiln.tensor<8x8xf32>,
             %__gm_pipe: !kiln.tensor<?x512xi8> inout {kiln.internal}) group attributes {kiln.shared_ring} {
  %p = tile.pipe slots(1) {kiln.ring = array<i64: 512, 0>} : !p
  kiln.call @cube(%a, %b, %p)
  kiln.call @vec(%out, %p)
}
kiln.func @main(%a: !kiln.tensor<4x4xf32>, %b: !kiln.tensor<4x8xf32>, %out: !kiln.tensor<8x8xf32>) orchestration {
  %__gm_pipe = kiln.alloc() : !kiln.tensor<2x512xi8>
  %t = kiln.submit @g(%a, %b, %out, %__gm_pipe) grid(2)
}

//--- right.mlir
!p = !tile.pipe<aic -> aiv, 4x8xf32>
kiln.func @cube(%a: !kiln.tensor<4x4xf32>, %b: !kiln.tensor<4x8xf32>, %p: !p) role(aic) {
  %x = tile.load %a[0, 0] : !tile.tile<4x4xf32>
  %y = tile.load %b[0, 0] : !tile.tile<4x8xf32>
  %z = tile.matmul %x, %y : !tile.tile<4x8xf32>
  tile.push %z, %p
}
kiln.func @vec(%out: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %c4 = arith.constant 4 : index
  %block = tile.block_idx 0
  %i = arith.muli %block, %c4 : index
  %x = tile.pop %p : !tile.tile<4x8xf32>
  tile.store %x, %out[%i, 0]
}
kiln.func @g(%a: !kiln.tensor<4x4xf32>, %b: !kiln.tensor<4x8xf32>, %out: !kiln.tensor<8x8xf32>,
             %__gm_pipe: !kiln.tensor<?x512xi8> inout {kiln.internal}) group {
  %p = tile.pipe slots(1) {kiln.ring = array<i64: 512, 0>} : !p
  kiln.call @cube(%a, %b, %p)
  kiln.call @vec(%out, %p)
}
kiln.func @main(%a: !kiln.tensor<4x4xf32>, %b: !kiln.tensor<4x8xf32>, %out: !kiln.tensor<8x8xf32>) orchestration {
  %__gm_pipe = kiln.alloc() : !kiln.tensor<2x512xi8>
  %t = kiln.submit @g(%a, %b, %out, %__gm_pipe) grid(2)
}
