// RUN: kiln-opt %s | FileCheck %s
// RUN: kiln-opt %s | kiln-opt | FileCheck %s

// CHECK-LABEL: kiln.func @argmax(
// CHECK:         %{{.*}}:2 = tile.reduce_with %{{.*}}, %{{.*}} axis(1) start(%{{.*}}, %{{.*}}) {
// CHECK-NEXT:    ^bb0(%{{.*}}: !tile.tile<8x1xf32>, %{{.*}}: !tile.tile<8x1xi32>, %{{.*}}: !tile.tile<8x1xf32>, %{{.*}}: !tile.tile<8x1xi32>):
// CHECK:           tile.yield %{{.*}}, %{{.*}}
// CHECK-NEXT:    } : !tile.tile<8x1xf32>, !tile.tile<8x1xi32>
kiln.func @argmax(%x: !kiln.tensor<8x64xf32>, %y: !kiln.tensor<8x1xi32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x64xf32>
  %index = tile.iota axis(1) : !tile.tile<8x64xi32>
  %lowest = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i32
  %best, %at = tile.reduce_with %t, %index axis(1) start(%lowest, %none) {
  ^combine(%a: !tile.tile<8x1xf32>, %i: !tile.tile<8x1xi32>, %b: !tile.tile<8x1xf32>, %j: !tile.tile<8x1xi32>):
    %isBetter = tile.cmp gt %b, %a : !tile.tile<8x1xi1>
    %value = tile.select %isBetter, %b, %a : !tile.tile<8x1xf32>
    %where = tile.select %isBetter, %j, %i : !tile.tile<8x1xi32>
    tile.yield %value, %where
  } : !tile.tile<8x1xf32>, !tile.tile<8x1xi32>
  tile.store %at, %y[0, 0]
}

// A line may be the start, so that one block goes on where another ended.
// CHECK-LABEL: kiln.func @options(
// CHECK:         tile.scan_with %{{.*}} axis(0) start(%{{.*}}) exclusive reverse {
kiln.func @options(%x: !kiln.tensor<8x64xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x64xf32>
  %first = tile.load %x[0, 0] : !tile.tile<1x64xf32>
  %y = tile.scan_with %t axis(0) start(%first) exclusive reverse {
  ^combine(%a: !tile.tile<1x64xf32>, %b: !tile.tile<1x64xf32>):
    %two = arith.constant 2.0 : f32
    %wide = tile.full %two : !tile.tile<1x1xf32>
    %c = tile.min %a, %b : !tile.tile<1x64xf32>
    %d = tile.min %c, %wide : !tile.tile<1x64xf32>
    tile.yield %d
  } : !tile.tile<8x64xf32>
  tile.store %y, %x[0, 0]
}
