module @rms_norm {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %w: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %w, 0
    %1 = kiln.dim %x, 1
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "w has an element for each column of x"
    %3 = kiln.dim %x, 0
    %4 = kiln.dim %y, 0
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = kiln.dim %x, 1
    %7 = kiln.dim %y, 1
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = arith.andi %5, %8 : i1
    kiln.require %9, "y has the shape of x"
    %10 = kiln.dim %x, 0
    %11 = arith.ceildivsi %10, %c16 : index
    %12 = kiln.incore "rms_norm" grid(%11) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %cst_1 = arith.constant 9.99999997E-7 : f32
      %block = tile.block_idx 0
      %13 = arith.muli %block, %c16_0 : index
      %14 = kiln.dim %x, 1
      %15 = tile.full %cst : !tile.tile<16x1xf32>
      %16 = scf.for %arg0 = %c0 to %14 step %c128 iter_args(%arg1 = %15) -> (!tile.tile<16x1xf32>) {
        %22 = tile.load %x[%13, %arg0] : !tile.tile<16x128xf32>
        %23 = tile.mul %22, %22 : !tile.tile<16x128xf32>
        %24 = tile.reduce sum %23 axis(1) : !tile.tile<16x1xf32>
        %25 = tile.add %arg1, %24 : !tile.tile<16x1xf32>
        scf.yield %25 : !tile.tile<16x1xf32>
      }
      %17 = arith.index_cast %14 : index to i64
      %18 = arith.sitofp %17 : i64 to f32
      %19 = tile.div %16, %18 : !tile.tile<16x1xf32>
      %20 = tile.add %19, %cst_1 : !tile.tile<16x1xf32>
      %21 = tile.rsqrt %20 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %14 step %c128 {
        %22 = tile.load %x[%13, %arg0] : !tile.tile<16x128xf32>
        %23 = tile.load %w[%arg0] : !tile.tile<1x128xf32>
        %24 = tile.mul %22, %21 : !tile.tile<16x128xf32>
        %25 = tile.mul %24, %23 : !tile.tile<16x128xf32>
        tile.store %25, %y[%13, %arg0]
      }
    }
  }
}
