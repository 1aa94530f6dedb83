// A tile is stored where its transpose belongs: data fall outside, and zeros from beyond the edge inside.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 1
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 0
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "t"
    %7 = kiln.dim %x, 0
    %8 = arith.ceildivsi %7, %c16 : index
    %9 = kiln.dim %x, 1
    %10 = arith.ceildivsi %9, %c16 : index
    %11 = kiln.incore "k" grid(%8, %10) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %12 = arith.muli %block, %c16_0 : index
      %13 = arith.muli %block_1, %c16_0 : index
      %14 = tile.load %x[%12, %13] : !tile.tile<16x16xf32>
      %15 = arith.muli %block_1, %c16_0 : index
      %16 = arith.muli %block, %c16_0 : index
      // CHECK: incomplete: {{.*}}wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: tile.store stores padding in element [{{[0-9]+, [0-9]+}}] of 'y' (f32[{{[0-9, ]+}}]), while data of the tile lie outside (of tile.load at {{.*}}wrong.mlir:{{[0-9:]+}}): it holds 0, and nothing says that this is meant
      tile.store %14, %y[%15, %16]
    }
  }
}
// CHECK: {{^}}INCOMPLETE

//--- right.mlir
module {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 1
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 0
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "t"
    %7 = kiln.dim %x, 0
    %8 = arith.ceildivsi %7, %c16 : index
    %9 = kiln.dim %x, 1
    %10 = arith.ceildivsi %9, %c16 : index
    %11 = kiln.incore "k" grid(%8, %10) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %12 = arith.muli %block, %c16_0 : index
      %13 = arith.muli %block_1, %c16_0 : index
      %14 = tile.load %x[%12, %13] : !tile.tile<16x16xf32>
      %15 = tile.transpose %14 : !tile.tile<16x16xf32>
      %16 = arith.muli %block_1, %c16_0 : index
      %17 = arith.muli %block, %c16_0 : index
      tile.store %15, %y[%16, %17]
    }
  }
}
