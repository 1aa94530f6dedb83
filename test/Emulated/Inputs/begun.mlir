// Attention of bf16 in three lanes: products that are begun, in turns, factors that are mostly 1. What models/flash_attention.cpp records.
module @flash_attention {
  kiln.func @main(%q: !kiln.tensor<?x?x64xbf16> in, %k: !kiln.tensor<?x?x64xbf16> in, %v: !kiln.tensor<?x?x64xbf16> in, %o: !kiln.tensor<?x?x64xbf16> out) orchestration {
    %c0 = arith.constant 0 : index
    %c192 = arith.constant 192 : index
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
    %19 = kiln.dim %q, 1
    %20 = kiln.dim %k, 1
    %21 = arith.cmpi eq, %19, %20 : index
    kiln.require %21, "with --causal yes there are as many queries as keys"
    %22 = kiln.dim %q, 0
    %23 = kiln.dim %q, 1
    %24 = arith.ceildivsi %23, %c192 : index
    %25 = kiln.incore "attention" grid(%22, %24) {
      %c192_0 = arith.constant 192 : index
      %c1 = arith.constant 1 : index
      %cst = arith.constant -9.99999968E+37 : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %c0_2 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %cst_3 = arith.constant 1.250000e-01 : f32
      %cst_4 = arith.constant 5.500000e+00 : f32
      %block = tile.block_idx 0
      %block_5 = tile.block_idx 1
      %26 = kiln.dim %q, 1
      %27 = arith.ceildivsi %26, %c192_0 : index
      %28 = arith.subi %27, %c1 : index
      %29 = arith.subi %28, %block_5 : index
      %30 = arith.muli %29, %c192_0 : index
      %31 = kiln.dim %k, 1
      %32 = tile.load %q[%block, %30, 0] : !tile.tile<192x64xbf16>
      %33 = arith.addi %30, %c192_0 : index
      %34 = arith.minsi %31, %33 : index
      %35 = tile.full %cst : !tile.tile<192x1xf32>
      %36 = tile.full %cst_1 : !tile.tile<192x1xf32>
      %37 = tile.full %cst_1 : !tile.tile<192x64xf32>
      %38:3 = scf.for %arg0 = %c0_2 to %34 step %c64 iter_args(%arg1 = %35, %arg2 = %36, %arg3 = %37) -> (!tile.tile<192x1xf32>, !tile.tile<192x1xf32>, !tile.tile<192x64xf32>) {
        %41 = tile.load %k[%block, %arg0, 0] : !tile.tile<64x64xbf16>
        %42 = tile.load %v[%block, %arg0, 0] : !tile.tile<64x64xbf16>
        %43 = tile.matmul %32, %41 trans_b : !tile.tile<192x64xf32>
        %44 = arith.subi %31, %arg0 : index
        %45 = tile.mask %43 valid(192, %44) pad(min) : !tile.tile<192x64xf32>
        %46 = arith.subi %30, %arg0 : index
        %47 = tile.mask_diag %45 offset(%46) pad(min) : !tile.tile<192x64xf32>
        %48 = tile.reduce max %47 axis(1) : !tile.tile<192x1xf32>
        %49 = tile.mul %48, %cst_3 : !tile.tile<192x1xf32>
        %50 = tile.add %arg1, %cst_4 : !tile.tile<192x1xf32>
        %51 = tile.cmp gt %49, %50 : !tile.tile<192x1xi1>
        %52 = tile.select %51, %49, %arg1 : !tile.tile<192x1xf32>
        %53 = tile.mul %47, %cst_3 : !tile.tile<192x64xf32>
        %54 = tile.sub %53, %52 : !tile.tile<192x64xf32>
        %55 = tile.exp %54 : !tile.tile<192x64xf32>
        %56 = tile.sub %arg1, %52 : !tile.tile<192x1xf32>
        %57 = tile.exp %56 : !tile.tile<192x1xf32>
        %58 = tile.cast %55 : !tile.tile<192x64xbf16>
        %59 = tile.mul %arg2, %57 : !tile.tile<192x1xf32>
        %60 = tile.reduce sum %55 axis(1) : !tile.tile<192x1xf32>
        %61 = tile.add %59, %60 : !tile.tile<192x1xf32>
        %62 = tile.mul %arg3, %57 : !tile.tile<192x64xf32>
        %63 = tile.matmul_acc %62, %58, %42 : !tile.tile<192x64xf32>
        scf.yield %52, %61, %63 : !tile.tile<192x1xf32>, !tile.tile<192x1xf32>, !tile.tile<192x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %39 = tile.div %38#2, %38#1 : !tile.tile<192x64xf32>
      %40 = tile.cast %39 : !tile.tile<192x64xbf16>
      tile.store %40, %o[%block, %30, 0]
    }
  }
}
