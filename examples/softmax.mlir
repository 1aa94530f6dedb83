module @softmax {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = arith.ceildivsi %0, %c16 : index
    %2 = kiln.incore "softmax" grid(%1) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0xFF800000 : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %block = tile.block_idx 0
      %3 = arith.muli %block, %c16_0 : index
      %4 = kiln.dim %x, 1
      %5 = tile.full %cst : !tile.tile<16x1xf32>
      %6 = tile.full %cst_1 : !tile.tile<16x1xf32>
      %7:2 = scf.for %arg0 = %c0 to %4 step %c128 iter_args(%arg1 = %5, %arg2 = %6) -> (!tile.tile<16x1xf32>, !tile.tile<16x1xf32>) {
        %8 = tile.load %x[%3, %arg0] pad(min) : !tile.tile<16x128xf32>
        %9 = tile.reduce max %8 axis(1) : !tile.tile<16x1xf32>
        %10 = tile.max %arg1, %9 : !tile.tile<16x1xf32>
        %11 = tile.sub %8, %10 : !tile.tile<16x128xf32>
        %12 = tile.exp %11 : !tile.tile<16x128xf32>
        %13 = tile.reduce sum %12 axis(1) : !tile.tile<16x1xf32>
        %14 = tile.sub %arg1, %10 : !tile.tile<16x1xf32>
        %15 = tile.exp %14 : !tile.tile<16x1xf32>
        %16 = tile.mul %arg2, %15 : !tile.tile<16x1xf32>
        %17 = tile.add %16, %13 : !tile.tile<16x1xf32>
        scf.yield %10, %17 : !tile.tile<16x1xf32>, !tile.tile<16x1xf32>
      }
      scf.for %arg0 = %c0 to %4 step %c128 {
        %8 = tile.load %x[%3, %arg0] : !tile.tile<16x128xf32>
        %9 = tile.sub %8, %7#0 : !tile.tile<16x128xf32>
        %10 = tile.exp %9 : !tile.tile<16x128xf32>
        %11 = tile.div %10, %7#1 : !tile.tile<16x128xf32>
        tile.store %11, %y[%3, %arg0]
      }
    }
  }
}
