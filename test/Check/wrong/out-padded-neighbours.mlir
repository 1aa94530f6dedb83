// The greatest of three neighbours takes a zero for the neighbour that the first and the last do not have.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module {
  kiln.func @main(%x: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?xf32> out) orchestration {
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "s"
    %3 = kiln.dim %x, 0
    %4 = arith.ceildivsi %3, %c64 : index
    %5 = kiln.incore "k" grid(%4) {
      %c64_0 = arith.constant 64 : index
      %c1 = arith.constant 1 : index
      %block = tile.block_idx 0
      %6 = arith.muli %block, %c64_0 : index
      %7 = arith.subi %6, %c1 : index
      %8 = tile.load %x[%7] : !tile.tile<1x64xf32>
      %9 = tile.load %x[%6] : !tile.tile<1x64xf32>
      %10 = arith.addi %6, %c1 : index
      %11 = tile.load %x[%10] outside : !tile.tile<1x64xf32>
      // CHECK: incomplete: {{.*}}wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: tile.max makes element [0] of 'y' (f32[{{[0-9]+}}]) of padding (of tile.load at {{.*}}wrong.mlir:{{[0-9:]+}}): it holds {{.*}}, and nothing says that this is meant
      %12 = tile.max %8, %9 : !tile.tile<1x64xf32>
      %13 = tile.max %12, %11 : !tile.tile<1x64xf32>
      tile.store %13, %y[%6]
    }
  }
}
// CHECK: compare with a formula, choose the value with a tile.mask or tile.select, or tie the extents with a require
// CHECK: {{^}}INCOMPLETE

//--- right.mlir
module {
  kiln.func @main(%x: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?xf32> out) orchestration {
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "s"
    %3 = kiln.dim %x, 0
    %4 = arith.ceildivsi %3, %c64 : index
    %5 = kiln.incore "k" grid(%4) {
      %c64_0 = arith.constant 64 : index
      %c1 = arith.constant 1 : index
      %block = tile.block_idx 0
      %6 = arith.muli %block, %c64_0 : index
      %7 = arith.subi %6, %c1 : index
      %8 = tile.load %x[%7] pad(min) : !tile.tile<1x64xf32>
      %9 = tile.load %x[%6] : !tile.tile<1x64xf32>
      %10 = arith.addi %6, %c1 : index
      %11 = tile.load %x[%10] outside pad(min) : !tile.tile<1x64xf32>
      %12 = tile.max %8, %9 : !tile.tile<1x64xf32>
      %13 = tile.max %12, %11 : !tile.tile<1x64xf32>
      tile.store %13, %y[%6]
    }
  }
}
