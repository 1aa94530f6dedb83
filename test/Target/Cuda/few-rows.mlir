// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s
// RUN: %kiln emit %s --target cuda --without tile-exchange-sides | FileCheck %s --check-prefix=WITHOUT

// The weights are the 64 rows of the instructions, so that tiles lie with rows and columns exchanged. All of shared
// memory is for weights under way, less what is read behind the last of them.

// CHECK:      using Reg = Tile<T, Exchanged::Of<R, C>>;
// CHECK-NEXT: using Pipe_to_compute = Pipe<11, 1, Shared<bf16, 16, 64>, Shared<bf16, 132, 64>>;
// Nobody reads weights again. What lanes read of the arguments at their end they read while they wait for the first tiles.
// CHECK:      auto w_tile = request<bf16, 132, 64, Touched::Once>(args.w,
// CHECK:      auto [[SLOT:slot[0-9]+]] = to_compute.pop();
// CHECK:      multiply<true>(
// CHECK:      __launch_bounds__(256, 1)
// CHECK:      look(args.c);
// CHECK-NEXT: ptx::awaitPrerequisites();
// WITHOUT:    using Reg = Tile<T, Fragments::Of<R, C>>;
kiln.func @few(%a: !kiln.tensor<?x?xbf16> in, %w: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xbf16> out) incore {
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
  %rounded = tile.cast %sum : !tile.tile<16x132xbf16>
  tile.store %rounded, %c[0, %j]
}
