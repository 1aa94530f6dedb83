// A staged store waits for the next block's first products if its tile is what the only loop of products made, the loop is
// equally long in all blocks, and the tile has room beside the sum.
// RUN: kiln-opt %s --tile-stage-stores --tile-delay-stores | FileCheck %s

!a = !kiln.tensor<?x?xbf16>
!pipe = !tile.pipe<dma -> compute, (64x64xbf16)>

kiln.func @dma(%a: !a in, %p: !pipe) role(dma) {
  %t = tile.load %a[0, 0] : !tile.tile<64x64xbf16, mat>
  tile.push %t, %p
}

// CHECK-LABEL: kiln.func @sums
// CHECK:         tile.store %{{.*}}, %c[0, 0] {kiln.delayed, kiln.staged}
kiln.func @sums(%a: !a in, %c: !a out, %p: !pipe) role(compute) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %k = kiln.dim %a, 1
  %start = tile.full %zero : !tile.tile<64x64xf32, acc>
  %s = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<64x64xf32, acc>) {
    %x = tile.pop %p : !tile.tile<64x64xbf16, mat>
    %l = tile.move %x : !tile.tile<64x64xbf16, left>
    %r = tile.move %x : !tile.tile<64x64xbf16, right>
    %n = tile.matmul_acc %acc, %l, %r : !tile.tile<64x64xf32, acc>
    tile.free %p
    scf.yield %n : !tile.tile<64x64xf32, acc>
  }
  %v = tile.move %s : !tile.tile<64x64xf32, vec>
  %o = tile.cast %v : !tile.tile<64x64xbf16, vec>
  tile.store %o, %c[0, 0]
}
kiln.func @one(%a: !a in, %c: !a out) group lanes(2) {
  %p = tile.pipe : !pipe
  kiln.call @dma(%a, %p)
  kiln.call @sums(%a, %c, %p)
}

// Blocks have unequally many products.
// CHECK-LABEL: kiln.func @unequal
// CHECK:         tile.store %{{.*}}, %c[0, 0] {kiln.staged}
kiln.func @unequal(%a: !a in, %c: !a out, %p: !pipe) role(compute) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %k = tile.block_idx 0
  %start = tile.full %zero : !tile.tile<64x64xf32, acc>
  %s = scf.for %at = %c0 to %k step %c1 iter_args(%acc = %start) -> (!tile.tile<64x64xf32, acc>) {
    %x = tile.pop %p : !tile.tile<64x64xbf16, mat>
    %l = tile.move %x : !tile.tile<64x64xbf16, left>
    %r = tile.move %x : !tile.tile<64x64xbf16, right>
    %n = tile.matmul_acc %acc, %l, %r : !tile.tile<64x64xf32, acc>
    tile.free %p
    scf.yield %n : !tile.tile<64x64xf32, acc>
  }
  %v = tile.move %s : !tile.tile<64x64xf32, vec>
  %o = tile.cast %v : !tile.tile<64x64xbf16, vec>
  tile.store %o, %c[0, 0]
}
kiln.func @two(%a: !a in, %c: !a out) group lanes(2) {
  %p = tile.pipe : !pipe
  kiln.call @dma(%a, %p)
  kiln.call @unequal(%a, %c, %p)
}

// Three lanes have fewer registers; here there would be enough.
// CHECK-LABEL: kiln.func @of_three
// CHECK:         tile.store %{{.*}}, %c[0, 0] {kiln.staged}
kiln.func @of_three(%a: !a in, %c: !a out, %p: !pipe) role(compute) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %k = kiln.dim %a, 1
  %start = tile.full %zero : !tile.tile<64x64xf32, acc>
  %s = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<64x64xf32, acc>) {
    %x = tile.pop %p : !tile.tile<64x64xbf16, mat>
    %l = tile.move %x : !tile.tile<64x64xbf16, left>
    %r = tile.move %x : !tile.tile<64x64xbf16, right>
    %n = tile.matmul_acc %acc, %l, %r : !tile.tile<64x64xf32, acc>
    tile.free %p
    scf.yield %n : !tile.tile<64x64xf32, acc>
  }
  %v = tile.move %s : !tile.tile<64x64xf32, vec>
  %o = tile.cast %v : !tile.tile<64x64xbf16, vec>
  tile.store %o, %c[0, 0]
}
kiln.func @three(%a: !a in, %c: !a out) group lanes(3) {
  %p = tile.pipe : !pipe
  kiln.call @dma(%a, %p)
  kiln.call @of_three(%a, %c, %p)
}
