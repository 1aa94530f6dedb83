// Both roles pop first. The simulator and the reference say so at once, with tasks, lanes and pipes; the simulator
// with the lines as well.
// RUN: not %kiln run %s -p a2a3sim 2>&1 | FileCheck %s --check-prefix=SIM
// RUN: not %kiln run %s --seed 11 -p a5sim 2>&1 | FileCheck %s --check-prefix=SIM

!up   = !tile.pipe<aiv -> aic, 64x64xf32, up_down>
!down = !tile.pipe<aic -> aiv, 64x64xf32, up_down>
kiln.func @cube(%up: !up, %down: !down) role(aic) {
  // SIM: deadlock.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: Cross-core simulation deadlock; tasks blocked: [cube waits to pop from 'to_aic' (0 of 2 slots full) at {{[^ ]*}}deadlock.mlir:[[#@LINE+1]]:
  %a = tile.pop %up : !tile.tile<64x64xf32>
  %b = tile.matmul %a, %a : !tile.tile<64x64xf32>
  tile.push %b, %down
}
kiln.func @vec(%a: !kiln.tensor<64x64xf32>, %out: !kiln.tensor<64x64xf32>, %up: !up, %down: !down) role(aiv) {
  // SIM-SAME: vec#0 waits to pop from 'to_aiv' (0 of 2 slots full) at {{[^ ]*}}deadlock.mlir:[[#@LINE+2]]:
  // SIM-SAME: vec#1 waits to pop from 'to_aiv' (0 of 2 slots full) at {{[^ ]*}}deadlock.mlir:[[#@LINE+1]]:
  %c = tile.pop %down : !tile.tile<32x64xf32>
  %t = tile.load %a[0, 0] : !tile.tile<32x64xf32>
  tile.push %t, %up
  tile.store %c, %out[0, 0]
}
// SIM-SAME: cycle of waits: {{(cube -> vec#[01] -> cube|vec#[01] -> cube -> vec#[01])}} (in @fused
kiln.func @fused(%a: !kiln.tensor<64x64xf32>, %out: !kiln.tensor<64x64xf32>) group lanes(2) {
  %up   = tile.pipe slots(2) : !up
  %down = tile.pipe slots(2) : !down
  kiln.call @cube(%up, %down)
  kiln.call @vec(%a, %out, %up, %down)
}
