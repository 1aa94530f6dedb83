module @matmul_bias {
  kiln.func @main(%x: !kiln.tensor<?x?xf16> in, %w: !kiln.tensor<?x?xf16> in, %b: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %y, 0
    %1 = arith.ceildivsi %0, %c64 : index
    %2 = kiln.dim %y, 1
    %3 = arith.ceildivsi %2, %c64 : index
    %4 = kiln.incore "matmul_bias" grid(%1, %3) split(up_down) {
      %c64_0 = arith.constant 64 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %5 = arith.muli %block, %c64_0 : index
      %6 = arith.muli %block_1, %c64_0 : index
      %7 = kiln.dim %x, 1
      %8 = tile.full %cst : !tile.tile<64x64xf32>
      %9 = scf.for %arg0 = %c0 to %7 step %c64_0 iter_args(%arg1 = %8) -> (!tile.tile<64x64xf32>) {
        %13 = tile.load %x[%5, %arg0] : !tile.tile<64x64xf16>
        %14 = tile.load %w[%arg0, %6] : !tile.tile<64x64xf16>
        %15 = tile.matmul_acc %arg1, %13, %14 : !tile.tile<64x64xf32>
        scf.yield %15 : !tile.tile<64x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %10 = tile.load %b[%6] : !tile.tile<1x64xf32>
      %11 = tile.add %9, %10 : !tile.tile<64x64xf32>
      %12 = tile.max %11, %cst : !tile.tile<64x64xf32>
      tile.store %12, %y[%5, %6]
    }
  }
}
