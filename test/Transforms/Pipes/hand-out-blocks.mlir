// Kernels whose blocks take unequally long are marked: who is done with a block takes the next one.
// RUN: kiln-opt %s --tile-hand-out-blocks | FileCheck %s

!p = !tile.pipe<dma -> compute, 64x64xf32>
!x = !kiln.tensor<?x64xf32>

// As many rows as the block's number says, at most all.
// CHECK-LABEL: kiln.func @triangle(
// CHECK-SAME:    group attributes {kiln.hands_out_blocks} {
kiln.func @triangle_dma(%x: !x, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %block = tile.block_idx 0
  %rows = arith.muli %block, %c64 : index
  %all = kiln.dim %x, 0
  %end = arith.minsi %rows, %all : index
  scf.for %i = %c0 to %end step %c64 {
    %t = tile.load %x[%i, 0] : !tile.tile<64x64xf32>
    tile.push %t, %p
  }
}
kiln.func @triangle_compute(%x: !x, %y: !x, %p: !p) role(compute) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %block = tile.block_idx 0
  %rows = arith.muli %block, %c64 : index
  %all = kiln.dim %x, 0
  %end = arith.minsi %rows, %all : index
  scf.for %i = %c0 to %end step %c64 {
    %t = tile.pop %p : !tile.tile<64x64xf32>
    tile.store %t, %y[%i, 0]
    tile.free %p
  }
}
kiln.func @triangle(%x: !x in, %y: !x out) group {
  %p = tile.pipe : !p
  kiln.call @triangle_dma(%x, %p)
  kiln.call @triangle_compute(%x, %y, %p)
}

// What is read at the block's number decides, and the loop is in another one.
// CHECK-LABEL: kiln.func @lengths(
// CHECK-SAME:    group attributes {kiln.hands_out_blocks} {
kiln.func @lengths_dma(%x: !x, %lengths: !kiln.tensor<?xi64>, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %block = tile.block_idx 0
  %read = kiln.read %lengths[%block] : i64
  %length = arith.index_cast %read : i64 to index
  scf.for %i = %c0 to %length step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %t = tile.load %x[%i, 0] : !tile.tile<64x64xf32>
      tile.push %t, %p
    }
  }
}
kiln.func @lengths(%x: !x in, %lengths: !kiln.tensor<?xi64> in) group {
  %p = tile.pipe : !p
  kiln.call @lengths_dma(%x, %lengths, %p)
}

// Equally many in all blocks, from different places.
// CHECK-LABEL: kiln.func @equal(
// CHECK-SAME:    group {
kiln.func @equal_dma(%x: !x, %n: index, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %block = tile.block_idx 0
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.load %x[%block, 0] : !tile.tile<64x64xf32>
    tile.push %t, %p
  }
}
kiln.func @equal(%x: !x in, %n: index) group {
  %p = tile.pipe : !p
  kiln.call @equal_dma(%x, %n, %p)
}

// At a barrier each block has been started: none is left to be handed out.
// CHECK-LABEL: kiln.func @meets(
// CHECK-SAME:    group {
kiln.func @meets_dma(%x: !x, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %block = tile.block_idx 0
  scf.for %i = %c0 to %block step %c1 {
    %t = tile.load %x[%i, 0] : !tile.tile<64x64xf32>
    tile.push %t, %p
  }
  tile.barrier
}
kiln.func @meets(%x: !x in) group {
  %p = tile.pipe : !p
  kiln.call @meets_dma(%x, %p)
}
