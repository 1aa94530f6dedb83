module @tp_ffn {
  kiln.func @main(%x: !kiln.tensor<?x?xbf16> in, %gate: !kiln.tensor<?x?xbf16> in, %up: !kiln.tensor<?x?xbf16> in, %down: !kiln.tensor<?x?xbf16> in, %y: !kiln.tensor<?x?xbf16> out) orchestration {
    %c32 = arith.constant 32 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %x, 1
    %2 = kiln.dim %gate, 0
    %3 = kiln.dim %gate, 0
    %4 = kiln.dim %up, 0
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = kiln.dim %gate, 1
    %7 = kiln.dim %up, 1
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = arith.andi %5, %8 : i1
    kiln.require %9, "gate and up have one shape"
    %10 = kiln.dim %gate, 1
    %11 = arith.cmpi eq, %10, %1 : index
    kiln.require %11, "gate and up have a column for each column of x"
    %12 = kiln.dim %down, 0
    %13 = arith.cmpi eq, %12, %1 : index
    %14 = kiln.dim %down, 1
    %15 = arith.cmpi eq, %14, %2 : index
    %16 = arith.andi %13, %15 : i1
    kiln.require %16, "down leads back to the width of x"
    %17 = kiln.dim %x, 0
    %18 = kiln.dim %y, 0
    %19 = arith.cmpi eq, %17, %18 : index
    %20 = kiln.dim %x, 1
    %21 = kiln.dim %y, 1
    %22 = arith.cmpi eq, %20, %21 : index
    %23 = arith.andi %19, %22 : i1
    kiln.require %23, "y has the shape of x"
    %h = kiln.alloc(%0, %2) : !kiln.tensor<?x?xbf16>
    %total = kiln.alloc(%0, %1) : !kiln.tensor<?x?xf32>
    %24 = arith.ceildivsi %0, %c32 : index
    %25 = arith.ceildivsi %2, %c32 : index
    %26 = kiln.incore "gate_up" grid(%24, %25) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %34 = arith.muli %block, %c32_0 : index
      %35 = arith.muli %block_1, %c32_0 : index
      %36 = kiln.dim %x, 1
      %37 = tile.full %cst : !tile.tile<32x32xf32>
      %38 = scf.for %arg0 = %c0 to %36 step %c32_0 iter_args(%arg1 = %37) -> (!tile.tile<32x32xf32>) {
        %46 = tile.load %x[%34, %arg0] : !tile.tile<32x32xbf16>
        %47 = tile.load %gate[%35, %arg0] : !tile.tile<32x32xbf16>
        %48 = tile.matmul_acc %arg1, %46, %47 trans_b : !tile.tile<32x32xf32>
        scf.yield %48 : !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %39 = tile.sigmoid %38 : !tile.tile<32x32xf32>
      %40 = tile.mul %38, %39 : !tile.tile<32x32xf32>
      %41 = kiln.dim %x, 1
      %42 = tile.full %cst : !tile.tile<32x32xf32>
      %43 = scf.for %arg0 = %c0 to %41 step %c32_0 iter_args(%arg1 = %42) -> (!tile.tile<32x32xf32>) {
        %46 = tile.load %x[%34, %arg0] : !tile.tile<32x32xbf16>
        %47 = tile.load %up[%35, %arg0] : !tile.tile<32x32xbf16>
        %48 = tile.matmul_acc %arg1, %46, %47 trans_b : !tile.tile<32x32xf32>
        scf.yield %48 : !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %44 = tile.mul %40, %43 : !tile.tile<32x32xf32>
      %45 = tile.cast %44 : !tile.tile<32x32xbf16>
      tile.store %45, %h[%34, %35]
    }
    %27 = arith.ceildivsi %0, %c32 : index
    %28 = arith.ceildivsi %1, %c32 : index
    %29 = kiln.incore "down" grid(%27, %28) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %34 = arith.muli %block, %c32_0 : index
      %35 = arith.muli %block_1, %c32_0 : index
      %36 = kiln.dim %h, 1
      %37 = tile.full %cst : !tile.tile<32x32xf32>
      %38 = scf.for %arg0 = %c0 to %36 step %c32_0 iter_args(%arg1 = %37) -> (!tile.tile<32x32xf32>) {
        %41 = tile.load %h[%34, %arg0] : !tile.tile<32x32xbf16>
        %42 = tile.load %down[%35, %arg0] : !tile.tile<32x32xbf16>
        %43 = tile.matmul_acc %arg1, %41, %42 trans_b : !tile.tile<32x32xf32>
        scf.yield %43 : !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %39 = arith.muli %block, %c32_0 : index
      %40 = arith.muli %block_1, %c32_0 : index
      tile.store %38, %total[%39, %40]
    }
    %30 = kiln.all_reduce %total, sum fixed_order
    %31 = arith.ceildivsi %0, %c32 : index
    %32 = arith.ceildivsi %1, %c32 : index
    %33 = kiln.incore "round" grid(%31, %32) {
      %c32_0 = arith.constant 32 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %34 = arith.muli %block, %c32_0 : index
      %35 = arith.muli %block_1, %c32_0 : index
      %36 = tile.load %total[%34, %35] : !tile.tile<32x32xf32>
      %37 = tile.cast %36 : !tile.tile<32x32xbf16>
      %38 = arith.muli %block, %c32_0 : index
      %39 = arith.muli %block_1, %c32_0 : index
      tile.store %37, %y[%38, %39]
    }
  }
}
