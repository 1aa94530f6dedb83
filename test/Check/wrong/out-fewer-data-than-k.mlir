// Rows may have fewer elements than are asked for: the others are padding, and columns that are not there.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out, %c: !kiln.tensor<?x?xi32> out) orchestration {
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %y, 0
    %1 = kiln.dim %x, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %y, 1
    %4 = arith.cmpi eq, %3, %c8 : index
    %5 = arith.andi %2, %4 : i1
    kiln.require %5, "s"
    %6 = kiln.dim %y, 0
    %7 = kiln.dim %c, 0
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = kiln.dim %y, 1
    %10 = kiln.dim %c, 1
    %11 = arith.cmpi eq, %9, %10 : index
    %12 = arith.andi %8, %11 : i1
    kiln.require %12, "s"
    %13 = kiln.dim %x, 1
    %14 = arith.cmpi sge, %13, %c1 : index
    %15 = kiln.dim %x, 1
    %16 = arith.cmpi sle, %15, %c64 : index
    %17 = arith.andi %14, %16 : i1
    kiln.require %17, "w"
    %18 = kiln.dim %x, 0
    %19 = arith.ceildivsi %18, %c8 : index
    %20 = kiln.incore "k" grid(%19) {
      %c8_0 = arith.constant 8 : index
      %block = tile.block_idx 0
      %21 = arith.muli %block, %c8_0 : index
      %22 = tile.load %x[%21, 0] pad(min) : !tile.tile<8x64xf32>
      // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: tile.topk_rows has fewer data in a row than it gives: element [0, {{[0-9]}}] of 'y' (f32[{{[0-9]+}}, 8]) holds -inf, which is padding or its place
      %values, %indices = tile.topk_rows %22 : !tile.tile<8x8xf32>, !tile.tile<8x8xi32>
      %23 = arith.muli %block, %c8_0 : index
      tile.store %values, %y[%23, 0]
      %24 = arith.muli %block, %c8_0 : index
      tile.store %indices, %c[%24, 0]
    }
  }
}
// CHECK: {{^}}FINDINGS

//--- right.mlir
module {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out, %c: !kiln.tensor<?x?xi32> out) orchestration {
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %y, 0
    %1 = kiln.dim %x, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %y, 1
    %4 = arith.cmpi eq, %3, %c8 : index
    %5 = arith.andi %2, %4 : i1
    kiln.require %5, "s"
    %6 = kiln.dim %y, 0
    %7 = kiln.dim %c, 0
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = kiln.dim %y, 1
    %10 = kiln.dim %c, 1
    %11 = arith.cmpi eq, %9, %10 : index
    %12 = arith.andi %8, %11 : i1
    kiln.require %12, "s"
    %13 = kiln.dim %x, 1
    %14 = arith.cmpi sge, %13, %c8 : index
    %15 = kiln.dim %x, 1
    %16 = arith.cmpi sle, %15, %c64 : index
    %17 = arith.andi %14, %16 : i1
    kiln.require %17, "w"
    %18 = kiln.dim %x, 0
    %19 = arith.ceildivsi %18, %c8 : index
    %20 = kiln.incore "k" grid(%19) {
      %c8_0 = arith.constant 8 : index
      %block = tile.block_idx 0
      %21 = arith.muli %block, %c8_0 : index
      %22 = tile.load %x[%21, 0] pad(min) : !tile.tile<8x64xf32>
      %values, %indices = tile.topk_rows %22 : !tile.tile<8x8xf32>, !tile.tile<8x8xi32>
      %23 = arith.muli %block, %c8_0 : index
      tile.store %values, %y[%23, 0]
      %24 = arith.muli %block, %c8_0 : index
      tile.store %indices, %c[%24, 0]
    }
  }
}
