// The same, with tiles that are too wide for many of them to be tried.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/wrong.mlir; test $? = 1' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// CHECK: race: 
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module @wide_ring {
  kiln.func @main(%x: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?xf32> out) orchestration {
    %c256 = arith.constant 256 : index
    %m = kiln.dim %x, 0
    %n = kiln.dim %y, 0
    %same = arith.cmpi eq, %m, %n : index
    kiln.require %same, "one shape"
    %ws = kiln.alloc() : !kiln.tensor<2x256xf32>
    %g = arith.ceildivsi %m, %c256 : index
    %t = kiln.incore "twice" grid(%g) {
      %c256_0 = arith.constant 256 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %b = tile.block_idx 0
      %i = arith.muli %b, %c256_0 : index
      %s = arith.andi %b, %c1 : index
      %v = tile.load %x[%i] : !tile.tile<1x256xf32>
      tile.store %v, %ws[%s, %c0]
      %w = tile.load %ws[%s, %c0] : !tile.tile<1x256xf32>
      %u = tile.add %w, %v : !tile.tile<1x256xf32>
      tile.store %u, %y[%i]
    }
  }
}

//--- right.mlir
module @wide_ring {
  kiln.func @main(%x: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?xf32> out) orchestration {
    %c256 = arith.constant 256 : index
    %m = kiln.dim %x, 0
    %most = arith.constant 512 : index
    %fits = arith.cmpi sle, %m, %most : index
    kiln.require %fits, "two blocks"
    %n = kiln.dim %y, 0
    %same = arith.cmpi eq, %m, %n : index
    kiln.require %same, "one shape"
    %ws = kiln.alloc() : !kiln.tensor<2x256xf32>
    %g = arith.ceildivsi %m, %c256 : index
    %t = kiln.incore "twice" grid(%g) {
      %c256_0 = arith.constant 256 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %b = tile.block_idx 0
      %i = arith.muli %b, %c256_0 : index
      %s = arith.andi %b, %c1 : index
      %v = tile.load %x[%i] : !tile.tile<1x256xf32>
      tile.store %v, %ws[%s, %c0]
      %w = tile.load %ws[%s, %c0] : !tile.tile<1x256xf32>
      %u = tile.add %w, %v : !tile.tile<1x256xf32>
      tile.store %u, %y[%i]
    }
  }
}
