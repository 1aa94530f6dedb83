// Arguments behind an exclusive or are found.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN
// CHECK: FINDINGS

//--- wrong.mlir
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 564 : index
    %k9 = arith.constant 1111 : index
    %m = arith.xori %n, %k : index
    %bad = arith.cmpi eq, %m, %k9 : index
    scf.if %bad {
    } else {
      tile.push %t, %p
    }
  }
}
kiln.func @cube(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.pop %p : !t
    %v = tile.matmul %u, %u : !t
    tile.store %v, %y[0, 0]
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32> out, %n: index) group {
  %g1 = arith.constant 1 : index
  %ok = arith.cmpi sge, %n, %g1 : index
  kiln.require %ok, "n >= 1"
  %p = tile.pipe slots(2) : !p
  kiln.call @vec(%x, %n, %p)
  kiln.call @cube(%y, %n, %p)
}

//--- right.mlir
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 564 : index
    %k9 = arith.constant 1111 : index
    %m = arith.xori %n, %k : index
    %bad = arith.cmpi eq, %m, %k9 : index
    scf.if %bad {
      tile.push %t, %p
    } else {
      tile.push %t, %p
    }
  }
}
kiln.func @cube(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.pop %p : !t
    %v = tile.matmul %u, %u : !t
    tile.store %v, %y[0, 0]
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32> out, %n: index) group {
  %g1 = arith.constant 1 : index
  %ok = arith.cmpi sge, %n, %g1 : index
  kiln.require %ok, "n >= 1"
  %p = tile.pipe slots(2) : !p
  kiln.call @vec(%x, %n, %p)
  kiln.call @cube(%y, %n, %p)
}
