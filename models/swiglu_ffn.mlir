module @swiglu_ffn {
  kiln.func @main(%x: !kiln.tensor<?x?xbf16> in, %gate: !kiln.tensor<?x?xbf16> in, %up: !kiln.tensor<?x?xbf16> in, %down: !kiln.tensor<?x?xbf16> in, %y: !kiln.tensor<?x?xbf16> out) orchestration {
    %c32 = arith.constant 32 : index
    %0 = kiln.dim %gate, 0
    %1 = kiln.dim %up, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %gate, 1
    %4 = kiln.dim %up, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "gate and up have one shape"
    %7 = kiln.dim %gate, 1
    %8 = kiln.dim %x, 1
    %9 = arith.cmpi eq, %7, %8 : index
    kiln.require %9, "gate and up have a column for each column of x"
    %10 = kiln.dim %down, 0
    %11 = kiln.dim %x, 1
    %12 = arith.cmpi eq, %10, %11 : index
    %13 = kiln.dim %down, 1
    %14 = kiln.dim %gate, 0
    %15 = arith.cmpi eq, %13, %14 : index
    %16 = arith.andi %12, %15 : i1
    kiln.require %16, "down leads back to the width of x"
    %17 = kiln.dim %x, 0
    %18 = kiln.dim %y, 0
    %19 = arith.cmpi eq, %17, %18 : index
    %20 = kiln.dim %x, 1
    %21 = kiln.dim %y, 1
    %22 = arith.cmpi eq, %20, %21 : index
    %23 = arith.andi %19, %22 : i1
    kiln.require %23, "y has the shape of x"
    %24 = kiln.dim %x, 0
    %25 = kiln.dim %gate, 0
    %h = kiln.alloc(%24, %25) : !kiln.tensor<?x?xbf16>
    %26 = kiln.dim %h, 0
    %27 = arith.ceildivsi %26, %c32 : index
    %28 = kiln.dim %h, 1
    %29 = arith.ceildivsi %28, %c32 : index
    %30 = kiln.incore "gate_up" grid(%27, %29) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %36 = arith.muli %block, %c32_0 : index
      %37 = arith.muli %block_1, %c32_0 : index
      %38 = kiln.dim %x, 1
      %39 = tile.full %cst : !tile.tile<32x32xf32>
      %40 = tile.full %cst : !tile.tile<32x32xf32>
      %41:2 = scf.for %arg0 = %c0 to %38 step %c32_0 iter_args(%arg1 = %39, %arg2 = %40) -> (!tile.tile<32x32xf32>, !tile.tile<32x32xf32>) {
        %46 = tile.load %x[%36, %arg0] : !tile.tile<32x32xbf16>
        %47 = tile.load %gate[%37, %arg0] : !tile.tile<32x32xbf16>
        %48 = tile.matmul_acc %arg1, %46, %47 trans_b : !tile.tile<32x32xf32>
        %49 = tile.load %up[%37, %arg0] : !tile.tile<32x32xbf16>
        %50 = tile.matmul_acc %arg2, %46, %49 trans_b : !tile.tile<32x32xf32>
        scf.yield %48, %50 : !tile.tile<32x32xf32>, !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %42 = tile.sigmoid %41#0 : !tile.tile<32x32xf32>
      %43 = tile.mul %41#0, %42 : !tile.tile<32x32xf32>
      %44 = tile.mul %43, %41#1 : !tile.tile<32x32xf32>
      %45 = tile.cast %44 : !tile.tile<32x32xbf16>
      tile.store %45, %h[%36, %37]
    }
    %31 = kiln.dim %y, 0
    %32 = arith.ceildivsi %31, %c32 : index
    %33 = kiln.dim %y, 1
    %34 = arith.ceildivsi %33, %c32 : index
    %35 = kiln.incore "down" grid(%32, %34) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %36 = arith.muli %block, %c32_0 : index
      %37 = arith.muli %block_1, %c32_0 : index
      %38 = kiln.dim %h, 1
      %39 = tile.full %cst : !tile.tile<32x32xf32>
      %40 = scf.for %arg0 = %c0 to %38 step %c32_0 iter_args(%arg1 = %39) -> (!tile.tile<32x32xf32>) {
        %44 = tile.load %h[%36, %arg0] : !tile.tile<32x32xbf16>
        %45 = tile.load %down[%37, %arg0] : !tile.tile<32x32xbf16>
        %46 = tile.matmul_acc %arg1, %44, %45 trans_b : !tile.tile<32x32xf32>
        scf.yield %46 : !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %41 = tile.cast %40 : !tile.tile<32x32xbf16>
      %42 = arith.muli %block, %c32_0 : index
      %43 = arith.muli %block_1, %c32_0 : index
      tile.store %41, %y[%42, %43]
    }
  }
}
