module @hello_add {
  kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> out) orchestration {
    %c64 = arith.constant 64 : index
    %0 = kiln.dim %c, 0
    %1 = arith.ceildivsi %0, %c64 : index
    %2 = kiln.dim %c, 1
    %3 = arith.ceildivsi %2, %c64 : index
    %4 = kiln.incore "add" grid(%1, %3) {
      %c64_0 = arith.constant 64 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %5 = arith.muli %block, %c64_0 : index
      %6 = arith.muli %block_1, %c64_0 : index
      %7 = tile.load %a[%5, %6] : !tile.tile<64x64xf32>
      %8 = tile.load %b[%5, %6] : !tile.tile<64x64xf32>
      %9 = tile.add %7, %8 : !tile.tile<64x64xf32>
      tile.store %9, %c[%5, %6]
    }
  }
}
