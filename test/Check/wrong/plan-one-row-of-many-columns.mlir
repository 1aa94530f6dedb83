// A branch for one row forgets that it may have more columns than a tile.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/wrong.mlir; test $? = 1' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// CHECK: 'y'
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module @one_row {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %m = kiln.dim %x, 0
    %n = kiln.dim %x, 1
    %ym = kiln.dim %y, 0
    %yn = kiln.dim %y, 1
    %same = arith.cmpi eq, %m, %ym : index
    %samec = arith.cmpi eq, %n, %yn : index
    %both = arith.andi %same, %samec : i1
    kiln.require %both, "one shape"
    %single = arith.cmpi eq, %m, %c1 : index
    scf.if %single {
      %t = kiln.incore "row" grid(%c1) {
        %c0 = arith.constant 0 : index
        %v = tile.load %x[%c0, %c0] : !tile.tile<1x64xf32>
        %w = tile.add %v, %v : !tile.tile<1x64xf32>
        tile.store %w, %y[%c0, %c0]
      }
    } else {
      %gi = arith.ceildivsi %m, %c64 : index
      %gj = arith.ceildivsi %n, %c64 : index
      %t = kiln.incore "all" grid(%gi, %gj) {
        %c64_0 = arith.constant 64 : index
        %bi = tile.block_idx 0
        %bj = tile.block_idx 1
        %i = arith.muli %bi, %c64_0 : index
        %j = arith.muli %bj, %c64_0 : index
        %v = tile.load %x[%i, %j] : !tile.tile<64x64xf32>
        %w = tile.add %v, %v : !tile.tile<64x64xf32>
        tile.store %w, %y[%i, %j]
      }
    }
  }
}

//--- right.mlir
module @one_row {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %m = kiln.dim %x, 0
    %n = kiln.dim %x, 1
    %ym = kiln.dim %y, 0
    %yn = kiln.dim %y, 1
    %same = arith.cmpi eq, %m, %ym : index
    %samec = arith.cmpi eq, %n, %yn : index
    %both = arith.andi %same, %samec : i1
    kiln.require %both, "one shape"
    %single = arith.cmpi eq, %m, %c1 : index
    scf.if %single {
      %gr = arith.ceildivsi %n, %c64 : index
      %t = kiln.incore "row" grid(%gr) {
        %c64_1 = arith.constant 64 : index
        %bc = tile.block_idx 0
        %jc = arith.muli %bc, %c64_1 : index
        %c0 = arith.constant 0 : index
        %v = tile.load %x[%c0, %jc] : !tile.tile<1x64xf32>
        %w = tile.add %v, %v : !tile.tile<1x64xf32>
        tile.store %w, %y[%c0, %jc]
      }
    } else {
      %gi = arith.ceildivsi %m, %c64 : index
      %gj = arith.ceildivsi %n, %c64 : index
      %t = kiln.incore "all" grid(%gi, %gj) {
        %c64_0 = arith.constant 64 : index
        %bi = tile.block_idx 0
        %bj = tile.block_idx 1
        %i = arith.muli %bi, %c64_0 : index
        %j = arith.muli %bj, %c64_0 : index
        %v = tile.load %x[%i, %j] : !tile.tile<64x64xf32>
        %w = tile.add %v, %v : !tile.tile<64x64xf32>
        tile.store %w, %y[%i, %j]
      }
    }
  }
}
