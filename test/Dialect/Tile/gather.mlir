// RUN: kiln-opt --allow-unregistered-dialect %s > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kiln-opt --allow-unregistered-dialect %t.mlir | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --mlir-print-op-generic | kiln-opt --allow-unregistered-dialect | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --emit-bytecode | kiln-opt --allow-unregistered-dialect | diff %t.mlir -

// Gathering, scattering, ordering, random numbers, barriers and hints: every clause, constants and values mixed.

// CHECK-LABEL: kiln.func @gather_rows(
// CHECK-NEXT:    tile.gather_rows %x[0, 0] rows(%r[0]) : !tile.tile<8x16xf32>
// CHECK-NEXT:    tile.gather_rows %x[%i, 16] rows(%r[%i]) pad(min) : !tile.tile<8x16xf32>
// CHECK-NEXT:    tile.gather_rows %x[%i, %i] rows(%r[4]) valid(%i, 16) : !tile.tile<8x16xf32>
// CHECK-NEXT:    tile.gather_rows %y[%i, -3, 1] rows(%s[2, %i]) pad(1.500000e+00) valid(3, %i) {test.note} : !tile.tile<4x4xi8>
kiln.func @gather_rows(%x: !kiln.tensor<?x64xf32>, %r: !kiln.tensor<?xi32>, %y: !kiln.tensor<2x?x8xi8>,
                       %s: !kiln.tensor<4x?xi64>, %i: index) incore {
  %a = tile.gather_rows %x[0, 0] rows(%r[0]) : !tile.tile<8x16xf32>
  %b = tile.gather_rows %x[%i, 16] rows(%r[%i]) pad(min) : !tile.tile<8x16xf32>
  %c = tile.gather_rows %x[%i, %i] rows(%r[4]) valid(%i, 16) : !tile.tile<8x16xf32>
  %d = tile.gather_rows %y[%i, -3, 1] rows(%s[2, %i]) pad(1.5) valid(3, %i) {test.note} : !tile.tile<4x4xi8>
}

// The first row may lie anywhere: only the row numbers say which rows are meant.
// CHECK-LABEL: kiln.func @any_first_row(
// CHECK-NEXT:    tile.gather_rows %x[-100, 0] rows(%r[0]) : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.gather_rows %x[100, 0] rows(%r[0]) : !tile.tile<8x4xf32>
kiln.func @any_first_row(%x: !kiln.tensor<4x4xf32>, %r: !kiln.tensor<8xi32>) incore {
  %a = tile.gather_rows %x[-100, 0] rows(%r[0]) : !tile.tile<8x4xf32>
  %b = tile.gather_rows %x[100, 0] rows(%r[0]) : !tile.tile<8x4xf32>
}

// CHECK-LABEL: kiln.func @scatter_rows(
// CHECK:         tile.scatter_rows %[[T:.*]], %x[0, 0] rows(%r[0])
// CHECK-NEXT:    tile.scatter_rows %[[T]], %x[%i, 8] rows(%r[%i]) valid(%i, 16) atomic(add)
// CHECK-NEXT:    tile.scatter_rows %[[T]], %x[0, %i] rows(%r[3]) atomic(add) {test.note}
kiln.func @scatter_rows(%x: !kiln.tensor<?x64xf32>, %r: !kiln.tensor<?xi32>, %i: index, %v: f32) incore {
  %t = tile.full %v : !tile.tile<8x16xf32>
  tile.scatter_rows %t, %x[0, 0] rows(%r[0])
  tile.scatter_rows %t, %x[%i, 8] rows(%r[%i]) valid(%i, 16) atomic(add)
  tile.scatter_rows %t, %x[0, %i] rows(%r[3]) atomic(add) {test.note}
}

// CHECK-LABEL: kiln.func @gather(
// CHECK:         tile.gather %[[X:.*]], %[[I:.*]] axis(0) : !tile.tile<2x8xbf16>
// CHECK-NEXT:    tile.gather %[[X]], %[[J:.*]] axis(1) : !tile.tile<4x3xbf16>
kiln.func @gather(%v: bf16, %i: i32, %j: i64) incore {
  %x = tile.full %v : !tile.tile<4x8xbf16>
  %a = tile.full %i : !tile.tile<2x8xi32>
  %b = tile.full %j : !tile.tile<4x3xi64>
  %c = tile.gather %x, %a axis(0) : !tile.tile<2x8xbf16>
  %d = tile.gather %x, %b axis(1) : !tile.tile<4x3xbf16>
}

// CHECK-LABEL: kiln.func @order(
// CHECK:         tile.sort_rows %[[X:.*]] : !tile.tile<4x8xf32>, !tile.tile<4x8xi32>
// CHECK-NEXT:    tile.sort_rows %[[X]] descending : !tile.tile<4x8xf32>, !tile.tile<4x8xi32>
// CHECK-NEXT:    tile.topk_rows %[[X]] : !tile.tile<4x8xf32>, !tile.tile<4x8xi32>
// CHECK-NEXT:    tile.topk_rows %[[X]] : !tile.tile<4x1xf32>, !tile.tile<4x1xi32>
kiln.func @order(%v: f32) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  %a:2 = tile.sort_rows %x : !tile.tile<4x8xf32>, !tile.tile<4x8xi32>
  %b, %c = tile.sort_rows %x descending : !tile.tile<4x8xf32>, !tile.tile<4x8xi32>
  %d:2 = tile.topk_rows %x : !tile.tile<4x8xf32>, !tile.tile<4x8xi32>
  %e:2 = tile.topk_rows %x : !tile.tile<4x1xf32>, !tile.tile<4x1xi32>
}

// CHECK-LABEL: kiln.func @random(
// CHECK-NEXT:    tile.random key(%key) counter(%n) : !tile.tile<3x5xi32>
// CHECK-NEXT:    tile.random key(%key) counter(%n) : !tile.tile<3x5xf32>
kiln.func @random(%key: i64, %n: index) incore {
  %a = tile.random key(%key) counter(%n) : !tile.tile<3x5xi32>
  %b = tile.random key(%key) counter(%n) : !tile.tile<3x5xf32>
}

// CHECK-LABEL: kiln.func @hints(
// CHECK-NEXT:    tile.prefetch %x[%i, 0] shape(64, 32)
// CHECK-NEXT:    tile.prefetch %y[3] shape(1, 8)
// CHECK-NEXT:    tile.barrier
// CHECK-NEXT:    kiln.dump %x
kiln.func @hints(%x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<16xi8>, %i: index) incore {
  tile.prefetch %x[%i, 0] shape(64, 32)
  tile.prefetch %y[3] shape(1, 8)
  tile.barrier
  kiln.dump %x
}
