// A pass runs several times for a platform; what it has to say is said once.
// RUN: kiln build %s -p h200 -o %t 2>&1 | FileCheck %s
// CHECK-COUNT-2: warning: pipes not proved: the condition depends on tile.element
// CHECK-NOT: warning
!t = !tile.tile<16x16xf32>
!p = !tile.pipe<aic -> aiv, 16x16xf32>

kiln.func @as_data_says(%x: !kiln.tensor<16x64xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @produce(%x, %p)
  kiln.call @consume(%x, %p)
}
kiln.func @produce(%x: !kiln.tensor<16x64xf32>, %p: !p) role(aic) {
  %zero = arith.constant 0.0 : f32
  %t = tile.load %x[0, 0] : !t
  %e = tile.element %t[0, 0] : f32
  %more = arith.cmpf ogt, %e, %zero : f32
  scf.if %more {
    tile.push %t, %p
  }
}
kiln.func @consume(%x: !kiln.tensor<16x64xf32>, %p: !p) role(aiv) {
  %zero = arith.constant 0.0 : f32
  %t = tile.load %x[0, 0] : !t
  %e = tile.element %t[0, 0] : f32
  %more = arith.cmpf ogt, %e, %zero : f32
  scf.if %more {
    %u = tile.pop %p : !t
  }
}


