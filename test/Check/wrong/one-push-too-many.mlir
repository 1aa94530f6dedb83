// Two tiles are pushed and one is popped.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
  // CHECK-DAG: one-push-too-many.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 2 pushes into pipe 'to_aiv' but 1 pop: 1 tile left in the pipe at the end
  tile.push %t, %p
}
kiln.func @vec(%p: !p) role(aiv) {
  // CHECK-DAG: one-push-too-many.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: role aiv pops here
  %u = tile.pop %p : !t
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
