module @matmul_fp8 {
  kiln.func @main(%a: !kiln.tensor<?x?xf8E4M3FN> in, %b: !kiln.tensor<?x?xf8E4M3FN> in, %sa: !kiln.tensor<?xf32> in, %sb: !kiln.tensor<?xf32> in, %c: !kiln.tensor<?x?xbf16> out) orchestration {
    %c32 = arith.constant 32 : index
    %0 = kiln.dim %a, 1
    %1 = kiln.dim %b, 0
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "a has as many columns as b has rows"
    %3 = kiln.dim %c, 0
    %4 = kiln.dim %a, 0
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = kiln.dim %c, 1
    %7 = kiln.dim %b, 1
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = arith.andi %5, %8 : i1
    kiln.require %9, "c has the rows of a and the columns of b"
    %10 = kiln.dim %sa, 0
    %11 = kiln.dim %a, 0
    %12 = arith.cmpi eq, %10, %11 : index
    %13 = kiln.dim %sb, 0
    %14 = kiln.dim %b, 1
    %15 = arith.cmpi eq, %13, %14 : index
    %16 = arith.andi %12, %15 : i1
    kiln.require %16, "there is a scale for each row of a and column of b"
    %17 = kiln.dim %c, 0
    %18 = arith.ceildivsi %17, %c32 : index
    %19 = kiln.dim %c, 1
    %20 = arith.ceildivsi %19, %c32 : index
    %21 = kiln.incore "matmul" grid(%18, %20) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %22 = arith.muli %block, %c32_0 : index
      %23 = arith.muli %block_1, %c32_0 : index
      %24 = kiln.dim %a, 1
      %25 = tile.full %cst : !tile.tile<32x32xf32>
      %26 = scf.for %arg0 = %c0 to %24 step %c64 iter_args(%arg1 = %25) -> (!tile.tile<32x32xf32>) {
        %32 = tile.load %a[%22, %arg0] : !tile.tile<32x64xf8E4M3FN>
        %33 = tile.load %b[%arg0, %23] : !tile.tile<64x32xf8E4M3FN>
        %34 = tile.matmul_acc %arg1, %32, %33 : !tile.tile<32x32xf32>
        scf.yield %34 : !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %27 = tile.load %sa[%22] : !tile.tile<32x1xf32>
      %28 = tile.mul %26, %27 : !tile.tile<32x32xf32>
      %29 = tile.load %sb[%23] : !tile.tile<1x32xf32>
      %30 = tile.mul %28, %29 : !tile.tile<32x32xf32>
      %31 = tile.cast %30 : !tile.tile<32x32xbf16>
      tile.store %31, %c[%22, %23]
    }
  }
}
