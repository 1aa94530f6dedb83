module @down_proj_residual {
  kiln.func @main(%x: !kiln.tensor<?x?xbf16> in, %w: !kiln.tensor<?x?xbf16> in, %r: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c128 = arith.constant 128 : index
    %0 = kiln.dim %x, 1
    %1 = kiln.dim %w, 1
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "x and w have equally many columns"
    %3 = kiln.dim %y, 0
    %4 = kiln.dim %x, 0
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = kiln.dim %y, 1
    %7 = kiln.dim %w, 0
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = arith.andi %5, %8 : i1
    kiln.require %9, "y has a row for each row of x, a column for each row of w"
    %10 = kiln.dim %r, 0
    %11 = kiln.dim %y, 0
    %12 = arith.cmpi eq, %10, %11 : index
    %13 = kiln.dim %r, 1
    %14 = kiln.dim %y, 1
    %15 = arith.cmpi eq, %13, %14 : index
    %16 = arith.andi %12, %15 : i1
    kiln.require %16, "r and y have one shape"
    %17 = kiln.dim %y, 0
    %18 = arith.ceildivsi %17, %c128 : index
    %19 = kiln.dim %y, 1
    %20 = arith.ceildivsi %19, %c128 : index
    %21 = kiln.incore "proj" grid(%18, %20) split(up_down) {
      %c128_0 = arith.constant 128 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %22 = arith.muli %block, %c128_0 : index
      %23 = arith.muli %block_1, %c128_0 : index
      %24 = tile.full %cst : !tile.tile<128x128xf32>
      %25 = kiln.dim %x, 1
      %26 = scf.for %arg0 = %c0 to %25 step %c64 iter_args(%arg1 = %24) -> (!tile.tile<128x128xf32>) {
        %29 = tile.load %x[%22, %arg0] : !tile.tile<128x64xbf16>
        %30 = tile.load %w[%23, %arg0] : !tile.tile<128x64xbf16>
        %31 = tile.matmul_acc %arg1, %29, %30 trans_b : !tile.tile<128x128xf32>
        scf.yield %31 : !tile.tile<128x128xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %27 = tile.load %r[%22, %23] : !tile.tile<128x128xf32>
      %28 = tile.add %26, %27 : !tile.tile<128x128xf32>
      tile.store %28, %y[%22, %23]
    }
  }
}
