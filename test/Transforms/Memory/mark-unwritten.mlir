// What no kernel of a program writes may be read before the kernels that come first have ended: the copying role begins its
// first pushes with that, then waits, then does all the rest. Every kernel waits before it reads or writes anything else.
// REQUIRES: kiln
// RUN: %kiln emit %s -p h200 --after tile-mark-unwritten | FileCheck %s
// RUN: %kiln emit %s -p h200 --target cuda | FileCheck %s --check-prefix=CUDA
// RUN: %kiln emit %s -p h200 --target cuda --without tile-mark-unwritten | FileCheck %s --check-prefix=WITHOUT

!t = !kiln.tensor<?x64xbf16>

// CHECK-LABEL: kiln.func @product_dma
// CHECK:         tile.load %x[%{{[a-z0-9]*}}, 0] : !tile
// CHECK:         tile.load %w[%{{.*}}kiln.unwritten} : !tile
// CUDA-LABEL:  void product_dma_ahead(
// CUDA:          for ({{.*}}; [[AT:at[0-9]+]] < 128 && to_compute.hasRoom(); [[AT]] += 64) {
// CUDA:            auto [[X:x_[a-z0-9_]+]] = request<bf16, 16, 64>(args.x,
// CUDA:            auto [[W:w_[a-z0-9_]+]] = unwritten(request<bf16, 64, 64, Touched::Once>(args.w,
// CUDA:            to_compute.runAhead([[X]], [[W]]);
// CUDA-LABEL:  void product_dma(
// CUDA:            to_compute.push(
// CUDA-LABEL:  kiln_product(const
// CUDA:          if (warpInGroup() == 0) {
// CUDA-NEXT:       if (blockIdx.x < blocks && mayReadAhead(args.w))
// CUDA-NEXT:         product_dma_ahead(args, blockAt<1>(i64(blockIdx.x), args.grid), 0, to_compute);
// CUDA-NEXT:       ptx::awaitPrerequisites();
// CUDA-NEXT:       for (i64 number
// CUDA-NEXT:         product_dma(
// CUDA-NEXT:       ptx::launchDependents();
// CUDA:          } else {
// CUDA:            ptx::awaitPrerequisites();
// WITHOUT-NOT: unwritten(
// WITHOUT-NOT: _ahead
// WITHOUT:     ptx::awaitPrerequisites();
kiln.func @product(%x: !t in, %w: !t in, %y: !t inout) incore split(none) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %none = tile.full %zero : !tile.tile<16x64xf32>
  %sum = scf.for %k = %c0 to %c128 step %c64 iter_args(%acc = %none) -> (!tile.tile<16x64xf32>) {
    %a = tile.load %x[%k, 0] : !tile.tile<16x64xbf16>
    %b = tile.load %w[%k, 0] : !tile.tile<64x64xbf16>
    %p = tile.matmul_acc %acc, %a, %b trans_b : !tile.tile<16x64xf32>
    scf.yield %p : !tile.tile<16x64xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  %n = tile.cast %sum : !tile.tile<16x64xbf16>
  tile.store %n, %y[0, 0] valid(8, 64)
}

// The second launch reads what the first has written; its weights nobody writes.
kiln.func @main(%w: !t in, %v: !t in, %y: !t inout, %z: !t inout) orchestration {
  %first = kiln.submit @product(%w, %v, %y) grid(1)
  %second = kiln.submit @product(%y, %w, %z) grid(1)
}
