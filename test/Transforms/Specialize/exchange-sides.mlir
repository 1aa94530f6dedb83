// Of a product with few rows the right side becomes the left one of the matrix instructions.
// RUN: kiln-opt %s --tile-exchange-sides | FileCheck %s

// CHECK-LABEL: kiln.func @few
// CHECK:         tile.load %a[0, %{{.*}}] : !tile.tile<16x64xbf16>
// CHECK:         tile.load %w[%{{.*}}] {kiln.streams} : !tile.tile<132x64xbf16>
// CHECK:         tile.matmul_acc {{.*}} trans_b {kiln.exchanged}
kiln.func @few(%a: !kiln.tensor<?x?xbf16> in, %w: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c132 = arith.constant 132 : index
  %zero = arith.constant 0.0 : f32
  %block = tile.block_idx 0
  %j = arith.muli %block, %c132 : index
  %k = kiln.dim %a, 1
  %start = tile.full %zero : !tile.tile<16x132xf32>
  %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<16x132xf32>) {
    %x = tile.load %a[0, %at] : !tile.tile<16x64xbf16>
    %y = tile.load %w[%j, %at] : !tile.tile<132x64xbf16>
    %next = tile.matmul_acc %acc, %x, %y trans_b : !tile.tile<16x132xf32>
    scf.yield %next : !tile.tile<16x132xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
  tile.store %sum, %c[0, %j]
}

// Panels of 39 rows have room for 40, in the KB that the tile takes anyway.
// CHECK-LABEL: kiln.func @gaps
// CHECK:         tile.matmul_acc {{.*}} trans_b {kiln.exchanged}
kiln.func @gaps(%a: !kiln.tensor<?x?xbf16> in, %w: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %k = kiln.dim %a, 1
  %start = tile.full %zero : !tile.tile<16x39xf32>
  %sum = scf.for %at = %c0 to %k step %c128 iter_args(%acc = %start) -> (!tile.tile<16x39xf32>) {
    %x = tile.load %a[0, %at] : !tile.tile<16x128xbf16>
    %y = tile.load %w[0, %at] : !tile.tile<39x128xbf16>
    %next = tile.matmul_acc %acc, %x, %y trans_b : !tile.tile<16x39xf32>
    scf.yield %next : !tile.tile<16x39xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
  tile.store %sum, %c[0, 0]
}

// Many rows; panels that begin anywhere; weights the other way round; no pipeline; a reduction beside it.
// CHECK-NOT: kiln.exchanged
kiln.func @many(%a: !kiln.tensor<?x?xbf16> in, %w: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %k = kiln.dim %a, 1
  %start = tile.full %zero : !tile.tile<64x128xf32>
  %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<64x128xf32>) {
    %x = tile.load %a[0, %at] : !tile.tile<64x64xbf16>
    %y = tile.load %w[0, %at] : !tile.tile<128x64xbf16>
    %next = tile.matmul_acc %acc, %x, %y trans_b : !tile.tile<64x128xf32>
    scf.yield %next : !tile.tile<64x128xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
  tile.store %sum, %c[0, 0]
}
kiln.func @panels(%a: !kiln.tensor<?x?xbf16> in, %w: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %k = kiln.dim %a, 1
  %start = tile.full %zero : !tile.tile<16x132xf32>
  %sum = scf.for %at = %c0 to %k step %c128 iter_args(%acc = %start) -> (!tile.tile<16x132xf32>) {
    %x = tile.load %a[0, %at] : !tile.tile<16x128xbf16>
    %y = tile.load %w[0, %at] : !tile.tile<132x128xbf16>
    %next = tile.matmul_acc %acc, %x, %y trans_b : !tile.tile<16x132xf32>
    scf.yield %next : !tile.tile<16x132xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
  tile.store %sum, %c[0, 0]
}
kiln.func @upright(%a: !kiln.tensor<?x?xbf16> in, %w: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %k = kiln.dim %a, 1
  %start = tile.full %zero : !tile.tile<16x128xf32>
  %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<16x128xf32>) {
    %x = tile.load %a[0, %at] : !tile.tile<16x64xbf16>
    %y = tile.load %w[%at, 0] : !tile.tile<64x128xbf16>
    %next = tile.matmul_acc %acc, %x, %y : !tile.tile<16x128xf32>
    scf.yield %next : !tile.tile<16x128xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
  tile.store %sum, %c[0, 0]
}
kiln.func @reduced(%a: !kiln.tensor<?x?xbf16> in, %w: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %k = kiln.dim %a, 1
  %start = tile.full %zero : !tile.tile<16x128xf32>
  %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<16x128xf32>) {
    %x = tile.load %a[0, %at] : !tile.tile<16x64xbf16>
    %y = tile.load %w[0, %at] : !tile.tile<128x64xbf16>
    %next = tile.matmul_acc %acc, %x, %y trans_b : !tile.tile<16x128xf32>
    scf.yield %next : !tile.tile<16x128xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
  %top = tile.reduce max %sum axis(1) : !tile.tile<16x1xf32>
  tile.store %top, %c[0, 0]
}
