module @recurrence {
  kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %h: !kiln.tensor<?x?xf32> out) orchestration {
    %c32 = arith.constant 32 : index
    %0 = kiln.dim %a, 0
    %1 = kiln.dim %b, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %a, 1
    %4 = kiln.dim %b, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "b has the shape of a"
    %7 = kiln.dim %a, 0
    %8 = kiln.dim %h, 0
    %9 = arith.cmpi eq, %7, %8 : index
    %10 = kiln.dim %a, 1
    %11 = kiln.dim %h, 1
    %12 = arith.cmpi eq, %10, %11 : index
    %13 = arith.andi %9, %12 : i1
    kiln.require %13, "h has the shape of a"
    %14 = kiln.dim %a, 1
    %15 = arith.ceildivsi %14, %c32 : index
    %16 = kiln.incore "recurrence" grid(%15) {
      %c32_0 = arith.constant 32 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %cst_1 = arith.constant 1.000000e+00 : f32
      %block = tile.block_idx 0
      %17 = arith.muli %block, %c32_0 : index
      %18 = kiln.dim %a, 0
      %19 = tile.full %cst : !tile.tile<1x32xf32>
      %20 = scf.for %arg0 = %c0 to %18 step %c32_0 iter_args(%arg1 = %19) -> (!tile.tile<1x32xf32>) {
        %21 = tile.load %a[%arg0, %17] : !tile.tile<32x32xf32>
        %22 = tile.load %b[%arg0, %17] : !tile.tile<32x32xf32>
        %23:2 = tile.scan_with %21, %22 axis(0) start(%cst_1, %arg1) {
        ^bb0(%arg2: !tile.tile<1x32xf32>, %arg3: !tile.tile<1x32xf32>, %arg4: !tile.tile<1x32xf32>, %arg5: !tile.tile<1x32xf32>):
          %25 = tile.mul %arg2, %arg4 : !tile.tile<1x32xf32>
          %26 = tile.mul %arg3, %arg4 : !tile.tile<1x32xf32>
          %27 = tile.add %26, %arg5 : !tile.tile<1x32xf32>
          tile.yield %25, %27
        } : !tile.tile<32x32xf32>, !tile.tile<32x32xf32>
        tile.store %23#1, %h[%arg0, %17]
        %24 = tile.extract %23#1[31, 0] : !tile.tile<1x32xf32>
        scf.yield %24 : !tile.tile<1x32xf32>
      }
    }
  }
}
