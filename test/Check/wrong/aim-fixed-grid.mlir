// 24 blocks of 32 rows, however many rows there are.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/wrong.mlir; test $? = 1' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// CHECK: 'y'
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module @fixed_grid {
  kiln.func @main(%x: !kiln.tensor<?x64xf32> in, %y: !kiln.tensor<?x64xf32> out) orchestration {
    %c24 = arith.constant 24 : index
    %m = kiln.dim %x, 0
    %n = kiln.dim %y, 0
    %same = arith.cmpi eq, %m, %n : index
    kiln.require %same, "one shape"
    %t = kiln.incore "twice" grid(%c24) {
      %c32 = arith.constant 32 : index
      %c0 = arith.constant 0 : index
      %b = tile.block_idx 0
      %i = arith.muli %b, %c32 : index
      %rows = kiln.dim %x, 0
      %inside = arith.cmpi slt, %i, %rows : index
      scf.if %inside {
        %v = tile.load %x[%i, %c0] : !tile.tile<32x64xf32>
        %w = tile.add %v, %v : !tile.tile<32x64xf32>
        tile.store %w, %y[%i, %c0]
      }
    }
  }
}

//--- right.mlir
module @fixed_grid {
  kiln.func @main(%x: !kiln.tensor<?x64xf32> in, %y: !kiln.tensor<?x64xf32> out) orchestration {
    %each = arith.constant 32 : index
    %m = kiln.dim %x, 0
    %n = kiln.dim %y, 0
    %same = arith.cmpi eq, %m, %n : index
    kiln.require %same, "one shape"
    %blocks = arith.ceildivsi %m, %each : index
    %t = kiln.incore "twice" grid(%blocks) {
      %c32 = arith.constant 32 : index
      %c0 = arith.constant 0 : index
      %b = tile.block_idx 0
      %i = arith.muli %b, %c32 : index
      %rows = kiln.dim %x, 0
      %inside = arith.cmpi slt, %i, %rows : index
      scf.if %inside {
        %v = tile.load %x[%i, %c0] : !tile.tile<32x64xf32>
        %w = tile.add %v, %v : !tile.tile<32x64xf32>
        tile.store %w, %y[%i, %c0]
      }
    }
  }
}
