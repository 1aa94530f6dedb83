module @row_statistics {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %best: !kiln.tensor<?x?xf32> out, %column: !kiln.tensor<?x?xi32> out, %mean: !kiln.tensor<?x?xf32> out, %variance: !kiln.tensor<?x?xf32> out, %logsumexp: !kiln.tensor<?x?xf32> out) orchestration {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %best, 0
    %1 = kiln.dim %x, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %best, 1
    %4 = arith.cmpi eq, %3, %c1 : index
    %5 = arith.andi %2, %4 : i1
    kiln.require %5, "a result has one column and the rows of x"
    %6 = kiln.dim %column, 0
    %7 = kiln.dim %x, 0
    %8 = arith.cmpi eq, %6, %7 : index
    %9 = kiln.dim %column, 1
    %10 = arith.cmpi eq, %9, %c1 : index
    %11 = arith.andi %8, %10 : i1
    kiln.require %11, "a result has one column and the rows of x"
    %12 = kiln.dim %mean, 0
    %13 = kiln.dim %x, 0
    %14 = arith.cmpi eq, %12, %13 : index
    %15 = kiln.dim %mean, 1
    %16 = arith.cmpi eq, %15, %c1 : index
    %17 = arith.andi %14, %16 : i1
    kiln.require %17, "a result has one column and the rows of x"
    %18 = kiln.dim %variance, 0
    %19 = kiln.dim %x, 0
    %20 = arith.cmpi eq, %18, %19 : index
    %21 = kiln.dim %variance, 1
    %22 = arith.cmpi eq, %21, %c1 : index
    %23 = arith.andi %20, %22 : i1
    kiln.require %23, "a result has one column and the rows of x"
    %24 = kiln.dim %logsumexp, 0
    %25 = kiln.dim %x, 0
    %26 = arith.cmpi eq, %24, %25 : index
    %27 = kiln.dim %logsumexp, 1
    %28 = arith.cmpi eq, %27, %c1 : index
    %29 = arith.andi %26, %28 : i1
    kiln.require %29, "a result has one column and the rows of x"
    %30 = kiln.dim %x, 1
    %31 = arith.cmpi sgt, %30, %c0 : index
    kiln.require %31, "x has columns"
    %32 = kiln.dim %x, 0
    %33 = arith.ceildivsi %32, %c16 : index
    %34 = kiln.incore "row_statistics" grid(%33) {
      %c16_0 = arith.constant 16 : index
      %cst = arith.constant 0.000000e+00 : f32
      %cst_1 = arith.constant -1.000000e+30 : f32
      %c0_i32 = arith.constant 0 : i32
      %c0_2 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %35 = arith.muli %block, %c16_0 : index
      %36 = tile.full %cst : !tile.tile<16x1xf32>
      %37 = tile.full %cst_1 : !tile.tile<16x1xf32>
      %38 = kiln.dim %x, 1
      %39 = tile.full %c0_i32 : !tile.tile<16x1xi32>
      %40:7 = scf.for %arg0 = %c0_2 to %38 step %c64 iter_args(%arg1 = %37, %arg2 = %39, %arg3 = %36, %arg4 = %36, %arg5 = %36, %arg6 = %37, %arg7 = %36) -> (!tile.tile<16x1xf32>, !tile.tile<16x1xi32>, !tile.tile<16x1xf32>, !tile.tile<16x1xf32>, !tile.tile<16x1xf32>, !tile.tile<16x1xf32>, !tile.tile<16x1xf32>) {
        %44 = tile.load %x[%35, %arg0] pad(min) : !tile.tile<16x64xf32>
        %45 = tile.max %44, %cst_1 : !tile.tile<16x64xf32>
        %46 = tile.iota axis(1) : !tile.tile<16x64xi32>
        %47 = arith.index_cast %arg0 : index to i32
        %48 = tile.add %46, %47 : !tile.tile<16x64xi32>
        %49 = kiln.dim %x, 1
        %50 = arith.index_cast %49 : index to i32
        %51 = tile.cmp lt %48, %50 : !tile.tile<16x64xi1>
        %52 = tile.cast %51 : !tile.tile<16x64xf32>
        %53:2 = tile.reduce_with %45, %48 axis(1) start(%arg1, %arg2) {
        ^bb0(%arg8: !tile.tile<16x1xf32>, %arg9: !tile.tile<16x1xi32>, %arg10: !tile.tile<16x1xf32>, %arg11: !tile.tile<16x1xi32>):
          %58 = tile.max %arg8, %arg10 : !tile.tile<16x1xf32>
          %59 = tile.cmp gt %arg10, %arg8 : !tile.tile<16x1xi1>
          %60 = tile.select %59, %arg11, %arg9 : !tile.tile<16x1xi32>
          tile.yield %58, %60
        } : !tile.tile<16x1xf32>, !tile.tile<16x1xi32>
        %54 = tile.mul %45, %52 : !tile.tile<16x64xf32>
        %55 = tile.full %cst : !tile.tile<16x64xf32>
        %56:3 = tile.reduce_with %52, %54, %55 axis(1) start(%arg3, %arg4, %arg5) {
        ^bb0(%arg8: !tile.tile<16x1xf32>, %arg9: !tile.tile<16x1xf32>, %arg10: !tile.tile<16x1xf32>, %arg11: !tile.tile<16x1xf32>, %arg12: !tile.tile<16x1xf32>, %arg13: !tile.tile<16x1xf32>):
          %cst_3 = arith.constant 1.000000e+00 : f32
          %58 = tile.add %arg8, %arg11 : !tile.tile<16x1xf32>
          %59 = tile.sub %arg12, %arg9 : !tile.tile<16x1xf32>
          %60 = tile.max %58, %cst_3 : !tile.tile<16x1xf32>
          %61 = tile.div %arg11, %60 : !tile.tile<16x1xf32>
          %62 = tile.mul %59, %61 : !tile.tile<16x1xf32>
          %63 = tile.add %arg9, %62 : !tile.tile<16x1xf32>
          %64 = tile.add %arg10, %arg13 : !tile.tile<16x1xf32>
          %65 = tile.mul %59, %62 : !tile.tile<16x1xf32>
          %66 = tile.mul %65, %arg8 : !tile.tile<16x1xf32>
          %67 = tile.add %64, %66 : !tile.tile<16x1xf32>
          tile.yield %58, %63, %67
        } : !tile.tile<16x1xf32>, !tile.tile<16x1xf32>, !tile.tile<16x1xf32>
        %57:2 = tile.reduce_with %45, %52 axis(1) start(%arg6, %arg7) {
        ^bb0(%arg8: !tile.tile<16x1xf32>, %arg9: !tile.tile<16x1xf32>, %arg10: !tile.tile<16x1xf32>, %arg11: !tile.tile<16x1xf32>):
          %58 = tile.max %arg8, %arg10 : !tile.tile<16x1xf32>
          %59 = tile.sub %arg8, %58 : !tile.tile<16x1xf32>
          %60 = tile.exp %59 : !tile.tile<16x1xf32>
          %61 = tile.mul %arg9, %60 : !tile.tile<16x1xf32>
          %62 = tile.sub %arg10, %58 : !tile.tile<16x1xf32>
          %63 = tile.exp %62 : !tile.tile<16x1xf32>
          %64 = tile.mul %arg11, %63 : !tile.tile<16x1xf32>
          %65 = tile.add %61, %64 : !tile.tile<16x1xf32>
          tile.yield %58, %65
        } : !tile.tile<16x1xf32>, !tile.tile<16x1xf32>
        scf.yield %53#0, %53#1, %56#0, %56#1, %56#2, %57#0, %57#1 : !tile.tile<16x1xf32>, !tile.tile<16x1xi32>, !tile.tile<16x1xf32>, !tile.tile<16x1xf32>, !tile.tile<16x1xf32>, !tile.tile<16x1xf32>, !tile.tile<16x1xf32>
      }
      tile.store %40#0, %best[%35, 0]
      tile.store %40#1, %column[%35, 0]
      tile.store %40#3, %mean[%35, 0]
      %41 = tile.div %40#4, %40#2 : !tile.tile<16x1xf32>
      tile.store %41, %variance[%35, 0]
      %42 = tile.log %40#6 : !tile.tile<16x1xf32>
      %43 = tile.add %40#5, %42 : !tile.tile<16x1xf32>
      tile.store %43, %logsumexp[%35, 0]
    }
  }
}
