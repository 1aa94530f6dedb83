// RUN: kiln-opt %s --kiln-check-pipes=report -verify-diagnostics -split-input-file -o /dev/null
// RUN: not kiln-opt %s --kiln-check-pipes=machine=abacus -split-input-file 2>&1 | FileCheck %s
// CHECK: there is no machine 'abacus'; kiln machines lists them

// Both pop first.
!up   = !tile.pipe<aiv -> aic, 8x8xf32>
!down = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%up: !up, %down: !down) role(aic) {
  // expected-error @below {{deadlock: cube waits to pop from 'to_aic' (0 of 2 slots full)}}
  // expected-note @below {{cycle of waits: cube -> vec -> cube}}
  // expected-note @below {{no number of slots helps: the order of pushes and pops has to change}}
  %t = tile.pop %up : !tile.tile<8x8xf32>
  tile.push %t, %down
}
kiln.func @vec(%up: !up, %down: !down) role(aiv) {
  // expected-note @below {{vec waits to pop from 'to_aiv' (0 of 2 slots full)}}
  %t = tile.pop %down : !tile.tile<8x8xf32>
  tile.push %t, %up
}
// expected-note @below {{in group @pair}}
kiln.func @pair() group {
  %up = tile.pipe : !up
  %down = tile.pipe : !down
  kiln.call @cube(%up, %down)
  kiln.call @vec(%up, %down)
}

// -----

// The producer runs three tiles ahead of the first answer.
!up   = !tile.pipe<aiv -> aic, 8x8xf32>
!down = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%up: !up, %down: !down) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %t = tile.pop %up : !tile.tile<8x8xf32>
    // expected-error @below {{deadlock: cube waits to push into 'to_aiv' (1 of 1 slot full)}}
    // expected-note @below {{cycle of waits: cube -> vec -> cube}}
    tile.push %t, %down
  }
}
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %up: !up, %down: !down) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    // expected-note @below {{vec waits to push into 'to_aic' (1 of 1 slot popped and not freed)}}
    tile.push %t, %up
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %u = tile.pop %down : !tile.tile<8x8xf32>
  }
}
// expected-note @below {{in group @pair}}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  %up = tile.pipe slots(1) : !up
  // expected-note @below {{slots(3) on this pipe would be enough}}
  %down = tile.pipe slots(1) : !down
  kiln.call @cube(%up, %down)
  kiln.call @vec(%x, %up, %down)
}
