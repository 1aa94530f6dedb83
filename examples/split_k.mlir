module @split_k {
  kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> out) orchestration {
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
    %10 = kiln.dim %c, 0
    %11 = arith.ceildivsi %10, %c32 : index
    %12 = kiln.dim %c, 1
    %13 = arith.ceildivsi %12, %c32 : index
    %14 = kiln.dim %c, 0
    %15 = kiln.dim %c, 1
    %partial = kiln.alloc(%14, %15) : !kiln.tensor<4x?x?xf32>
    %16 = kiln.incore "keep_part" grid(%11, %13, 4) {
      %c32_0 = arith.constant 32 : index
      %c4 = arith.constant 4 : index
      %cst = arith.constant 0.000000e+00 : f32
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %block_2 = tile.block_idx 2
      %18 = arith.muli %block, %c32_0 : index
      %19 = arith.muli %block_1, %c32_0 : index
      %20 = kiln.dim %a, 1
      %21 = arith.ceildivsi %20, %c32_0 : index
      %22 = arith.ceildivsi %21, %c4 : index
      %23 = arith.muli %block_2, %22 : index
      %24 = arith.muli %23, %c32_0 : index
      %25 = arith.muli %22, %c32_0 : index
      %26 = arith.addi %24, %25 : index
      %27 = kiln.dim %a, 1
      %28 = arith.minsi %26, %27 : index
      %29 = tile.full %cst : !tile.tile<32x32xf32>
      %30 = scf.for %arg0 = %24 to %28 step %c32_0 iter_args(%arg1 = %29) -> (!tile.tile<32x32xf32>) {
        %31 = tile.load %a[%18, %arg0] : !tile.tile<32x32xf32>
        %32 = tile.load %b[%arg0, %19] : !tile.tile<32x32xf32>
        %33 = tile.matmul_acc %arg1, %31, %32 : !tile.tile<32x32xf32>
        scf.yield %33 : !tile.tile<32x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      tile.store %30, %partial[%block_2, %18, %19]
    }
    %17 = kiln.incore "add_parts" grid(%11, %13) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c1 = arith.constant 1 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %18 = arith.muli %block, %c32_0 : index
      %19 = arith.muli %block_1, %c32_0 : index
      %20 = tile.full %cst : !tile.tile<32x32xf32>
      %21 = scf.for %arg0 = %c0 to %c4 step %c1 iter_args(%arg1 = %20) -> (!tile.tile<32x32xf32>) {
        %22 = tile.load %partial[%arg0, %18, %19] : !tile.tile<32x32xf32>
        %23 = tile.add %arg1, %22 : !tile.tile<32x32xf32>
        scf.yield %23 : !tile.tile<32x32xf32>
      }
      tile.store %21, %c[%18, %19]
    }
  }
}
