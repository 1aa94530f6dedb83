module @qwen3_decode_layer {
  kiln.func @main(%x: !kiln.tensor<?x64xbf16> in, %positions: !kiln.tensor<?xi32> in, %cosine: !kiln.tensor<?x8xf32> in, %sine: !kiln.tensor<?x8xf32> in, %norm1: !kiln.tensor<64xbf16> in, %qkv: !kiln.tensor<128x64xbf16> in, %q_norm: !kiln.tensor<16xbf16> in, %k_norm: !kiln.tensor<16xbf16> in, %k_cache: !kiln.tensor<?x2x?x16xbf16> inout, %v_cache: !kiln.tensor<?x2x?x16xbf16> inout, %out_proj: !kiln.tensor<64x64xbf16> in, %norm2: !kiln.tensor<64xbf16> in, %gate: !kiln.tensor<96x64xbf16> in, %up: !kiln.tensor<96x64xbf16> in, %down: !kiln.tensor<64x96xbf16> in, %y: !kiln.tensor<?x64xbf16> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %xn = kiln.alloc(%0) : !kiln.tensor<?x64xbf16>
    %projected = kiln.alloc(%0) : !kiln.tensor<?x128xf32>
    %1 = kiln.dim %x, 0
    %2 = arith.ceildivsi %1, %c16 : index
    %3 = kiln.incore "norm_1" grid(%2) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c32 = arith.constant 32 : index
      %cst_1 = arith.constant 1.562500e-02 : f32
      %cst_2 = arith.constant 9.99999997E-7 : f32
      %block = tile.block_idx 0
      %23 = arith.muli %block, %c16_0 : index
      %24 = tile.full %cst : !tile.tile<16x1xf32>
      %25 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %24) -> (!tile.tile<16x1xf32>) {
        %29 = tile.load %x[%23, %arg0] : !tile.tile<16x32xbf16>
        %30 = tile.cast %29 : !tile.tile<16x32xf32>
        %31 = tile.load %x[%23, %arg0] : !tile.tile<16x32xbf16>
        %32 = tile.cast %31 : !tile.tile<16x32xf32>
        %33 = tile.mul %30, %32 : !tile.tile<16x32xf32>
        %34 = tile.reduce sum %33 axis(1) : !tile.tile<16x1xf32>
        %35 = tile.add %arg1, %34 : !tile.tile<16x1xf32>
        scf.yield %35 : !tile.tile<16x1xf32>
      }
      %26 = tile.mul %25, %cst_1 : !tile.tile<16x1xf32>
      %27 = tile.add %26, %cst_2 : !tile.tile<16x1xf32>
      %28 = tile.rsqrt %27 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %c64 step %c32 {
        %29 = tile.load %x[%23, %arg0] : !tile.tile<16x32xbf16>
        %30 = tile.cast %29 : !tile.tile<16x32xf32>
        %31 = tile.mul %30, %28 : !tile.tile<16x32xf32>
        %32 = tile.load %norm1[%arg0] : !tile.tile<1x32xbf16>
        %33 = tile.cast %32 : !tile.tile<1x32xf32>
        %34 = tile.mul %31, %33 : !tile.tile<16x32xf32>
        %35 = tile.cast %34 : !tile.tile<16x32xbf16>
        tile.store %35, %xn[%23, %arg0]
      }
    }
    %4 = kiln.dim %xn, 0
    %5 = arith.ceildivsi %4, %c16 : index
    %6 = kiln.incore "qkv_proj" grid(%5, 4) {
      %c16_0 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %23 = arith.muli %block, %c16_0 : index
      %24 = arith.muli %block_1, %c32 : index
      %25 = tile.full %cst : !tile.tile<16x32xf32>
      %26 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %25) -> (!tile.tile<16x32xf32>) {
        %27 = tile.load %xn[%23, %arg0] : !tile.tile<16x32xbf16>
        %28 = tile.load %qkv[%24, %arg0] : !tile.tile<32x32xbf16>
        %29 = tile.matmul_acc %arg1, %27, %28 trans_b : !tile.tile<16x32xf32>
        scf.yield %29 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      tile.store %26, %projected[%23, %24]
    }
    %7 = kiln.reshape %projected[%0, 8, 16] : !kiln.tensor<?x8x16xf32>
    %q = kiln.alloc(%0) : !kiln.tensor<?x4x16xbf16>
    %mixed = kiln.alloc(%0) : !kiln.tensor<?x4x16xbf16>
    %8 = kiln.incore "rotate" grid(%0, 2) {
      %c2 = arith.constant 2 : index
      %cst = arith.constant 1.600000e+01 : f32
      %cst_0 = arith.constant 9.99999997E-7 : f32
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %23 = kiln.read %positions[%block] : i32
      %24 = arith.index_cast %23 : i32 to index
      %25 = tile.load %cosine[%24, 0] : !tile.tile<1x8xf32>
      %26 = tile.load %sine[%24, 0] : !tile.tile<1x8xf32>
      %27 = arith.muli %block_1, %c2 : index
      %28 = tile.load %7[%block, %27, 0] : !tile.tile<2x16xf32>
      %29 = tile.load %q_norm[0] : !tile.tile<1x16xbf16>
      %30 = tile.cast %29 : !tile.tile<1x16xf32>
      %31 = tile.mul %28, %28 : !tile.tile<2x16xf32>
      %32 = tile.reduce sum %31 axis(1) : !tile.tile<2x1xf32>
      %33 = tile.div %32, %cst : !tile.tile<2x1xf32>
      %34 = tile.add %33, %cst_0 : !tile.tile<2x1xf32>
      %35 = tile.rsqrt %34 : !tile.tile<2x1xf32>
      %36 = tile.mul %28, %35 : !tile.tile<2x16xf32>
      %37 = tile.mul %36, %30 : !tile.tile<2x16xf32>
      %38 = tile.extract %37[0, 0] : !tile.tile<2x8xf32>
      %39 = tile.extract %37[0, 8] : !tile.tile<2x8xf32>
      %40 = tile.mul %38, %25 : !tile.tile<2x8xf32>
      %41 = tile.mul %39, %26 : !tile.tile<2x8xf32>
      %42 = tile.sub %40, %41 : !tile.tile<2x8xf32>
      %43 = tile.mul %39, %25 : !tile.tile<2x8xf32>
      %44 = tile.mul %38, %26 : !tile.tile<2x8xf32>
      %45 = tile.add %43, %44 : !tile.tile<2x8xf32>
      %46 = tile.concat %42, %45 axis(1) : !tile.tile<2x16xf32>
      %47 = tile.cast %46 : !tile.tile<2x16xbf16>
      %48 = arith.muli %block_1, %c2 : index
      tile.store %47, %q[%block, %48, 0]
      %49 = arith.addi %c4, %block_1 : index
      %50 = tile.load %7[%block, %49, 0] : !tile.tile<1x16xf32>
      %51 = tile.load %k_norm[0] : !tile.tile<1x16xbf16>
      %52 = tile.cast %51 : !tile.tile<1x16xf32>
      %53 = tile.mul %50, %50 : !tile.tile<1x16xf32>
      %54 = tile.reduce sum %53 axis(1) : !tile.tile<1x1xf32>
      %55 = tile.div %54, %cst : !tile.tile<1x1xf32>
      %56 = tile.add %55, %cst_0 : !tile.tile<1x1xf32>
      %57 = tile.rsqrt %56 : !tile.tile<1x1xf32>
      %58 = tile.mul %50, %57 : !tile.tile<1x16xf32>
      %59 = tile.mul %58, %52 : !tile.tile<1x16xf32>
      %60 = tile.extract %59[0, 0] : !tile.tile<1x8xf32>
      %61 = tile.extract %59[0, 8] : !tile.tile<1x8xf32>
      %62 = tile.mul %60, %25 : !tile.tile<1x8xf32>
      %63 = tile.mul %61, %26 : !tile.tile<1x8xf32>
      %64 = tile.sub %62, %63 : !tile.tile<1x8xf32>
      %65 = tile.mul %61, %25 : !tile.tile<1x8xf32>
      %66 = tile.mul %60, %26 : !tile.tile<1x8xf32>
      %67 = tile.add %65, %66 : !tile.tile<1x8xf32>
      %68 = tile.concat %64, %67 axis(1) : !tile.tile<1x16xf32>
      %69 = tile.cast %68 : !tile.tile<1x16xbf16>
      tile.store %69, %k_cache[%block, %block_1, %24, 0]
      %70 = arith.addi %c6, %block_1 : index
      %71 = tile.load %7[%block, %70, 0] : !tile.tile<1x16xf32>
      %72 = tile.cast %71 : !tile.tile<1x16xbf16>
      tile.store %72, %v_cache[%block, %block_1, %24, 0]
    }
    %9 = kiln.incore "attention" grid(%0, 2) {
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %cst = arith.constant 0xFF800000 : f32
      %cst_0 = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %cst_1 = arith.constant 2.500000e-01 : f32
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %23 = kiln.read %positions[%block] : i32
      %24 = arith.index_cast %23 : i32 to index
      %25 = arith.addi %24, %c1 : index
      %26 = arith.muli %block_2, %c2 : index
      %27 = tile.load %q[%block, %26, 0] : !tile.tile<2x16xbf16>
      %28 = tile.full %cst : !tile.tile<2x1xf32>
      %29 = tile.full %cst_0 : !tile.tile<2x1xf32>
      %30 = tile.full %cst_0 : !tile.tile<2x16xf32>
      %31:3 = scf.for %arg0 = %c0 to %25 step %c32 iter_args(%arg1 = %28, %arg2 = %29, %arg3 = %30) -> (!tile.tile<2x1xf32>, !tile.tile<2x1xf32>, !tile.tile<2x16xf32>) {
        %35 = arith.subi %25, %arg0 : index
        %36 = tile.load %k_cache[%block, %block_2, %arg0, 0] valid(%35, 16) : !tile.tile<32x16xbf16>
        %37 = tile.load %v_cache[%block, %block_2, %arg0, 0] valid(%35, 16) : !tile.tile<32x16xbf16>
        %38 = tile.matmul %27, %36 trans_b : !tile.tile<2x32xf32>
        %39 = tile.mul %38, %cst_1 : !tile.tile<2x32xf32>
        %40 = arith.subi %25, %arg0 : index
        %41 = tile.mask %39 valid(2, %40) pad(min) : !tile.tile<2x32xf32>
        %42 = tile.reduce max %41 axis(1) : !tile.tile<2x1xf32>
        %43 = tile.max %arg1, %42 : !tile.tile<2x1xf32>
        %44 = tile.sub %41, %43 : !tile.tile<2x32xf32>
        %45 = tile.exp %44 : !tile.tile<2x32xf32>
        %46 = tile.sub %arg1, %43 : !tile.tile<2x1xf32>
        %47 = tile.exp %46 : !tile.tile<2x1xf32>
        %48 = tile.cast %45 : !tile.tile<2x32xbf16>
        %49 = tile.mul %arg2, %47 : !tile.tile<2x1xf32>
        %50 = tile.reduce sum %45 axis(1) : !tile.tile<2x1xf32>
        %51 = tile.add %49, %50 : !tile.tile<2x1xf32>
        %52 = tile.mul %arg3, %47 : !tile.tile<2x16xf32>
        %53 = tile.matmul_acc %52, %48, %37 : !tile.tile<2x16xf32>
        scf.yield %43, %51, %53 : !tile.tile<2x1xf32>, !tile.tile<2x1xf32>, !tile.tile<2x16xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %32 = tile.div %31#2, %31#1 : !tile.tile<2x16xf32>
      %33 = tile.cast %32 : !tile.tile<2x16xbf16>
      %34 = arith.muli %block_2, %c2 : index
      tile.store %33, %mixed[%block, %34, 0]
    }
    %h1 = kiln.alloc(%0) : !kiln.tensor<?x64xf32>
    %hn = kiln.alloc(%0) : !kiln.tensor<?x64xbf16>
    %act = kiln.alloc(%0) : !kiln.tensor<?x96xbf16>
    %10 = kiln.reshape %mixed[%0, 64] : !kiln.tensor<?x64xbf16>
    %11 = kiln.dim %10, 0
    %12 = arith.ceildivsi %11, %c16 : index
    %13 = kiln.incore "out_proj" grid(%12, 2) {
      %c16_0 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %23 = arith.muli %block, %c16_0 : index
      %24 = arith.muli %block_1, %c32 : index
      %25 = tile.full %cst : !tile.tile<16x32xf32>
      %26 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %25) -> (!tile.tile<16x32xf32>) {
        %30 = tile.load %10[%23, %arg0] : !tile.tile<16x32xbf16>
        %31 = tile.load %out_proj[%24, %arg0] : !tile.tile<32x32xbf16>
        %32 = tile.matmul_acc %arg1, %30, %31 trans_b : !tile.tile<16x32xf32>
        scf.yield %32 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %27 = tile.load %x[%23, %24] : !tile.tile<16x32xbf16>
      %28 = tile.cast %27 : !tile.tile<16x32xf32>
      %29 = tile.add %26, %28 : !tile.tile<16x32xf32>
      tile.store %29, %h1[%23, %24]
    }
    %14 = kiln.dim %h1, 0
    %15 = arith.ceildivsi %14, %c16 : index
    %16 = kiln.incore "norm_2" grid(%15) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c32 = arith.constant 32 : index
      %cst_1 = arith.constant 1.562500e-02 : f32
      %cst_2 = arith.constant 9.99999997E-7 : f32
      %block = tile.block_idx 0
      %23 = arith.muli %block, %c16_0 : index
      %24 = tile.full %cst : !tile.tile<16x1xf32>
      %25 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %24) -> (!tile.tile<16x1xf32>) {
        %29 = tile.load %h1[%23, %arg0] : !tile.tile<16x32xf32>
        %30 = tile.cast %29 : !tile.tile<16x32xf32>
        %31 = tile.load %h1[%23, %arg0] : !tile.tile<16x32xf32>
        %32 = tile.cast %31 : !tile.tile<16x32xf32>
        %33 = tile.mul %30, %32 : !tile.tile<16x32xf32>
        %34 = tile.reduce sum %33 axis(1) : !tile.tile<16x1xf32>
        %35 = tile.add %arg1, %34 : !tile.tile<16x1xf32>
        scf.yield %35 : !tile.tile<16x1xf32>
      }
      %26 = tile.mul %25, %cst_1 : !tile.tile<16x1xf32>
      %27 = tile.add %26, %cst_2 : !tile.tile<16x1xf32>
      %28 = tile.rsqrt %27 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %c64 step %c32 {
        %29 = tile.load %h1[%23, %arg0] : !tile.tile<16x32xf32>
        %30 = tile.cast %29 : !tile.tile<16x32xf32>
        %31 = tile.mul %30, %28 : !tile.tile<16x32xf32>
        %32 = tile.load %norm2[%arg0] : !tile.tile<1x32xbf16>
        %33 = tile.cast %32 : !tile.tile<1x32xf32>
        %34 = tile.mul %31, %33 : !tile.tile<16x32xf32>
        %35 = tile.cast %34 : !tile.tile<16x32xbf16>
        tile.store %35, %hn[%23, %arg0]
      }
    }
    %17 = kiln.dim %hn, 0
    %18 = arith.ceildivsi %17, %c16 : index
    %19 = kiln.incore "gate_up" grid(%18, 3) {
      %c16_0 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %23 = arith.muli %block, %c16_0 : index
      %24 = arith.muli %block_1, %c32 : index
      %25 = tile.full %cst : !tile.tile<16x32xf32>
      %26 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %25) -> (!tile.tile<16x32xf32>) {
        %33 = tile.load %hn[%23, %arg0] : !tile.tile<16x32xbf16>
        %34 = tile.load %gate[%24, %arg0] : !tile.tile<32x32xbf16>
        %35 = tile.matmul_acc %arg1, %33, %34 trans_b : !tile.tile<16x32xf32>
        scf.yield %35 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %27 = tile.sigmoid %26 : !tile.tile<16x32xf32>
      %28 = tile.mul %26, %27 : !tile.tile<16x32xf32>
      %29 = tile.full %cst : !tile.tile<16x32xf32>
      %30 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %29) -> (!tile.tile<16x32xf32>) {
        %33 = tile.load %hn[%23, %arg0] : !tile.tile<16x32xbf16>
        %34 = tile.load %up[%24, %arg0] : !tile.tile<32x32xbf16>
        %35 = tile.matmul_acc %arg1, %33, %34 trans_b : !tile.tile<16x32xf32>
        scf.yield %35 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %31 = tile.mul %28, %30 : !tile.tile<16x32xf32>
      %32 = tile.cast %31 : !tile.tile<16x32xbf16>
      tile.store %32, %act[%23, %24]
    }
    %20 = kiln.dim %act, 0
    %21 = arith.ceildivsi %20, %c16 : index
    %22 = kiln.incore "down_proj" grid(%21, 2) {
      %c16_0 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c96 = arith.constant 96 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %23 = arith.muli %block, %c16_0 : index
      %24 = arith.muli %block_1, %c32 : index
      %25 = tile.full %cst : !tile.tile<16x32xf32>
      %26 = scf.for %arg0 = %c0 to %c96 step %c32 iter_args(%arg1 = %25) -> (!tile.tile<16x32xf32>) {
        %31 = tile.load %act[%23, %arg0] : !tile.tile<16x32xbf16>
        %32 = tile.load %down[%24, %arg0] : !tile.tile<32x32xbf16>
        %33 = tile.matmul_acc %arg1, %31, %32 trans_b : !tile.tile<16x32xf32>
        scf.yield %33 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %27 = tile.load %h1[%23, %24] : !tile.tile<16x32xf32>
      %28 = tile.cast %27 : !tile.tile<16x32xf32>
      %29 = tile.add %26, %28 : !tile.tile<16x32xf32>
      %30 = tile.cast %29 : !tile.tile<16x32xbf16>
      tile.store %30, %y[%23, %24]
    }
  }
}
