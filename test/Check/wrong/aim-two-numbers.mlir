// Two numbers must be right at once to take the branch.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/open.mlir; test $? = 3' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- open.mlir
// CHECK: incomplete: {{.*}}: nobody writes elements [0:16, 0:16] of 'y' (f32[16, 16]), which is out
// CHECK-NEXT: shown by {{.*}}m={{[0-9]+}} --arg n=7
kiln.func @copy(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out, %n: index, %m: index) orchestration {
  %c7 = arith.constant 7 : index
  %c9 = arith.constant 9 : index
  %a = arith.cmpi eq, %n, %c7 : index
  %b = arith.cmpi sgt, %m, %c9 : index
  %is = arith.andi %a, %b : i1
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
kiln.func @main(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out, %n: index, %m: index) orchestration {
  %c7 = arith.constant 7 : index
  %c9 = arith.constant 9 : index
  %a = arith.cmpi eq, %n, %c7 : index
  %b = arith.cmpi sgt, %m, %c9 : index
  %is = arith.andi %a, %b : i1
  scf.if %is {
    %t = kiln.submit @copy(%x, %y)
  } else {
    %t = kiln.submit @copy(%x, %y)
  }
}
