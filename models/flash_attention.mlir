module @flash_attention {
  kiln.func @main(%q: !kiln.tensor<?x?x64xf32> in, %k: !kiln.tensor<?x?x64xf32> in, %v: !kiln.tensor<?x?x64xf32> in, %o: !kiln.tensor<?x?x64xf32> out) orchestration {
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %q, 0
    %1 = kiln.dim %q, 1
    %2 = arith.ceildivsi %1, %c64 : index
    %3 = kiln.incore "attention" grid(%0, %2) {
      %c64_0 = arith.constant 64 : index
      %cst = arith.constant 1.250000e-01 : f32
      %cst_1 = arith.constant 0xFF800000 : f32
      %cst_2 = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_3 = tile.block_idx 1
      %4 = arith.muli %block_3, %c64_0 : index
      %5 = kiln.dim %k, 1
      %6 = tile.load %q[%block, %4, 0] : !tile.tile<64x64xf32>
      %7 = tile.mul %6, %cst : !tile.tile<64x64xf32>
      %8 = tile.full %cst_1 : !tile.tile<64x1xf32>
      %9 = tile.full %cst_2 : !tile.tile<64x1xf32>
      %10 = tile.full %cst_2 : !tile.tile<64x64xf32>
      %11:3 = scf.for %arg0 = %c0 to %5 step %c64_0 iter_args(%arg1 = %8, %arg2 = %9, %arg3 = %10) -> (!tile.tile<64x1xf32>, !tile.tile<64x1xf32>, !tile.tile<64x64xf32>) {
        %13 = tile.load %k[%block, %arg0, 0] : !tile.tile<64x64xf32>
        %14 = tile.load %v[%block, %arg0, 0] : !tile.tile<64x64xf32>
        %15 = tile.matmul %7, %13 trans_b : !tile.tile<64x64xf32>
        %16 = arith.subi %5, %arg0 : index
        %17 = tile.mask %15 valid(64, %16) pad(min) : !tile.tile<64x64xf32>
        %18 = tile.reduce max %17 axis(1) : !tile.tile<64x1xf32>
        %19 = tile.max %arg1, %18 : !tile.tile<64x1xf32>
        %20 = tile.sub %17, %19 : !tile.tile<64x64xf32>
        %21 = tile.exp %20 : !tile.tile<64x64xf32>
        %22 = tile.sub %arg1, %19 : !tile.tile<64x1xf32>
        %23 = tile.exp %22 : !tile.tile<64x1xf32>
        %24 = tile.mul %arg2, %23 : !tile.tile<64x1xf32>
        %25 = tile.reduce sum %21 axis(1) : !tile.tile<64x1xf32>
        %26 = tile.add %24, %25 : !tile.tile<64x1xf32>
        %27 = tile.mul %arg3, %23 : !tile.tile<64x64xf32>
        %28 = tile.matmul_acc %27, %21, %14 : !tile.tile<64x64xf32>
        scf.yield %19, %26, %28 : !tile.tile<64x1xf32>, !tile.tile<64x1xf32>, !tile.tile<64x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %12 = tile.div %11#2, %11#1 : !tile.tile<64x64xf32>
      tile.store %12, %o[%block, %4, 0]
    }
  }
}
