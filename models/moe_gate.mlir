module @moe_gate {
  kiln.func @main(%x: !kiln.tensor<?x64xf32> in, %gate: !kiln.tensor<16x64xf32> in, %experts: !kiln.tensor<?x2xi32> out, %weights: !kiln.tensor<?x2xf32> out, %source: !kiln.tensor<?x1xi32> out, %gathered: !kiln.tensor<?x64xf32> out) orchestration {
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %experts, 0
    %1 = kiln.dim %x, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %weights, 0
    %4 = kiln.dim %x, 0
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "each token has experts and weights"
    %7 = kiln.dim %source, 0
    %8 = kiln.dim %x, 0
    %9 = arith.muli %8, %c2 : index
    %10 = arith.cmpi eq, %7, %9 : index
    %11 = kiln.dim %gathered, 0
    %12 = kiln.dim %source, 0
    %13 = arith.cmpi eq, %11, %12 : index
    %14 = arith.andi %10, %13 : i1
    kiln.require %14, "each token is gathered K times"
    %15 = kiln.dim %x, 0
    %16 = arith.ceildivsi %15, %c16 : index
    %places = kiln.alloc(%15) : !kiln.tensor<2x?xi32>
    %17 = kiln.incore "gate" grid(%16) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %23 = arith.muli %block, %c16_0 : index
      %24 = tile.load %x[%23, 0] : !tile.tile<16x64xf32>
      %25 = tile.load %gate[0, 0] : !tile.tile<16x64xf32>
      %26 = tile.matmul %24, %25 trans_b : !tile.tile<16x16xf32>
      %27 = tile.reduce max %26 axis(1) : !tile.tile<16x1xf32>
      %28 = tile.sub %26, %27 : !tile.tile<16x16xf32>
      %29 = tile.exp %28 : !tile.tile<16x16xf32>
      %30 = tile.reduce sum %29 axis(1) : !tile.tile<16x1xf32>
      %31 = tile.div %29, %30 : !tile.tile<16x16xf32>
      %values, %indices = tile.topk_rows %31 : !tile.tile<16x2xf32>, !tile.tile<16x2xi32>
      tile.store %indices, %experts[%23, 0]
      %32 = tile.reduce sum %values axis(1) : !tile.tile<16x1xf32>
      %33 = tile.div %values, %32 : !tile.tile<16x2xf32>
      tile.store %33, %weights[%23, 0]
    }
    %18 = kiln.incore "route" grid(1) {
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c16_0 = arith.constant 16 : index
      %cst_1 = arith.constant 1.000000e+00 : f32
      %c-1 = arith.constant -1 : index
      %block = tile.block_idx 0
      %23 = tile.full %cst : !tile.tile<1x16xf32>
      %24 = scf.for %arg0 = %c0 to %15 step %c16_0 iter_args(%arg1 = %23) -> (!tile.tile<1x16xf32>) {
        %30 = tile.load %experts[%arg0, 0] : !tile.tile<16x1xi32>
        %31 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %32 = kiln.dim %experts, 0
        %33 = arith.subi %32, %arg0 : index
        %34 = tile.mask %31 valid(%33, 1) : !tile.tile<16x1xf32>
        %35 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %36 = tile.cmp eq %35, %30 : !tile.tile<16x16xi1>
        %37 = tile.select %36, %34, %cst : !tile.tile<16x16xf32>
        %38 = tile.load %experts[%arg0, 1] : !tile.tile<16x1xi32>
        %39 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %40 = kiln.dim %experts, 0
        %41 = arith.subi %40, %arg0 : index
        %42 = tile.mask %39 valid(%41, 1) : !tile.tile<16x1xf32>
        %43 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %44 = tile.cmp eq %43, %38 : !tile.tile<16x16xi1>
        %45 = tile.select %44, %42, %cst : !tile.tile<16x16xf32>
        %46 = tile.add %37, %45 : !tile.tile<16x16xf32>
        %47 = tile.reduce sum %46 axis(0) : !tile.tile<1x16xf32>
        %48 = tile.add %arg1, %47 : !tile.tile<1x16xf32>
        scf.yield %48 : !tile.tile<1x16xf32>
      }
      %25 = tile.full %cst_1 : !tile.tile<16x16xf32>
      %26 = tile.mask_diag %25 offset(%c-1) : !tile.tile<16x16xf32>
      %27 = tile.transpose %26 : !tile.tile<16x16xf32>
      %28 = tile.matmul %24, %27 : !tile.tile<1x16xf32>
      %29 = scf.for %arg0 = %c0 to %15 step %c16_0 iter_args(%arg1 = %28) -> (!tile.tile<1x16xf32>) {
        %30 = tile.load %experts[%arg0, 0] : !tile.tile<16x1xi32>
        %31 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %32 = kiln.dim %experts, 0
        %33 = arith.subi %32, %arg0 : index
        %34 = tile.mask %31 valid(%33, 1) : !tile.tile<16x1xf32>
        %35 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %36 = tile.cmp eq %35, %30 : !tile.tile<16x16xi1>
        %37 = tile.select %36, %34, %cst : !tile.tile<16x16xf32>
        %38 = tile.load %experts[%arg0, 1] : !tile.tile<16x1xi32>
        %39 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %40 = kiln.dim %experts, 0
        %41 = arith.subi %40, %arg0 : index
        %42 = tile.mask %39 valid(%41, 1) : !tile.tile<16x1xf32>
        %43 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %44 = tile.cmp eq %43, %38 : !tile.tile<16x16xi1>
        %45 = tile.select %44, %42, %cst : !tile.tile<16x16xf32>
        %46 = tile.add %37, %45 : !tile.tile<16x16xf32>
        %47 = tile.full %cst_1 : !tile.tile<16x16xf32>
        %48 = tile.mask_diag %47 offset(%c-1) : !tile.tile<16x16xf32>
        %49 = tile.matmul %48, %46 : !tile.tile<16x16xf32>
        %50 = tile.add %49, %arg1 : !tile.tile<16x16xf32>
        %51 = tile.load %experts[%arg0, 0] : !tile.tile<16x1xi32>
        %52 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %53 = kiln.dim %experts, 0
        %54 = arith.subi %53, %arg0 : index
        %55 = tile.mask %52 valid(%54, 1) : !tile.tile<16x1xf32>
        %56 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %57 = tile.cmp eq %56, %51 : !tile.tile<16x16xi1>
        %58 = tile.select %57, %55, %cst : !tile.tile<16x16xf32>
        %59 = tile.mul %58, %50 : !tile.tile<16x16xf32>
        %60 = tile.reduce sum %59 axis(1) : !tile.tile<16x1xf32>
        %61 = tile.cast %60 : !tile.tile<16x1xi32>
        %62 = tile.transpose %61 : !tile.tile<1x16xi32>
        tile.store %62, %places[0, %arg0]
        %63 = tile.load %experts[%arg0, 1] : !tile.tile<16x1xi32>
        %64 = tile.full %cst_1 : !tile.tile<16x1xf32>
        %65 = kiln.dim %experts, 0
        %66 = arith.subi %65, %arg0 : index
        %67 = tile.mask %64 valid(%66, 1) : !tile.tile<16x1xf32>
        %68 = tile.iota axis(1) : !tile.tile<1x16xi32>
        %69 = tile.cmp eq %68, %63 : !tile.tile<16x16xi1>
        %70 = tile.select %69, %67, %cst : !tile.tile<16x16xf32>
        %71 = tile.mul %70, %50 : !tile.tile<16x16xf32>
        %72 = tile.reduce sum %71 axis(1) : !tile.tile<16x1xf32>
        %73 = tile.cast %72 : !tile.tile<16x1xi32>
        %74 = tile.transpose %73 : !tile.tile<1x16xi32>
        tile.store %74, %places[1, %arg0]
        %75 = tile.reduce sum %46 axis(0) : !tile.tile<1x16xf32>
        %76 = tile.add %arg1, %75 : !tile.tile<1x16xf32>
        scf.yield %76 : !tile.tile<1x16xf32>
      }
    }
    %19 = kiln.incore "scatter" grid(%16, 2) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %23 = arith.muli %block, %c16_0 : index
      %24 = tile.iota axis(0) : !tile.tile<16x1xi32>
      %25 = arith.index_cast %23 : index to i32
      %26 = tile.add %24, %25 : !tile.tile<16x1xi32>
      tile.scatter_rows %26, %source[0, 0] rows(%places[%block_1, %23])
    }
    %20 = kiln.dim %source, 0
    %21 = arith.ceildivsi %20, %c16 : index
    %22 = kiln.incore "gather" grid(%21, 2) {
      %c16_0 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %23 = arith.muli %block, %c16_0 : index
      %24 = arith.muli %block_1, %c32 : index
      %25 = kiln.dim %source, 0
      %26 = kiln.reshape %source[%25] : !kiln.tensor<?xi32>
      %27 = tile.gather_rows %x[0, %24] rows(%26[%23]) : !tile.tile<16x32xf32>
      tile.store %27, %gathered[%23, %24]
    }
  }
}
