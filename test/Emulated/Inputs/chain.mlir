// Products of one, two and three lanes and kernels that have memory beside their pipes, one after the other, which a persistent
// kernel has to keep apart: y is the transpose of x w1 w2, times w3; z = x w1 waits for nobody, q = z w2.
kiln.func @main(%x: !kiln.tensor<?x?xbf16> in, %w1: !kiln.tensor<?x?xbf16> in, %w2: !kiln.tensor<?x?xbf16> in, %w3: !kiln.tensor<?x?xbf16> in, %y: !kiln.tensor<?x?xbf16> out, %z: !kiln.tensor<?x?xbf16> out, %q: !kiln.tensor<?x?xbf16> out) orchestration {
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c192 = arith.constant 192 : index
  %rows = kiln.dim %x, 0
  %depth = kiln.dim %w1, 1
  %width = kiln.dim %w2, 1
  %last = kiln.dim %w3, 1
  %r64 = arith.ceildivsi %rows, %c64 : index
  %r128 = arith.ceildivsi %rows, %c128 : index
  %d64 = arith.ceildivsi %depth, %c64 : index
  %w64 = arith.ceildivsi %width, %c64 : index
  %w192 = arith.ceildivsi %width, %c192 : index
  %w128 = arith.ceildivsi %width, %c128 : index
  %l32 = arith.ceildivsi %last, %c32 : index
  %one = kiln.alloc(%rows, %depth) : !kiln.tensor<?x?xbf16>
  %two = kiln.alloc(%rows, %width) : !kiln.tensor<?x?xbf16>
  %turned = kiln.alloc(%width, %rows) : !kiln.tensor<?x?xbf16>
    kiln.incore "one_lane" grid(%r64, %d64) {
      %c0 = arith.constant 0 : index
      %m = arith.constant 64 : index
      %n = arith.constant 64 : index
      %k = arith.constant 64 : index
      %zero = arith.constant 0.000000e+00 : f32
      %bi = tile.block_idx 0
      %bj = tile.block_idx 1
      %i = arith.muli %bi, %m : index
      %j = arith.muli %bj, %n : index
      %none = tile.full %zero : !tile.tile<64x64xf32>
      %length = kiln.dim %x, 1
      %s = scf.for %at = %c0 to %length step %k iter_args(%sum = %none) -> (!tile.tile<64x64xf32>) {
        %l = tile.load %x[%i, %at] : !tile.tile<64x64xbf16>
        %w = tile.load %w1[%at, %j] : !tile.tile<64x64xbf16>
        %more = tile.matmul_acc %sum, %l, %w : !tile.tile<64x64xf32>
        scf.yield %more : !tile.tile<64x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %r = tile.cast %s : !tile.tile<64x64xbf16>
      tile.store %r, %one[%i, %j]
    }
    kiln.incore "two_lanes" grid(%r128, %w64) {
      %c0 = arith.constant 0 : index
      %m = arith.constant 128 : index
      %n = arith.constant 64 : index
      %k = arith.constant 32 : index
      %zero = arith.constant 0.000000e+00 : f32
      %bi = tile.block_idx 0
      %bj = tile.block_idx 1
      %i = arith.muli %bi, %m : index
      %j = arith.muli %bj, %n : index
      %none = tile.full %zero : !tile.tile<128x64xf32>
      %length = kiln.dim %one, 1
      %s = scf.for %at = %c0 to %length step %k iter_args(%sum = %none) -> (!tile.tile<128x64xf32>) {
        %l = tile.load %one[%i, %at] : !tile.tile<128x32xbf16>
        %w = tile.load %w2[%at, %j] : !tile.tile<32x64xbf16>
        %more = tile.matmul_acc %sum, %l, %w : !tile.tile<128x64xf32>
        scf.yield %more : !tile.tile<128x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %r = tile.cast %s : !tile.tile<128x64xbf16>
      tile.store %r, %two[%i, %j]
    }
    kiln.incore "turn" grid(%r64, %w64) {
      %m = arith.constant 64 : index
      %bi = tile.block_idx 0
      %bj = tile.block_idx 1
      %i = arith.muli %bi, %m : index
      %j = arith.muli %bj, %m : index
      %t = tile.load %two[%i, %j] : !tile.tile<64x64xbf16>
      %u = tile.transpose %t : !tile.tile<64x64xbf16>
      tile.store %u, %turned[%j, %i]
    }
    kiln.incore "three_lanes" grid(%w192, %l32) {
      %c0 = arith.constant 0 : index
      %m = arith.constant 192 : index
      %n = arith.constant 32 : index
      %k = arith.constant 64 : index
      %zero = arith.constant 0.000000e+00 : f32
      %bi = tile.block_idx 0
      %bj = tile.block_idx 1
      %i = arith.muli %bi, %m : index
      %j = arith.muli %bj, %n : index
      %none = tile.full %zero : !tile.tile<192x32xf32>
      %length = kiln.dim %turned, 1
      %s = scf.for %at = %c0 to %length step %k iter_args(%sum = %none) -> (!tile.tile<192x32xf32>) {
        %l = tile.load %turned[%i, %at] : !tile.tile<192x64xbf16>
        %w = tile.load %w3[%at, %j] : !tile.tile<64x32xbf16>
        %more = tile.matmul_acc %sum, %l, %w : !tile.tile<192x32xf32>
        scf.yield %more : !tile.tile<192x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %r = tile.cast %s : !tile.tile<192x32xbf16>
      tile.store %r, %y[%i, %j]
    }
    kiln.incore "beside" grid(%r64, %d64) {
      %c0 = arith.constant 0 : index
      %m = arith.constant 64 : index
      %n = arith.constant 64 : index
      %k = arith.constant 32 : index
      %zero = arith.constant 0.000000e+00 : f32
      %bi = tile.block_idx 0
      %bj = tile.block_idx 1
      %i = arith.muli %bi, %m : index
      %j = arith.muli %bj, %n : index
      %none = tile.full %zero : !tile.tile<64x64xf32>
      %length = kiln.dim %x, 1
      %s = scf.for %at = %c0 to %length step %k iter_args(%sum = %none) -> (!tile.tile<64x64xf32>) {
        %l = tile.load %x[%i, %at] : !tile.tile<64x32xbf16>
        %w = tile.load %w1[%at, %j] : !tile.tile<32x64xbf16>
        %more = tile.matmul_acc %sum, %l, %w : !tile.tile<64x64xf32>
        scf.yield %more : !tile.tile<64x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %r = tile.cast %s : !tile.tile<64x64xbf16>
      tile.store %r, %z[%i, %j]
    }
    kiln.incore "wide" grid(%r64, %w128) {
      %c0 = arith.constant 0 : index
      %m = arith.constant 64 : index
      %n = arith.constant 128 : index
      %k = arith.constant 64 : index
      %zero = arith.constant 0.000000e+00 : f32
      %bi = tile.block_idx 0
      %bj = tile.block_idx 1
      %i = arith.muli %bi, %m : index
      %j = arith.muli %bj, %n : index
      %none = tile.full %zero : !tile.tile<64x128xf32>
      %length = kiln.dim %z, 1
      %s = scf.for %at = %c0 to %length step %k iter_args(%sum = %none) -> (!tile.tile<64x128xf32>) {
        %l = tile.load %z[%i, %at] : !tile.tile<64x64xbf16>
        %w = tile.load %w2[%at, %j] : !tile.tile<64x128xbf16>
        %more = tile.matmul_acc %sum, %l, %w : !tile.tile<64x128xf32>
        scf.yield %more : !tile.tile<64x128xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %r = tile.cast %s : !tile.tile<64x128xbf16>
      tile.store %r, %q[%i, %j]
    }
}
