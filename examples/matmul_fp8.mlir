module @matmul_fp8 {
  kiln.func @main(%a: !kiln.tensor<?x?xf8E4M3FN> in, %b: !kiln.tensor<?x?xf8E4M3FN> in, %sa: !kiln.tensor<?xf32> in, %sb: !kiln.tensor<?xf32> in, %c: !kiln.tensor<?x?xbf16> out) orchestration {
    %c32 = arith.constant 32 : index
    %0 = kiln.dim %c, 0
    %1 = arith.ceildivsi %0, %c32 : index
    %2 = kiln.dim %c, 1
    %3 = arith.ceildivsi %2, %c32 : index
    %4 = kiln.incore "matmul" grid(%1, %3) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %5 = arith.muli %block, %c32_0 : index
      %6 = arith.muli %block_1, %c32_0 : index
      %7 = kiln.dim %a, 1
      %8 = tile.full %cst : !tile.tile<32x32xf32>
      %9 = scf.for %arg0 = %c0 to %7 step %c64 iter_args(%arg1 = %8) -> (!tile.tile<32x32xf32>) {
        %15 = tile.load %a[%5, %arg0] : !tile.tile<32x64xf8E4M3FN>
        %16 = tile.load %b[%arg0, %6] : !tile.tile<64x32xf8E4M3FN>
        %17 = tile.matmul_acc %arg1, %15, %16 : !tile.tile<32x32xf32>
        scf.yield %17 : !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %10 = tile.load %sa[%5] : !tile.tile<32x1xf32>
      %11 = tile.mul %9, %10 : !tile.tile<32x32xf32>
      %12 = tile.load %sb[%6] : !tile.tile<1x32xf32>
      %13 = tile.mul %11, %12 : !tile.tile<32x32xf32>
      %14 = tile.cast %13 : !tile.tile<32x32xbf16>
      tile.store %14, %c[%5, %6]
    }
  }
}
