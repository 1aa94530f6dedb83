module @matmul_packed {
  kiln.func @main(%a: !kiln.tensor<?x192xf32> in, %packed: !kiln.tensor<2x3x64x64xf32> in, %c: !kiln.tensor<?x128xf32> out) orchestration {
    %c32 = arith.constant 32 : index
    %0 = kiln.dim %a, 0
    %1 = arith.ceildivsi %0, %c32 : index
    %2 = kiln.incore "matmul" grid(%1, 2) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %3 = arith.muli %block, %c32_0 : index
      %4 = tile.full %cst : !tile.tile<32x64xf32>
      %5 = scf.for %arg0 = %c0 to %c3 step %c1 iter_args(%arg1 = %4) -> (!tile.tile<32x64xf32>) {
        %7 = arith.muli %arg0, %c64 : index
        %8 = tile.load %a[%3, %7] : !tile.tile<32x64xf32>
        %9 = tile.load %packed[%block_1, %arg0, 0, 0] : !tile.tile<64x64xf32>
        %10 = tile.matmul_acc %arg1, %8, %9 : !tile.tile<32x64xf32>
        scf.yield %10 : !tile.tile<32x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %6 = arith.muli %block_1, %c64 : index
      tile.store %5, %c[%3, %6]
    }
  }
}
