// More keys than a tile need a longer cache, too: a require bounds one by the other. Advice names both.
// RUN: split-file --leading-lines %s %t
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: not %kiln check %t/untaken.mlir | FileCheck %s
// RIGHT: {{^}}CLEAN
// CHECK: incomplete: {{.*}}the condition was false in every case that was tried
// CHECK-NEXT: it depends on n; give --arg k=SHAPE --arg n=VALUE --arg m=2 with which
// CHECK: INCOMPLETE

//--- right.mlir
module @kv_len {
  kiln.func @main(%q: !kiln.tensor<16x16xf32> in, %k: !kiln.tensor<?x16xf32> in, %v: !kiln.tensor<?x16xf32> in, %o: !kiln.tensor<16x16xf32> out, %n: index) orchestration {
    %c1 = arith.constant 1 : index
    %0 = kiln.dim %k, 0
    %1 = kiln.dim %v, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = arith.cmpi sge, %n, %c1 : index
    %4 = arith.andi %2, %3 : i1
    %5 = kiln.dim %k, 0
    %6 = arith.cmpi sle, %n, %5 : index
    %7 = arith.andi %4, %6 : i1
    kiln.require %7, "s"
    %8 = kiln.incore "a" grid(1) {
      %cst = arith.constant 0xFF800000 : f32
      %cst_0 = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %block = tile.block_idx 0
      %9 = tile.load %q[0, 0] : !tile.tile<16x16xf32>
      %10 = tile.full %cst : !tile.tile<16x1xf32>
      %11 = tile.full %cst_0 : !tile.tile<16x1xf32>
      %12 = tile.full %cst_0 : !tile.tile<16x16xf32>
      %13:3 = scf.for %arg0 = %c0 to %n step %c16 iter_args(%arg1 = %10, %arg2 = %11, %arg3 = %12) -> (!tile.tile<16x1xf32>, !tile.tile<16x1xf32>, !tile.tile<16x16xf32>) {
        %15 = tile.load %k[%arg0, 0] : !tile.tile<16x16xf32>
        %16 = tile.matmul %9, %15 trans_b : !tile.tile<16x16xf32>
        %17 = arith.subi %n, %arg0 : index
        %18 = arith.addi %17, %c0 : index
        %19 = arith.minsi %c16, %18 : index
        %20 = tile.mask %16 valid(16, %19) pad(min) : !tile.tile<16x16xf32>
        %21 = tile.load %v[%arg0, 0] : !tile.tile<16x16xf32>
        %22 = tile.reduce max %20 axis(1) : !tile.tile<16x1xf32>
        %23 = tile.max %arg1, %22 : !tile.tile<16x1xf32>
        %24 = tile.sub %20, %23 : !tile.tile<16x16xf32>
        %25 = tile.exp %24 : !tile.tile<16x16xf32>
        %26 = tile.sub %arg1, %23 : !tile.tile<16x1xf32>
        %27 = tile.exp %26 : !tile.tile<16x1xf32>
        %28 = tile.mul %arg2, %27 : !tile.tile<16x1xf32>
        %29 = tile.reduce sum %25 axis(1) : !tile.tile<16x1xf32>
        %30 = tile.add %28, %29 : !tile.tile<16x1xf32>
        %31 = tile.mul %arg3, %27 : !tile.tile<16x16xf32>
        %32 = tile.matmul_acc %31, %25, %21 : !tile.tile<16x16xf32>
        scf.yield %23, %30, %32 : !tile.tile<16x1xf32>, !tile.tile<16x1xf32>, !tile.tile<16x16xf32>
      }
      %14 = tile.div %13#2, %13#1 : !tile.tile<16x16xf32>
      tile.store %14, %o[0, 0]
    }
  }
}

//--- untaken.mlir
kiln.func @copy(%k: !kiln.tensor<?x8xf32> in, %n: index, %m: index, %y: !kiln.tensor<8x8xf32> out) incore {
  %c8 = arith.constant 8 : index
  %t = tile.load %k[0, 0] : !tile.tile<8x8xf32>
  %s = arith.muli %n, %n : index
  %r = arith.remsi %s, %c8 : index
  %c3 = arith.constant 3 : index
  %is = arith.cmpi eq, %r, %c3 : index
  scf.if %is {
    tile.store %t, %y[0, 0]
  } else {
    tile.store %t, %y[0, 0]
  }
}
kiln.func @main(%k: !kiln.tensor<?x8xf32> in, %n: index, %m: index, %y: !kiln.tensor<8x8xf32> out) orchestration {
  %rows = kiln.dim %k, 0
  %fits = arith.cmpi sle, %n, %rows : index
  kiln.require %fits, "the cache has room"
  %t = kiln.submit @copy(%k, %n, %m, %y) grid(1)
}
