// Sums of products of 8-bit floats that are rounded to 16 bits before anybody sees them: the matrix unit makes the
// products as they are. All others are made of wider numbers, exactly.
// RUN: kiln-opt %s --tile-coarse-sums | FileCheck %s
// RUN: kiln emit %s -p h200 --target cuda | FileCheck %s --check-prefix=CUDA
// RUN: kiln emit %s -p h200 --target cuda --without tile-coarse-sums | FileCheck %s --check-prefix=WITHOUT

!f8 = !kiln.tensor<128x256xf8E4M3FN>
!sum = !tile.tile<128x128xf32>

// CHECK-LABEL: kiln.func @rounded
// CHECK:         tile.matmul_acc {{.*}}kiln.coarse
// CUDA-LABEL:  void rounded_compute(
// CUDA:          auto [[A:a_[a-z0-9_]+]] = rowsFrom<64>(
// CUDA-NOT:      f16
// CUDA:          multiply<true>({{.*}}, [[A]], {{b_[a-z0-9_]+}});
// WITHOUT-LABEL: void rounded_compute(
// WITHOUT:       cast<Reg<f16, 64, 128>>(
kiln.func @rounded(%a: !f8, %b: !f8, %s: !kiln.tensor<128xf32>, %c: !kiln.tensor<128x128xbf16>) incore split(up_down) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %none = tile.full %zero : !sum
  %sum = scf.for %k = %c0 to %c256 step %c128 iter_args(%acc = %none) -> (!sum) {
    %x = tile.load %a[0, %k] : !tile.tile<128x128xf8E4M3FN>
    %y = tile.load %b[0, %k] : !tile.tile<128x128xf8E4M3FN>
    %next = tile.matmul_acc %acc, %x, %y trans_b : !sum
    scf.yield %next : !sum
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  %scale = tile.load %s[0] : !tile.tile<128x1xf32>
  %scaled = tile.mul %sum, %scale : !sum
  %narrow = tile.cast %scaled : !tile.tile<128x128xbf16>
  tile.store %narrow, %c[0, 0]
}

// Somebody wants all of an f32.
// CHECK-LABEL: kiln.func @stored
// CHECK-NOT:     kiln.coarse
// CUDA-LABEL:  void stored_compute(
// CUDA:          cast<Reg<f16, 64, 128>>(
kiln.func @stored(%a: !f8, %b: !f8, %c: !kiln.tensor<128x128xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<128x128xf8E4M3FN>
  %y = tile.load %b[0, 0] : !tile.tile<128x128xf8E4M3FN>
  %sum = tile.matmul %x, %y trans_b : !sum
  tile.store %sum, %c[0, 0]
}

// A maximum is not an element of its own.
// CHECK-LABEL: kiln.func @reduced
// CHECK-NOT:     kiln.coarse
kiln.func @reduced(%a: !f8, %b: !f8, %c: !kiln.tensor<128x1xbf16>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<128x128xf8E4M3FN>
  %y = tile.load %b[0, 0] : !tile.tile<128x128xf8E4M3FN>
  %sum = tile.matmul %x, %y trans_b : !sum
  %top = tile.reduce max %sum axis(1) : !tile.tile<128x1xf32>
  %narrow = tile.cast %top : !tile.tile<128x1xbf16>
  tile.store %narrow, %c[0, 0]
}
