module @matmul {
  kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> out) orchestration {
    %c64 = arith.constant 64 : index
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
    %10 = kiln.dim %c, 0
    %11 = arith.ceildivsi %10, %c64 : index
    %12 = kiln.dim %c, 1
    %13 = arith.ceildivsi %12, %c64 : index
    %14 = kiln.incore "matmul" grid(%11, %13) {
      %c64_0 = arith.constant 64 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %15 = arith.muli %block, %c64_0 : index
      %16 = arith.muli %block_1, %c64_0 : index
      %17 = tile.full %cst : !tile.tile<64x64xf32>
      %18 = kiln.dim %a, 1
      %19 = scf.for %arg0 = %c0 to %18 step %c64_0 iter_args(%arg1 = %17) -> (!tile.tile<64x64xf32>) {
        %20 = tile.load %a[%15, %arg0] : !tile.tile<64x64xf32>
        %21 = tile.load %b[%arg0, %16] : !tile.tile<64x64xf32>
        %22 = tile.matmul_acc %arg1, %20, %21 : !tile.tile<64x64xf32>
        scf.yield %22 : !tile.tile<64x64xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      tile.store %19, %c[%15, %16]
    }
  }
}
