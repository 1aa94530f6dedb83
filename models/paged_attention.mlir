module @paged_attention {
  kiln.func @main(%q: !kiln.tensor<?x16x1x128xbf16> in, %k: !kiln.tensor<?x16x64x128xbf16> in, %v: !kiln.tensor<?x16x64x128xbf16> in, %table: !kiln.tensor<?x?xi32> in, %lengths: !kiln.tensor<?xi32> in, %o: !kiln.tensor<?x16x1x128xbf16> out) orchestration {
    %0 = kiln.dim %k, 0
    %1 = kiln.dim %v, 0
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "k and v have one shape"
    %3 = kiln.dim %q, 0
    %4 = kiln.dim %o, 0
    %5 = arith.cmpi eq, %3, %4 : index
    kiln.require %5, "q and o have one shape"
    %6 = kiln.dim %table, 0
    %7 = kiln.dim %q, 0
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = kiln.dim %lengths, 0
    %10 = kiln.dim %q, 0
    %11 = arith.cmpi eq, %9, %10 : index
    %12 = arith.andi %8, %11 : i1
    kiln.require %12, "each sequence has a row of the table and a length"
    %13 = kiln.dim %q, 0
    %14 = kiln.incore "attention" grid(%13, 16) {
      %c64 = arith.constant 64 : index
      %cst = arith.constant -9.99999968E+37 : f32
      %cst_0 = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %cst_1 = arith.constant 0.0883883461 : f32
      %cst_2 = arith.constant 5.500000e+00 : f32
      %block = tile.block_idx 0
      %block_3 = tile.block_idx 1
      %15 = kiln.read %lengths[%block] : i32
      %16 = arith.index_cast %15 : i32 to index
      %17 = arith.ceildivsi %16, %c64 : index
      %18 = tile.load %q[%block, %block_3, 0, 0] : !tile.tile<1x128xbf16>
      %19 = tile.full %cst : !tile.tile<1x1xf32>
      %20 = tile.full %cst_0 : !tile.tile<1x1xf32>
      %21 = tile.full %cst_0 : !tile.tile<1x128xf32>
      %22:3 = scf.for %arg0 = %c0 to %17 step %c1 iter_args(%arg1 = %19, %arg2 = %20, %arg3 = %21) -> (!tile.tile<1x1xf32>, !tile.tile<1x1xf32>, !tile.tile<1x128xf32>) {
        %27 = kiln.read %table[%block, %arg0] : i32
        %28 = arith.index_cast %27 : i32 to index
        %29 = tile.load %k[%28, %block_3, 0, 0] : !tile.tile<64x128xbf16>
        %30 = tile.load %v[%28, %block_3, 0, 0] : !tile.tile<64x128xbf16>
        %31 = tile.matmul %18, %29 trans_b : !tile.tile<1x64xf32>
        %32 = arith.muli %arg0, %c64 : index
        %33 = arith.subi %16, %32 : index
        %34 = tile.mask %31 valid(1, %33) pad(min) : !tile.tile<1x64xf32>
        %35 = tile.reduce max %34 axis(1) : !tile.tile<1x1xf32>
        %36 = tile.mul %35, %cst_1 : !tile.tile<1x1xf32>
        %37 = tile.add %arg1, %cst_2 : !tile.tile<1x1xf32>
        %38 = tile.cmp gt %36, %37 : !tile.tile<1x1xi1>
        %39 = tile.select %38, %36, %arg1 : !tile.tile<1x1xf32>
        %40 = tile.mul %34, %cst_1 : !tile.tile<1x64xf32>
        %41 = tile.sub %40, %39 : !tile.tile<1x64xf32>
        %42 = tile.exp %41 : !tile.tile<1x64xf32>
        %43 = tile.sub %arg1, %39 : !tile.tile<1x1xf32>
        %44 = tile.exp %43 : !tile.tile<1x1xf32>
        %45 = tile.cast %42 : !tile.tile<1x64xbf16>
        %46 = tile.mul %arg2, %44 : !tile.tile<1x1xf32>
        %47 = tile.reduce sum %42 axis(1) : !tile.tile<1x1xf32>
        %48 = tile.add %46, %47 : !tile.tile<1x1xf32>
        %49 = tile.mul %arg3, %44 : !tile.tile<1x128xf32>
        %50 = tile.matmul_acc %49, %45, %30 : !tile.tile<1x128xf32>
        scf.yield %39, %48, %50 : !tile.tile<1x1xf32>, !tile.tile<1x1xf32>, !tile.tile<1x128xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %23 = tile.cmp gt %22#1, %cst_0 : !tile.tile<1x1xi1>
      %24 = tile.div %22#2, %22#1 : !tile.tile<1x128xf32>
      %25 = tile.select %23, %24, %cst_0 : !tile.tile<1x128xf32>
      %26 = tile.cast %25 : !tile.tile<1x128xbf16>
      tile.store %26, %o[%block, %block_3, 0, 0]
    }
  }
}
