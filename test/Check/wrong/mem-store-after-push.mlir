// The token says "stored", but it is pushed before the store.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
!token = !tile.pipe<aic -> aiv, token>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %z: !kiln.tensor<8x8xf32>, %token: !token) role(aic) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %token
  tile.store %t, %z[0, 0]
}
kiln.func @vec(%z: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %token: !token) role(aiv) {
  tile.pop %token
  %t = tile.load %z[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %z: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) group {
  %token = tile.pipe slots(1) : !token
  kiln.call @cube(%x, %z, %token)
  kiln.call @vec(%z, %y, %token)
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %z: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) orchestration {
  %a = kiln.submit @pair(%x, %z, %y)
}
// CHECK: wrong.mlir:[[#]]:{{[0-9]+}}: error: race: {{cube (reads|writes)|vec (reads|writes)}} element [0, 0] of 'z' (f32[8, 8]), which {{cube|vec}} {{reads|writes}}

//--- right.mlir
!token = !tile.pipe<aic -> aiv, token>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %z: !kiln.tensor<8x8xf32>, %token: !token) role(aic) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %z[0, 0]
  tile.push %token
}
kiln.func @vec(%z: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %token: !token) role(aiv) {
  tile.pop %token
  %t = tile.load %z[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %z: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) group {
  %token = tile.pipe slots(1) : !token
  kiln.call @cube(%x, %z, %token)
  kiln.call @vec(%z, %y, %token)
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %z: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) orchestration {
  %a = kiln.submit @pair(%x, %z, %y)
}
