module @moe_gemm {
  kiln.func @main(%x: !kiln.tensor<?x?xbf16> in, %w: !kiln.tensor<?x?x?xbf16> in, %offsets: !kiln.tensor<?xi32> in, %y: !kiln.tensor<?x?xbf16> out) orchestration {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %w, 0
    %1 = kiln.dim %w, 1
    %2 = kiln.dim %w, 2
    %3 = kiln.dim %x, 1
    %4 = arith.cmpi eq, %3, %1 : index
    kiln.require %4, "x has as many columns as each expert's weights have rows"
    %5 = kiln.dim %y, 0
    %6 = kiln.dim %x, 0
    %7 = arith.cmpi eq, %5, %6 : index
    %8 = kiln.dim %y, 1
    %9 = arith.cmpi eq, %8, %2 : index
    %10 = arith.andi %7, %9 : i1
    kiln.require %10, "y has the rows of x and the columns of the weights"
    %11 = kiln.dim %offsets, 0
    %12 = arith.addi %0, %c1 : index
    %13 = arith.cmpi eq, %11, %12 : index
    kiln.require %13, "there is an offset for each expert, and the end"
    %14 = arith.ceildivsi %2, %c64 : index
    %15 = kiln.incore "experts" grid(%0, %14) {
      %c64_0 = arith.constant 64 : index
      %c1_1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %16 = arith.muli %block_2, %c64_0 : index
      %17 = arith.addi %block, %c1_1 : index
      %18 = kiln.read %offsets[%17] : i32
      %19 = arith.index_cast %18 : i32 to index
      %20 = kiln.read %offsets[%block] : i32
      %21 = arith.index_cast %20 : i32 to index
      scf.for %arg0 = %21 to %19 step %c32 {
        %22 = tile.full %cst : !tile.tile<32x64xf32>
        %23 = scf.for %arg1 = %c0 to %1 step %c64_0 iter_args(%arg2 = %22) -> (!tile.tile<32x64xf32>) {
          %27 = tile.load %x[%arg0, %arg1] : !tile.tile<32x64xbf16>
          %28 = tile.load %w[%block, %arg1, %16] : !tile.tile<64x64xbf16>
          %29 = tile.matmul_acc %arg2, %27, %28 : !tile.tile<32x64xf32>
          scf.yield %29 : !tile.tile<32x64xf32>
        } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
        %24 = tile.cast %23 : !tile.tile<32x64xbf16>
        %25 = arith.subi %19, %arg0 : index
        %26 = arith.minsi %25, %c32 : index
        tile.store %24, %y[%arg0, %16] valid(%26, 64)
      }
    }
  }
}
