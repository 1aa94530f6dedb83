// RUN: kiln-opt %s --tile-choose-spaces=machine=a2a3sim -split-input-file -verify-diagnostics
// RUN: not kiln-opt %s --tile-choose-spaces=machine=abacus -split-input-file 2>&1 | FileCheck %s --check-prefix=MACHINE
// A simulator can run what the machine cannot:
// RUN: kiln-opt %s "--tile-choose-spaces=machine=a2a3sim as-written=true" -split-input-file 2>&1 | FileCheck %s --check-prefix=WARN
// WARN: warning: 'tile.exp' op cannot run in role aic of ascend910b; it is work for role aiv
// WARN: tile.load %x[0, 0] : !tile.tile<8x8xf32>
// MACHINE: there is no machine 'abacus'

kiln.func @cube(%x: !kiln.tensor<8x8xf32>) role(aic) {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  // expected-error@+1 {{cannot run in role aic of ascend910b; it is work for role aiv}}
  %b = tile.exp %a : !tile.tile<8x8xf32>
}

// -----

kiln.func @vec(%x: !kiln.tensor<8x8xf32>) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  // expected-error@+1 {{cannot run in role aiv of ascend910b; it is work for role aic}}
  %b = tile.matmul %a, %a : !tile.tile<8x8xf32>
}

// -----

// Nothing leads into the accumulators.
!up = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %up: !up) role(aic) {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  // expected-note@+1 {{it is made here}}
  %p = tile.pop %up : !tile.tile<8x8xf32>
  // expected-error@+1 {{needs a tile in acc that is made in mat, and no path of ascend910b leads there; an accumulator starts as tile.full or as a product: multiply without it and let the vector role add}}
  %b = tile.matmul_acc %p, %a, %a : !tile.tile<8x8xf32>
}

// -----

// On the newer one a product can leave for the vector role, and what that computes can come back; not so here.
// Nothing leads from the vector unit to where a cube operand is made.
kiln.func @both(%x: !kiln.tensor<8x8xf32>) role(aiv) {
  // expected-note@+1 {{it is made here}}
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32, acc>
  // expected-error@+1 {{needs a tile in vec that is made in acc, and no path of ascend910b leads there; from there tiles go to mat, global memory}}
  %b = tile.exp %a : !tile.tile<8x8xf32>
  tile.store %b, %x[0, 0]
}

// -----

// What the matrix role loads cannot leave again.
!down = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %down: !down) role(aic) {
  // expected-note@+1 {{it is made here}}
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  // expected-error@+1 {{needs a tile in gm that is made in mat, and no path of ascend910b leads there; from there tiles go to left, right, bias}}
  tile.push %a, %down
}
