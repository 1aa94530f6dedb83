module @tp_decode_layer {
  kiln.func @main(%x: !kiln.tensor<?x64xbf16> in, %positions: !kiln.tensor<?xi32> in, %cosine: !kiln.tensor<?x8xf32> in, %sine: !kiln.tensor<?x8xf32> in, %norm1: !kiln.tensor<64xbf16> in, %q_proj: !kiln.tensor<?x32x64xbf16> in, %k_proj: !kiln.tensor<?x16x64xbf16> in, %v_proj: !kiln.tensor<?x16x64xbf16> in, %q_norm: !kiln.tensor<16xbf16> in, %k_norm: !kiln.tensor<16xbf16> in, %k_cache: !kiln.tensor<?x?x?x16xbf16> inout, %v_cache: !kiln.tensor<?x?x?x16xbf16> inout, %out_proj: !kiln.tensor<?x32x64xbf16> in, %norm2: !kiln.tensor<64xbf16> in, %gate: !kiln.tensor<?x64xbf16> in, %up: !kiln.tensor<?x64xbf16> in, %down: !kiln.tensor<64x?xbf16> in, %y: !kiln.tensor<?x64xbf16> out) orchestration {
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %k_proj, 0
    %2 = kiln.dim %gate, 0
    %3 = kiln.dim %positions, 0
    %4 = arith.cmpi eq, %3, %0 : index
    %5 = kiln.dim %y, 0
    %6 = arith.cmpi eq, %5, %0 : index
    %7 = arith.andi %4, %6 : i1
    %8 = kiln.dim %k_cache, 0
    %9 = arith.cmpi eq, %8, %0 : index
    %10 = arith.andi %7, %9 : i1
    kiln.require %10, "every argument is of the same batch"
    %11 = kiln.dim %q_proj, 0
    %12 = arith.cmpi eq, %11, %1 : index
    %13 = kiln.dim %v_proj, 0
    %14 = arith.cmpi eq, %13, %1 : index
    %15 = arith.andi %12, %14 : i1
    %16 = kiln.dim %k_cache, 1
    %17 = arith.cmpi eq, %16, %1 : index
    %18 = arith.andi %15, %17 : i1
    %19 = kiln.dim %out_proj, 0
    %20 = arith.cmpi eq, %19, %1 : index
    %21 = arith.andi %18, %20 : i1
    kiln.require %21, "projections and caches are of the same heads"
    %22 = kiln.dim %k_cache, 0
    %23 = kiln.dim %v_cache, 0
    %24 = arith.cmpi eq, %22, %23 : index
    %25 = kiln.dim %k_cache, 1
    %26 = kiln.dim %v_cache, 1
    %27 = arith.cmpi eq, %25, %26 : index
    %28 = arith.andi %24, %27 : i1
    %29 = kiln.dim %k_cache, 2
    %30 = kiln.dim %v_cache, 2
    %31 = arith.cmpi eq, %29, %30 : index
    %32 = arith.andi %28, %31 : i1
    kiln.require %32, "k_cache and v_cache have one shape"
    %33 = kiln.dim %cosine, 0
    %34 = kiln.dim %sine, 0
    %35 = arith.cmpi eq, %33, %34 : index
    kiln.require %35, "cosine and sine have one shape"
    %36 = kiln.dim %gate, 0
    %37 = kiln.dim %up, 0
    %38 = arith.cmpi eq, %36, %37 : index
    kiln.require %38, "gate and up have one shape"
    %39 = kiln.dim %down, 1
    %40 = arith.cmpi eq, %39, %2 : index
    kiln.require %40, "down has a column for each row of gate"
    %xn = kiln.alloc(%0) : !kiln.tensor<?x64xbf16>
    %41 = kiln.dim %x, 0
    %42 = arith.ceildivsi %41, %c16 : index
    %43 = kiln.incore "norm_1" grid(%42) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c32_1 = arith.constant 32 : index
      %cst_2 = arith.constant 1.562500e-02 : f32
      %cst_3 = arith.constant 9.99999997E-7 : f32
      %block = tile.block_idx 0
      %103 = arith.muli %block, %c16_0 : index
      %104 = tile.full %cst : !tile.tile<16x1xf32>
      %105 = scf.for %arg0 = %c0 to %c64 step %c32_1 iter_args(%arg1 = %104) -> (!tile.tile<16x1xf32>) {
        %109 = tile.load %x[%103, %arg0] : !tile.tile<16x32xbf16>
        %110 = tile.cast %109 : !tile.tile<16x32xf32>
        %111 = tile.load %x[%103, %arg0] : !tile.tile<16x32xbf16>
        %112 = tile.cast %111 : !tile.tile<16x32xf32>
        %113 = tile.mul %110, %112 : !tile.tile<16x32xf32>
        %114 = tile.reduce sum %113 axis(1) : !tile.tile<16x1xf32>
        %115 = tile.add %arg1, %114 : !tile.tile<16x1xf32>
        scf.yield %115 : !tile.tile<16x1xf32>
      }
      %106 = tile.mul %105, %cst_2 : !tile.tile<16x1xf32>
      %107 = tile.add %106, %cst_3 : !tile.tile<16x1xf32>
      %108 = tile.rsqrt %107 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %c64 step %c32_1 {
        %109 = tile.load %x[%103, %arg0] : !tile.tile<16x32xbf16>
        %110 = tile.cast %109 : !tile.tile<16x32xf32>
        %111 = tile.mul %110, %108 : !tile.tile<16x32xf32>
        %112 = tile.load %norm1[%arg0] : !tile.tile<1x32xbf16>
        %113 = tile.cast %112 : !tile.tile<1x32xf32>
        %114 = tile.mul %111, %113 : !tile.tile<16x32xf32>
        %115 = tile.cast %114 : !tile.tile<16x32xbf16>
        tile.store %115, %xn[%103, %arg0]
      }
    }
    %44 = arith.muli %1, %c32 : index
    %q_rows = kiln.alloc(%0, %44) : !kiln.tensor<?x?xf32>
    %45 = arith.muli %1, %c32 : index
    %46 = kiln.reshape %q_proj[%45, 64] : !kiln.tensor<?x64xbf16>
    %47 = kiln.dim %xn, 0
    %48 = arith.ceildivsi %47, %c16 : index
    %49 = kiln.dim %46, 0
    %50 = arith.ceildivsi %49, %c32 : index
    %51 = kiln.incore "q_rows" grid(%48, %50) {
      %c16_0 = arith.constant 16 : index
      %c32_1 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %103 = arith.muli %block, %c16_0 : index
      %104 = arith.muli %block_2, %c32_1 : index
      %105 = tile.full %cst : !tile.tile<16x32xf32>
      %106 = scf.for %arg0 = %c0 to %c64 step %c32_1 iter_args(%arg1 = %105) -> (!tile.tile<16x32xf32>) {
        %107 = tile.load %xn[%103, %arg0] : !tile.tile<16x32xbf16>
        %108 = tile.load %46[%104, %arg0] : !tile.tile<32x32xbf16>
        %109 = tile.matmul_acc %arg1, %107, %108 trans_b : !tile.tile<16x32xf32>
        scf.yield %109 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      tile.store %106, %q_rows[%103, %104]
    }
    %52 = arith.muli %1, %c2 : index
    %53 = kiln.reshape %q_rows[%0, %52, 16] : !kiln.tensor<?x?x16xf32>
    %54 = arith.muli %1, %c16 : index
    %k_rows = kiln.alloc(%0, %54) : !kiln.tensor<?x?xf32>
    %55 = arith.muli %1, %c16 : index
    %56 = kiln.reshape %k_proj[%55, 64] : !kiln.tensor<?x64xbf16>
    %57 = kiln.dim %xn, 0
    %58 = arith.ceildivsi %57, %c16 : index
    %59 = kiln.dim %56, 0
    %60 = arith.ceildivsi %59, %c32 : index
    %61 = kiln.incore "k_rows" grid(%58, %60) {
      %c16_0 = arith.constant 16 : index
      %c32_1 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %103 = arith.muli %block, %c16_0 : index
      %104 = arith.muli %block_2, %c32_1 : index
      %105 = tile.full %cst : !tile.tile<16x32xf32>
      %106 = scf.for %arg0 = %c0 to %c64 step %c32_1 iter_args(%arg1 = %105) -> (!tile.tile<16x32xf32>) {
        %107 = tile.load %xn[%103, %arg0] : !tile.tile<16x32xbf16>
        %108 = tile.load %56[%104, %arg0] : !tile.tile<32x32xbf16>
        %109 = tile.matmul_acc %arg1, %107, %108 trans_b : !tile.tile<16x32xf32>
        scf.yield %109 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      tile.store %106, %k_rows[%103, %104]
    }
    %62 = arith.muli %1, %c1 : index
    %63 = kiln.reshape %k_rows[%0, %62, 16] : !kiln.tensor<?x?x16xf32>
    %64 = arith.muli %1, %c16 : index
    %v_rows = kiln.alloc(%0, %64) : !kiln.tensor<?x?xf32>
    %65 = arith.muli %1, %c16 : index
    %66 = kiln.reshape %v_proj[%65, 64] : !kiln.tensor<?x64xbf16>
    %67 = kiln.dim %xn, 0
    %68 = arith.ceildivsi %67, %c16 : index
    %69 = kiln.dim %66, 0
    %70 = arith.ceildivsi %69, %c32 : index
    %71 = kiln.incore "v_rows" grid(%68, %70) {
      %c16_0 = arith.constant 16 : index
      %c32_1 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %103 = arith.muli %block, %c16_0 : index
      %104 = arith.muli %block_2, %c32_1 : index
      %105 = tile.full %cst : !tile.tile<16x32xf32>
      %106 = scf.for %arg0 = %c0 to %c64 step %c32_1 iter_args(%arg1 = %105) -> (!tile.tile<16x32xf32>) {
        %107 = tile.load %xn[%103, %arg0] : !tile.tile<16x32xbf16>
        %108 = tile.load %66[%104, %arg0] : !tile.tile<32x32xbf16>
        %109 = tile.matmul_acc %arg1, %107, %108 trans_b : !tile.tile<16x32xf32>
        scf.yield %109 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      tile.store %106, %v_rows[%103, %104]
    }
    %72 = arith.muli %1, %c1 : index
    %73 = kiln.reshape %v_rows[%0, %72, 16] : !kiln.tensor<?x?x16xf32>
    %74 = arith.muli %1, %c2 : index
    %q = kiln.alloc(%0, %74) : !kiln.tensor<?x?x16xbf16>
    %75 = arith.muli %1, %c2 : index
    %mixed = kiln.alloc(%0, %75) : !kiln.tensor<?x?x16xbf16>
    %76 = kiln.incore "rotate" grid(%0, %1) {
      %c2_0 = arith.constant 2 : index
      %cst = arith.constant 1.600000e+01 : f32
      %cst_1 = arith.constant 9.99999997E-7 : f32
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %103 = kiln.read %positions[%block] : i32
      %104 = arith.index_cast %103 : i32 to index
      %105 = tile.load %cosine[%104, 0] : !tile.tile<1x8xf32>
      %106 = tile.load %sine[%104, 0] : !tile.tile<1x8xf32>
      %107 = arith.muli %block_2, %c2_0 : index
      %108 = tile.load %53[%block, %107, 0] : !tile.tile<2x16xf32>
      %109 = tile.load %q_norm[0] : !tile.tile<1x16xbf16>
      %110 = tile.cast %109 : !tile.tile<1x16xf32>
      %111 = tile.mul %108, %108 : !tile.tile<2x16xf32>
      %112 = tile.reduce sum %111 axis(1) : !tile.tile<2x1xf32>
      %113 = tile.div %112, %cst : !tile.tile<2x1xf32>
      %114 = tile.add %113, %cst_1 : !tile.tile<2x1xf32>
      %115 = tile.rsqrt %114 : !tile.tile<2x1xf32>
      %116 = tile.mul %108, %115 : !tile.tile<2x16xf32>
      %117 = tile.mul %116, %110 : !tile.tile<2x16xf32>
      %118 = tile.extract %117[0, 0] : !tile.tile<2x8xf32>
      %119 = tile.extract %117[0, 8] : !tile.tile<2x8xf32>
      %120 = tile.mul %118, %105 : !tile.tile<2x8xf32>
      %121 = tile.mul %119, %106 : !tile.tile<2x8xf32>
      %122 = tile.sub %120, %121 : !tile.tile<2x8xf32>
      %123 = tile.mul %119, %105 : !tile.tile<2x8xf32>
      %124 = tile.mul %118, %106 : !tile.tile<2x8xf32>
      %125 = tile.add %123, %124 : !tile.tile<2x8xf32>
      %126 = tile.concat %122, %125 axis(1) : !tile.tile<2x16xf32>
      %127 = tile.cast %126 : !tile.tile<2x16xbf16>
      %128 = arith.muli %block_2, %c2_0 : index
      tile.store %127, %q[%block, %128, 0]
      %129 = tile.load %63[%block, %block_2, 0] : !tile.tile<1x16xf32>
      %130 = tile.load %k_norm[0] : !tile.tile<1x16xbf16>
      %131 = tile.cast %130 : !tile.tile<1x16xf32>
      %132 = tile.mul %129, %129 : !tile.tile<1x16xf32>
      %133 = tile.reduce sum %132 axis(1) : !tile.tile<1x1xf32>
      %134 = tile.div %133, %cst : !tile.tile<1x1xf32>
      %135 = tile.add %134, %cst_1 : !tile.tile<1x1xf32>
      %136 = tile.rsqrt %135 : !tile.tile<1x1xf32>
      %137 = tile.mul %129, %136 : !tile.tile<1x16xf32>
      %138 = tile.mul %137, %131 : !tile.tile<1x16xf32>
      %139 = tile.extract %138[0, 0] : !tile.tile<1x8xf32>
      %140 = tile.extract %138[0, 8] : !tile.tile<1x8xf32>
      %141 = tile.mul %139, %105 : !tile.tile<1x8xf32>
      %142 = tile.mul %140, %106 : !tile.tile<1x8xf32>
      %143 = tile.sub %141, %142 : !tile.tile<1x8xf32>
      %144 = tile.mul %140, %105 : !tile.tile<1x8xf32>
      %145 = tile.mul %139, %106 : !tile.tile<1x8xf32>
      %146 = tile.add %144, %145 : !tile.tile<1x8xf32>
      %147 = tile.concat %143, %146 axis(1) : !tile.tile<1x16xf32>
      %148 = tile.cast %147 : !tile.tile<1x16xbf16>
      tile.store %148, %k_cache[%block, %block_2, %104, 0]
      %149 = tile.load %73[%block, %block_2, 0] : !tile.tile<1x16xf32>
      %150 = tile.cast %149 : !tile.tile<1x16xbf16>
      tile.store %150, %v_cache[%block, %block_2, %104, 0]
    }
    %77 = kiln.incore "attention" grid(%0, %1) {
      %c1_0 = arith.constant 1 : index
      %c2_1 = arith.constant 2 : index
      %cst = arith.constant -9.99999968E+37 : f32
      %cst_2 = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c32_3 = arith.constant 32 : index
      %cst_4 = arith.constant 2.500000e-01 : f32
      %cst_5 = arith.constant 5.500000e+00 : f32
      %block = tile.block_idx 0
      %block_6 = tile.block_idx 1
      %103 = kiln.read %positions[%block] : i32
      %104 = arith.index_cast %103 : i32 to index
      %105 = arith.addi %104, %c1_0 : index
      %106 = arith.muli %block_6, %c2_1 : index
      %107 = tile.load %q[%block, %106, 0] : !tile.tile<2x16xbf16>
      %108 = tile.full %cst : !tile.tile<2x1xf32>
      %109 = tile.full %cst_2 : !tile.tile<2x1xf32>
      %110 = tile.full %cst_2 : !tile.tile<2x16xf32>
      %111:3 = scf.for %arg0 = %c0 to %105 step %c32_3 iter_args(%arg1 = %108, %arg2 = %109, %arg3 = %110) -> (!tile.tile<2x1xf32>, !tile.tile<2x1xf32>, !tile.tile<2x16xf32>) {
        %115 = arith.subi %105, %arg0 : index
        %116 = tile.load %k_cache[%block, %block_6, %arg0, 0] valid(%115, 16) : !tile.tile<32x16xbf16>
        %117 = tile.load %v_cache[%block, %block_6, %arg0, 0] valid(%115, 16) : !tile.tile<32x16xbf16>
        %118 = tile.matmul %107, %116 trans_b : !tile.tile<2x32xf32>
        %119 = tile.mul %118, %cst_4 : !tile.tile<2x32xf32>
        %120 = arith.subi %105, %arg0 : index
        %121 = tile.mask %119 valid(2, %120) pad(min) : !tile.tile<2x32xf32>
        %122 = tile.reduce max %121 axis(1) : !tile.tile<2x1xf32>
        %123 = tile.add %arg1, %cst_5 : !tile.tile<2x1xf32>
        %124 = tile.cmp gt %122, %123 : !tile.tile<2x1xi1>
        %125 = tile.select %124, %122, %arg1 : !tile.tile<2x1xf32>
        %126 = tile.sub %121, %125 : !tile.tile<2x32xf32>
        %127 = tile.exp %126 : !tile.tile<2x32xf32>
        %128 = tile.sub %arg1, %125 : !tile.tile<2x1xf32>
        %129 = tile.exp %128 : !tile.tile<2x1xf32>
        %130 = tile.cast %127 : !tile.tile<2x32xbf16>
        %131 = tile.mul %arg2, %129 : !tile.tile<2x1xf32>
        %132 = tile.reduce sum %127 axis(1) : !tile.tile<2x1xf32>
        %133 = tile.add %131, %132 : !tile.tile<2x1xf32>
        %134 = tile.mul %arg3, %129 : !tile.tile<2x16xf32>
        %135 = tile.matmul_acc %134, %130, %117 : !tile.tile<2x16xf32>
        scf.yield %125, %133, %135 : !tile.tile<2x1xf32>, !tile.tile<2x1xf32>, !tile.tile<2x16xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
      %112 = tile.div %111#2, %111#1 : !tile.tile<2x16xf32>
      %113 = tile.cast %112 : !tile.tile<2x16xbf16>
      %114 = arith.muli %block_6, %c2_1 : index
      tile.store %113, %mixed[%block, %114, 0]
    }
    %of_heads = kiln.alloc(%0) : !kiln.tensor<?x64xf32>
    %h1 = kiln.alloc(%0) : !kiln.tensor<?x64xf32>
    %hn = kiln.alloc(%0) : !kiln.tensor<?x64xbf16>
    %act = kiln.alloc(%0, %2) : !kiln.tensor<?x?xbf16>
    %of_columns = kiln.alloc(%0) : !kiln.tensor<?x64xf32>
    %78 = arith.muli %1, %c32 : index
    %79 = kiln.reshape %mixed[%0, %78] : !kiln.tensor<?x?xbf16>
    %80 = arith.muli %1, %c32 : index
    %81 = kiln.reshape %out_proj[%80, 64] : !kiln.tensor<?x64xbf16>
    %82 = arith.ceildivsi %0, %c16 : index
    %83 = kiln.incore "out_proj" grid(%82, 2) {
      %c16_0 = arith.constant 16 : index
      %c32_1 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %103 = arith.muli %block, %c16_0 : index
      %104 = arith.muli %block_2, %c32_1 : index
      %105 = kiln.dim %79, 1
      %106 = tile.full %cst : !tile.tile<16x32xf32>
      %107 = scf.for %arg0 = %c0 to %105 step %c32_1 iter_args(%arg1 = %106) -> (!tile.tile<16x32xf32>) {
        %108 = tile.load %79[%103, %arg0] : !tile.tile<16x32xbf16>
        %109 = tile.load %81[%arg0, %104] : !tile.tile<32x32xbf16>
        %110 = tile.matmul_acc %arg1, %108, %109 : !tile.tile<16x32xf32>
        scf.yield %110 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      tile.store %107, %of_heads[%103, %104]
    }
    %84 = kiln.all_reduce %of_heads, sum fixed_order
    %85 = kiln.dim %x, 0
    %86 = arith.ceildivsi %85, %c16 : index
    %87 = kiln.incore "residual_1" grid(%86, 2) {
      %c16_0 = arith.constant 16 : index
      %c32_1 = arith.constant 32 : index
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %103 = arith.muli %block, %c16_0 : index
      %104 = arith.muli %block_2, %c32_1 : index
      %105 = tile.load %x[%103, %104] : !tile.tile<16x32xbf16>
      %106 = tile.cast %105 : !tile.tile<16x32xf32>
      %107 = tile.load %of_heads[%103, %104] : !tile.tile<16x32xf32>
      %108 = tile.add %106, %107 : !tile.tile<16x32xf32>
      tile.store %108, %h1[%103, %104]
    }
    %88 = kiln.dim %h1, 0
    %89 = arith.ceildivsi %88, %c16 : index
    %90 = kiln.incore "norm_2" grid(%89) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c32_1 = arith.constant 32 : index
      %cst_2 = arith.constant 1.562500e-02 : f32
      %cst_3 = arith.constant 9.99999997E-7 : f32
      %block = tile.block_idx 0
      %103 = arith.muli %block, %c16_0 : index
      %104 = tile.full %cst : !tile.tile<16x1xf32>
      %105 = scf.for %arg0 = %c0 to %c64 step %c32_1 iter_args(%arg1 = %104) -> (!tile.tile<16x1xf32>) {
        %109 = tile.load %h1[%103, %arg0] : !tile.tile<16x32xf32>
        %110 = tile.load %h1[%103, %arg0] : !tile.tile<16x32xf32>
        %111 = tile.mul %109, %110 : !tile.tile<16x32xf32>
        %112 = tile.reduce sum %111 axis(1) : !tile.tile<16x1xf32>
        %113 = tile.add %arg1, %112 : !tile.tile<16x1xf32>
        scf.yield %113 : !tile.tile<16x1xf32>
      }
      %106 = tile.mul %105, %cst_2 : !tile.tile<16x1xf32>
      %107 = tile.add %106, %cst_3 : !tile.tile<16x1xf32>
      %108 = tile.rsqrt %107 : !tile.tile<16x1xf32>
      scf.for %arg0 = %c0 to %c64 step %c32_1 {
        %109 = tile.load %h1[%103, %arg0] : !tile.tile<16x32xf32>
        %110 = tile.mul %109, %108 : !tile.tile<16x32xf32>
        %111 = tile.load %norm2[%arg0] : !tile.tile<1x32xbf16>
        %112 = tile.cast %111 : !tile.tile<1x32xf32>
        %113 = tile.mul %110, %112 : !tile.tile<16x32xf32>
        %114 = tile.cast %113 : !tile.tile<16x32xbf16>
        tile.store %114, %hn[%103, %arg0]
      }
    }
    %91 = kiln.dim %hn, 0
    %92 = arith.ceildivsi %91, %c16 : index
    %93 = kiln.dim %gate, 0
    %94 = arith.ceildivsi %93, %c32 : index
    %95 = kiln.incore "gate_up" grid(%92, %94) {
      %c16_0 = arith.constant 16 : index
      %c32_1 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %103 = arith.muli %block, %c16_0 : index
      %104 = arith.muli %block_2, %c32_1 : index
      %105 = tile.full %cst : !tile.tile<16x32xf32>
      %106 = scf.for %arg0 = %c0 to %c64 step %c32_1 iter_args(%arg1 = %105) -> (!tile.tile<16x32xf32>) {
        %113 = tile.load %hn[%103, %arg0] : !tile.tile<16x32xbf16>
        %114 = tile.load %gate[%104, %arg0] : !tile.tile<32x32xbf16>
        %115 = tile.matmul_acc %arg1, %113, %114 trans_b : !tile.tile<16x32xf32>
        scf.yield %115 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %107 = tile.sigmoid %106 : !tile.tile<16x32xf32>
      %108 = tile.mul %106, %107 : !tile.tile<16x32xf32>
      %109 = tile.full %cst : !tile.tile<16x32xf32>
      %110 = scf.for %arg0 = %c0 to %c64 step %c32_1 iter_args(%arg1 = %109) -> (!tile.tile<16x32xf32>) {
        %113 = tile.load %hn[%103, %arg0] : !tile.tile<16x32xbf16>
        %114 = tile.load %up[%104, %arg0] : !tile.tile<32x32xbf16>
        %115 = tile.matmul_acc %arg1, %113, %114 trans_b : !tile.tile<16x32xf32>
        scf.yield %115 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      %111 = tile.mul %108, %110 : !tile.tile<16x32xf32>
      %112 = tile.cast %111 : !tile.tile<16x32xbf16>
      tile.store %112, %act[%103, %104]
    }
    %96 = kiln.dim %act, 0
    %97 = arith.ceildivsi %96, %c16 : index
    %98 = kiln.incore "down_proj" grid(%97, 2) {
      %c16_0 = arith.constant 16 : index
      %c32_1 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %103 = arith.muli %block, %c16_0 : index
      %104 = arith.muli %block_2, %c32_1 : index
      %105 = kiln.dim %act, 1
      %106 = tile.full %cst : !tile.tile<16x32xf32>
      %107 = scf.for %arg0 = %c0 to %105 step %c32_1 iter_args(%arg1 = %106) -> (!tile.tile<16x32xf32>) {
        %108 = tile.load %act[%103, %arg0] : !tile.tile<16x32xbf16>
        %109 = tile.load %down[%104, %arg0] : !tile.tile<32x32xbf16>
        %110 = tile.matmul_acc %arg1, %108, %109 trans_b : !tile.tile<16x32xf32>
        scf.yield %110 : !tile.tile<16x32xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
      tile.store %107, %of_columns[%103, %104]
    }
    %99 = kiln.all_reduce %of_columns, sum fixed_order
    %100 = kiln.dim %h1, 0
    %101 = arith.ceildivsi %100, %c16 : index
    %102 = kiln.incore "residual_2" grid(%101, 2) {
      %c16_0 = arith.constant 16 : index
      %c32_1 = arith.constant 32 : index
      %block = tile.block_idx 0
      %block_2 = tile.block_idx 1
      %103 = arith.muli %block, %c16_0 : index
      %104 = arith.muli %block_2, %c32_1 : index
      %105 = tile.load %h1[%103, %104] : !tile.tile<16x32xf32>
      %106 = tile.load %of_columns[%103, %104] : !tile.tile<16x32xf32>
      %107 = tile.add %105, %106 : !tile.tile<16x32xf32>
      %108 = tile.cast %107 : !tile.tile<16x32xbf16>
      tile.store %108, %y[%103, %104]
    }
  }
}
