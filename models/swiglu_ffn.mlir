module @swiglu_ffn {
  kiln.func @main(%x: !kiln.tensor<?x?xbf16> in, %gate: !kiln.tensor<?x?xbf16> in, %up: !kiln.tensor<?x?xbf16> in, %down: !kiln.tensor<?x?xbf16> in, %y: !kiln.tensor<?x?xbf16> out) orchestration {
    %c32 = arith.constant 32 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %gate, 0
    %h = kiln.alloc(%0, %1) : !kiln.tensor<?x?xbf16>
    %2 = kiln.dim %h, 0
    %3 = arith.ceildivsi %2, %c32 : index
    %4 = kiln.dim %h, 1
    %5 = arith.ceildivsi %4, %c32 : index
    %6 = kiln.incore "gate_up" grid(%3, %5) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %12 = arith.muli %block, %c32_0 : index
      %13 = arith.muli %block_1, %c32_0 : index
      %14 = kiln.dim %x, 1
      %15 = tile.full %cst : !tile.tile<32x32xf32>
      %16 = tile.full %cst : !tile.tile<32x32xf32>
      %17:2 = scf.for %arg0 = %c0 to %14 step %c32_0 iter_args(%arg1 = %15, %arg2 = %16) -> (!tile.tile<32x32xf32>, !tile.tile<32x32xf32>) {
        %22 = tile.load %x[%12, %arg0] : !tile.tile<32x32xbf16>
        %23 = tile.load %gate[%13, %arg0] : !tile.tile<32x32xbf16>
        %24 = tile.matmul_acc %arg1, %22, %23 trans_b : !tile.tile<32x32xf32>
        %25 = tile.load %up[%13, %arg0] : !tile.tile<32x32xbf16>
        %26 = tile.matmul_acc %arg2, %22, %25 trans_b : !tile.tile<32x32xf32>
        scf.yield %24, %26 : !tile.tile<32x32xf32>, !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %18 = tile.sigmoid %17#0 : !tile.tile<32x32xf32>
      %19 = tile.mul %17#0, %18 : !tile.tile<32x32xf32>
      %20 = tile.mul %19, %17#1 : !tile.tile<32x32xf32>
      %21 = tile.cast %20 : !tile.tile<32x32xbf16>
      tile.store %21, %h[%12, %13]
    }
    %7 = kiln.dim %y, 0
    %8 = arith.ceildivsi %7, %c32 : index
    %9 = kiln.dim %y, 1
    %10 = arith.ceildivsi %9, %c32 : index
    %11 = kiln.incore "down" grid(%8, %10) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %12 = arith.muli %block, %c32_0 : index
      %13 = arith.muli %block_1, %c32_0 : index
      %14 = kiln.dim %h, 1
      %15 = tile.full %cst : !tile.tile<32x32xf32>
      %16 = scf.for %arg0 = %c0 to %14 step %c32_0 iter_args(%arg1 = %15) -> (!tile.tile<32x32xf32>) {
        %20 = tile.load %h[%12, %arg0] : !tile.tile<32x32xbf16>
        %21 = tile.load %down[%13, %arg0] : !tile.tile<32x32xbf16>
        %22 = tile.matmul_acc %arg1, %20, %21 trans_b : !tile.tile<32x32xf32>
        scf.yield %22 : !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %17 = tile.cast %16 : !tile.tile<32x32xbf16>
      %18 = arith.muli %block, %c32_0 : index
      %19 = arith.muli %block_1, %c32_0 : index
      tile.store %17, %y[%18, %19]
    }
  }
}
