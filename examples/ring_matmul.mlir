module @ring_matmul {
  kiln.func @multiply(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> out) incore {
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %block = tile.block_idx 0
    %0 = arith.muli %block, %c32 : index
    %block_0 = tile.block_idx 1
    %1 = arith.muli %block_0, %c64 : index
    %2 = kiln.dim %a, 1
    %3 = tile.full %cst : !tile.tile<32x64xf32>
    %4 = scf.for %arg0 = %c0 to %2 step %c64 iter_args(%arg1 = %3) -> (!tile.tile<32x64xf32>) {
      %5 = tile.load %a[%0, %arg0] : !tile.tile<32x64xf32>
      %6 = tile.load %b[%arg0, %1] : !tile.tile<64x64xf32>
      %7 = tile.matmul_acc %arg1, %5, %6 : !tile.tile<32x64xf32>
      scf.yield %7 : !tile.tile<32x64xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
    tile.store %4, %c[%0, %1]
  }
  kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> out) orchestration {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %a, 0
    %1 = kiln.dim %a, 1
    %2 = kiln.dim %b, 1
    %3 = kiln.dim %c, 0
    %4 = kiln.dim %b, 0
    %5 = arith.cmpi eq, %1, %4 : index
    kiln.require %5, "a has as many columns as b has rows"
    %6 = kiln.dim %c, 1
    %7 = arith.cmpi eq, %2, %6 : index
    kiln.require %7, "b has as many columns as c"
    %8 = kiln.ranks
    %9 = kiln.rank
    %10 = arith.addi %9, %c1 : index
    %11 = arith.remsi %10, %8 : index
    %12 = arith.subi %9, %c1 : index
    %13 = arith.addi %12, %8 : index
    %14 = arith.remsi %13, %8 : index
    %15 = arith.subi %8, %c1 : index
    %16 = arith.muli %15, %0 : index
    %blocks = kiln.alloc(%16, %1) : !kiln.tensor<?x?xf32>
    %17 = arith.cmpi sgt, %8, %c1 : index
    scf.if %17 {
      %29 = kiln.send %a to %11
      %30 = arith.muli %c0, %0 : index
      %31 = kiln.slice %blocks[%30, 0] [%0, %1] : !kiln.tensor<?x?xf32>
      %32 = kiln.recv %31 from %14
    }
    %18 = arith.subi %9, %c0 : index
    %19 = arith.addi %18, %8 : index
    %20 = arith.remsi %19, %8 : index
    %21 = arith.muli %20, %0 : index
    %22 = arith.minsi %21, %3 : index
    %23 = arith.subi %3, %22 : index
    %24 = arith.minsi %0, %23 : index
    %25 = kiln.slice %c[%22, 0] [%24, %2] : !kiln.tensor<?x?xf32>
    %26 = arith.ceildivsi %24, %c32 : index
    %27 = arith.ceildivsi %2, %c64 : index
    %28 = kiln.submit @multiply(%a, %b, %25) grid(%26, %27)
    scf.for %arg0 = %c1 to %8 step %c1 {
      %29 = arith.addi %arg0, %c1 : index
      %30 = arith.cmpi slt, %29, %8 : index
      scf.if %30 {
        %45 = arith.subi %arg0, %c1 : index
        %46 = arith.muli %45, %0 : index
        %47 = kiln.slice %blocks[%46, 0] [%0, %1] : !kiln.tensor<?x?xf32>
        %48 = kiln.send %47 to %11
        %49 = arith.addi %arg0, %c1 : index
        %50 = arith.subi %49, %c1 : index
        %51 = arith.muli %50, %0 : index
        %52 = kiln.slice %blocks[%51, 0] [%0, %1] : !kiln.tensor<?x?xf32>
        %53 = kiln.recv %52 from %14
      }
      %31 = arith.subi %arg0, %c1 : index
      %32 = arith.muli %31, %0 : index
      %33 = kiln.slice %blocks[%32, 0] [%0, %1] : !kiln.tensor<?x?xf32>
      %34 = arith.subi %9, %arg0 : index
      %35 = arith.addi %34, %8 : index
      %36 = arith.remsi %35, %8 : index
      %37 = arith.muli %36, %0 : index
      %38 = arith.minsi %37, %3 : index
      %39 = arith.subi %3, %38 : index
      %40 = arith.minsi %0, %39 : index
      %41 = kiln.slice %c[%38, 0] [%40, %2] : !kiln.tensor<?x?xf32>
      %42 = arith.ceildivsi %40, %c32 : index
      %43 = arith.ceildivsi %2, %c64 : index
      %44 = kiln.submit @multiply(%33, %b, %41) grid(%42, %43)
    }
  }
}
