// The sum over the wrong axis: what is stored for the last rows are sums of columns that are not there.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %y, 0
    %1 = kiln.dim %x, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %y, 1
    %4 = arith.cmpi eq, %3, %c1 : index
    %5 = arith.andi %2, %4 : i1
    kiln.require %5, "s"
    %6 = kiln.dim %x, 1
    %7 = arith.cmpi sle, %6, %c16 : index
    kiln.require %7, "w"
    %8 = kiln.dim %x, 0
    %9 = arith.ceildivsi %8, %c16 : index
    %10 = kiln.incore "k" grid(%9) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %11 = arith.muli %block, %c16_0 : index
      %12 = tile.load %x[%11, 0] : !tile.tile<16x16xf32>
      // CHECK: incomplete: {{.*}}wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: tile.reduce makes element [{{[0-9]+}}, 0] of 'y' (f32[{{[0-9]+}}, 1]) of nothing but padding (of tile.load at {{.*}}wrong.mlir:{{[0-9:]+}}): it holds 0, and nothing says that this is meant
      %13 = tile.reduce sum %12 axis(0) : !tile.tile<1x16xf32>
      %14 = tile.transpose %13 : !tile.tile<16x1xf32>
      %15 = arith.muli %block, %c16_0 : index
      tile.store %14, %y[%15, 0]
    }
  }
}
// CHECK: {{^}}INCOMPLETE

//--- right.mlir
module {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %y, 0
    %1 = kiln.dim %x, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %y, 1
    %4 = arith.cmpi eq, %3, %c1 : index
    %5 = arith.andi %2, %4 : i1
    kiln.require %5, "s"
    %6 = kiln.dim %x, 1
    %7 = arith.cmpi sle, %6, %c16 : index
    kiln.require %7, "w"
    %8 = kiln.dim %x, 0
    %9 = arith.ceildivsi %8, %c16 : index
    %10 = kiln.incore "k" grid(%9) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %11 = arith.muli %block, %c16_0 : index
      %12 = tile.load %x[%11, 0] : !tile.tile<16x16xf32>
      %13 = tile.reduce sum %12 axis(1) : !tile.tile<16x1xf32>
      %14 = arith.muli %block, %c16_0 : index
      tile.store %13, %y[%14, 0]
    }
  }
}
