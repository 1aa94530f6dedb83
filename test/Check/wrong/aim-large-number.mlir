// A number that is compared with 9000 leaves the output open.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/open.mlir; test $? = 3' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- open.mlir
// CHECK: incomplete: {{.*}}: nobody writes elements [0:16, 0:16] of 'y' (f32[16, 16]), which is out
// CHECK-NEXT: shown by {{.*}}n=9000
kiln.func @copy(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out, %n: index) orchestration {
  %c = arith.constant 9000 : index
  %is = arith.cmpi eq, %n, %c : index
  scf.if %is {
  } else {
    %t = kiln.submit @copy(%x, %y)
  }
}

//--- right.mlir
kiln.func @copy(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out, %n: index) orchestration {
  %c = arith.constant 9000 : index
  %is = arith.cmpi eq, %n, %c : index
  scf.if %is {
    %t = kiln.submit @copy(%x, %y)
  } else {
    %t = kiln.submit @copy(%x, %y)
  }
}
