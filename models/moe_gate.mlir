module @moe_gate {
  kiln.func @main(%x: !kiln.tensor<?x64xf32> in, %gate: !kiln.tensor<16x64xf32> in, %experts: !kiln.tensor<?x2xi32> inout, %weights: !kiln.tensor<?x2xf32> out, %source: !kiln.tensor<?x1xi32> inout, %gathered: !kiln.tensor<?x64xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = arith.ceildivsi %0, %c16 : index
    %places = kiln.alloc(%0) : !kiln.tensor<2x?xi32>
    %2 = kiln.incore "gate" grid(%1) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %8 = arith.muli %block, %c16_0 : index
      %9 = tile.load %x[%8, 0] : !tile.tile<16x64xf32>
      %10 = tile.load %gate[0, 0] : !tile.tile<16x64xf32>
      %11 = tile.matmul %9, %10 trans_b : !tile.tile<16x16xf32>
      %12 = tile.reduce max %11 axis(1) : !tile.tile<16x1xf32>
      %13 = tile.sub %11, %12 : !tile.tile<16x16xf32>
      %14 = tile.exp %13 : !tile.tile<16x16xf32>
      %15 = tile.reduce sum %14 axis(1) : !tile.tile<16x1xf32>
      %16 = tile.div %14, %15 : !tile.tile<16x16xf32>
      %values, %indices = tile.topk_rows %16 : !tile.tile<16x2xf32>, !tile.tile<16x2xi32>
      tile.store %indices, %experts[%8, 0]
      %17 = tile.reduce sum %values axis(1) : !tile.tile<16x1xf32>
      %18 = tile.div %values, %17 : !tile.tile<16x2xf32>
      tile.store %18, %weights[%8, 0]
    }
    %3 = kiln.incore "route" grid(1) {
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c16_0 = arith.constant 16 : index
      %cst_1 = arith.constant 1.000000e+00 : f32
      %c-1 = arith.constant -1 : index
      %block = tile.block_idx 0
      %8 = tile.full %cst : !tile.tile<1x16xf32>
      %9 = scf.for %arg0 = %c0 to %0 step %c16_0 iter_args(%arg1 = %8) -> (!tile.tile<1x16xf32>) {
        %15 = tile.load %experts[%arg0, 0] : !tile.tile<16x1xi32>
        %16 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %17 = kiln.dim %experts, 0
        %18 = arith.subi %17, %arg0 : index
        %19 = tile.mask %16 valid(%18, 1) : !tile.tile<16x1xf32>
        %20 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %21 = tile.cmp eq %20, %15 : !tile.tile<16x16xi1>
        %22 = tile.select %21, %19, %cst : !tile.tile<16x16xf32>
        %23 = tile.load %experts[%arg0, 1] : !tile.tile<16x1xi32>
        %24 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %25 = kiln.dim %experts, 0
        %26 = arith.subi %25, %arg0 : index
        %27 = tile.mask %24 valid(%26, 1) : !tile.tile<16x1xf32>
        %28 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %29 = tile.cmp eq %28, %23 : !tile.tile<16x16xi1>
        %30 = tile.select %29, %27, %cst : !tile.tile<16x16xf32>
        %31 = tile.add %22, %30 : !tile.tile<16x16xf32>
        %32 = tile.reduce sum %31 axis(0) : !tile.tile<1x16xf32>
        %33 = tile.add %arg1, %32 : !tile.tile<1x16xf32>
        scf.yield %33 : !tile.tile<1x16xf32>
      }
      %10 = tile.full %cst_1 : !tile.tile<16x16xf32>
      %11 = tile.mask_diag %10 offset(%c-1) : !tile.tile<16x16xf32>
      %12 = tile.transpose %11 : !tile.tile<16x16xf32>
      %13 = tile.matmul %9, %12 : !tile.tile<1x16xf32>
      %14 = scf.for %arg0 = %c0 to %0 step %c16_0 iter_args(%arg1 = %13) -> (!tile.tile<1x16xf32>) {
        %15 = tile.load %experts[%arg0, 0] : !tile.tile<16x1xi32>
        %16 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %17 = kiln.dim %experts, 0
        %18 = arith.subi %17, %arg0 : index
        %19 = tile.mask %16 valid(%18, 1) : !tile.tile<16x1xf32>
        %20 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %21 = tile.cmp eq %20, %15 : !tile.tile<16x16xi1>
        %22 = tile.select %21, %19, %cst : !tile.tile<16x16xf32>
        %23 = tile.load %experts[%arg0, 1] : !tile.tile<16x1xi32>
        %24 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %25 = kiln.dim %experts, 0
        %26 = arith.subi %25, %arg0 : index
        %27 = tile.mask %24 valid(%26, 1) : !tile.tile<16x1xf32>
        %28 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %29 = tile.cmp eq %28, %23 : !tile.tile<16x16xi1>
        %30 = tile.select %29, %27, %cst : !tile.tile<16x16xf32>
        %31 = tile.add %22, %30 : !tile.tile<16x16xf32>
        %32 = tile.full %cst_1 : !tile.tile<16x16xf32>
        %33 = tile.mask_diag %32 offset(%c-1) : !tile.tile<16x16xf32>
        %34 = tile.matmul %33, %31 : !tile.tile<16x16xf32>
        %35 = tile.add %34, %arg1 : !tile.tile<16x16xf32>
        %36 = tile.load %experts[%arg0, 0] : !tile.tile<16x1xi32>
        %37 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %38 = kiln.dim %experts, 0
        %39 = arith.subi %38, %arg0 : index
        %40 = tile.mask %37 valid(%39, 1) : !tile.tile<16x1xf32>
        %41 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %42 = tile.cmp eq %41, %36 : !tile.tile<16x16xi1>
        %43 = tile.select %42, %40, %cst : !tile.tile<16x16xf32>
        %44 = tile.mul %43, %35 : !tile.tile<16x16xf32>
        %45 = tile.reduce sum %44 axis(1) : !tile.tile<16x1xf32>
        %46 = tile.cast %45 : !tile.tile<16x1xi32>
        %47 = tile.transpose %46 : !tile.tile<1x16xi32>
        tile.store %47, %places[0, %arg0]
        %48 = tile.load %experts[%arg0, 1] : !tile.tile<16x1xi32>
        %49 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %50 = kiln.dim %experts, 0
        %51 = arith.subi %50, %arg0 : index
        %52 = tile.mask %49 valid(%51, 1) : !tile.tile<16x1xf32>
        %53 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %54 = tile.cmp eq %53, %48 : !tile.tile<16x16xi1>
        %55 = tile.select %54, %52, %cst : !tile.tile<16x16xf32>
        %56 = tile.mul %55, %35 : !tile.tile<16x16xf32>
        %57 = tile.reduce sum %56 axis(1) : !tile.tile<16x1xf32>
        %58 = tile.cast %57 : !tile.tile<16x1xi32>
        %59 = tile.transpose %58 : !tile.tile<1x16xi32>
        tile.store %59, %places[1, %arg0]
        %60 = tile.reduce sum %31 axis(0) : !tile.tile<1x16xf32>
        %61 = tile.add %arg1, %60 : !tile.tile<1x16xf32>
        scf.yield %61 : !tile.tile<1x16xf32>
      }
    }
    %4 = kiln.incore "scatter" grid(%1, 2) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %8 = arith.muli %block, %c16_0 : index
      %9 = tile.iota axis(0) : !tile.tile<16x1xi32>
      %10 = arith.index_cast %8 : index to i32
      %11 = tile.add %9, %10 : !tile.tile<16x1xi32>
      tile.scatter_rows %11, %source[0, 0] rows(%places[%block_1, %8])
    }
    %5 = kiln.dim %source, 0
    %6 = arith.ceildivsi %5, %c16 : index
    %7 = kiln.incore "gather" grid(%6, 2) {
      %c16_0 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %8 = arith.muli %block, %c16_0 : index
      %9 = arith.muli %block_1, %c32 : index
      %10 = kiln.dim %source, 0
      %11 = kiln.reshape %source[%10] : !kiln.tensor<?xi32>
      %12 = tile.gather_rows %x[0, %9] rows(%11[%8]) : !tile.tile<16x32xf32>
      tile.store %12, %gathered[%8, %9]
    }
  }
}
