module @layer_norm {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %w: !kiln.tensor<?xf32> in, %b: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = arith.ceildivsi %0, %c16 : index
    %2 = kiln.incore "layer_norm" grid(%1) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %cst_1 = arith.constant 9.99999974E-6 : f32
      %block = tile.block_idx 0
      %3 = arith.muli %block, %c16_0 : index
      %4 = kiln.dim %x, 1
      %5 = arith.index_cast %4 : index to i64
      %6 = arith.sitofp %5 : i64 to f32
      %7 = tile.full %cst : !tile.tile<16x1xf32>
      %8 = scf.for %arg0 = %c0 to %4 step %c128 iter_args(%arg1 = %7) -> (!tile.tile<16x1xf32>) {
        %15 = tile.load %x[%3, %arg0] : !tile.tile<16x128xf32>
        %16 = tile.reduce sum %15 axis(1) : !tile.tile<16x1xf32>
        %17 = tile.add %arg1, %16 : !tile.tile<16x1xf32>
        scf.yield %17 : !tile.tile<16x1xf32>
      }
      %9 = tile.div %8, %6 : !tile.tile<16x1xf32>
      %10 = tile.full %cst : !tile.tile<16x1xf32>
      %11 = scf.for %arg0 = %c0 to %4 step %c128 iter_args(%arg1 = %10) -> (!tile.tile<16x1xf32>) {
        %15 = tile.load %x[%3, %arg0] : !tile.tile<16x128xf32>
        %16 = tile.sub %15, %9 : !tile.tile<16x128xf32>
        %17 = arith.subi %4, %arg0 : index
        %18 = tile.mask %16 valid(16, %17) : !tile.tile<16x128xf32>
        %19 = tile.mul %18, %18 : !tile.tile<16x128xf32>
        %20 = tile.reduce sum %19 axis(1) : !tile.tile<16x1xf32>
        %21 = tile.add %arg1, %20 : !tile.tile<16x1xf32>
        scf.yield %21 : !tile.tile<16x1xf32>
      }
      %12 = tile.div %11, %6 : !tile.tile<16x1xf32>
      %13 = tile.add %12, %cst_1 : !tile.tile<16x1xf32>
      %14 = tile.rsqrt %13 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %4 step %c128 {
        %15 = tile.load %x[%3, %arg0] : !tile.tile<16x128xf32>
        %16 = tile.load %w[%arg0] : !tile.tile<1x128xf32>
        %17 = tile.load %b[%arg0] : !tile.tile<1x128xf32>
        %18 = tile.sub %15, %9 : !tile.tile<16x128xf32>
        %19 = tile.mul %18, %14 : !tile.tile<16x128xf32>
        %20 = tile.mul %19, %16 : !tile.tile<16x128xf32>
        %21 = tile.add %20, %17 : !tile.tile<16x128xf32>
        tile.store %21, %y[%3, %arg0]
      }
    }
  }
}
