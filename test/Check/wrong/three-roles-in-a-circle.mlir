// Each of three roles waits for the one before it.
// RUN: not kiln-opt %s --kiln-check-pipes 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!a = !tile.pipe<dma -> aic, 8x8xf32>
!b = !tile.pipe<aic -> aiv, 8x8xf32>
!c = !tile.pipe<aiv -> dma, 8x8xf32>
kiln.func @copy(%a: !a, %c: !c) role(dma) {
  // CHECK-DAG: three-roles-in-a-circle.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: deadlock: copy waits to pop from 'to_dma' (0 of 2 slots full)
  // CHECK-DAG: three-roles-in-a-circle.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: cycle of waits: copy -> vec -> cube -> copy
  %u = tile.pop %c : !t
  tile.push %u, %a
}
kiln.func @cube(%a: !a, %b: !b) role(aic) {
  // CHECK-DAG: three-roles-in-a-circle.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: cube waits to pop from 'to_aic' (0 of 2 slots full)
  %u = tile.pop %a : !t
  tile.push %u, %b
}
kiln.func @vec(%b: !b, %c: !c) role(aiv) {
  // CHECK-DAG: three-roles-in-a-circle.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: vec waits to pop from 'to_aiv' (0 of 2 slots full)
  %u = tile.pop %b : !t
  tile.push %u, %c
}
kiln.func @pair() group {
  %a = tile.pipe slots(2) : !a
  %b = tile.pipe slots(2) : !b
  %c = tile.pipe slots(2) : !c
  kiln.call @copy(%a, %c)
  kiln.call @cube(%a, %b)
  kiln.call @vec(%b, %c)
}
