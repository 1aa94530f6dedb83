module @block_scaled_gemm {
  kiln.func @main(%a: !kiln.tensor<?x?xf8E4M3FN> in, %b: !kiln.tensor<?x?xf8E4M3FN> in, %sa: !kiln.tensor<?x?xf32> in, %sb: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xbf16> out) orchestration {
    %c128 = arith.constant 128 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %a, 1
    %1 = kiln.dim %b, 1
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "a and b have as many columns"
    %3 = kiln.dim %c, 0
    %4 = kiln.dim %a, 0
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = kiln.dim %c, 1
    %7 = kiln.dim %b, 0
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = arith.andi %5, %8 : i1
    kiln.require %9, "c has the rows of a and of b"
    %10 = kiln.dim %a, 1
    %11 = arith.ceildivsi %10, %c128 : index
    %12 = kiln.dim %sa, 0
    %13 = kiln.dim %a, 0
    %14 = arith.cmpi eq, %12, %13 : index
    %15 = kiln.dim %sa, 1
    %16 = arith.cmpi eq, %15, %11 : index
    %17 = arith.andi %14, %16 : i1
    kiln.require %17, "there is a scale for each row of a and 128 columns"
    %18 = kiln.dim %sb, 0
    %19 = kiln.dim %b, 0
    %20 = arith.ceildivsi %19, %c128 : index
    %21 = arith.cmpi eq, %18, %20 : index
    %22 = kiln.dim %sb, 1
    %23 = arith.cmpi eq, %22, %11 : index
    %24 = arith.andi %21, %23 : i1
    kiln.require %24, "there is a scale for each 128 x 128 block of b"
    %25 = kiln.dim %c, 0
    %26 = arith.ceildivsi %25, %c32 : index
    %27 = kiln.dim %c, 1
    %28 = arith.ceildivsi %27, %c64 : index
    %29 = kiln.incore "matmul" grid(%26, %28) split(up_down) {
      %c32_0 = arith.constant 32 : index
      %c64_1 = arith.constant 64 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c128_2 = arith.constant 128 : index
      %block = tile.block_idx 0
      %block_3 = tile.block_idx 1
      %30 = arith.muli %block, %c32_0 : index
      %31 = arith.muli %block_3, %c64_1 : index
      %32 = tile.full %cst : !tile.tile<32x64xf32>
      %33 = scf.for %arg0 = %c0 to %11 step %c1 iter_args(%arg1 = %32) -> (!tile.tile<32x64xf32>) {
        %35 = arith.muli %arg0, %c128_2 : index
        %36 = tile.load %a[%30, %35] : !tile.tile<32x128xf8E4M3FN>
        %37 = arith.muli %arg0, %c128_2 : index
        %38 = tile.load %b[%31, %37] : !tile.tile<64x128xf8E4M3FN>
        %39 = tile.load %sa[%30, %arg0] : !tile.tile<32x1xf32>
        %40 = arith.divsi %31, %c128_2 : index
        %41 = kiln.read %sb[%40, %arg0] : f32
        %42 = tile.mul %39, %41 : !tile.tile<32x1xf32>
        %43 = tile.matmul %36, %38 trans_b : !tile.tile<32x64xf32>
        %44 = tile.mul %43, %42 : !tile.tile<32x64xf32>
        %45 = tile.add %arg1, %44 : !tile.tile<32x64xf32>
        scf.yield %45 : !tile.tile<32x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %34 = tile.cast %33 : !tile.tile<32x64xbf16>
      tile.store %34, %c[%30, %31]
    }
  }
}
