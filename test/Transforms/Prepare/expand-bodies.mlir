// RUN: kiln-opt %s --tile-expand-bodies | FileCheck %s

// Neighbours first: of five lines four make two, the fifth waits; then one and the waiting one.
// CHECK-LABEL: kiln.func @reduce(
// CHECK-NOT:     tile.reduce_with
// CHECK:         %[[FOUR:.*]] = tile.extract %{{.*}}[0, 0] : !tile.tile<8x4xf32>
// CHECK-NEXT:    %[[PAIRS:.*]] = tile.reshape %[[FOUR]] : !tile.tile<16x2xf32>
// CHECK-NEXT:    %[[EVEN:.*]] = tile.extract %[[PAIRS]][0, 0] : !tile.tile<16x1xf32>
// CHECK-NEXT:    %[[FIRST:.*]] = tile.reshape %[[EVEN]] : !tile.tile<8x2xf32>
// CHECK:         %[[ODD:.*]] = tile.extract %{{.*}}[0, 1] : !tile.tile<16x1xf32>
// CHECK-NEXT:    %[[SECOND:.*]] = tile.reshape %[[ODD]] : !tile.tile<8x2xf32>
// CHECK-NEXT:    %[[TWO:.*]] = tile.add %[[FIRST]], %[[SECOND]] : !tile.tile<8x2xf32>
// CHECK-NEXT:    %[[LAST:.*]] = tile.extract %{{.*}}[0, 4] : !tile.tile<8x1xf32>
// CHECK-NEXT:    tile.concat %[[TWO]], %[[LAST]] axis(1) : !tile.tile<8x3xf32>
// CHECK:         %[[START:.*]] = tile.full %{{.*}} : !tile.tile<8x1xf32>
// CHECK-NEXT:    %[[ALL:.*]] = tile.add %[[START]], %{{.*}} : !tile.tile<8x1xf32>
// CHECK-NEXT:    tile.store %[[ALL]]
kiln.func @reduce(%x: !kiln.tensor<8x5xf32>, %y: !kiln.tensor<8x1xf32>, %z: f32) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x5xf32>
  %s = tile.reduce_with %t axis(1) start(%z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    %c = tile.add %a, %b : !tile.tile<8x1xf32>
    tile.yield %c
  } : !tile.tile<8x1xf32>
  tile.store %s, %y[0, 0]
}

// Each with the one before it, then with the one two before it.
// CHECK-LABEL: kiln.func @scan(
// CHECK-NOT:     tile.scan_with
// CHECK:         %[[X:.*]] = tile.load
// CHECK:         %[[LINE:.*]] = tile.extract %[[X]][0, 0] : !tile.tile<1x4xf32>
// CHECK-NEXT:    %[[FIRST:.*]] = tile.add %{{.*}}, %[[LINE]] : !tile.tile<1x4xf32>
// CHECK-NEXT:    %[[REST:.*]] = tile.extract %[[X]][1, 0] : !tile.tile<2x4xf32>
// CHECK-NEXT:    %[[LINES:.*]] = tile.concat %[[FIRST]], %[[REST]] axis(0) : !tile.tile<3x4xf32>
// CHECK:         tile.add %{{.*}}, %{{.*}} : !tile.tile<2x4xf32>
// CHECK:         tile.add %{{.*}}, %{{.*}} : !tile.tile<1x4xf32>
kiln.func @scan(%x: !kiln.tensor<3x4xf32>, %z: f32) incore {
  %t = tile.load %x[0, 0] : !tile.tile<3x4xf32>
  %s = tile.scan_with %t axis(0) start(%z) {
  ^combine(%a: !tile.tile<1x4xf32>, %b: !tile.tile<1x4xf32>):
    %c = tile.add %a, %b : !tile.tile<1x4xf32>
    tile.yield %c
  } : !tile.tile<3x4xf32>
  tile.store %s, %x[0, 0]
}

// What comes later is combined first, and the start stands where nothing comes later.
// CHECK-LABEL: kiln.func @backwards(
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NEXT:    %[[START:.*]] = tile.full
// CHECK-NEXT:    %[[REST:.*]] = tile.extract %[[X]][0, 1] : !tile.tile<4x1xf32>
// CHECK-NEXT:    %[[LINES:.*]] = tile.concat %[[REST]], %[[START]] axis(1) : !tile.tile<4x2xf32>
// CHECK-NEXT:    %[[FIRST:.*]] = tile.extract %[[LINES]][0, 0]
// CHECK-NEXT:    %[[LAST:.*]] = tile.extract %[[LINES]][0, 1]
// CHECK-NEXT:    tile.sub %[[LAST]], %[[FIRST]]
kiln.func @backwards(%x: !kiln.tensor<4x2xf32>, %z: f32) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x2xf32>
  %s = tile.scan_with %t axis(1) start(%z) exclusive reverse {
  ^combine(%a: !tile.tile<4x1xf32>, %b: !tile.tile<4x1xf32>):
    %c = tile.sub %a, %b : !tile.tile<4x1xf32>
    tile.yield %c
  } : !tile.tile<4x2xf32>
  tile.store %s, %x[0, 0]
}
