module @elementwise {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "y has the shape of x"
    %7 = kiln.dim %x, 0
    %8 = arith.ceildivsi %7, %c32 : index
    %9 = kiln.dim %x, 1
    %10 = arith.ceildivsi %9, %c64 : index
    %11 = kiln.incore "gelu" grid(%8, %10) {
      %c32_0 = arith.constant 32 : index
      %c64_1 = arith.constant 64 : index
      %cst = arith.constant 0.707106769 : f32
      %cst_2 = arith.constant 5.000000e-01 : f32
      %cst_3 = arith.constant 1.000000e+00 : f32
      %block = tile.block_idx 0
      %block_4 = tile.block_idx 1
      %12 = arith.muli %block, %c32_0 : index
      %13 = arith.muli %block_4, %c64_1 : index
      %14 = tile.load %x[%12, %13] : !tile.tile<32x64xf32>
      %15 = tile.mul %14, %cst : !tile.tile<32x64xf32>
      %16 = tile.erf %15 : !tile.tile<32x64xf32>
      %17 = tile.mul %14, %cst_2 : !tile.tile<32x64xf32>
      %18 = tile.add %16, %cst_3 : !tile.tile<32x64xf32>
      %19 = tile.mul %17, %18 : !tile.tile<32x64xf32>
      tile.store %19, %y[%12, %13]
    }
  }
}
