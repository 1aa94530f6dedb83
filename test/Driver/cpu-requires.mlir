// Extents that are required to be multiples of a tile: the code of the kernel, which is written in place and inherits
// what its orchestration requires, has no path for tiles that are cut off. Without the requirements it has one.
// REQUIRES: torch
// RUN: %kiln emit %s --target llvm | FileCheck %s --check-prefix=WHOLE --implicit-check-not=llvm.masked
// RUN: sed '/kiln.require/d' %s > %t.mlir
// RUN: %kiln emit %t.mlir --target llvm | FileCheck %s --check-prefix=RAGGED
// RUN: %kiln run %s -p cpu --arg x=16x192 --arg y=16x192 | FileCheck %s
// RUN: %kiln run %t.mlir -p cpu --arg x=13x150 --arg y=13x150 | FileCheck %s
// RUN: sh -c '%kiln run %s -p cpu --arg x=13x192 --arg y=13x192 2>&1; test $? = 2' | FileCheck %s --check-prefix=REFUSED
// WHOLE: define {{.*}}twice
// RAGGED: llvm.masked.store
// CHECK: y {{.*}}ok
// REFUSED: 'main' requires {{.*}}x.dim(0) is 13{{.*}}: whole tiles

!rows = !kiln.tensor<?x?xf32, strides [?, 1]>
kiln.func @main(%x: !rows in, %y: !rows out) orchestration {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %m = kiln.dim %x, 0
  %n = kiln.dim %x, 1
  %mr = arith.remsi %m, %c8 : index
  %nr = arith.remsi %n, %c64 : index
  %mIsWhole = arith.cmpi eq, %mr, %c0 : index
  %nIsWhole = arith.cmpi eq, %nr, %c0 : index
  %areWhole = arith.andi %mIsWhole, %nIsWhole : i1
  kiln.require %areWhole, "whole tiles"
  %hasRows = arith.cmpi sgt, %m, %c0 : index
  kiln.require %hasRows, "there are rows"
  %hasCols = arith.cmpi sgt, %n, %c0 : index
  kiln.require %hasCols, "there are columns"
  %ym = kiln.dim %y, 0
  %yn = kiln.dim %y, 1
  %sameRows = arith.cmpi eq, %m, %ym : index
  %sameCols = arith.cmpi eq, %n, %yn : index
  %same = arith.andi %sameRows, %sameCols : i1
  kiln.require %same, "one shape"
  %gm = arith.ceildivsi %m, %c8 : index
  %gn = arith.ceildivsi %n, %c64 : index
  %t = kiln.incore "twice" grid(%gm, %gn) {
    %bi = tile.block_idx 0
    %bj = tile.block_idx 1
    %i = arith.muli %bi, %c8 : index
    %j = arith.muli %bj, %c64 : index
    %t = tile.load %x[%i, %j] : !tile.tile<8x64xf32>
    %u = tile.add %t, %t : !tile.tile<8x64xf32>
    tile.store %u, %y[%i, %j]
  }
}
