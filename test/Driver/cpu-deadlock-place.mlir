// A deadlock of native roles is told where they wait, and names every place.
// RUN: not %kiln run %s -p cpu --fibers --no-reference --arg x=8x8 --arg y=8x8 2>&1 | FileCheck %s
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @vec(%x: !kiln.tensor<8x8xf32> in, %p: !p) role(aiv) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
  tile.push %t, %p
  // CHECK: cpu-deadlock-place.mlir:[[#@LINE+2]]:3: error: kernel 'pair' (task 0): deadlock in the group: vec waits to push into 'to_aic' (2 of 2 slots popped and not freed) at {{.*}}cpu-deadlock-place.mlir:[[#@LINE+2]]:3, cube waits to pop from 'to_aic' (2 of 2 slots popped and not freed) at {{.*}}cpu-deadlock-place.mlir:[[#@LINE+7]]:8
  // CHECK-NEXT: tile.push %t, %p
  tile.push %t, %p
}
kiln.func @cube(%y: !kiln.tensor<8x8xf32> out, %p: !p) role(aic) {
  %a = tile.pop %p : !t
  %b = tile.pop %p : !t
  %c = tile.pop %p : !t
  tile.free %p
  tile.free %p
  tile.free %p
  tile.store %a, %y[0, 0]
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @vec(%x, %p)
  kiln.call @cube(%y, %p)
}
