// RUN: kiln-opt %s --kiln-check-pipes=report -verify-diagnostics -split-input-file -o /dev/null

// How many slots would help, on which pipes; and loops of which nothing is known.

!p = !tile.pipe<aic -> aiv, 16x16xf32>
kiln.func @pushes_twice(%x: !kiln.tensor<16x16xf32>, %p: !p, %q: !p) role(aic) {
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  tile.push %a, %p
  // expected-error @below {{deadlock: pushes_twice waits to push into 'to_aiv_0' (1 of 1 slot full)}}
  // expected-note @below {{cycle of waits: pushes_twice -> keeps_both -> pushes_twice}}
  // expected-note @below {{slots(2) on every pipe would be enough}}
  tile.push %a, %p
  tile.push %a, %q
  tile.push %a, %q
}
kiln.func @keeps_both(%y: !kiln.tensor<16x16xf32>, %p: !p, %q: !p) role(aiv) {
  // expected-note @below {{keeps_both waits to pop from 'to_aiv_1' (0 of 1 slot full)}}
  %a = tile.pop %q : !tile.tile<16x16xf32>
  %b = tile.pop %q : !tile.tile<16x16xf32>
  tile.free %q
  tile.free %q
  %c = tile.pop %p : !tile.tile<16x16xf32>
  tile.free %p
  %d = tile.pop %p : !tile.tile<16x16xf32>
  tile.free %p
}
// expected-note @below {{in group @both}}
kiln.func @both(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>) group {
  %p = tile.pipe slots(1) : !p
  %q = tile.pipe slots(1) : !p
  kiln.call @pushes_twice(%x, %p, %q)
  kiln.call @keeps_both(%y, %p, %q)
}


// -----

!p = !tile.pipe<aic -> aiv, 16x16xf32>
!t = !tile.pipe<aic -> aiv, token>
kiln.func @pushes(%x: !kiln.tensor<16x16xf32>, %p: !p, %q: !t) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 10000 : index
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{deadlock: pushes waits to push into 'to_aiv_0' (2 of 2 slots full)}}
    // expected-note @below {{cycle of waits: pushes -> waits -> pushes}}
    // expected-note @below {{more than 64 slots would be needed; pop in between}}
    tile.push %a, %p
  }
  tile.push %q
}
kiln.func @waits(%y: !kiln.tensor<16x16xf32>, %p: !p, %q: !t) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 10000 : index
  // expected-note @below {{waits waits to pop from 'to_aiv_1' (0 of 2 slots full)}}
  tile.pop %q
  tile.free %q
  scf.for %i = %c0 to %n step %c1 {
    %a = tile.pop %p : !tile.tile<16x16xf32>
    tile.free %p
  }
}
// expected-note @below {{in group @many}}
kiln.func @many(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>) group {
  %p = tile.pipe slots(2) : !p
  %q = tile.pipe slots(2) : !t
  kiln.call @pushes(%x, %p, %q)
  kiln.call @waits(%y, %p, %q)
}


// -----

!p = !tile.pipe<aic -> aiv, 16x16xf32>
!t = !tile.pipe<aic -> aiv, token>
kiln.func @pushes(%x: !kiln.tensor<16x16xf32>, %n: index, %p: !p, %q: !t) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{deadlock with n = 3: pushes waits to push into 'to_aiv_0' (2 of 2 slots full)}}
    // expected-note @below {{cycle of waits: pushes -> waits -> pushes}}
    // expected-note @below {{more slots help for these values; no number is known that helps for all}}
    tile.push %a, %p
  }
  tile.push %q
}
kiln.func @waits(%y: !kiln.tensor<16x16xf32>, %n: index, %p: !p, %q: !t) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{waits waits to pop from 'to_aiv_1'}}
  tile.pop %q
  tile.free %q
  scf.for %i = %c0 to %n step %c1 {
    %a = tile.pop %p : !tile.tile<16x16xf32>
    tile.free %p
  }
}
// expected-note @below {{in group @many}}
kiln.func @many(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  %q = tile.pipe slots(2) : !t
  kiln.call @pushes(%x, %n, %p, %q)
  kiln.call @waits(%y, %n, %p, %q)
}


// -----

!p = !tile.pipe<aic -> aiv, 16x16xf32>
kiln.func @pushes(%x: !kiln.tensor<16x16xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  // expected-warning @below {{pipes not proved: the step of the loop is not a positive constant}}
  scf.for %i = %c0 to %c9 step %n {
    tile.push %a, %p
  }
}
kiln.func @pops(%y: !kiln.tensor<16x16xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  // expected-warning @below {{pipes not proved: the step of the loop is not a positive constant}}
  scf.for %i = %c0 to %c9 step %n {
    %a = tile.pop %p : !tile.tile<16x16xf32>
    tile.free %p
  }
}
// expected-note @below {{in group @steps}}
kiln.func @steps(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @pushes(%x, %n, %p)
  kiln.call @pops(%y, %n, %p)
}


// -----

!p = !tile.pipe<aic -> aiv, 16x16xf32>
kiln.func @pushes(%x: !kiln.tensor<16x16xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  // expected-warning @below {{pipes not proved: the bounds of the loop are unsigned}}
  scf.for unsigned %i = %c0 to %n step %c1 {
    tile.push %a, %p
  }
}
kiln.func @pops(%y: !kiln.tensor<16x16xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-warning @below {{pipes not proved: the bounds of the loop are unsigned}}
  scf.for unsigned %i = %c0 to %n step %c1 {
    %a = tile.pop %p : !tile.tile<16x16xf32>
    tile.free %p
  }
}
// expected-note @below {{in group @unsigned}}
kiln.func @unsigned(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @pushes(%x, %n, %p)
  kiln.call @pops(%y, %n, %p)
}
