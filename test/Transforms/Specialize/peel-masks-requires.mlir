// Masks that cut off nothing, because extents are required to be multiples of the tile, are gone, and the loop stays one.
// RUN: kiln-opt %s --tile-peel-masks -split-input-file | FileCheck %s

// CHECK-LABEL: kiln.func @whole
// CHECK:         scf.for
// CHECK-NOT:     tile.mask
// CHECK-NOT:     valid
// CHECK-NOT:     scf.for
kiln.func @whole(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 1
  %r = arith.remsi %n, %c64 : index
  %isWhole = arith.cmpi eq, %r, %c0 : index
  kiln.require %isWhole, "columns come in tiles of 64"
  scf.for %j = %c0 to %n step %c64 {
    %rest = arith.subi %n, %j : index
    %t = tile.load %x[0, %j] valid(8, %rest) : !tile.tile<8x64xf32>
    %few = arith.minsi %rest, %c64 : index
    %m = tile.mask %t valid(8, %few) : !tile.tile<8x64xf32>
    tile.store %m, %y[0, %j] valid(8, %rest)
  }
}

// -----

// The columns of y are those of x, so what is known of one is known of the other.
// CHECK-LABEL: kiln.func @equal
// CHECK:         scf.for
// CHECK-NOT:     valid
// CHECK-NOT:     scf.for
kiln.func @equal(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 1
  %k = kiln.dim %y, 1
  %r = arith.remsi %n, %c64 : index
  %isWhole = arith.cmpi eq, %r, %c0 : index
  %isSame = arith.cmpi eq, %n, %k : index
  %both = arith.andi %isWhole, %isSame : i1
  kiln.require %both, "columns come in tiles of 64"
  scf.for %j = %c0 to %k step %c64 {
    %rest = arith.subi %n, %j : index
    %t = tile.load %x[0, %j] valid(8, %rest) : !tile.tile<8x64xf32>
    tile.store %t, %y[0, %j]
  }
}

// -----

// 32 is not enough: the loop has an edge.
// CHECK-LABEL: kiln.func @half
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         valid
kiln.func @half(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 1
  %r = arith.remsi %n, %c32 : index
  %isWhole = arith.cmpi eq, %r, %c0 : index
  kiln.require %isWhole, "columns come in tiles of 32"
  scf.for %j = %c0 to %n step %c64 {
    %rest = arith.subi %n, %j : index
    %t = tile.load %x[0, %j] valid(8, %rest) : !tile.tile<8x64xf32>
    tile.store %t, %y[0, %j]
  }
}
