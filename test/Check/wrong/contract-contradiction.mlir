// No arguments satisfy both requirements; the program that asks for a strange number of rows is right.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/open.mlir; test $? = 3' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- open.mlir
kiln.func @rows(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %m = kiln.dim %y, 0
  %same = arith.cmpi eq, %n, %m : index
  kiln.require %same, "as many rows"
  %more = arith.cmpi sgt, %n, %c8 : index
  %less = arith.cmpi slt, %n, %c8 : index
  kiln.require %more, "more than 8"
  // CHECK: incomplete: {{.*}}open.mlir:[[#@LINE+2]]:{{[0-9]+}}: nothing was tried: no arguments were found that satisfy x.dim(0) == y.dim(0) and x.dim(0) > 8 and x.dim(0) < 8
  // CHECK-NEXT: give some with --arg, or see whether the requirements contradict each other
  kiln.require %less, "less than 8"
  %g = arith.ceildivsi %n, %c8 : index
  %t = kiln.submit @rows(%x, %y) grid(%g)
}

//--- right.mlir
kiln.func @rows(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %m = kiln.dim %y, 0
  %same = arith.cmpi eq, %n, %m : index
  kiln.require %same, "as many rows"
  %c11 = arith.constant 11 : index
  %c5 = arith.constant 5 : index
  %c900 = arith.constant 900 : index
  %rest = arith.remsi %n, %c11 : index
  %odd = arith.cmpi eq, %rest, %c5 : index
  %many = arith.cmpi sge, %n, %c900 : index
  kiln.require %odd, "five more than a multiple of eleven"
  kiln.require %many, "at least 900"
  %g = arith.ceildivsi %n, %c8 : index
  %t = kiln.submit @rows(%x, %y) grid(%g)
}
