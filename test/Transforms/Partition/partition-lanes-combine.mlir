// RUN: kiln-opt %s --kiln-partition-roles | FileCheck %s

// Each lane combines its part of every line: the body takes that part. What broadcasts stays as it is.
// CHECK-LABEL: kiln.func @combines_aiv(
// CHECK:         tile.reduce_with %{{.*}} axis(1) start(%{{.*}}) {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: !tile.tile<8x1xf32>, %[[B:.*]]: !tile.tile<8x1xf32>):
// CHECK:           %[[TWO:.*]] = tile.full %{{.*}} : !tile.tile<1x1xf32>
// CHECK-NEXT:      %[[M:.*]] = tile.max %[[A]], %[[B]] : !tile.tile<8x1xf32>
// CHECK-NEXT:      %[[C:.*]] = tile.max %[[M]], %[[TWO]] : !tile.tile<8x1xf32>
// CHECK-NEXT:      tile.yield %[[C]]
// CHECK-NEXT:    } : !tile.tile<8x1xf32>
// CHECK:         tile.scan prod %{{.*}} axis(1) exclusive : !tile.tile<8x16xf32>
kiln.func @combines(%x: !kiln.tensor<16x24xf32>, %w: !kiln.tensor<24x16xf32>, %y: !kiln.tensor<16x1xf32>,
                    %z: !kiln.tensor<16x16xf32>) incore split(up_down) {
  %t = tile.load %x[0, 0] : !tile.tile<16x24xf32>
  %u = tile.load %w[0, 0] : !tile.tile<24x16xf32>
  %p = tile.matmul %t, %u : !tile.tile<16x16xf32>
  %one = arith.constant 1.0 : f32
  %s = tile.reduce_with %p axis(1) start(%one) {
  ^combine(%a: !tile.tile<16x1xf32>, %b: !tile.tile<16x1xf32>):
    %two = arith.constant 2.0 : f32
    %h = tile.full %two : !tile.tile<1x1xf32>
    %m = tile.max %a, %b : !tile.tile<16x1xf32>
    %c = tile.max %m, %h : !tile.tile<16x1xf32>
    tile.yield %c
  } : !tile.tile<16x1xf32>
  tile.store %s, %y[0, 0]
  %q = tile.scan prod %p axis(1) exclusive : !tile.tile<16x16xf32>
  tile.store %q, %z[0, 0]
}
