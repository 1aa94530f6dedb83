// Of a program's first kernel only what streams is marked: the weights of a product of few rows, which is all that it waits for.
// Whether it reads ahead each launch says; who is launched first knows it only in a capture, right behind another call.
// REQUIRES: kiln
// RUN: %kiln emit %s -p h200 --target cuda | FileCheck %s
// RUN: %kiln emit %s -p h200 --target cuda --without tile-mark-unwritten | FileCheck %s --check-prefix=WITHOUT

!t = !kiln.tensor<?x?xbf16>

// CHECK-LABEL: void few_dma_ahead(
// CHECK:         auto [[A:a_[a-z0-9_]+]] = request<bf16, 16, 64>(args.a,
// CHECK:         auto [[W:w_[a-z0-9_]+]] = unwritten(request<bf16, 64, 64, Touched::Once>(args.w,
// CHECK:         to_compute.runAhead([[A]], [[W]]);
// CHECK:         if (blockIdx.x < blocks && mayReadAhead(args.w))
// CHECK-NEXT:      few_dma_ahead(
// CHECK-NEXT:    ptx::awaitPrerequisites();
// WITHOUT-NOT: unwritten(
// WITHOUT-NOT: mayReadAhead
kiln.func @few(%a: !t in, %w: !t in, %c: !t out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %block = tile.block_idx 0
  %j = arith.muli %block, %c64 : index
  %k = kiln.dim %a, 1
  %start = tile.full %zero : !tile.tile<16x64xf32>
  %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<16x64xf32>) {
    %x = tile.load %a[0, %at] : !tile.tile<16x64xbf16>
    %y = tile.load %w[%j, %at] : !tile.tile<64x64xbf16>
    %next = tile.matmul_acc %acc, %x, %y trans_b : !tile.tile<16x64xf32>
    scf.yield %next : !tile.tile<16x64xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
  %rounded = tile.cast %sum : !tile.tile<16x64xbf16>
  tile.store %rounded, %c[0, %j]
}

kiln.func @main(%a: !t in, %w: !t in, %c: !t out) orchestration {
  %n = kiln.dim %w, 0
  %c64 = arith.constant 64 : index
  %blocks = arith.ceildivsi %n, %c64 : index
  %task = kiln.submit @few(%a, %w, %c) grid(%blocks)
}
