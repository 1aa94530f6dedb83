module @ring_matmul {
  kiln.func @copy(%source: !kiln.tensor<?x?xf32> in, %to: !kiln.tensor<?x?xf32> out) incore {
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %block = tile.block_idx 0
    %0 = arith.muli %block, %c32 : index
    %block_0 = tile.block_idx 1
    %1 = arith.muli %block_0, %c64 : index
    %2 = tile.load %source[%0, %1] : !tile.tile<32x64xf32>
    tile.store %2, %to[%0, %1]
  }
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
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
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
    %10 = arith.muli %8, %0 : index
    %blocks = kiln.alloc(%10, %1) : !kiln.tensor<?x?xf32>
    %11 = arith.muli %9, %0 : index
    %12 = kiln.slice %blocks[%11, 0] [%0, %1] : !kiln.tensor<?x?xf32>
    %13 = arith.ceildivsi %0, %c32 : index
    %14 = arith.ceildivsi %1, %c64 : index
    %15 = kiln.submit @copy(%a, %12) grid(%13, %14)
    scf.for %arg0 = %c0 to %8 step %c1 {
      %16 = arith.subi %9, %arg0 : index
      %17 = arith.addi %16, %8 : index
      %18 = arith.remsi %17, %8 : index
      %19 = arith.addi %arg0, %c1 : index
      %20 = arith.cmpi slt, %19, %8 : index
      scf.if %20 {
        %31 = arith.muli %18, %0 : index
        %32 = kiln.slice %blocks[%31, 0] [%0, %1] : !kiln.tensor<?x?xf32>
        %33 = arith.addi %9, %c1 : index
        %34 = arith.remsi %33, %8 : index
        %35 = kiln.send %32 to %34
        %36 = arith.subi %18, %c1 : index
        %37 = arith.addi %36, %8 : index
        %38 = arith.remsi %37, %8 : index
        %39 = arith.muli %38, %0 : index
        %40 = kiln.slice %blocks[%39, 0] [%0, %1] : !kiln.tensor<?x?xf32>
        %41 = arith.subi %9, %c1 : index
        %42 = arith.addi %41, %8 : index
        %43 = arith.remsi %42, %8 : index
        %44 = kiln.recv %40 from %43
      }
      %21 = arith.muli %18, %0 : index
      %22 = arith.minsi %21, %3 : index
      %23 = arith.subi %3, %22 : index
      %24 = arith.minsi %0, %23 : index
      %25 = arith.muli %18, %0 : index
      %26 = kiln.slice %blocks[%25, 0] [%0, %1] : !kiln.tensor<?x?xf32>
      %27 = kiln.slice %c[%22, 0] [%24, %2] : !kiln.tensor<?x?xf32>
      %28 = arith.ceildivsi %24, %c32 : index
      %29 = arith.ceildivsi %2, %c64 : index
      %30 = kiln.submit @multiply(%26, %b, %27) grid(%28, %29)
    }
  }
}
