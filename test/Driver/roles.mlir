// A role that the machine does not have is refused; a program of one function runs against the reference too.
// RUN: split-file %s %t
// RUN: sh -c '%kiln run %t/foreign.mlir -p a2a3sim 2>&1; test $? = 2' | FileCheck %s --check-prefix=FOREIGN
// FOREIGN: foreign.mlir:2:{{[0-9]+}}: error: role dma of @copy does not exist on a2a3sim

//--- foreign.mlir
!p = !tile.pipe<dma -> compute, 8x8xf32>
kiln.func @copy(%x: !kiln.tensor<8x8xf32>, %p: !p) role(dma) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %p
}
kiln.func @use(%y: !kiln.tensor<8x8xf32>, %p: !p) role(compute) {
  %t = tile.pop %p : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @both(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe : !p
  kiln.call @copy(%x, %p)
  kiln.call @use(%y, %p)
}
