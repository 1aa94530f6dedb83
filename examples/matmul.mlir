module @matmul {
  kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> out) orchestration {
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %c, 0
    %1 = arith.ceildivsi %0, %c64 : index
    %2 = kiln.dim %c, 1
    %3 = arith.ceildivsi %2, %c64 : index
    %4 = kiln.incore "matmul" grid(%1, %3) {
      %c64_0 = arith.constant 64 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %5 = arith.muli %block, %c64_0 : index
      %6 = arith.muli %block_1, %c64_0 : index
      %7 = tile.full %cst : !tile.tile<64x64xf32>
      %8 = kiln.dim %a, 1
      %9 = scf.for %arg0 = %c0 to %8 step %c64_0 iter_args(%arg1 = %7) -> (!tile.tile<64x64xf32>) {
        %10 = tile.load %a[%5, %arg0] : !tile.tile<64x64xf32>
        %11 = tile.load %b[%arg0, %6] : !tile.tile<64x64xf32>
        %12 = tile.matmul_acc %arg1, %10, %11 : !tile.tile<64x64xf32>
        scf.yield %12 : !tile.tile<64x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      tile.store %9, %c[%5, %6]
    }
  }
}
