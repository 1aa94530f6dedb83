// Tiles are counted without the last, which is not whole; only where each block has one tile too few is it missed.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/wrong.mlir; test $? = 1' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// CHECK: 'y'
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module @share {
  kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %m = kiln.dim %x, 0
    %n = kiln.dim %y, 0
    %same = arith.cmpi eq, %m, %n : index
    kiln.require %same, "one shape"
    %c15 = arith.constant 15 : index
    %tiles = arith.divsi %m, %c16 : index
    %c1 = arith.constant 1 : index
    %most = arith.maxsi %tiles, %c1 : index
    %each = arith.ceildivsi %most, %c24 : index
    %t = kiln.incore "twice" grid(%c24) {
      %c16_0 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %b = tile.block_idx 0
      %rows = kiln.dim %x, 0
      %per = arith.muli %each, %c16_0 : index
      %from = arith.muli %b, %per : index
      %end = arith.addi %from, %per : index
      %to = arith.minsi %end, %rows : index
      scf.for %i = %from to %to step %c16_0 {
        %v = tile.load %x[%i, %c0] : !tile.tile<16x16xf32>
        %w = tile.add %v, %v : !tile.tile<16x16xf32>
        tile.store %w, %y[%i, %c0]
      }
    }
  }
}

//--- right.mlir
module @share_right {
  kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %m = kiln.dim %x, 0
    %n = kiln.dim %y, 0
    %same = arith.cmpi eq, %m, %n : index
    kiln.require %same, "one shape"
    %c15 = arith.constant 15 : index
    %tiles = arith.ceildivsi %m, %c16 : index
    %c1 = arith.constant 1 : index
    %most = arith.maxsi %tiles, %c1 : index
    %each = arith.ceildivsi %most, %c24 : index
    %t = kiln.incore "twice" grid(%c24) {
      %c16_0 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %b = tile.block_idx 0
      %rows = kiln.dim %x, 0
      %per = arith.muli %each, %c16_0 : index
      %from = arith.muli %b, %per : index
      %end = arith.addi %from, %per : index
      %to = arith.minsi %end, %rows : index
      scf.for %i = %from to %to step %c16_0 {
        %v = tile.load %x[%i, %c0] : !tile.tile<16x16xf32>
        %w = tile.add %v, %v : !tile.tile<16x16xf32>
        tile.store %w, %y[%i, %c0]
      }
    }
  }
}
