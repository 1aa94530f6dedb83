// Warps whose factors are all 1, warps with some others, and warps with none: a product of each of them by what a row changes.
// RUN: %emulate %kiln run %s -p h200 --arg x=128x64 --arg y=128x1:9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,-4,9,-9,9,9,9,9,9,9,9,9,9,9,9,9,-8 --seed 3 | FileCheck %s
// RUN: %emulate %kiln run %s -p h200 --arg x=128x64 --arg y=128x1:-9,-8,-7,-6 --seed 3 | FileCheck %s
// RUN: %kiln emit %s -p h200 --target cuda | FileCheck %s --check-prefix=CUDA
// REQUIRES: kiln, emulated-gpu, torch
// CHECK: x {{.*}} ok
// CHECK: y {{.*}} ok
// CHECK: PASS
// CUDA: mulUnlessOnes
kiln.func @main(%x: !kiln.tensor<128x64xf32> inout, %y: !kiln.tensor<128x1xf32> inout) orchestration {
  %c1 = arith.constant 1 : index
  %0 = kiln.incore "fade" grid(%c1) {
    %five = arith.constant 5.0 : f32
    %t = tile.load %x[0, 0] : !tile.tile<128x64xf32>
    %before = tile.load %y[0, 0] : !tile.tile<128x1xf32>
    %top = tile.reduce max %t axis(1) : !tile.tile<128x1xf32>
    %bound = tile.add %before, %five : !tile.tile<128x1xf32>
    %exceeds = tile.cmp gt %top, %bound : !tile.tile<128x1xi1>
    %next = tile.select %exceeds, %top, %before : !tile.tile<128x1xf32>
    %d = tile.sub %before, %next : !tile.tile<128x1xf32>
    %f = tile.exp %d : !tile.tile<128x1xf32>
    %faded = tile.mul %t, %f : !tile.tile<128x64xf32>
    tile.store %faded, %x[0, 0]
    tile.store %next, %y[0, 0]
  }
}
