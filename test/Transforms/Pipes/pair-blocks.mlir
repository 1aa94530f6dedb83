// Neighbouring blocks that read the same are marked, and the loads that they may share.
// RUN: kiln-opt %s --tile-pair-blocks | FileCheck %s

!a = !tile.tile<128x64xbf16, mat>
!b = !tile.tile<64x256xbf16, mat>
!t = !kiln.tensor<?x?xbf16>
!p = !tile.pipe<dma -> compute, (128x64xbf16, 64x256xbf16)>
!q = !tile.pipe<dma -> compute, 64x256xbf16>

// What computes, with products of the matrix unit.
!left = !tile.tile<64x64xbf16, left>
!right = !tile.tile<64x256xbf16, right>
!sum = !tile.tile<64x256xf32, acc>
kiln.func @multiply(%l: !t) role(compute) {
  %zero = arith.constant 0.0 : bf16
  %a = tile.full %zero : !left
  %b = tile.full %zero : !right
  %c = tile.matmul %a, %b : !sum
}

// Neighbours along the first axis have the columns of the right operand in common, others the rows of the left one.
// CHECK-LABEL: kiln.func @product_dma(
// CHECK:         tile.load %{{.*}} {kiln.varies_along = array<i64: 0>} : !tile.tile<128x64xbf16, mat>
// CHECK:         tile.load %{{.*}} {kiln.varies_along = array<i64: 1>} : !tile.tile<64x256xbf16, mat>
kiln.func @product_dma(%x: !t, %y: !t, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %bi = tile.block_idx 0
  %bj = tile.block_idx 1
  %i = arith.muli %bi, %c128 : index
  %j = arith.muli %bj, %c256 : index
  %n = kiln.dim %x, 1
  scf.for %k = %c0 to %n step %c64 {
    %a = tile.load %x[%i, %k] : !a
    %b = tile.load %y[%k, %j] : !b
    tile.push %a, %b, %p
  }
}
// CHECK: kiln.func @product({{.*}}) group lanes(2) attributes {kiln.pairs_blocks} {
kiln.func @product(%x: !t in, %y: !t in) group lanes(2) {
  %p = tile.pipe : !p
  kiln.call @product_dma(%x, %y, %p)
  kiln.call @multiply(%x)
}

// What does not differ at all is shared by any two; it is pushed before the loop, too.
// CHECK-LABEL: kiln.func @weights_dma(
// CHECK:         tile.load %{{.*}} {kiln.varies_along = array<i64>} : !tile.tile<64x256xbf16, mat>
// CHECK:         tile.load %{{.*}} : !tile.tile<64x256xbf16, mat>
// CHECK:         tile.load %{{.*}} {kiln.varies_along = array<i64>} : !tile.tile<64x256xbf16, mat>
kiln.func @weights_dma(%x: !t, %y: !t, %q: !q) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %i = arith.muli %bi, %c64 : index
  %n = kiln.dim %y, 0
  %first = tile.load %y[0, 0] : !b
  tile.push %first, %q
  scf.for %k = %c0 to %n step %c64 {
    %a = tile.load %x[%i, %k] : !b
    tile.push %a, %q
    %b = tile.load %y[%k, 0] : !b
    tile.push %b, %q
  }
}
// CHECK: kiln.func @weights({{.*}}) group lanes(2) attributes {kiln.pairs_blocks} {
kiln.func @weights(%x: !t in, %y: !t in) group lanes(2) {
  %q = tile.pipe : !q
  kiln.call @weights_dma(%x, %y, %q)
  kiln.call @multiply(%x)
}

// Of less than half, it does not pay.
// CHECK-LABEL: kiln.func @little_dma(
// CHECK-NOT:     varies_along
kiln.func @little_dma(%x: !t, %y: !t, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %i = arith.muli %bi, %c64 : index
  %n = kiln.dim %x, 1
  scf.for %k = %c0 to %n step %c64 {
    %a = tile.load %x[0, %k] : !a
    %b = tile.load %y[%k, %i] : !b
    tile.push %a, %b, %p
  }
}
// CHECK: kiln.func @little({{.*}}) group lanes(2) {
kiln.func @little(%x: !t in, %y: !t in) group lanes(2) {
  %p = tile.pipe : !p
  kiln.call @little_dma(%x, %y, %p)
  kiln.call @multiply(%x)
}

// Of a tile of which less counts, and what counts differs, each fetches its own.
// CHECK-LABEL: kiln.func @valid_dma(
// CHECK-NOT:     varies_along
kiln.func @valid_dma(%x: !t, %q: !q) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %n = kiln.dim %x, 0
  scf.for %k = %c0 to %n step %c64 {
    %a = tile.load %x[%k, 0] valid(%bi, 256) : !b
    tile.push %a, %q
  }
}
// CHECK: kiln.func @valid({{.*}}) group lanes(2) {
kiln.func @valid(%x: !t in) group lanes(2) {
  %q = tile.pipe : !q
  kiln.call @valid_dma(%x, %q)
  kiln.call @multiply(%x)
}

// Where one block sends more than its neighbour, or under a condition of its own, they would wait for each other for ever.
// CHECK-LABEL: kiln.func @unequal_dma(
// CHECK-NOT:     varies_along
kiln.func @unequal_dma(%x: !t, %y: !t, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %i = arith.muli %bi, %c64 : index
  scf.for %k = %c0 to %i step %c64 {
    %a = tile.load %x[%i, %k] : !a
    %b = tile.load %y[%k, 0] : !b
    tile.push %a, %b, %p
  }
}
// CHECK: kiln.func @unequal({{.*}}) group lanes(2) {
kiln.func @unequal(%x: !t in, %y: !t in) group lanes(2) {
  %p = tile.pipe : !p
  kiln.call @unequal_dma(%x, %y, %p)
  kiln.call @multiply(%x)
}
// CHECK-LABEL: kiln.func @branch_dma(
// CHECK-NOT:     varies_along
kiln.func @branch_dma(%x: !t, %y: !t, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %n = kiln.dim %x, 1
  %i = arith.muli %bi, %c64 : index
  %some = arith.cmpi slt, %i, %n : index
  scf.for %k = %c0 to %n step %c64 {
    scf.if %some {
      %a = tile.load %x[%i, %k] : !a
      %b = tile.load %y[%k, 0] : !b
      tile.push %a, %b, %p
    }
  }
}
// CHECK: kiln.func @branch({{.*}}) group lanes(2) {
kiln.func @branch(%x: !t in, %y: !t in) group lanes(2) {
  %p = tile.pipe : !p
  kiln.call @branch_dma(%x, %y, %p)
  kiln.call @multiply(%x)
}

// Blocks that are handed out have no neighbour, and those that meet all others have been started.
// CHECK: kiln.func @handed_out({{.*}}) group lanes(2) attributes {kiln.hands_out_blocks} {
kiln.func @handed_out(%x: !t in, %y: !t in) group lanes(2) attributes {kiln.hands_out_blocks} {
  %q = tile.pipe : !q
  kiln.call @some_dma(%x, %y, %q)
  kiln.call @multiply(%x)
}
// CHECK-LABEL: kiln.func @some_dma(
// CHECK-NOT:     varies_along
kiln.func @some_dma(%x: !t, %y: !t, %q: !q) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %i = arith.muli %bi, %c64 : index
  %n = kiln.dim %y, 0
  scf.for %k = %c0 to %n step %c64 {
    %a = tile.load %x[%i, %k] : !b
    tile.push %a, %q
    %b = tile.load %y[%k, 0] : !b
    tile.push %b, %q
  }
}
// CHECK-LABEL: kiln.func @meets_dma(
// CHECK-NOT:     varies_along
kiln.func @meets_dma(%x: !t, %y: !t, %q: !q) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %i = arith.muli %bi, %c64 : index
  %n = kiln.dim %y, 0
  scf.for %k = %c0 to %n step %c64 {
    %a = tile.load %x[%i, %k] : !b
    tile.push %a, %q
    %b = tile.load %y[%k, 0] : !b
    tile.push %b, %q
  }
  tile.barrier
}
// CHECK: kiln.func @meets({{.*}}) group lanes(2) {
kiln.func @meets(%x: !t in, %y: !t in) group lanes(2) {
  %q = tile.pipe : !q
  kiln.call @meets_dma(%x, %y, %q)
  kiln.call @multiply(%x)
}

// Threads that multiply f32 wait for nothing else, and of few rows there is one row of blocks.
// CHECK-LABEL: kiln.func @slow_dma(
// CHECK-NOT:     varies_along
kiln.func @slow_dma(%x: !t, %y: !t, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %bj = tile.block_idx 1
  %n = kiln.dim %x, 1
  scf.for %k = %c0 to %n step %c64 {
    %a = tile.load %x[%bi, %k] : !a
    %b = tile.load %y[%k, %bj] : !b
    tile.push %a, %b, %p
  }
}
kiln.func @wide(%l: !t) role(compute) {
  %zero = arith.constant 0.0 : f32
  %a = tile.full %zero : !tile.tile<64x64xf32, left>
  %b = tile.full %zero : !tile.tile<64x256xf32, right>
  %c = tile.matmul %a, %b : !sum
}
kiln.func @few(%l: !t) role(compute) {
  %zero = arith.constant 0.0 : bf16
  %a = tile.full %zero : !left
  %b = tile.full %zero : !right
  %c = tile.matmul %a, %b {kiln.exchanged} : !sum
}
// CHECK: kiln.func @slow({{.*}}) group lanes(2) {
kiln.func @slow(%x: !t in, %y: !t in) group lanes(2) {
  %p = tile.pipe : !p
  kiln.call @slow_dma(%x, %y, %p)
  kiln.call @wide(%x)
}
// CHECK: kiln.func @few_rows({{.*}}) group lanes(2) {
kiln.func @few_rows(%x: !t in, %y: !t in) group lanes(2) {
  %p = tile.pipe : !p
  kiln.call @slow_dma(%x, %y, %p)
  kiln.call @few(%x)
}
// A single lane has no registers to spare.
// CHECK: kiln.func @one_lane({{.*}}) group {
kiln.func @one_lane(%x: !t in, %y: !t in) group {
  %p = tile.pipe : !p
  kiln.call @slow_dma(%x, %y, %p)
  kiln.call @multiply(%x)
}
