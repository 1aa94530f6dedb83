// The number of blocks comes from memory, and an extent bounds it; blocks overlap by a row.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/wrong.mlir; test $? = 3' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// CHECK: incomplete: {{.*}}race
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module @grid_get {
  kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %count: !kiln.tensor<1xi32> in, %y: !kiln.tensor<?x16xf32> inout) orchestration {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %m = kiln.dim %x, 0
    %n = kiln.dim %y, 0
    %same = arith.cmpi eq, %m, %n : index
    kiln.require %same, "one shape"
    %v = kiln.get %count[%c0] : i32
    %w = arith.index_cast %v : i32 to index
    %lo = arith.maxsi %w, %c0 : index
    %r = arith.minsi %lo, %m : index
    %g = arith.ceildivsi %r, %c16 : index
    %t = kiln.incore "twice" grid(%g) {
      %c15 = arith.constant 15 : index
      %c0_0 = arith.constant 0 : index
      %b = tile.block_idx 0
      %i = arith.muli %b, %c15 : index
      %q = tile.load %x[%i, %c0_0] : !tile.tile<16x16xf32>
      tile.store %q, %y[%i, %c0_0]
    }
  }
}

//--- right.mlir
module @grid_get {
  kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %count: !kiln.tensor<1xi32> in, %y: !kiln.tensor<?x16xf32> inout) orchestration {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %m = kiln.dim %x, 0
    %n = kiln.dim %y, 0
    %same = arith.cmpi eq, %m, %n : index
    kiln.require %same, "one shape"
    %v = kiln.get %count[%c0] : i32
    %w = arith.index_cast %v : i32 to index
    %lo = arith.maxsi %w, %c0 : index
    %r = arith.minsi %lo, %m : index
    %g = arith.ceildivsi %r, %c16 : index
    %t = kiln.incore "twice" grid(%g) {
      %c15 = arith.constant 16 : index
      %c0_0 = arith.constant 0 : index
      %b = tile.block_idx 0
      %i = arith.muli %b, %c15 : index
      %q = tile.load %x[%i, %c0_0] : !tile.tile<16x16xf32>
      tile.store %q, %y[%i, %c0_0]
    }
  }
}
