module @matmul_packed {
  kiln.func @main(%a: !kiln.tensor<?x192xf32> in, %packed: !kiln.tensor<2x3x64x64xf32> in, %c: !kiln.tensor<?x128xf32> out) orchestration {
    %c32 = arith.constant 32 : index
    %0 = kiln.dim %a, 0
    %1 = kiln.dim %c, 0
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "c has the rows of a"
    %3 = kiln.dim %a, 0
    %4 = arith.ceildivsi %3, %c32 : index
    %5 = kiln.incore "matmul" grid(%4, 2) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %6 = arith.muli %block, %c32_0 : index
      %7 = tile.full %cst : !tile.tile<32x64xf32>
      %8 = scf.for %arg0 = %c0 to %c3 step %c1 iter_args(%arg1 = %7) -> (!tile.tile<32x64xf32>) {
        %10 = arith.muli %arg0, %c64 : index
        %11 = tile.load %a[%6, %10] : !tile.tile<32x64xf32>
        %12 = tile.load %packed[%block_1, %arg0, 0, 0] : !tile.tile<64x64xf32>
        %13 = tile.matmul_acc %arg1, %11, %12 : !tile.tile<32x64xf32>
        scf.yield %13 : !tile.tile<32x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %9 = arith.muli %block_1, %c64 : index
      tile.store %8, %c[%6, %9]
    }
  }
}
