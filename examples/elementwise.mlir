module @elementwise {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %x, 0
    %1 = arith.ceildivsi %0, %c32 : index
    %2 = kiln.dim %x, 1
    %3 = arith.ceildivsi %2, %c64 : index
    %4 = kiln.incore "gelu" grid(%1, %3) {
      %c32_0 = arith.constant 32 : index
      %c64_1 = arith.constant 64 : index
      %cst = arith.constant 0.707106769 : f32
      %cst_2 = arith.constant 5.000000e-01 : f32
      %cst_3 = arith.constant 1.000000e+00 : f32
      %block = tile.block_idx 0
      %block_4 = tile.block_idx 1
      %5 = arith.muli %block, %c32_0 : index
      %6 = arith.muli %block_4, %c64_1 : index
      %7 = tile.load %x[%5, %6] : !tile.tile<32x64xf32>
      %8 = tile.mul %7, %cst : !tile.tile<32x64xf32>
      %9 = tile.erf %8 : !tile.tile<32x64xf32>
      %10 = tile.mul %7, %cst_2 : !tile.tile<32x64xf32>
      %11 = tile.add %9, %cst_3 : !tile.tile<32x64xf32>
      %12 = tile.mul %10, %11 : !tile.tile<32x64xf32>
      tile.store %12, %y[%5, %6]
    }
  }
}
