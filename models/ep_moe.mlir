module @ep_moe {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %expert: !kiln.tensor<?x?xi32> in, %w: !kiln.tensor<?x?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %x, 1
    %2 = kiln.dim %w, 0
    %3 = kiln.dim %w, 2
    %4 = kiln.dim %w, 1
    %5 = arith.cmpi eq, %4, %1 : index
    kiln.require %5, "an expert has a row of weights for each column of x"
    %6 = kiln.dim %expert, 0
    %7 = arith.cmpi eq, %6, %0 : index
    %8 = kiln.dim %expert, 1
    %9 = arith.cmpi eq, %8, %c1 : index
    %10 = arith.andi %7, %9 : i1
    kiln.require %10, "each token has an expert"
    %11 = kiln.dim %y, 0
    %12 = arith.cmpi eq, %11, %0 : index
    %13 = kiln.dim %y, 1
    %14 = arith.cmpi eq, %13, %3 : index
    %15 = arith.andi %12, %14 : i1
    kiln.require %15, "y has the rows of x and the columns of the weights"
    %16 = kiln.ranks
    %17 = arith.muli %16, %0 : index
    %outgoing = kiln.alloc(%17, %1) : !kiln.tensor<?x?xf32>
    %18 = arith.muli %16, %0 : index
    %incoming = kiln.alloc(%18, %1) : !kiln.tensor<?x?xf32>
    %19 = arith.muli %16, %0 : index
    %wanted = kiln.alloc(%19) : !kiln.tensor<?x1xi32>
    %20 = arith.muli %16, %0 : index
    %asked = kiln.alloc(%20) : !kiln.tensor<?x1xi32>
    %21 = arith.ceildivsi %0, %c16 : index
    %22 = kiln.incore "dispatch" grid(%16, %21) {
      %c16_0 = arith.constant 16 : index
      %c-1_i32 = arith.constant -1 : i32
      %c0_i32 = arith.constant 0 : i32
      %cst = arith.constant 0.000000e+00 : f32
      %cst_1 = arith.constant 1.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c32_2 = arith.constant 32 : index
      %block = tile.block_idx 0
      %block_3 = tile.block_idx 1
      %35 = arith.muli %block_3, %c16_0 : index
      %36 = arith.subi %0, %35 : index
      %37 = arith.minsi %36, %c16_0 : index
      %38 = tile.load %expert[%35, 0] : !tile.tile<16x1xi32>
      %39 = arith.muli %block, %2 : index
      %40 = arith.index_cast %39 : index to i32
      %41 = tile.sub %38, %40 : !tile.tile<16x1xi32>
      %42 = tile.full %c-1_i32 : !tile.tile<16x1xi32>
      %43 = tile.cmp ge %41, %c0_i32 : !tile.tile<16x1xi1>
      %44 = arith.index_cast %2 : index to i32
      %45 = tile.cmp lt %41, %44 : !tile.tile<16x1xi1>
      %46 = tile.select %45, %41, %42 : !tile.tile<16x1xi32>
      %47 = tile.select %43, %46, %42 : !tile.tile<16x1xi32>
      %48 = arith.muli %block, %0 : index
      %49 = arith.addi %48, %35 : index
      tile.store %47, %wanted[%49, 0] valid(%37, 1)
      %50 = tile.full %cst : !tile.tile<16x1xf32>
      %51 = tile.cmp ge %47, %c0_i32 : !tile.tile<16x1xi1>
      %52 = tile.add %50, %cst_1 : !tile.tile<16x1xf32>
      %53 = tile.select %51, %52, %50 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %1 step %c32_2 {
        %54 = tile.load %x[%35, %arg0] : !tile.tile<16x32xf32>
        %55 = tile.mul %54, %53 : !tile.tile<16x32xf32>
        %56 = arith.muli %block, %0 : index
        %57 = arith.addi %56, %35 : index
        tile.store %55, %outgoing[%57, %arg0] valid(%37, 32)
      }
    }
    %23 = kiln.all_to_all %outgoing to %incoming
    %24 = kiln.all_to_all %wanted to %asked
    %25 = arith.muli %16, %0 : index
    %results = kiln.alloc(%25, %3) : !kiln.tensor<?x?xf32>
    %26 = arith.muli %16, %0 : index
    %returned = kiln.alloc(%26, %3) : !kiln.tensor<?x?xf32>
    %27 = arith.muli %16, %0 : index
    %28 = arith.ceildivsi %27, %c16 : index
    %29 = arith.ceildivsi %3, %c32 : index
    %30 = kiln.incore "experts" grid(%28, %29) {
      %c16_0 = arith.constant 16 : index
      %c32_1 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c1_2 = arith.constant 1 : index
      %cst_3 = arith.constant 1.000000e+00 : f32
      %block = tile.block_idx 0
      %block_4 = tile.block_idx 1
      %35 = arith.muli %block, %c16_0 : index
      %36 = arith.muli %block_4, %c32_1 : index
      %37 = tile.load %asked[%35, 0] : !tile.tile<16x1xi32>
      %38 = tile.full %cst : !tile.tile<16x32xf32>
      %39 = scf.for %arg0 = %c0 to %2 step %c1_2 iter_args(%arg1 = %38) -> (!tile.tile<16x32xf32>) {
        %40 = tile.full %cst : !tile.tile<16x1xf32>
        %41 = arith.index_cast %arg0 : index to i32
        %42 = tile.cmp eq %37, %41 : !tile.tile<16x1xi1>
        %43 = tile.add %40, %cst_3 : !tile.tile<16x1xf32>
        %44 = tile.select %42, %43, %40 : !tile.tile<16x1xf32>
        %45 = scf.for %arg2 = %c0 to %1 step %c32_1 iter_args(%arg3 = %arg1) -> (!tile.tile<16x32xf32>) {
          %46 = tile.load %incoming[%35, %arg2] : !tile.tile<16x32xf32>
          %47 = tile.mul %46, %44 : !tile.tile<16x32xf32>
          %48 = tile.load %w[%arg0, %arg2, %36] : !tile.tile<32x32xf32>
          %49 = tile.matmul_acc %arg3, %47, %48 : !tile.tile<16x32xf32>
          scf.yield %49 : !tile.tile<16x32xf32>
        }
        scf.yield %45 : !tile.tile<16x32xf32>
      }
      tile.store %39, %results[%35, %36]
    }
    %31 = kiln.all_to_all %results to %returned
    %32 = arith.ceildivsi %0, %c16 : index
    %33 = arith.ceildivsi %3, %c32 : index
    %34 = kiln.incore "combine" grid(%32, %33) {
      %c16_0 = arith.constant 16 : index
      %c32_1 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c1_2 = arith.constant 1 : index
      %block = tile.block_idx 0
      %block_3 = tile.block_idx 1
      %35 = arith.muli %block, %c16_0 : index
      %36 = arith.muli %block_3, %c32_1 : index
      %37 = tile.full %cst : !tile.tile<16x32xf32>
      %38 = scf.for %arg0 = %c0 to %16 step %c1_2 iter_args(%arg1 = %37) -> (!tile.tile<16x32xf32>) {
        %39 = arith.muli %arg0, %0 : index
        %40 = arith.addi %39, %35 : index
        %41 = tile.load %returned[%40, %36] : !tile.tile<16x32xf32>
        %42 = tile.add %arg1, %41 : !tile.tile<16x32xf32>
        scf.yield %42 : !tile.tile<16x32xf32>
      }
      tile.store %38, %y[%35, %36]
    }
  }
}
