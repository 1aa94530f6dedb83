// A product of few rows with weights: what examples/matmul.cpp records.
module @matmul {
  kiln.func @main(%a: !kiln.tensor<?x?xbf16> in, %b: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xbf16> out) orchestration {
    %c16 = arith.constant 16 : index
    %c39 = arith.constant 39 : index
    %0 = kiln.dim %a, 1
    %1 = kiln.dim %b, 1
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "a has as many columns as b has rows"
    %3 = kiln.dim %c, 0
    %4 = kiln.dim %a, 0
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = kiln.dim %c, 1
    %7 = kiln.dim %b, 0
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = arith.andi %5, %8 : i1
    kiln.require %9, "c has the rows of a and the columns of b"
    %10 = kiln.dim %c, 0
    %11 = arith.ceildivsi %10, %c16 : index
    %12 = kiln.dim %c, 1
    %13 = arith.ceildivsi %12, %c39 : index
    %14 = kiln.incore "matmul" grid(%11, %13) {
      %c16_0 = arith.constant 16 : index
      %c39_1 = arith.constant 39 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %15 = arith.muli %block, %c16_0 : index
      %16 = arith.muli %block_2, %c39_1 : index
      %17 = tile.full %cst : !tile.tile<16x39xf32>
      %18 = kiln.dim %a, 1
      %19 = scf.for %arg0 = %c0 to %18 step %c128 iter_args(%arg1 = %17) -> (!tile.tile<16x39xf32>) {
        %21 = tile.load %a[%15, %arg0] : !tile.tile<16x128xbf16>
        %22 = tile.load %b[%16, %arg0] : !tile.tile<39x128xbf16>
        %23 = tile.matmul_acc %arg1, %21, %22 trans_b : !tile.tile<16x39xf32>
        scf.yield %23 : !tile.tile<16x39xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %20 = tile.cast %19 : !tile.tile<16x39xbf16>
      tile.store %20, %c[%15, %16]
    }
  }
}
