module @down_proj_residual {
  kiln.func @main(%x: !kiln.tensor<?x?xbf16> in, %w: !kiln.tensor<?x?xbf16> in, %r: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c128 = arith.constant 128 : index
    %0 = kiln.dim %y, 0
    %1 = arith.ceildivsi %0, %c128 : index
    %2 = kiln.dim %y, 1
    %3 = arith.ceildivsi %2, %c128 : index
    %4 = kiln.incore "proj" grid(%1, %3) split(up_down) {
      %c128_0 = arith.constant 128 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %5 = arith.muli %block, %c128_0 : index
      %6 = arith.muli %block_1, %c128_0 : index
      %7 = tile.full %cst : !tile.tile<128x128xf32>
      %8 = kiln.dim %x, 1
      %9 = scf.for %arg0 = %c0 to %8 step %c64 iter_args(%arg1 = %7) -> (!tile.tile<128x128xf32>) {
        %12 = tile.load %x[%5, %arg0] : !tile.tile<128x64xbf16>
        %13 = tile.load %w[%6, %arg0] : !tile.tile<128x64xbf16>
        %14 = tile.matmul_acc %arg1, %12, %13 trans_b : !tile.tile<128x128xf32>
        scf.yield %14 : !tile.tile<128x128xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %10 = tile.load %r[%5, %6] : !tile.tile<128x128xf32>
      %11 = tile.add %9, %10 : !tile.tile<128x128xf32>
      tile.store %11, %y[%5, %6]
    }
  }
}
