// A pipe without slots can carry nothing.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @pair() group {
  // CHECK-DAG: no-slots.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'tile.pipe' op a pipe has 1 to 1048576 slots, not 0
  %p = tile.pipe slots(0) : !p
}
