// RUN: kiln-opt --allow-unregistered-dialect %s > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kiln-opt --allow-unregistered-dialect %t.mlir | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --mlir-print-op-generic | kiln-opt --allow-unregistered-dialect | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --emit-bytecode | kiln-opt --allow-unregistered-dialect | diff %t.mlir -

// Making tiles and moving them: every clause, constants and values mixed.

// CHECK-LABEL: kiln.func @make(
// CHECK-NEXT:    tile.full %x : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.iota axis(0) : !tile.tile<8x1xi32>
// CHECK-NEXT:    tile.iota axis(1) : !tile.tile<8x8xf32>
kiln.func @make(%x: f32) incore {
  %a = tile.full %x : !tile.tile<8x8xf32>
  %b = tile.iota axis(0) : !tile.tile<8x1xi32>
  %c = tile.iota axis(1) : !tile.tile<8x8xf32>
}

// CHECK-LABEL: kiln.func @load(
// CHECK-NEXT:    tile.load %x[0, 0] : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.load %x[%i, 1] pad(zero) : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.load %x[%i, %i] pad(min) valid(%i, 7) : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.load %x[%i, %i] pad(max) valid(0, %i) : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.load %x[1, 2] pad(-1.500000e+00) : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.load %x[1, 2] valid(3, 4) : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.load %y[%i] : !tile.tile<1x16xbf16>
// CHECK-NEXT:    tile.load %y[3] : !tile.tile<16x1xbf16>
// CHECK-NEXT:    tile.load %z[1, %i, 0] : !tile.tile<4x4xi8>
kiln.func @load(%x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?xbf16>, %z: !kiln.tensor<2x4x4xi8>, %i: index) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %b = tile.load %x[%i, 1] pad(zero) : !tile.tile<8x8xf32>
  %c = tile.load %x[%i, %i] pad(min) valid(%i, 7) : !tile.tile<8x8xf32>
  %d = tile.load %x[%i, %i] pad(max) valid(0, %i) : !tile.tile<8x8xf32>
  %e = tile.load %x[1, 2] pad(-1.5) : !tile.tile<8x8xf32>
  %f = tile.load %x[1, 2] valid(3, 4) : !tile.tile<8x8xf32>
  %g = tile.load %y[%i] : !tile.tile<1x16xbf16>
  %h = tile.load %y[3] : !tile.tile<16x1xbf16>
  %j = tile.load %z[1, %i, 0] : !tile.tile<4x4xi8>
}

// A pad that has no decimal form survives as its bits.
// CHECK-LABEL: kiln.func @pad_bits(
// CHECK-NEXT:    tile.load %x[0] pad(0x7FF0000000000000)
// CHECK-NEXT:    tile.load %x[0] pad(0xFFF0000000000000)
// CHECK-NEXT:    tile.load %x[0] pad(0x7FF8000000000000)
// CHECK-NEXT:    tile.load %x[0] pad(-0.000000e+00)
kiln.func @pad_bits(%x: !kiln.tensor<8xf32>) incore {
  %a = tile.load %x[0] pad(0x7FF0000000000000) : !tile.tile<1x8xf32>
  %b = tile.load %x[0] pad(0xFFF0000000000000) : !tile.tile<1x8xf32>
  %c = tile.load %x[0] pad(0x7FF8000000000000) : !tile.tile<1x8xf32>
  %d = tile.load %x[0] pad(-0.0) : !tile.tile<1x8xf32>
}

// CHECK-LABEL: kiln.func @store(
// CHECK-NEXT:    %[[T:.*]] = tile.full
// CHECK-NEXT:    tile.store %[[T]], %x[%i, 0]{{$}}
// CHECK-NEXT:    tile.store %[[T]], %x[%i, 0] valid(%i, 3)
// CHECK-NEXT:    tile.store %[[T]], %x[0, 0] atomic(add)
// CHECK-NEXT:    tile.store %[[T]], %x[0, 0] valid(8, %i) atomic(add) {test.note}
kiln.func @store(%x: !kiln.tensor<?x64xf32>, %f: f32, %i: index) incore {
  %t = tile.full %f : !tile.tile<8x8xf32>
  tile.store %t, %x[%i, 0]
  tile.store %t, %x[%i, 0] valid(%i, 3)
  tile.store %t, %x[0, 0] atomic(add)
  tile.store %t, %x[0, 0] valid(8, %i) atomic(add) {test.note}
}

// CHECK-LABEL: kiln.func @move(
// CHECK-NEXT:    %[[T:.*]] = tile.full
// CHECK-NEXT:    tile.move %[[T]] : !tile.tile<8x4xf32, vec>
// CHECK-NEXT:    tile.reshape %[[T]] : !tile.tile<2x16xf32>
// CHECK-NEXT:    tile.transpose %[[T]] : !tile.tile<4x8xf32>
// CHECK-NEXT:    tile.cast %[[T]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    %[[P:.*]] = tile.extract %[[T]][%i, 2] : !tile.tile<4x2xf32>
// CHECK-NEXT:    tile.extract %[[T]][0, 0] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.insert %[[P]], %[[T]][4, %i] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.concat %[[T]], %[[T]] axis(0) : !tile.tile<16x4xf32>
// CHECK-NEXT:    tile.concat %[[T]], %[[T]], %[[T]] axis(1) : !tile.tile<8x12xf32>
// CHECK-NEXT:    tile.concat %[[T]] axis(1) : !tile.tile<8x4xf32>
kiln.func @move(%f: f32, %i: index) incore {
  %t = tile.full %f : !tile.tile<8x4xf32>
  %a = tile.move %t : !tile.tile<8x4xf32, vec>
  %b = tile.reshape %t : !tile.tile<2x16xf32>
  %c = tile.transpose %t : !tile.tile<4x8xf32>
  %d = tile.cast %t : !tile.tile<8x4xbf16>
  %e = tile.extract %t[%i, 2] : !tile.tile<4x2xf32>
  %g = tile.extract %t[0, 0] : !tile.tile<8x4xf32>
  %h = tile.insert %e, %t[4, %i] : !tile.tile<8x4xf32>
  %j = tile.concat %t, %t axis(0) : !tile.tile<16x4xf32>
  %k = tile.concat %t, %t, %t axis(1) : !tile.tile<8x12xf32>
  %l = tile.concat %t axis(1) : !tile.tile<8x4xf32>
}
