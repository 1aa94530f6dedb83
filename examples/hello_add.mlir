module @hello_add {
  kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> out) orchestration {
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %a, 0
    %1 = kiln.dim %b, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %a, 1
    %4 = kiln.dim %b, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "a and b have one shape"
    %7 = kiln.dim %a, 0
    %8 = kiln.dim %c, 0
    %9 = arith.cmpi eq, %7, %8 : index
    %10 = kiln.dim %a, 1
    %11 = kiln.dim %c, 1
    %12 = arith.cmpi eq, %10, %11 : index
    %13 = arith.andi %9, %12 : i1
    kiln.require %13, "c has the shape of a and b"
    %14 = kiln.dim %c, 0
    %15 = arith.ceildivsi %14, %c64 : index
    %16 = kiln.dim %c, 1
    %17 = arith.ceildivsi %16, %c64 : index
    %18 = kiln.incore "add" grid(%15, %17) {
      %c64_0 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %19 = arith.muli %block, %c64_0 : index
      %20 = arith.muli %block_1, %c64_0 : index
      %21 = tile.load %a[%19, %20] : !tile.tile<64x64xf32>
      %22 = tile.load %b[%19, %20] : !tile.tile<64x64xf32>
      %23 = tile.add %21, %22 : !tile.tile<64x64xf32>
      tile.store %23, %c[%19, %20]
    }
  }
}
