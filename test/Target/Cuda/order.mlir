// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// Four warps share a tile. Where one warp reads or writes what another wrote or read before, they meet; where nothing can
// be the same, as in two tensors or in rows that are apart, they do not.

// CHECK-LABEL: void k(
// CHECK:       meet(1 + int(lane));
// CHECK-NEXT:  auto [[X:[a-z0-9_]+]] = load<Reg<float, 64, 64>>
// CHECK:       auto [[Y:[a-z0-9_]+]] = tile::sub
// CHECK-NEXT:  barrier::meet(1 + int(lane));
// CHECK-NEXT:  store([[Y]],
// CHECK-NEXT:  barrier::meet(1 + int(lane));
// CHECK-NEXT:  auto [[Z:[a-z0-9_]+]] = load<Reg<float, 32, 64>>
// CHECK-NEXT:  barrier::meet(1 + int(lane));
// CHECK-NEXT:  store([[Z]],
// CHECK-LABEL: void apart(
// CHECK-NOT:   meet
// CHECK:       __global__

kiln.func @main(%a: !kiln.tensor<?x?xf32> inout, %b: !kiln.tensor<128x64xf32> inout, %c: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "k" split(none) {
    %x = tile.load %a[0, 0] : !tile.tile<64x64xf32>
    %r = tile.load %a[0, 0] : !tile.tile<1x64xf32>
    %y = tile.sub %x, %r : !tile.tile<64x64xf32>
    tile.store %y, %a[0, 0]
    %z = tile.load %a[1, 0] : !tile.tile<32x64xf32>
    tile.store %z, %a[0, 0]
  }
  kiln.incore "apart" split(none) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %x = tile.load %b[64, 0] : !tile.tile<64x64xf32>
    tile.store %x, %b[0, 0]
    scf.for %i = %c0 to %c64 step %c8 {
      %y = tile.load %b[64, 0] : !tile.tile<8x64xf32>
      tile.store %y, %c[%i, 0]
    }
  }
}
