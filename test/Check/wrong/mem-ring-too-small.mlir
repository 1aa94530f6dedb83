// A push waits until the slot before last is free, so a ring in global memory needs one block more than the pipe
// has slots: the store comes before the push.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --arg x=64x8 --arg y=64x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --arg x=64x8 --arg y=64x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings
// What is required settles the condition under which the pipes are right.
// RUN: %kiln check %t/right.mlir 2>/dev/null | FileCheck %s --check-prefix=PROVED
// PROVED: pipes of @pair: proved{{$}}
// PROVED: CLEAN

//--- wrong.mlir
// The matrix role hands blocks over in global memory and a token for each.
!token = !tile.pipe<aic -> aiv, token>
kiln.func @cube(%x: !kiln.tensor<?x8xf32>, %ring: !kiln.tensor<16x8xf32>, %token: !token) role(aic) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %size = arith.constant 8 : index
  %n = kiln.dim %x, 0
  scf.for %i = %c0 to %n step %c8 {
    %slot = arith.remui %i, %size : index
    %t = tile.load %x[%i, 0] : !tile.tile<8x8xf32>
    tile.store %t, %ring[%slot, 0]
    tile.push %token
  }
}
kiln.func @vec(%ring: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<?x8xf32>, %token: !token) role(aiv) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %size = arith.constant 8 : index
  %n = kiln.dim %y, 0
  scf.for %i = %c0 to %n step %c8 {
    %slot = arith.remui %i, %size : index
    tile.pop %token
    %t = tile.load %ring[%slot, 0] : !tile.tile<8x8xf32>
    tile.free %token
    tile.store %t, %y[%i, 0]
  }
}
kiln.func @pair(%x: !kiln.tensor<?x8xf32>, %ring: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<?x8xf32>) group {
  %token = tile.pipe slots(1) : !token
  kiln.call @cube(%x, %ring, %token)
  kiln.call @vec(%ring, %y, %token)
}
kiln.func @main(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<?x8xf32>) orchestration {
  %ring = kiln.alloc() : !kiln.tensor<16x8xf32>
  %a = kiln.submit @pair(%x, %ring, %y)
}
// CHECK: error: race: {{cube writes|vec reads}} element [0, 0] of 'ring' (f32[16, 8]), which {{vec reads|cube writes}}

//--- right.mlir
// The matrix role hands blocks over in global memory and a token for each.
!token = !tile.pipe<aic -> aiv, token>
kiln.func @cube(%x: !kiln.tensor<?x8xf32>, %ring: !kiln.tensor<16x8xf32>, %token: !token) role(aic) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %size = arith.constant 16 : index
  %n = kiln.dim %x, 0
  scf.for %i = %c0 to %n step %c8 {
    %slot = arith.remui %i, %size : index
    %t = tile.load %x[%i, 0] : !tile.tile<8x8xf32>
    tile.store %t, %ring[%slot, 0]
    tile.push %token
  }
}
kiln.func @vec(%ring: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<?x8xf32>, %token: !token) role(aiv) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %size = arith.constant 16 : index
  %n = kiln.dim %y, 0
  scf.for %i = %c0 to %n step %c8 {
    %slot = arith.remui %i, %size : index
    tile.pop %token
    %t = tile.load %ring[%slot, 0] : !tile.tile<8x8xf32>
    tile.free %token
    tile.store %t, %y[%i, 0]
  }
}
kiln.func @pair(%x: !kiln.tensor<?x8xf32>, %ring: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<?x8xf32>) group {
  %token = tile.pipe slots(1) : !token
  kiln.call @cube(%x, %ring, %token)
  kiln.call @vec(%ring, %y, %token)
}
kiln.func @main(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<?x8xf32>) orchestration {
  %rows_of_x = kiln.dim %x, 0
  %rows_of_y = kiln.dim %y, 0
  %same = arith.cmpi eq, %rows_of_x, %rows_of_y : index
  kiln.require %same, "x and y have as many rows"
  %ring = kiln.alloc() : !kiln.tensor<16x8xf32>
  %a = kiln.submit @pair(%x, %ring, %y)
}
