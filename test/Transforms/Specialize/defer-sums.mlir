// What a loop adds up of the columns of tiles is put together once, behind the loop, by the threads that share a row.
// RUN: kiln-opt %s --tile-defer-sums | FileCheck %s
// RUN: kiln emit %s -p h200 --target cuda | FileCheck %s --check-prefix=CUDA
// RUN: kiln emit %s -p h200 --target cuda --without tile-defer-sums | FileCheck %s --check-prefix=WITHOUT

!row = !tile.tile<8x1xf32>
!whole = !tile.tile<8x64xf32>

// CHECK-LABEL: kiln.func @plain
// CHECK:         %[[S:.*]] = scf.for
// CHECK:           tile.reduce sum %{{.*}} axis(1) {kiln.part_of_sum} : !tile.tile<8x1xf32>
// CHECK:         %[[W:.*]] = tile.reduce sum %[[S]] axis(1) {kiln.sum_of_parts} : !tile.tile<8x1xf32>
// CHECK:         tile.store %[[W]]
// CUDA-LABEL:  void plain_compute(
// CUDA:          tile::part_of_sum_columns<Reg<float, 4, 1>>(
// CUDA:        }
// CUDA:          tile::sum_of_parts_columns<Reg<float, 4, 1>>(
// WITHOUT-NOT:   part
kiln.func @plain(%x: !kiln.tensor<8x?xf32>, %y: !kiln.tensor<8x1xf32>) incore {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %n = kiln.dim %x, 1
  %start = tile.full %zero : !row
  %sum = scf.for %j = %c0 to %n step %step iter_args(%s = %start) -> (!row) {
    %t = tile.load %x[0, %j] : !whole
    %part = tile.reduce sum %t axis(1) : !row
    %next = tile.add %part, %s : !row
    scf.yield %next : !row
  }
  tile.store %sum, %y[0, 0]
}

// Also if what was there before fades, by a factor that all threads of a row have alike.
// CHECK-LABEL: kiln.func @fades
// CHECK:         tile.reduce max %{{.*}} axis(1) : !tile.tile<8x1xf32>
// CHECK:         tile.reduce sum %{{.*}} axis(1) {kiln.part_of_sum}
// CHECK:         {kiln.sum_of_parts}
// CUDA-LABEL:  void fades_compute(
// CUDA:          part_of_sum
// CUDA:          sum_of_parts
kiln.func @fades(%x: !kiln.tensor<8x?xf32>, %y: !kiln.tensor<8x1xf32>) incore {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %n = kiln.dim %x, 1
  %start = tile.full %zero : !row
  %sum = scf.for %j = %c0 to %n step %step iter_args(%s = %start) -> (!row) {
    %t = tile.load %x[0, %j] : !whole
    %f = tile.reduce max %t axis(1) : !row
    %part = tile.reduce sum %t axis(1) : !row
    %less = tile.mul %s, %f : !row
    %next = tile.add %less, %part : !row
    scf.yield %next : !row
  }
  tile.store %sum, %y[0, 0]
}

// Not if an iteration needs the sum, the sum begins with something, or it is no sum.
// CHECK-LABEL: kiln.func @needed
// CHECK-NOT:     kiln.part_of_sum
kiln.func @needed(%x: !kiln.tensor<8x?xf32>, %y: !kiln.tensor<8x1xf32>) incore {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %n = kiln.dim %x, 1
  %start = tile.full %zero : !row
  %ones = tile.full %one : !row
  %sum:4 = scf.for %j = %c0 to %n step %step iter_args(%s = %start, %u = %ones, %m = %start, %q = %start)
      -> (!row, !row, !row, !row) {
    %t = tile.load %x[0, %j] : !whole
    %part = tile.reduce sum %t axis(1) : !row
    %next = tile.add %part, %s : !row
    %less = tile.sub %t, %next : !whole
    %other = tile.reduce sum %less axis(1) : !row
    %more = tile.add %other, %u : !row
    %top = tile.reduce max %t axis(1) : !row
    %tops = tile.add %top, %m : !row
    %third = tile.reduce sum %less axis(1) : !row
    %square = tile.mul %q, %q : !row
    %squares = tile.add %third, %square : !row
    scf.yield %next, %more, %tops, %squares : !row, !row, !row, !row
  }
  tile.store %sum#0, %y[0, 0]
  tile.store %sum#1, %y[0, 0]
  tile.store %sum#2, %y[0, 0]
  tile.store %sum#3, %y[0, 0]
}
