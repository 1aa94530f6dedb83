module @paged_attention {
  kiln.func @main(%q: !kiln.tensor<?x16x1x128xbf16> in, %k: !kiln.tensor<?x16x64x128xbf16> in, %v: !kiln.tensor<?x16x64x128xbf16> in, %table: !kiln.tensor<?x?xi32> in, %lengths: !kiln.tensor<?xi32> in, %o: !kiln.tensor<?x16x1x128xbf16> out) orchestration {
    %0 = kiln.dim %q, 0
    %1 = kiln.incore "attention" grid(%0, 16) {
      %c64 = arith.constant 64 : index
      %cst = arith.constant 0xFF800000 : f32
      %cst_0 = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %cst_1 = arith.constant 0.0883883461 : f32
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %2 = kiln.read %lengths[%block] : i32
      %3 = arith.index_cast %2 : i32 to index
      %4 = tile.load %q[%block, %block_2, 0, 0] : !tile.tile<1x128xbf16>
      %5 = arith.ceildivsi %3, %c64 : index
      %6 = tile.full %cst : !tile.tile<1x1xf32>
      %7 = tile.full %cst_0 : !tile.tile<1x1xf32>
      %8 = tile.full %cst_0 : !tile.tile<1x128xf32>
      %9:3 = scf.for %arg0 = %c0 to %5 step %c1 iter_args(%arg1 = %6, %arg2 = %7, %arg3 = %8) -> (!tile.tile<1x1xf32>, !tile.tile<1x1xf32>, !tile.tile<1x128xf32>) {
        %14 = kiln.read %table[%block, %arg0] : i32
        %15 = arith.index_cast %14 : i32 to index
        %16 = tile.load %k[%15, %block_2, 0, 0] : !tile.tile<64x128xbf16>
        %17 = tile.load %v[%15, %block_2, 0, 0] : !tile.tile<64x128xbf16>
        %18 = tile.matmul %4, %16 trans_b : !tile.tile<1x64xf32>
        %19 = tile.mul %18, %cst_1 : !tile.tile<1x64xf32>
        %20 = arith.muli %arg0, %c64 : index
        %21 = arith.subi %3, %20 : index
        %22 = tile.mask %19 valid(1, %21) pad(min) : !tile.tile<1x64xf32>
        %23 = tile.reduce max %22 axis(1) : !tile.tile<1x1xf32>
        %24 = tile.max %arg1, %23 : !tile.tile<1x1xf32>
        %25 = tile.sub %22, %24 : !tile.tile<1x64xf32>
        %26 = tile.exp %25 : !tile.tile<1x64xf32>
        %27 = tile.sub %arg1, %24 : !tile.tile<1x1xf32>
        %28 = tile.exp %27 : !tile.tile<1x1xf32>
        %29 = tile.cast %26 : !tile.tile<1x64xbf16>
        %30 = tile.mul %arg2, %28 : !tile.tile<1x1xf32>
        %31 = tile.reduce sum %26 axis(1) : !tile.tile<1x1xf32>
        %32 = tile.add %30, %31 : !tile.tile<1x1xf32>
        %33 = tile.mul %arg3, %28 : !tile.tile<1x128xf32>
        %34 = tile.matmul_acc %33, %29, %17 : !tile.tile<1x128xf32>
        scf.yield %24, %32, %34 : !tile.tile<1x1xf32>, !tile.tile<1x1xf32>, !tile.tile<1x128xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %10 = tile.cmp gt %9#1, %cst_0 : !tile.tile<1x1xi1>
      %11 = tile.div %9#2, %9#1 : !tile.tile<1x128xf32>
      %12 = tile.select %10, %11, %cst_0 : !tile.tile<1x128xf32>
      %13 = tile.cast %12 : !tile.tile<1x128xbf16>
      tile.store %13, %o[%block, %block_2, 0, 0]
    }
  }
}
