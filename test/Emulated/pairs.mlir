// REQUIRES: kiln, emulated-gpu, torch
// Blocks in clusters of two: an odd number of them, a last row of tiles that has a neighbour in the next column, one row, tensors
// that the copy engine cannot read, nothing to sum; on 1 to 5 multiprocessors, in several orders of everything.
// RUN: kiln-opt %s --kiln-pipeline=platform=h200 --tile-pair-blocks -o %t.mlir
// RUN: %emulate %kiln run %t.mlir -p h200 --batch %S/Inputs/pairs.cases | FileCheck %s
// RUN: env KILN_EMULATE_SEED=1 KILN_EMULATE_MULTIPROCESSORS=1 %emulate %kiln run %t.mlir -p h200 --batch %S/Inputs/pairs.cases | FileCheck %s
// RUN: env KILN_EMULATE_SEED=2 KILN_EMULATE_MULTIPROCESSORS=5 %emulate %kiln run %t.mlir -p h200 --batch %S/Inputs/pairs.cases | FileCheck %s
// RUN: %kiln emit %t.mlir -p h200 --target cuda | FileCheck %s --check-prefix=CUDA

// CHECK-COUNT-6: PASS
// The second product's weights are read ahead, in pairs, too.
// CUDA:  first_dma(const Args &args, const PairedBlock &block,
// CUDA:  void second_dma_ahead(const Args &args, const PairedBlock &block,
// CUDA:  paired<2>(unwritten(request<bf16, 64, 128>
// CUDA:  second_dma_ahead(args, pairedBlockAt<16>(i64(blockIdx.x), blocks, args.grid), 0, to_compute);

!t = !kiln.tensor<?x?xbf16>
!tile = !tile.tile<128x128xbf16>
!sum = !tile.tile<128x128xf32>

// y = (x w) v
kiln.func @main(%x: !t in, %w: !t in, %v: !t in, %y: !t out) orchestration {
  %c128 = arith.constant 128 : index
  %m = kiln.dim %x, 0
  %k = kiln.dim %w, 1
  %n = kiln.dim %v, 1
  %rows = arith.ceildivsi %m, %c128 : index
  %middle = arith.ceildivsi %k, %c128 : index
  %cols = arith.ceildivsi %n, %c128 : index
  %h = kiln.alloc(%m, %k) : !t
  %0 = kiln.incore "first" grid(%rows, %middle) split(up_down) {
    %d128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %bi = tile.block_idx 0
    %bj = tile.block_idx 1
    %i = arith.muli %bi, %d128 : index
    %j = arith.muli %bj, %d128 : index
    %end = kiln.dim %x, 1
    %start = tile.full %zero : !sum
    %sum = scf.for %at = %c0 to %end step %c64 iter_args(%acc = %start) -> (!sum) {
      %a = tile.load %x[%i, %at] : !tile.tile<128x64xbf16>
      %b = tile.load %w[%at, %j] : !tile.tile<64x128xbf16>
      %next = tile.matmul_acc %acc, %a, %b : !sum
      scf.yield %next : !sum
    } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
    %rounded = tile.cast %sum : !tile
    tile.store %rounded, %h[%i, %j]
  }
  %1 = kiln.incore "second" grid(%rows, %cols) split(up_down) {
    %d128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %bi = tile.block_idx 0
    %bj = tile.block_idx 1
    %i = arith.muli %bi, %d128 : index
    %j = arith.muli %bj, %d128 : index
    %end = kiln.dim %h, 1
    %start = tile.full %zero : !sum
    %sum = scf.for %at = %c0 to %end step %c64 iter_args(%acc = %start) -> (!sum) {
      %a = tile.load %h[%i, %at] : !tile.tile<128x64xbf16>
      %b = tile.load %v[%at, %j] : !tile.tile<64x128xbf16>
      %next = tile.matmul_acc %acc, %a, %b : !sum
      scf.yield %next : !sum
    } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
    %rounded = tile.cast %sum : !tile
    tile.store %rounded, %y[%i, %j]
  }
}
