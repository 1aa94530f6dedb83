// Powers of e become powers of two where most of the exponent is a product less something smaller.
// RUN: kiln-opt %s --tile-fold-exponentials --canonicalize | FileCheck %s

// CHECK-LABEL: kiln.func @folds
// CHECK-DAG:     %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK-DAG:     %[[BOTH:.*]] = arith.constant 0.180336878 : f32
// CHECK:         %[[X:.*]] = tile.load %x[0, 0]
// CHECK:         %[[TOP:.*]] = tile.reduce max
// CHECK:         %[[A:.*]] = tile.mul %[[X]], %[[BOTH]] : !tile.tile<8x8xf32>
// CHECK-NEXT:    %[[B:.*]] = tile.mul %[[TOP]], %[[LOG2E]] : !tile.tile<8x1xf32>
// CHECK-NEXT:    %[[D:.*]] = tile.sub %[[A]], %[[B]] : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.exp2 %[[D]] : !tile.tile<8x8xf32>
// CHECK-NOT:     tile.exp %
kiln.func @folds(%x: !kiln.tensor<8x8xf32>) incore {
  %eighth = arith.constant 0.125 : f32
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %s = tile.mul %t, %eighth : !tile.tile<8x8xf32>
  %top = tile.reduce max %s axis(1) : !tile.tile<8x1xf32>
  %d = tile.sub %s, %top : !tile.tile<8x8xf32>
  %e = tile.exp %d : !tile.tile<8x8xf32>
  tile.store %e, %x[0, 0]
}

// CHECK-LABEL: kiln.func @mixed
// CHECK:         %[[D:.*]] = tile.sub
// CHECK:         %[[S:.*]] = tile.mul %[[D]], %{{.*}} : !tile.tile<8x8xf32>
// CHECK:         tile.exp2 %[[S]]
// Where nothing is subtracted, large exponents would lose digits.
// CHECK:         tile.exp %
kiln.func @mixed(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %u = tile.load %y[0, 0] : !tile.tile<8x8xf32>
  %d = tile.sub %t, %u : !tile.tile<8x8xf32>
  %e = tile.exp %d : !tile.tile<8x8xf32>
  %f = tile.exp %t : !tile.tile<8x8xf32>
  tile.store %e, %x[0, 0]
  tile.store %f, %y[0, 0]
}

// A factor above 1 would make a large number infinite, though the difference is small.
// CHECK-LABEL: kiln.func @large
// CHECK:         %[[D:.*]] = tile.sub
// CHECK-NEXT:    %[[S:.*]] = tile.mul %[[D]], %{{.*}} : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.exp2 %[[S]]
kiln.func @large(%x: !kiln.tensor<8x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %top = tile.reduce max %t axis(1) : !tile.tile<8x1xf32>
  %d = tile.sub %t, %top : !tile.tile<8x8xf32>
  %e = tile.exp %d : !tile.tile<8x8xf32>
  tile.store %e, %x[0, 0]
}
