module @rms_norm {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %w: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = arith.ceildivsi %0, %c16 : index
    %2 = kiln.incore "rms_norm" grid(%1) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %cst_1 = arith.constant 9.99999997E-7 : f32
      %block = tile.block_idx 0
      %3 = arith.muli %block, %c16_0 : index
      %4 = kiln.dim %x, 1
      %5 = tile.full %cst : !tile.tile<16x1xf32>
      %6 = scf.for %arg0 = %c0 to %4 step %c128 iter_args(%arg1 = %5) -> (!tile.tile<16x1xf32>) {
        %12 = tile.load %x[%3, %arg0] : !tile.tile<16x128xf32>
        %13 = tile.mul %12, %12 : !tile.tile<16x128xf32>
        %14 = tile.reduce sum %13 axis(1) : !tile.tile<16x1xf32>
        %15 = tile.add %arg1, %14 : !tile.tile<16x1xf32>
        scf.yield %15 : !tile.tile<16x1xf32>
      }
      %7 = arith.index_cast %4 : index to i64
      %8 = arith.sitofp %7 : i64 to f32
      %9 = tile.div %6, %8 : !tile.tile<16x1xf32>
      %10 = tile.add %9, %cst_1 : !tile.tile<16x1xf32>
      %11 = tile.rsqrt %10 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %4 step %c128 {
        %12 = tile.load %x[%3, %arg0] : !tile.tile<16x128xf32>
        %13 = tile.load %w[%arg0] : !tile.tile<1x128xf32>
        %14 = tile.mul %12, %11 : !tile.tile<16x128xf32>
        %15 = tile.mul %14, %13 : !tile.tile<16x128xf32>
        tile.store %15, %y[%3, %arg0]
      }
    }
  }
}
