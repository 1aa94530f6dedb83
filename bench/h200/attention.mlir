// o = softmax(q k^T / sqrt(128)) v for each head, in one pass over the keys; bf16, 128 queries a block.
module @attention {
  kiln.func @main(%q: !kiln.tensor<?x?x128xbf16> in, %k: !kiln.tensor<?x?x128xbf16> in, %v: !kiln.tensor<?x?x128xbf16> in, %o: !kiln.tensor<?x?x128xbf16> out) orchestration {
    %c128 = arith.constant 128 : index
    %0 = kiln.dim %q, 0
    %1 = kiln.dim %q, 1
    %2 = arith.ceildivsi %1, %c128 : index
    %3 = kiln.incore "attention" grid(%0, %2) split(up_down) {
      %rows = arith.constant 128 : index
      %scale = arith.constant 0.127517432 : f32
      %lowest = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %head = tile.block_idx 0
      %block = tile.block_idx 1
      %i = arith.muli %block, %rows : index
      %n = kiln.dim %k, 1
      %queries = tile.load %q[%head, %i, 0] : !tile.tile<128x128xbf16>
      %m0 = tile.full %lowest : !tile.tile<128x1xf32>
      %s0 = tile.full %zero : !tile.tile<128x1xf32>
      %o0 = tile.full %zero : !tile.tile<128x128xf32>
      %7:3 = scf.for %at = %c0 to %n step %rows iter_args(%m = %m0, %s = %s0, %acc = %o0) -> (!tile.tile<128x1xf32>, !tile.tile<128x1xf32>, !tile.tile<128x128xf32>) {
        %keys = tile.load %k[%head, %at, 0] : !tile.tile<128x128xbf16>
        %values = tile.load %v[%head, %at, 0] : !tile.tile<128x128xbf16>
        %scores = tile.matmul %queries, %keys trans_b : !tile.tile<128x128xf32>
        %left = arith.subi %n, %at : index
        %masked = tile.mask %scores valid(128, %left) pad(min) : !tile.tile<128x128xf32>
        %8 = tile.reduce max %masked axis(1) : !tile.tile<128x1xf32>
        %9 = tile.mul %8, %scale : !tile.tile<128x1xf32>
        %10 = tile.max %m, %9 : !tile.tile<128x1xf32>
        %11 = tile.mul %masked, %scale : !tile.tile<128x128xf32>
        %12 = tile.sub %11, %10 : !tile.tile<128x128xf32>
        %p = tile.exp2 %12 : !tile.tile<128x128xf32>
        %13 = tile.sub %m, %10 : !tile.tile<128x1xf32>
        %14 = tile.exp2 %13 : !tile.tile<128x1xf32>
        %15 = tile.mul %s, %14 : !tile.tile<128x1xf32>
        %16 = tile.reduce sum %p axis(1) : !tile.tile<128x1xf32>
        %17 = tile.add %15, %16 : !tile.tile<128x1xf32>
        %18 = tile.mul %acc, %14 : !tile.tile<128x128xf32>
        %19 = tile.cast %p : !tile.tile<128x128xbf16>
        %20 = tile.matmul_acc %18, %19, %values : !tile.tile<128x128xf32>
        scf.yield %10, %17, %20 : !tile.tile<128x1xf32>, !tile.tile<128x1xf32>, !tile.tile<128x128xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %21 = tile.div %7#2, %7#1 : !tile.tile<128x128xf32>
      %22 = tile.cast %21 : !tile.tile<128x128xbf16>
      tile.store %22, %o[%head, %i, 0]
    }
  }
}
