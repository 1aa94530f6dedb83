module @running_sum {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "y has the shape of x"
    %7 = kiln.dim %x, 0
    %8 = arith.ceildivsi %7, %c16 : index
    %9 = kiln.incore "running_sum" grid(%8) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %10 = arith.muli %block, %c16_0 : index
      %11 = kiln.dim %x, 1
      %12 = tile.full %cst : !tile.tile<16x1xf32>
      %13 = scf.for %arg0 = %c0 to %11 step %c64 iter_args(%arg1 = %12) -> (!tile.tile<16x1xf32>) {
        %14 = tile.load %x[%10, %arg0] : !tile.tile<16x64xf32>
        %15 = tile.scan sum %14 axis(1) : !tile.tile<16x64xf32>
        %16 = tile.add %15, %arg1 : !tile.tile<16x64xf32>
        tile.store %16, %y[%10, %arg0]
        %17 = tile.reduce sum %14 axis(1) : !tile.tile<16x1xf32>
        %18 = tile.add %arg1, %17 : !tile.tile<16x1xf32>
        scf.yield %18 : !tile.tile<16x1xf32>
      }
    }
  }
}
