// A tile that hangs over the beginning of its tensor, so far that the first lane's share misses it: the share is the pad,
// and nothing of it is stored.
// REQUIRES: kiln, torch
// RUN: %kiln run %s --arg x=8x16 --arg y=8x16 --arg z=8x16 --arg at=-5 -p a2a3sim | FileCheck %s
// RUN: %kiln run %s --arg x=8x16 --arg y=8x16 --arg z=8x16 --arg at=-5 -p a5sim | FileCheck %s
// RUN: %kiln run %s --arg x=8x16 --arg y=8x16 --arg z=8x16 --arg at=-5 -p cpu | FileCheck %s
// RUN: %kiln run %s --arg x=8x16 --arg y=8x16 --arg z=8x16 --arg at=4 -p a2a3sim | FileCheck %s
// CHECK: y against torch {{.*}} ok
// CHECK: z against torch {{.*}} ok
// CHECK: PASS
kiln.func @k(%x: !kiln.tensor<?x16xf32>, %y: !kiln.tensor<?x16xf32> inout, %z: !kiln.tensor<?x16xf32>, %at: index) incore lanes(2) split(up_down) {
  %t = tile.load %x[%at, 0] : !tile.tile<8x16xf32>
  %a = tile.load %x[0, 0] : !tile.tile<8x16xf32>
  %m = tile.matmul %a, %a trans_b : !tile.tile<8x8xf32>
  %e = tile.reduce sum %m axis(1) : !tile.tile<8x1xf32>
  %f = tile.add %t, %e : !tile.tile<8x16xf32>
  tile.store %f, %y[%at, 0]
  tile.store %f, %z[0, 0]
}
