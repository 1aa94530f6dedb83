// The consumer forgets to pop.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  // CHECK-DAG: nobody-pops.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 1 push into pipe 'to_aiv' but 0 pops: 1 tile left in the pipe at the end
  tile.push %t, %p
}
kiln.func @vec(%p: !p) role(aiv) {
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  // CHECK-DAG: nobody-pops.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: role aiv never pops
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
