// RUN: kiln-opt %s | kiln-opt | FileCheck %s
// RUN: kiln-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: kiln.func @main
// CHECK: %[[D:.*]] = kiln.dim %x, 1
// CHECK: kiln.require %{{.*}}, "columns come in tiles of 64"
// CHECK: kiln.require %{{.*}}, "n is small, or the flag is set"
// CHECK: kiln.incore "k"
// CHECK: kiln.require %{{.*}}, "a kernel written in place may ask for what it is given"
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %n: i32, %flag: i1, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %d = kiln.dim %x, 1
  %r = arith.remsi %d, %c64 : index
  %isMultiple = arith.cmpi eq, %r, %c0 : index
  kiln.require %isMultiple, "columns come in tiles of 64"
  %wide = arith.index_cast %n : i32 to index
  %isSmall = arith.cmpi sle, %wide, %d : index
  %either = arith.ori %isSmall, %flag : i1
  kiln.require %either, "n is small, or the flag is set"
  %found = kiln.get %x[0, 0] : f32
  %k = kiln.incore "k" {
    %rows = kiln.dim %y, 0
    %c3 = arith.constant 3 : index
    %isMore = arith.cmpi sge, %rows, %c3 : index
    kiln.require %isMore, "a kernel written in place may ask for what it is given"
    %t = tile.load %x[0, 0] : !tile.tile<1x64xf32>
    tile.store %t, %y[0, 0]
  }
}

// What always holds says nothing.
// FOLDED-LABEL: kiln.func @folds
// FOLDED-NEXT:  }
kiln.func @folds(%x: !kiln.tensor<64x64xf32> in) orchestration {
  %c64 = arith.constant 64 : index
  %d = kiln.dim %x, 1
  %same = arith.cmpi eq, %d, %c64 : index
  kiln.require %same, "it is 64 wide"
}
