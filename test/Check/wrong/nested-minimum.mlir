// Rows of a triangle, cut at m: the consumer takes one tile more in each row. How often the inner loop runs is a minimum
// that both roles compute alike.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: pipes of @pair: proved
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    %i1 = arith.addi %i, %c1 : index
    %e = arith.minsi %i1, %m : index
    scf.for %j = %c0 to %e step %c1 {
      tile.push %t, %p
    }
  }
}
kiln.func @vec(%y: !kiln.tensor<8x8xf32> out, %n: index, %m: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %s0 = tile.full %z : !t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s0) -> (!t) {
    %c2 = arith.constant 2 : index
    %i1 = arith.addi %i, %c2 : index
    %e = arith.minsi %i1, %m : index
    %q = scf.for %j = %c0 to %e step %c1 iter_args(%b = %a) -> (!t) {
      // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 1 push into pipe 'to_aiv' but 2 pops with n = 1, m = 2
      %u = tile.pop %p : !t
      %w = tile.add %b, %u : !t
      scf.yield %w : !t
    }
    scf.yield %q : !t
  }
  tile.store %r, %y[0, 0]
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out, %n: index, %m: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %n, %m, %p)
  kiln.call @vec(%y, %n, %m, %p)
}

//--- right.mlir
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    %i1 = arith.addi %i, %c1 : index
    %e = arith.minsi %i1, %m : index
    scf.for %j = %c0 to %e step %c1 {
      tile.push %t, %p
    }
  }
}
kiln.func @vec(%y: !kiln.tensor<8x8xf32> out, %n: index, %m: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %s0 = tile.full %z : !t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s0) -> (!t) {
    %i1 = arith.addi %i, %c1 : index
    %e = arith.minsi %i1, %m : index
    %q = scf.for %j = %c0 to %e step %c1 iter_args(%b = %a) -> (!t) {
      %u = tile.pop %p : !t
      %w = tile.add %b, %u : !t
      scf.yield %w : !t
    }
    scf.yield %q : !t
  }
  tile.store %r, %y[0, 0]
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out, %n: index, %m: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %n, %m, %p)
  kiln.call @vec(%y, %n, %m, %p)
}
