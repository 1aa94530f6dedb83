// A branch that needs more rows than are ever tried says so; a require that excludes them settles it.
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
  %most = arith.constant 5000000 : index
  %n = kiln.dim %x, 0
  %up = arith.ceildivsi %n, %c8 : index
  %down = arith.divsi %n, %c8 : index
  %many = arith.cmpi sgt, %n, %most : index
  // CHECK: incomplete: {{.*}}open.mlir:[[#@LINE+2]]:{{[0-9]+}}: the condition was false in every case that was tried
  // CHECK-NEXT: it depends on x.dim(0); give --arg x=SHAPE --arg y=SHAPE with which it is otherwise, or exclude the other side with a require, or leave it out
  %g = arith.select %many, %down, %up : index
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
  %most = arith.constant 5000000 : index
  %few = arith.cmpi sle, %n, %most : index
  kiln.require %few, "at most five million rows"
  %many = arith.cmpi sgt, %n, %most : index
  scf.if %many {
    %no = kiln.submit @rows(%x, %y) grid(1)
  }
  %g = arith.ceildivsi %n, %c8 : index
  %t = kiln.submit @rows(%x, %y) grid(%g)
}
