module @flash_attention {
  kiln.func @main(%q: !kiln.tensor<?x?x64xf32> in, %k: !kiln.tensor<?x?x64xf32> in, %v: !kiln.tensor<?x?x64xf32> in, %o: !kiln.tensor<?x?x64xf32> out) orchestration {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %k, 0
    %1 = kiln.dim %v, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %k, 1
    %4 = kiln.dim %v, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "k and v have one shape"
    %7 = kiln.dim %q, 0
    %8 = kiln.dim %o, 0
    %9 = arith.cmpi eq, %7, %8 : index
    %10 = kiln.dim %q, 1
    %11 = kiln.dim %o, 1
    %12 = arith.cmpi eq, %10, %11 : index
    %13 = arith.andi %9, %12 : i1
    kiln.require %13, "q and o have one shape"
    %14 = kiln.dim %q, 0
    %15 = kiln.dim %k, 0
    %16 = arith.cmpi eq, %14, %15 : index
    kiln.require %16, "q and k have equally many heads"
    %17 = kiln.dim %k, 1
    %18 = arith.cmpi sgt, %17, %c0 : index
    kiln.require %18, "there is a key to attend to"
    %19 = kiln.dim %q, 0
    %20 = kiln.dim %q, 1
    %21 = arith.ceildivsi %20, %c64 : index
    %22 = kiln.incore "attention" grid(%19, %21) {
      %c64_0 = arith.constant 64 : index
      %cst = arith.constant -9.99999968E+37 : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %c0_2 = arith.constant 0 : index
      %cst_3 = arith.constant 1.250000e-01 : f32
      %cst_4 = arith.constant 5.500000e+00 : f32
      %block = tile.block_idx 0
      %block_5 = tile.block_idx 1
      %23 = arith.muli %block_5, %c64_0 : index
      %24 = kiln.dim %k, 1
      %25 = tile.load %q[%block, %23, 0] : !tile.tile<64x64xf32>
      %26 = tile.full %cst : !tile.tile<64x1xf32>
      %27 = tile.full %cst_1 : !tile.tile<64x1xf32>
      %28 = tile.full %cst_1 : !tile.tile<64x64xf32>
      %29:3 = scf.for %arg0 = %c0_2 to %24 step %c64_0 iter_args(%arg1 = %26, %arg2 = %27, %arg3 = %28) -> (!tile.tile<64x1xf32>, !tile.tile<64x1xf32>, !tile.tile<64x64xf32>) {
        %32 = tile.load %k[%block, %arg0, 0] : !tile.tile<64x64xf32>
        %33 = tile.load %v[%block, %arg0, 0] : !tile.tile<64x64xf32>
        %34 = tile.matmul %25, %32 trans_b : !tile.tile<64x64xf32>
        %35 = arith.subi %24, %arg0 : index
        %36 = tile.mask %34 valid(64, %35) pad(min) : !tile.tile<64x64xf32>
        %37 = tile.reduce max %36 axis(1) : !tile.tile<64x1xf32>
        %38 = tile.mul %37, %cst_3 : !tile.tile<64x1xf32>
        %39 = tile.add %arg1, %cst_4 : !tile.tile<64x1xf32>
        %40 = tile.cmp gt %38, %39 : !tile.tile<64x1xi1>
        %41 = tile.select %40, %38, %arg1 : !tile.tile<64x1xf32>
        %42 = tile.mul %36, %cst_3 : !tile.tile<64x64xf32>
        %43 = tile.sub %42, %41 : !tile.tile<64x64xf32>
        %44 = tile.exp %43 : !tile.tile<64x64xf32>
        %45 = tile.sub %arg1, %41 : !tile.tile<64x1xf32>
        %46 = tile.exp %45 : !tile.tile<64x1xf32>
        %47 = tile.mul %arg2, %46 : !tile.tile<64x1xf32>
        %48 = tile.reduce sum %44 axis(1) : !tile.tile<64x1xf32>
        %49 = tile.add %47, %48 : !tile.tile<64x1xf32>
        %50 = tile.mul %arg3, %46 : !tile.tile<64x64xf32>
        %51 = tile.matmul_acc %50, %44, %33 : !tile.tile<64x64xf32>
        scf.yield %41, %49, %51 : !tile.tile<64x1xf32>, !tile.tile<64x1xf32>, !tile.tile<64x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %30 = tile.recip %29#1 : !tile.tile<64x1xf32>
      %31 = tile.mul %29#2, %30 : !tile.tile<64x64xf32>
      tile.store %31, %o[%block, %23, 0]
    }
  }
}
