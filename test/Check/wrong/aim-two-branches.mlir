// Each number alone takes both of its branches and all is written; with both large half of it is not.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<16x16xf32> in, %n: index, %m: index, %y: !kiln.tensor<16x16xf32> out) incore {
  %c50 = arith.constant 50 : index
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %many = arith.cmpi sgt, %n, %c50 : index
  scf.if %many {
    tile.store %t, %y[0, 0] valid(8, 16)
  } else {
    tile.store %t, %y[0, 0]
  }
  %few = arith.cmpi slt, %m, %c50 : index
  scf.if %few {
    tile.store %t, %y[0, 0]
  }
}
kiln.func @main(%x: !kiln.tensor<16x16xf32> in, %n: index, %m: index, %y: !kiln.tensor<16x16xf32> out) orchestration {
  // CHECK: incomplete: {{.*}}wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: nobody writes elements [8:16, 0:16] of 'y'
  %t = kiln.submit @k(%x, %n, %m, %y)
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<16x16xf32> in, %n: index, %m: index, %y: !kiln.tensor<16x16xf32> out) incore {
  %c50 = arith.constant 50 : index
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %many = arith.cmpi sgt, %n, %c50 : index
  scf.if %many {
    tile.store %t, %y[0, 0] valid(8, 16)
  } else {
    tile.store %t, %y[0, 0]
  }
  %few = arith.cmpi slt, %m, %c50 : index
  scf.if %few {
    tile.store %t, %y[0, 0]
  } else {
    tile.store %t, %y[8, 0] valid(8, 16)
  }
}
kiln.func @main(%x: !kiln.tensor<16x16xf32> in, %n: index, %m: index, %y: !kiln.tensor<16x16xf32> out) orchestration {
  %t = kiln.submit @k(%x, %n, %m, %y)
}
