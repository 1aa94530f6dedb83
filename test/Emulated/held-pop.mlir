// REQUIRES: kiln, emulated-gpu, torch
// RUN: env KILN_EMULATE_SEED=1 %emulate %kiln run %s -p h200 --arg n=4 --arg x=80x16 --arg y=64x16 | FileCheck %s
// RUN: env KILN_EMULATE_SEED=2 %emulate %kiln run %s -p h200 --arg n=1 --arg x=32x16 --arg y=16x16 | FileCheck %s
// RUN: env KILN_EMULATE_SEED=3 %emulate %kiln run %s -p h200 --arg n=7 --arg x=128x16 --arg y=112x16 | FileCheck %s
// RUN: not %emulate %kiln run %s -p h200 --arg n=-1 --arg x=80x16 --arg y=64x16 2>&1 | FileCheck %s --check-prefix=NEVER

// Roles of another machine: a tile that comes first is used as long as others come through the same pipe. Their order is
// known if there are not fewer than none.

// CHECK: ok
// CHECK: PASS
// NEVER: 'held' requires n >= 0, but n is -1: its roles would wait for each other for ever

!p = !tile.pipe<aiv -> aic, 16x16xf32>
kiln.func @double(%n: index, %x: !kiln.tensor<?x16xf32>, %q: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %two = arith.constant 2.0 : f32
  %more = arith.addi %n, %c1 : index
  scf.for %i = %c0 to %more step %c1 {
    %row = arith.muli %i, %c16 : index
    %t = tile.load %x[%row, 0] : !tile.tile<16x16xf32>
    %d = tile.mul %t, %two : !tile.tile<16x16xf32>
    tile.push %d, %q
  }
}
kiln.func @multiply(%q: !p, %n: index, %y: !kiln.tensor<?x16xf32>) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %w = tile.pop %q : !tile.tile<16x16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.pop %q : !tile.tile<16x16xf32>
    %m = tile.matmul %t, %w : !tile.tile<16x16xf32>
    %row = arith.muli %i, %c16 : index
    tile.store %m, %y[%row, 0]
  }
}
kiln.func @held(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out, %n: index) group {
  %q = tile.pipe : !p
  kiln.call @double(%n, %x, %q)
  kiln.call @multiply(%q, %n, %y)
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out, %n: index) orchestration {
  %0 = kiln.submit @held(%x, %y, %n)
}
