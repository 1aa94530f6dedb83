module @layer_norm {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %w: !kiln.tensor<?xf32> in, %b: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %w, 0
    %1 = kiln.dim %x, 1
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %b, 0
    %4 = kiln.dim %x, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "w and b have an element for each column of x"
    %7 = kiln.dim %x, 0
    %8 = kiln.dim %y, 0
    %9 = arith.cmpi eq, %7, %8 : index
    %10 = kiln.dim %x, 1
    %11 = kiln.dim %y, 1
    %12 = arith.cmpi eq, %10, %11 : index
    %13 = arith.andi %9, %12 : i1
    kiln.require %13, "y has the shape of x"
    %14 = kiln.dim %x, 0
    %15 = arith.ceildivsi %14, %c16 : index
    %16 = kiln.incore "layer_norm" grid(%15) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %cst_1 = arith.constant 9.99999974E-6 : f32
      %block = tile.block_idx 0
      %17 = arith.muli %block, %c16_0 : index
      %18 = kiln.dim %x, 1
      %19 = arith.index_cast %18 : index to i64
      %20 = arith.sitofp %19 : i64 to f32
      %21 = tile.full %cst : !tile.tile<16x1xf32>
      %22 = scf.for %arg0 = %c0 to %18 step %c128 iter_args(%arg1 = %21) -> (!tile.tile<16x1xf32>) {
        %29 = tile.load %x[%17, %arg0] : !tile.tile<16x128xf32>
        %30 = tile.reduce sum %29 axis(1) : !tile.tile<16x1xf32>
        %31 = tile.add %arg1, %30 : !tile.tile<16x1xf32>
        scf.yield %31 : !tile.tile<16x1xf32>
      }
      %23 = tile.div %22, %20 : !tile.tile<16x1xf32>
      %24 = tile.full %cst : !tile.tile<16x1xf32>
      %25 = scf.for %arg0 = %c0 to %18 step %c128 iter_args(%arg1 = %24) -> (!tile.tile<16x1xf32>) {
        %29 = tile.load %x[%17, %arg0] : !tile.tile<16x128xf32>
        %30 = tile.sub %29, %23 : !tile.tile<16x128xf32>
        %31 = arith.subi %18, %arg0 : index
        %32 = tile.mask %30 valid(16, %31) : !tile.tile<16x128xf32>
        %33 = tile.mul %32, %32 : !tile.tile<16x128xf32>
        %34 = tile.reduce sum %33 axis(1) : !tile.tile<16x1xf32>
        %35 = tile.add %arg1, %34 : !tile.tile<16x1xf32>
        scf.yield %35 : !tile.tile<16x1xf32>
      }
      %26 = tile.div %25, %20 : !tile.tile<16x1xf32>
      %27 = tile.add %26, %cst_1 : !tile.tile<16x1xf32>
      %28 = tile.rsqrt %27 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %18 step %c128 {
        %29 = tile.load %x[%17, %arg0] : !tile.tile<16x128xf32>
        %30 = tile.load %w[%arg0] : !tile.tile<1x128xf32>
        %31 = tile.load %b[%arg0] : !tile.tile<1x128xf32>
        %32 = tile.sub %29, %23 : !tile.tile<16x128xf32>
        %33 = tile.mul %32, %28 : !tile.tile<16x128xf32>
        %34 = tile.mul %33, %30 : !tile.tile<16x128xf32>
        %35 = tile.add %34, %31 : !tile.tile<16x128xf32>
        tile.store %35, %y[%17, %arg0]
      }
    }
  }
}
