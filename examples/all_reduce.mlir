module @all_reduce {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %y, 0
    %1 = arith.cmpi eq, %0, %c1 : index
    %2 = kiln.dim %y, 1
    %3 = kiln.dim %x, 1
    %4 = arith.cmpi eq, %2, %3 : index
    %5 = arith.andi %1, %4 : i1
    kiln.require %5, "y is one row of the width of x"
    %6 = kiln.dim %x, 1
    %7 = arith.ceildivsi %6, %c64 : index
    %8 = kiln.incore "add_rows" grid(%7) {
      %c64_0 = arith.constant 64 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %block = tile.block_idx 0
      %10 = arith.muli %block, %c64_0 : index
      %11 = kiln.dim %x, 0
      %12 = tile.full %cst : !tile.tile<1x64xf32>
      %13 = scf.for %arg0 = %c0 to %11 step %c16 iter_args(%arg1 = %12) -> (!tile.tile<1x64xf32>) {
        %14 = tile.load %x[%arg0, %10] : !tile.tile<16x64xf32>
        %15 = tile.reduce sum %14 axis(0) : !tile.tile<1x64xf32>
        %16 = tile.add %arg1, %15 : !tile.tile<1x64xf32>
        scf.yield %16 : !tile.tile<1x64xf32>
      }
      tile.store %13, %y[0, %10]
    }
    %9 = kiln.all_reduce %y, sum fixed_order
  }
}
