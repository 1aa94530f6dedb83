// Nothing ties the weights to the rows that they multiply: where there are fewer, the end of each row is multiplied by padding.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %w: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c32 = arith.constant 32 : index
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "s"
    %7 = kiln.dim %x, 1
    %8 = arith.cmpi sle, %7, %c32 : index
    kiln.require %8, "w"
    %9 = kiln.dim %x, 0
    %10 = arith.ceildivsi %9, %c16 : index
    %11 = kiln.incore "a" grid(%10) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %12 = arith.muli %block, %c16_0 : index
      %13 = tile.load %x[%12, 0] : !tile.tile<16x32xf32>
      %14 = tile.load %w[0] : !tile.tile<1x32xf32>
      // CHECK: incomplete: {{.*}}wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: tile.mul makes element [0, {{[0-9]+}}] of 'y' (f32[{{[0-9, ]+}}]) of padding (of tile.load at {{.*}}wrong.mlir:{{[0-9:]+}}): it holds {{-?}}0, and nothing says that this is meant
      %15 = tile.mul %13, %14 : !tile.tile<16x32xf32>
      %16 = arith.muli %block, %c16_0 : index
      tile.store %15, %y[%16, 0]
    }
  }
}
// CHECK-NEXT: or tie the extents with a require, such as w.dim(0) == x.dim(1); shown by --arg
// CHECK: {{^}}INCOMPLETE

//--- right.mlir
module {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %w: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c32 = arith.constant 32 : index
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "s"
    %7 = kiln.dim %x, 1
    %8 = arith.cmpi sle, %7, %c32 : index
    kiln.require %8, "w"
    %9 = kiln.dim %w, 0
    %10 = kiln.dim %x, 1
    %11 = arith.cmpi eq, %9, %10 : index
    kiln.require %11, "t"
    %12 = kiln.dim %x, 0
    %13 = arith.ceildivsi %12, %c16 : index
    %14 = kiln.incore "a" grid(%13) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %15 = arith.muli %block, %c16_0 : index
      %16 = tile.load %x[%15, 0] : !tile.tile<16x32xf32>
      %17 = tile.load %w[0] : !tile.tile<1x32xf32>
      %18 = tile.mul %16, %17 : !tile.tile<16x32xf32>
      %19 = arith.muli %block, %c16_0 : index
      tile.store %18, %y[%19, 0]
    }
  }
}
