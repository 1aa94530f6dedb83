// Eight places that blocks choose by their last bits: a ninth block has the first one's.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/wrong.mlir; test $? = 1' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// CHECK: race: 
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module @n_ring_and {
  kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %m = kiln.dim %x, 0
    %n = kiln.dim %y, 0
    %same = arith.cmpi eq, %m, %n : index
    kiln.require %same, "one shape"
    %ws = kiln.alloc() : !kiln.tensor<8x16x16xf32>
    %g = arith.ceildivsi %m, %c16 : index
    %t = kiln.incore "twice" grid(%g) {
      %c16_0 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c5 = arith.constant 5 : index
      %c7 = arith.constant 7 : index
      %c8 = arith.constant 8 : index
      %b = tile.block_idx 0
      %i = arith.muli %b, %c16_0 : index
      %s = arith.andi %b, %c7 : index
      %v = tile.load %x[%i, %c0] : !tile.tile<16x16xf32>
      tile.store %v, %ws[%s, %c0, %c0]
      %w = tile.load %ws[%s, %c0, %c0] : !tile.tile<16x16xf32>
      %u = tile.add %w, %v : !tile.tile<16x16xf32>
      tile.store %u, %y[%i, %c0]
    }
  }
}

//--- right.mlir
module @n_ring_and {
  kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %m = kiln.dim %x, 0
    %most = arith.constant 128 : index
    %fits = arith.cmpi sle, %m, %most : index
    kiln.require %fits, "eight blocks"
    %n = kiln.dim %y, 0
    %same = arith.cmpi eq, %m, %n : index
    kiln.require %same, "one shape"
    %ws = kiln.alloc() : !kiln.tensor<8x16x16xf32>
    %g = arith.ceildivsi %m, %c16 : index
    %t = kiln.incore "twice" grid(%g) {
      %c16_0 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c5 = arith.constant 5 : index
      %c7 = arith.constant 7 : index
      %c8 = arith.constant 8 : index
      %b = tile.block_idx 0
      %i = arith.muli %b, %c16_0 : index
      %s = arith.andi %b, %c7 : index
      %v = tile.load %x[%i, %c0] : !tile.tile<16x16xf32>
      tile.store %v, %ws[%s, %c0, %c0]
      %w = tile.load %ws[%s, %c0, %c0] : !tile.tile<16x16xf32>
      %u = tile.add %w, %v : !tile.tile<16x16xf32>
      tile.store %u, %y[%i, %c0]
    }
  }
}
