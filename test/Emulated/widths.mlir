// REQUIRES: kiln, emulated-gpu, torch
// RUN: %emulate %kiln run %s -p h200 --arg a=70x80 --arg b=180x80 --arg c=45x80 --arg x=70x180 --arg y=70x45 --seed 3 | FileCheck %s
// RUN: %emulate %kiln run %s -p h200 --arg a=128x64 --arg b=352x64 --arg c=80x64 --arg x=128x352 --arg y=128x80 | FileCheck %s

// The matrix unit makes any multiple of 8 columns at once; what of the last tile is outside is not stored.

// CHECK-COUNT-2: ok
// CHECK: PASS

kiln.func @main(%a: !kiln.tensor<?x?xbf16>, %b: !kiln.tensor<?x?xbf16>, %c: !kiln.tensor<?x?xbf16>, %x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xbf16>) orchestration {
  kiln.incore "wide" grid(2, 2) split(none) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c176 = arith.constant 176 : index
    %zero = arith.constant 0.0 : f32
    %bi = tile.block_idx 0
    %bj = tile.block_idx 1
    %i = arith.muli %bi, %c64 : index
    %j = arith.muli %bj, %c176 : index
    %k = kiln.dim %a, 1
    %start = tile.full %zero : !tile.tile<64x176xf32>
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<64x176xf32>) {
      %l = tile.load %a[%i, %at] : !tile.tile<64x64xbf16>
      %r = tile.load %b[%j, %at] : !tile.tile<176x64xbf16>
      %next = tile.matmul_acc %acc, %l, %r trans_b : !tile.tile<64x176xf32>
      scf.yield %next : !tile.tile<64x176xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
    tile.store %sum, %x[%i, %j]
  }
  kiln.incore "narrow" grid(2, 2) split(none) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c40 = arith.constant 40 : index
    %zero = arith.constant 0.0 : f32
    %bi = tile.block_idx 0
    %bj = tile.block_idx 1
    %i = arith.muli %bi, %c64 : index
    %j = arith.muli %bj, %c40 : index
    %k = kiln.dim %a, 1
    %start = tile.full %zero : !tile.tile<64x40xf32>
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<64x40xf32>) {
      %l = tile.load %a[%i, %at] : !tile.tile<64x64xbf16>
      %r = tile.load %c[%j, %at] : !tile.tile<40x64xbf16>
      %next = tile.matmul_acc %acc, %l, %r trans_b : !tile.tile<64x40xf32>
      scf.yield %next : !tile.tile<64x40xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
    %rounded = tile.cast %sum : !tile.tile<64x40xbf16>
    tile.store %rounded, %y[%i, %j]
  }
}
