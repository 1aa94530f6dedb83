module @softmax {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "y has the shape of x"
    %7 = kiln.dim %x, 0
    %8 = arith.ceildivsi %7, %c16 : index
    %9 = kiln.incore "softmax" grid(%8) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0xFF800000 : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %block = tile.block_idx 0
      %10 = arith.muli %block, %c16_0 : index
      %11 = kiln.dim %x, 1
      %12 = tile.full %cst : !tile.tile<16x1xf32>
      %13 = tile.full %cst_1 : !tile.tile<16x1xf32>
      %14:2 = scf.for %arg0 = %c0 to %11 step %c128 iter_args(%arg1 = %12, %arg2 = %13) -> (!tile.tile<16x1xf32>, !tile.tile<16x1xf32>) {
        %16 = tile.load %x[%10, %arg0] pad(min) : !tile.tile<16x128xf32>
        %17 = tile.reduce max %16 axis(1) : !tile.tile<16x1xf32>
        %18 = tile.max %arg1, %17 : !tile.tile<16x1xf32>
        %19 = tile.sub %16, %18 : !tile.tile<16x128xf32>
        %20 = tile.exp %19 : !tile.tile<16x128xf32>
        %21 = tile.reduce sum %20 axis(1) : !tile.tile<16x1xf32>
        %22 = tile.sub %arg1, %18 : !tile.tile<16x1xf32>
        %23 = tile.exp %22 : !tile.tile<16x1xf32>
        %24 = tile.mul %arg2, %23 : !tile.tile<16x1xf32>
        %25 = tile.add %24, %21 : !tile.tile<16x1xf32>
        scf.yield %18, %25 : !tile.tile<16x1xf32>, !tile.tile<16x1xf32>
      }
      %15 = tile.recip %14#1 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %11 step %c128 {
        %16 = tile.load %x[%10, %arg0] pad(min) : !tile.tile<16x128xf32>
        %17 = tile.sub %16, %14#0 : !tile.tile<16x128xf32>
        %18 = tile.exp %17 : !tile.tile<16x128xf32>
        %19 = tile.mul %18, %15 : !tile.tile<16x128xf32>
        tile.store %19, %y[%10, %arg0]
      }
    }
  }
}
