module @split_k {
  kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> out) orchestration {
    %c32 = arith.constant 32 : index
    %0 = kiln.dim %c, 0
    %1 = arith.ceildivsi %0, %c32 : index
    %2 = kiln.dim %c, 1
    %3 = arith.ceildivsi %2, %c32 : index
    %4 = kiln.dim %c, 0
    %5 = kiln.dim %c, 1
    %partial = kiln.alloc(%4, %5) : !kiln.tensor<4x?x?xf32>
    %6 = kiln.incore "keep_part" grid(%1, %3, 4) {
      %c32_0 = arith.constant 32 : index
      %c4 = arith.constant 4 : index
      %cst = arith.constant 0.000000e+00 : f32
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %block_2 = tile.block_idx 2
      %8 = arith.muli %block, %c32_0 : index
      %9 = arith.muli %block_1, %c32_0 : index
      %10 = kiln.dim %a, 1
      %11 = arith.ceildivsi %10, %c32_0 : index
      %12 = arith.ceildivsi %11, %c4 : index
      %13 = arith.muli %block_2, %12 : index
      %14 = arith.muli %13, %c32_0 : index
      %15 = arith.muli %12, %c32_0 : index
      %16 = arith.addi %14, %15 : index
      %17 = kiln.dim %a, 1
      %18 = arith.minsi %16, %17 : index
      %19 = tile.full %cst : !tile.tile<32x32xf32>
      %20 = scf.for %arg0 = %14 to %18 step %c32_0 iter_args(%arg1 = %19) -> (!tile.tile<32x32xf32>) {
        %21 = tile.load %a[%8, %arg0] : !tile.tile<32x32xf32>
        %22 = tile.load %b[%arg0, %9] : !tile.tile<32x32xf32>
        %23 = tile.matmul_acc %arg1, %21, %22 : !tile.tile<32x32xf32>
        scf.yield %23 : !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      tile.store %20, %partial[%block_2, %8, %9]
    }
    %7 = kiln.incore "add_parts" grid(%1, %3) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c1 = arith.constant 1 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %8 = arith.muli %block, %c32_0 : index
      %9 = arith.muli %block_1, %c32_0 : index
      %10 = tile.full %cst : !tile.tile<32x32xf32>
      %11 = scf.for %arg0 = %c0 to %c4 step %c1 iter_args(%arg1 = %10) -> (!tile.tile<32x32xf32>) {
        %12 = tile.load %partial[%arg0, %8, %9] : !tile.tile<32x32xf32>
        %13 = tile.add %arg1, %12 : !tile.tile<32x32xf32>
        scf.yield %13 : !tile.tile<32x32xf32>
      }
      tile.store %11, %c[%8, %9]
    }
  }
}
