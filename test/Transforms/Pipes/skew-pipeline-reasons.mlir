// Why a push does not run ahead, beyond what skew-pipeline.mlir shows; and two that do.
// RUN: kiln-opt %s --tile-place-frees --kiln-skew-pipeline=report -split-input-file -verify-diagnostics -o /dev/null

!t = !tile.tile<16x16xf32>
!down = !tile.pipe<aic -> aiv, 16x16xf32>
!up = !tile.pipe<aiv -> aic, 16x16xf32>
kiln.func @feeds(%x: !kiln.tensor<16x16xf32>, %n: index, %down: !down, %more: !down, %up: !up) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  // expected-remark @below {{2 pushes run 1 iteration ahead}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-note @below {{this one}}
    tile.push %t, %down
    // expected-note @below {{this one}}
    tile.push %t, %more
    %p = tile.pop %up : !t
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}
kiln.func @echo(%n: index, %down: !down, %more: !down, %up: !up) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = tile.pop %down : !t
    %r = tile.pop %more : !t
    %q = tile.add %s, %r : !t
    tile.push %q, %up
  }
}
kiln.func @two(%x: !kiln.tensor<16x16xf32>, %n: index) group {
  %down = tile.pipe : !down
  %more = tile.pipe : !down
  %up = tile.pipe : !up
  kiln.call @feeds(%x, %n, %down, %more, %up)
  kiln.call @echo(%n, %down, %more, %up)
}

// -----

!t = !tile.tile<16x16xf32>
!down = !tile.pipe<aic -> aiv, 16x16xf32>
!up = !tile.pipe<aiv -> aic, 16x16xf32>
kiln.func @unsigned(%x: !kiln.tensor<16x16xf32>, %n: index, %down: !down, %up: !up) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  // expected-remark @below {{no push of this loop runs ahead: its bounds are compared as unsigned numbers}}
  scf.for unsigned %i = %c0 to %n step %c1 {
    tile.push %t, %down
    %p = tile.pop %up : !t
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}
kiln.func @echo(%n: index, %down: !down, %up: !up) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for unsigned %i = %c0 to %n step %c1 {
    %s = tile.pop %down : !t
    tile.push %s, %up
  }
}
kiln.func @group(%x: !kiln.tensor<16x16xf32>, %n: index) group {
  %down = tile.pipe : !down
  %up = tile.pipe : !up
  kiln.call @unsigned(%x, %n, %down, %up)
  kiln.call @echo(%n, %down, %up)
}

// -----

!t = !tile.tile<16x16xf32>
!down = !tile.pipe<aic -> aiv, 16x16xf32>
!up = !tile.pipe<aiv -> aic, 16x16xf32>
kiln.func @steps(%x: !kiln.tensor<16x16xf32>, %n: index, %down: !down, %up: !up) role(aic) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[0, 0] : !t
  // expected-remark @below {{no push of this loop runs ahead: its step is not a positive constant}}
  scf.for %i = %c0 to %n step %n {
    tile.push %t, %down
    %p = tile.pop %up : !t
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}
kiln.func @echo(%n: index, %down: !down, %up: !up) role(aiv) {
  %c0 = arith.constant 0 : index
  scf.for %i = %c0 to %n step %n {
    %s = tile.pop %down : !t
    tile.push %s, %up
  }
}
kiln.func @group(%x: !kiln.tensor<16x16xf32>, %n: index) group {
  %down = tile.pipe : !down
  %up = tile.pipe : !up
  kiln.call @steps(%x, %n, %down, %up)
  kiln.call @echo(%n, %down, %up)
}

// -----

// What cannot be proved is not changed: the two sides count differently.
!t = !tile.tile<16x16xf32>
!down = !tile.pipe<aic -> aiv, 16x16xf32>
!up = !tile.pipe<aiv -> aic, 16x16xf32>
kiln.func @counts(%x: !kiln.tensor<16x16xf32>, %n: index, %down: !down, %up: !up) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  // expected-remark @below {{no push of this loop runs ahead: the pipes could not be proved afterwards}}
  scf.for %i = %c0 to %n step %c1 {
    tile.push %t, %down
    %p = tile.pop %up : !t
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}
kiln.func @echo(%m: index, %down: !down, %up: !up) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    %s = tile.pop %down : !t
    tile.push %s, %up
  }
}
kiln.func @group(%x: !kiln.tensor<16x16xf32>, %n: index, %m: index) group {
  %down = tile.pipe : !down
  %up = tile.pipe : !up
  kiln.call @counts(%x, %n, %down, %up)
  kiln.call @echo(%m, %down, %up)
}
