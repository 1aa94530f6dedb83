// A factor for each row that is 1 wherever a select leaves what was: where a warp has no other, nothing is multiplied.
// RUN: kiln-opt %s --tile-skip-ones | FileCheck %s
// RUN: kiln emit %s -p h200 --target cuda | FileCheck %s --check-prefix=CUDA
// RUN: kiln emit %s -p h200 --target cuda --without tile-skip-ones | FileCheck %s --check-prefix=WITHOUT

!row = !tile.tile<128x1xf32>
!out = !tile.tile<128x64xf32>

// CHECK-LABEL: kiln.func @fades
// CHECK:         %[[F:.*]] = tile.exp
// CHECK:         tile.mul %{{.*}}, %[[F]] : !tile.tile<128x1xf32>
// CHECK:         tile.mul %{{.*}}, %[[F]] {kiln.mostly_ones} : !tile.tile<128x64xf32>
// CUDA:          mulUnlessOnes<Reg<float, 64, 64>>(
// CUDA-NOT:      mulUnlessOnes
// WITHOUT-NOT:   mulUnlessOnes
kiln.func @fades(%x: !kiln.tensor<128x64xf32>, %y: !kiln.tensor<128x1xf32>, %z: !kiln.tensor<128x1xf32>) incore {
  %five = arith.constant 5.0 : f32
  %t = tile.load %x[0, 0] : !out
  %before = tile.load %y[0, 0] : !row
  %sum = tile.load %z[0, 0] : !row
  %top = tile.reduce max %t axis(1) : !row
  %bound = tile.add %before, %five : !row
  %exceeds = tile.cmp gt %top, %bound : !tile.tile<128x1xi1>
  %next = tile.select %exceeds, %top, %before : !row
  %d = tile.sub %before, %next : !row
  %f = tile.exp %d : !row
  %less = tile.mul %sum, %f : !row
  %faded = tile.mul %f, %t : !out
  tile.store %faded, %x[0, 0]
  tile.store %next, %y[0, 0]
  tile.store %less, %z[0, 0]
}

// The maximum of both is seldom what was before, as far as is known.
// CHECK-LABEL: kiln.func @follows
// CHECK-NOT:     kiln.mostly_ones
kiln.func @follows(%x: !kiln.tensor<128x64xf32>, %y: !kiln.tensor<128x1xf32>) incore {
  %t = tile.load %x[0, 0] : !out
  %before = tile.load %y[0, 0] : !row
  %top = tile.reduce max %t axis(1) : !row
  %next = tile.max %before, %top : !row
  %d = tile.sub %before, %next : !row
  %f = tile.exp %d : !row
  %faded = tile.mul %t, %f : !out
  tile.store %faded, %x[0, 0]
  tile.store %next, %y[0, 0]
}
