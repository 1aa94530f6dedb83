module @qwen3_decode_layer {
  kiln.func @main(%x: !kiln.tensor<?x64xbf16> in, %positions: !kiln.tensor<?xi32> in, %cosine: !kiln.tensor<?x8xf32> in, %sine: !kiln.tensor<?x8xf32> in, %norm1: !kiln.tensor<64xbf16> in, %qkv: !kiln.tensor<128x64xbf16> in, %q_norm: !kiln.tensor<16xbf16> in, %k_norm: !kiln.tensor<16xbf16> in, %k_cache: !kiln.tensor<?x2x?x16xbf16> inout, %v_cache: !kiln.tensor<?x2x?x16xbf16> inout, %out_proj: !kiln.tensor<64x64xbf16> in, %norm2: !kiln.tensor<64xbf16> in, %gate: !kiln.tensor<96x64xbf16> in, %up: !kiln.tensor<96x64xbf16> in, %down: !kiln.tensor<64x96xbf16> in, %y: !kiln.tensor<?x64xbf16> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %positions, 0
    %2 = arith.cmpi eq, %1, %0 : index
    %3 = kiln.dim %y, 0
    %4 = arith.cmpi eq, %3, %0 : index
    %5 = arith.andi %2, %4 : i1
    %6 = kiln.dim %k_cache, 0
    %7 = arith.cmpi eq, %6, %0 : index
    %8 = arith.andi %5, %7 : i1
    kiln.require %8, "every argument is of the same batch"
    %9 = kiln.dim %k_cache, 0
    %10 = kiln.dim %v_cache, 0
    %11 = arith.cmpi eq, %9, %10 : index
    %12 = kiln.dim %k_cache, 2
    %13 = kiln.dim %v_cache, 2
    %14 = arith.cmpi eq, %12, %13 : index
    %15 = arith.andi %11, %14 : i1
    kiln.require %15, "k_cache and v_cache have one shape"
    %16 = kiln.dim %cosine, 0
    %17 = kiln.dim %sine, 0
    %18 = arith.cmpi eq, %16, %17 : index
    kiln.require %18, "cosine and sine have one shape"
    %xn = kiln.alloc(%0) : !kiln.tensor<?x64xbf16>
    %projected = kiln.alloc(%0) : !kiln.tensor<?x128xf32>
    %19 = kiln.dim %x, 0
    %20 = arith.ceildivsi %19, %c16 : index
    %21 = kiln.incore "norm_1" grid(%20) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c32 = arith.constant 32 : index
      %cst_1 = arith.constant 1.562500e-02 : f32
      %cst_2 = arith.constant 9.99999997E-7 : f32
      %block = tile.block_idx 0
      %41 = arith.muli %block, %c16_0 : index
      %42 = tile.full %cst : !tile.tile<16x1xf32>
      %43 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %42) -> (!tile.tile<16x1xf32>) {
        %47 = tile.load %x[%41, %arg0] : !tile.tile<16x32xbf16>
        %48 = tile.cast %47 : !tile.tile<16x32xf32>
        %49 = tile.load %x[%41, %arg0] : !tile.tile<16x32xbf16>
        %50 = tile.cast %49 : !tile.tile<16x32xf32>
        %51 = tile.mul %48, %50 : !tile.tile<16x32xf32>
        %52 = tile.reduce sum %51 axis(1) : !tile.tile<16x1xf32>
        %53 = tile.add %arg1, %52 : !tile.tile<16x1xf32>
        scf.yield %53 : !tile.tile<16x1xf32>
      }
      %44 = tile.mul %43, %cst_1 : !tile.tile<16x1xf32>
      %45 = tile.add %44, %cst_2 : !tile.tile<16x1xf32>
      %46 = tile.rsqrt %45 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %c64 step %c32 {
        %47 = tile.load %x[%41, %arg0] : !tile.tile<16x32xbf16>
        %48 = tile.cast %47 : !tile.tile<16x32xf32>
        %49 = tile.mul %48, %46 : !tile.tile<16x32xf32>
        %50 = tile.load %norm1[%arg0] : !tile.tile<1x32xbf16>
        %51 = tile.cast %50 : !tile.tile<1x32xf32>
        %52 = tile.mul %49, %51 : !tile.tile<16x32xf32>
        %53 = tile.cast %52 : !tile.tile<16x32xbf16>
        tile.store %53, %xn[%41, %arg0]
      }
    }
    %22 = kiln.dim %xn, 0
    %23 = arith.ceildivsi %22, %c16 : index
    %24 = kiln.incore "qkv_proj" grid(%23, 4) {
      %c16_0 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %41 = arith.muli %block, %c16_0 : index
      %42 = arith.muli %block_1, %c32 : index
      %43 = tile.full %cst : !tile.tile<16x32xf32>
      %44 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %43) -> (!tile.tile<16x32xf32>) {
        %45 = tile.load %xn[%41, %arg0] : !tile.tile<16x32xbf16>
        %46 = tile.load %qkv[%42, %arg0] : !tile.tile<32x32xbf16>
        %47 = tile.matmul_acc %arg1, %45, %46 trans_b : !tile.tile<16x32xf32>
        scf.yield %47 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      tile.store %44, %projected[%41, %42]
    }
    %25 = kiln.reshape %projected[%0, 8, 16] : !kiln.tensor<?x8x16xf32>
    %q = kiln.alloc(%0) : !kiln.tensor<?x4x16xbf16>
    %mixed = kiln.alloc(%0) : !kiln.tensor<?x4x16xbf16>
    %26 = kiln.incore "rotate" grid(%0, 2) {
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      %cst = arith.constant 1.600000e+01 : f32
      %cst_0 = arith.constant 9.99999997E-7 : f32
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %41 = kiln.read %positions[%block] : i32
      %42 = arith.index_cast %41 : i32 to index
      %43 = tile.load %cosine[%42, 0] : !tile.tile<1x8xf32>
      %44 = tile.load %sine[%42, 0] : !tile.tile<1x8xf32>
      %45 = arith.muli %block_1, %c2 : index
      %46 = tile.load %25[%block, %45, 0] : !tile.tile<2x16xf32>
      %47 = arith.addi %c4, %block_1 : index
      %48 = tile.load %25[%block, %47, 0] : !tile.tile<1x16xf32>
      %49 = arith.addi %c6, %block_1 : index
      %50 = tile.load %25[%block, %49, 0] : !tile.tile<1x16xf32>
      %51 = tile.load %q_norm[0] : !tile.tile<1x16xbf16>
      %52 = tile.cast %51 : !tile.tile<1x16xf32>
      %53 = tile.load %k_norm[0] : !tile.tile<1x16xbf16>
      %54 = tile.cast %53 : !tile.tile<1x16xf32>
      %55 = tile.mul %46, %46 : !tile.tile<2x16xf32>
      %56 = tile.reduce sum %55 axis(1) : !tile.tile<2x1xf32>
      %57 = tile.div %56, %cst : !tile.tile<2x1xf32>
      %58 = tile.add %57, %cst_0 : !tile.tile<2x1xf32>
      %59 = tile.rsqrt %58 : !tile.tile<2x1xf32>
      %60 = tile.mul %46, %59 : !tile.tile<2x16xf32>
      %61 = tile.mul %60, %52 : !tile.tile<2x16xf32>
      %62 = tile.extract %61[0, 0] : !tile.tile<2x8xf32>
      %63 = tile.extract %61[0, 8] : !tile.tile<2x8xf32>
      %64 = tile.mul %62, %43 : !tile.tile<2x8xf32>
      %65 = tile.mul %63, %44 : !tile.tile<2x8xf32>
      %66 = tile.sub %64, %65 : !tile.tile<2x8xf32>
      %67 = tile.mul %63, %43 : !tile.tile<2x8xf32>
      %68 = tile.mul %62, %44 : !tile.tile<2x8xf32>
      %69 = tile.add %67, %68 : !tile.tile<2x8xf32>
      %70 = tile.concat %66, %69 axis(1) : !tile.tile<2x16xf32>
      %71 = tile.cast %70 : !tile.tile<2x16xbf16>
      %72 = arith.muli %block_1, %c2 : index
      tile.store %71, %q[%block, %72, 0]
      %73 = tile.mul %48, %48 : !tile.tile<1x16xf32>
      %74 = tile.reduce sum %73 axis(1) : !tile.tile<1x1xf32>
      %75 = tile.div %74, %cst : !tile.tile<1x1xf32>
      %76 = tile.add %75, %cst_0 : !tile.tile<1x1xf32>
      %77 = tile.rsqrt %76 : !tile.tile<1x1xf32>
      %78 = tile.mul %48, %77 : !tile.tile<1x16xf32>
      %79 = tile.mul %78, %54 : !tile.tile<1x16xf32>
      %80 = tile.extract %79[0, 0] : !tile.tile<1x8xf32>
      %81 = tile.extract %79[0, 8] : !tile.tile<1x8xf32>
      %82 = tile.mul %80, %43 : !tile.tile<1x8xf32>
      %83 = tile.mul %81, %44 : !tile.tile<1x8xf32>
      %84 = tile.sub %82, %83 : !tile.tile<1x8xf32>
      %85 = tile.mul %81, %43 : !tile.tile<1x8xf32>
      %86 = tile.mul %80, %44 : !tile.tile<1x8xf32>
      %87 = tile.add %85, %86 : !tile.tile<1x8xf32>
      %88 = tile.concat %84, %87 axis(1) : !tile.tile<1x16xf32>
      %89 = tile.cast %88 : !tile.tile<1x16xbf16>
      tile.store %89, %k_cache[%block, %block_1, %42, 0]
      %90 = tile.cast %50 : !tile.tile<1x16xbf16>
      tile.store %90, %v_cache[%block, %block_1, %42, 0]
    }
    %27 = kiln.incore "attention" grid(%0, 2) {
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %cst = arith.constant -9.99999968E+37 : f32
      %cst_0 = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %cst_1 = arith.constant 2.500000e-01 : f32
      %cst_2 = arith.constant 5.500000e+00 : f32
      %block = tile.block_idx 0
      %block_3 = tile.block_idx 1
      %41 = kiln.read %positions[%block] : i32
      %42 = arith.index_cast %41 : i32 to index
      %43 = arith.addi %42, %c1 : index
      %44 = arith.muli %block_3, %c2 : index
      %45 = tile.load %q[%block, %44, 0] valid(2, 16) : !tile.tile<2x16xbf16>
      %46 = tile.full %cst : !tile.tile<2x1xf32>
      %47 = tile.full %cst_0 : !tile.tile<2x1xf32>
      %48 = tile.full %cst_0 : !tile.tile<2x16xf32>
      %49:3 = scf.for %arg0 = %c0 to %43 step %c32 iter_args(%arg1 = %46, %arg2 = %47, %arg3 = %48) -> (!tile.tile<2x1xf32>, !tile.tile<2x1xf32>, !tile.tile<2x16xf32>) {
        %53 = arith.subi %43, %arg0 : index
        %54 = tile.load %k_cache[%block, %block_3, %arg0, 0] valid(%53, 16) : !tile.tile<32x16xbf16>
        %55 = tile.load %v_cache[%block, %block_3, %arg0, 0] valid(%53, 16) : !tile.tile<32x16xbf16>
        %56 = tile.matmul %45, %54 trans_b : !tile.tile<2x32xf32>
        %57 = arith.subi %43, %arg0 : index
        %58 = tile.mask %56 valid(2, %57) pad(min) : !tile.tile<2x32xf32>
        %59 = tile.reduce max %58 axis(1) : !tile.tile<2x1xf32>
        %60 = tile.mul %59, %cst_1 : !tile.tile<2x1xf32>
        %61 = tile.add %arg1, %cst_2 : !tile.tile<2x1xf32>
        %62 = tile.cmp gt %60, %61 : !tile.tile<2x1xi1>
        %63 = tile.select %62, %60, %arg1 : !tile.tile<2x1xf32>
        %64 = tile.mul %58, %cst_1 : !tile.tile<2x32xf32>
        %65 = tile.sub %64, %63 : !tile.tile<2x32xf32>
        %66 = tile.exp %65 : !tile.tile<2x32xf32>
        %67 = tile.sub %arg1, %63 : !tile.tile<2x1xf32>
        %68 = tile.exp %67 : !tile.tile<2x1xf32>
        %69 = tile.cast %66 : !tile.tile<2x32xbf16>
        %70 = tile.mul %arg2, %68 : !tile.tile<2x1xf32>
        %71 = tile.reduce sum %66 axis(1) : !tile.tile<2x1xf32>
        %72 = tile.add %70, %71 : !tile.tile<2x1xf32>
        %73 = tile.mul %arg3, %68 : !tile.tile<2x16xf32>
        %74 = tile.matmul_acc %73, %69, %55 : !tile.tile<2x16xf32>
        scf.yield %63, %72, %74 : !tile.tile<2x1xf32>, !tile.tile<2x1xf32>, !tile.tile<2x16xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %50 = tile.div %49#2, %49#1 : !tile.tile<2x16xf32>
      %51 = tile.cast %50 : !tile.tile<2x16xbf16>
      %52 = arith.muli %block_3, %c2 : index
      tile.store %51, %mixed[%block, %52, 0] valid(2, 16)
    }
    %h1 = kiln.alloc(%0) : !kiln.tensor<?x64xf32>
    %hn = kiln.alloc(%0) : !kiln.tensor<?x64xbf16>
    %act = kiln.alloc(%0) : !kiln.tensor<?x96xbf16>
    %28 = kiln.reshape %mixed[%0, 64] : !kiln.tensor<?x64xbf16>
    %29 = kiln.dim %28, 0
    %30 = arith.ceildivsi %29, %c16 : index
    %31 = kiln.incore "out_proj" grid(%30, 2) {
      %c16_0 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %41 = arith.muli %block, %c16_0 : index
      %42 = arith.muli %block_1, %c32 : index
      %43 = tile.full %cst : !tile.tile<16x32xf32>
      %44 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %43) -> (!tile.tile<16x32xf32>) {
        %48 = tile.load %28[%41, %arg0] : !tile.tile<16x32xbf16>
        %49 = tile.load %out_proj[%42, %arg0] : !tile.tile<32x32xbf16>
        %50 = tile.matmul_acc %arg1, %48, %49 trans_b : !tile.tile<16x32xf32>
        scf.yield %50 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %45 = tile.load %x[%41, %42] : !tile.tile<16x32xbf16>
      %46 = tile.cast %45 : !tile.tile<16x32xf32>
      %47 = tile.add %44, %46 : !tile.tile<16x32xf32>
      tile.store %47, %h1[%41, %42]
    }
    %32 = kiln.dim %h1, 0
    %33 = arith.ceildivsi %32, %c16 : index
    %34 = kiln.incore "norm_2" grid(%33) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c32 = arith.constant 32 : index
      %cst_1 = arith.constant 1.562500e-02 : f32
      %cst_2 = arith.constant 9.99999997E-7 : f32
      %block = tile.block_idx 0
      %41 = arith.muli %block, %c16_0 : index
      %42 = tile.full %cst : !tile.tile<16x1xf32>
      %43 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %42) -> (!tile.tile<16x1xf32>) {
        %47 = tile.load %h1[%41, %arg0] : !tile.tile<16x32xf32>
        %48 = tile.load %h1[%41, %arg0] : !tile.tile<16x32xf32>
        %49 = tile.mul %47, %48 : !tile.tile<16x32xf32>
        %50 = tile.reduce sum %49 axis(1) : !tile.tile<16x1xf32>
        %51 = tile.add %arg1, %50 : !tile.tile<16x1xf32>
        scf.yield %51 : !tile.tile<16x1xf32>
      }
      %44 = tile.mul %43, %cst_1 : !tile.tile<16x1xf32>
      %45 = tile.add %44, %cst_2 : !tile.tile<16x1xf32>
      %46 = tile.rsqrt %45 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %c64 step %c32 {
        %47 = tile.load %h1[%41, %arg0] : !tile.tile<16x32xf32>
        %48 = tile.mul %47, %46 : !tile.tile<16x32xf32>
        %49 = tile.load %norm2[%arg0] : !tile.tile<1x32xbf16>
        %50 = tile.cast %49 : !tile.tile<1x32xf32>
        %51 = tile.mul %48, %50 : !tile.tile<16x32xf32>
        %52 = tile.cast %51 : !tile.tile<16x32xbf16>
        tile.store %52, %hn[%41, %arg0]
      }
    }
    %35 = kiln.dim %hn, 0
    %36 = arith.ceildivsi %35, %c16 : index
    %37 = kiln.incore "gate_up" grid(%36, 3) {
      %c16_0 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %41 = arith.muli %block, %c16_0 : index
      %42 = arith.muli %block_1, %c32 : index
      %43 = tile.full %cst : !tile.tile<16x32xf32>
      %44 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %43) -> (!tile.tile<16x32xf32>) {
        %51 = tile.load %hn[%41, %arg0] : !tile.tile<16x32xbf16>
        %52 = tile.load %gate[%42, %arg0] : !tile.tile<32x32xbf16>
        %53 = tile.matmul_acc %arg1, %51, %52 trans_b : !tile.tile<16x32xf32>
        scf.yield %53 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %45 = tile.sigmoid %44 : !tile.tile<16x32xf32>
      %46 = tile.mul %44, %45 : !tile.tile<16x32xf32>
      %47 = tile.full %cst : !tile.tile<16x32xf32>
      %48 = scf.for %arg0 = %c0 to %c64 step %c32 iter_args(%arg1 = %47) -> (!tile.tile<16x32xf32>) {
        %51 = tile.load %hn[%41, %arg0] : !tile.tile<16x32xbf16>
        %52 = tile.load %up[%42, %arg0] : !tile.tile<32x32xbf16>
        %53 = tile.matmul_acc %arg1, %51, %52 trans_b : !tile.tile<16x32xf32>
        scf.yield %53 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %49 = tile.mul %46, %48 : !tile.tile<16x32xf32>
      %50 = tile.cast %49 : !tile.tile<16x32xbf16>
      tile.store %50, %act[%41, %42]
    }
    %38 = kiln.dim %act, 0
    %39 = arith.ceildivsi %38, %c16 : index
    %40 = kiln.incore "down_proj" grid(%39, 2) {
      %c16_0 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c96 = arith.constant 96 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %41 = arith.muli %block, %c16_0 : index
      %42 = arith.muli %block_1, %c32 : index
      %43 = tile.full %cst : !tile.tile<16x32xf32>
      %44 = scf.for %arg0 = %c0 to %c96 step %c32 iter_args(%arg1 = %43) -> (!tile.tile<16x32xf32>) {
        %48 = tile.load %act[%41, %arg0] : !tile.tile<16x32xbf16>
        %49 = tile.load %down[%42, %arg0] : !tile.tile<32x32xbf16>
        %50 = tile.matmul_acc %arg1, %48, %49 trans_b : !tile.tile<16x32xf32>
        scf.yield %50 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %45 = tile.load %h1[%41, %42] : !tile.tile<16x32xf32>
      %46 = tile.add %44, %45 : !tile.tile<16x32xf32>
      %47 = tile.cast %46 : !tile.tile<16x32xbf16>
      tile.store %47, %y[%41, %42]
    }
  }
}
