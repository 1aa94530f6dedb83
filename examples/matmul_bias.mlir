module @matmul_bias {
  kiln.func @main(%x: !kiln.tensor<?x?xf16> in, %w: !kiln.tensor<?x?xf16> in, %b: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %x, 1
    %1 = kiln.dim %w, 0
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "x has as many columns as w has rows"
    %3 = kiln.dim %b, 0
    %4 = kiln.dim %w, 1
    %5 = arith.cmpi eq, %3, %4 : index
    kiln.require %5, "b has an element for each column of w"
    %6 = kiln.dim %y, 0
    %7 = kiln.dim %x, 0
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = kiln.dim %y, 1
    %10 = kiln.dim %w, 1
    %11 = arith.cmpi eq, %9, %10 : index
    %12 = arith.andi %8, %11 : i1
    kiln.require %12, "y has the rows of x and the columns of w"
    %13 = kiln.dim %y, 0
    %14 = arith.ceildivsi %13, %c64 : index
    %15 = kiln.dim %y, 1
    %16 = arith.ceildivsi %15, %c64 : index
    %17 = kiln.incore "matmul_bias" grid(%14, %16) split(up_down) {
      %c64_0 = arith.constant 64 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %18 = arith.muli %block, %c64_0 : index
      %19 = arith.muli %block_1, %c64_0 : index
      %20 = kiln.dim %x, 1
      %21 = tile.full %cst : !tile.tile<64x64xf32>
      %22 = scf.for %arg0 = %c0 to %20 step %c64_0 iter_args(%arg1 = %21) -> (!tile.tile<64x64xf32>) {
        %26 = tile.load %x[%18, %arg0] : !tile.tile<64x64xf16>
        %27 = tile.load %w[%arg0, %19] : !tile.tile<64x64xf16>
        %28 = tile.matmul_acc %arg1, %26, %27 : !tile.tile<64x64xf32>
        scf.yield %28 : !tile.tile<64x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %23 = tile.load %b[%19] : !tile.tile<1x64xf32>
      %24 = tile.add %22, %23 : !tile.tile<64x64xf32>
      %25 = tile.max %24, %cst : !tile.tile<64x64xf32>
      tile.store %25, %y[%18, %19]
    }
  }
}
