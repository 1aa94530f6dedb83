module @vector_dag {
  kiln.func @add(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> in, %z: !kiln.tensor<?x?xf32> out) incore {
    %c64 = arith.constant 64 : index
    %block = tile.block_idx 0
    %0 = arith.muli %block, %c64 : index
    %block_0 = tile.block_idx 1
    %1 = arith.muli %block_0, %c64 : index
    %2 = tile.load %x[%0, %1] : !tile.tile<64x64xf32>
    %3 = tile.load %y[%0, %1] : !tile.tile<64x64xf32>
    %4 = tile.add %2, %3 : !tile.tile<64x64xf32>
    tile.store %4, %z[%0, %1]
  }
  kiln.func @add_scalar(%x: !kiln.tensor<?x?xf32> in, %s: f32, %z: !kiln.tensor<?x?xf32> out) incore {
    %c64 = arith.constant 64 : index
    %block = tile.block_idx 0
    %0 = arith.muli %block, %c64 : index
    %block_0 = tile.block_idx 1
    %1 = arith.muli %block_0, %c64 : index
    %2 = tile.load %x[%0, %1] : !tile.tile<64x64xf32>
    %3 = tile.add %2, %s : !tile.tile<64x64xf32>
    tile.store %3, %z[%0, %1]
  }
  kiln.func @mul(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> in, %z: !kiln.tensor<?x?xf32> out) incore {
    %c64 = arith.constant 64 : index
    %block = tile.block_idx 0
    %0 = arith.muli %block, %c64 : index
    %block_0 = tile.block_idx 1
    %1 = arith.muli %block_0, %c64 : index
    %2 = tile.load %x[%0, %1] : !tile.tile<64x64xf32>
    %3 = tile.load %y[%0, %1] : !tile.tile<64x64xf32>
    %4 = tile.mul %2, %3 : !tile.tile<64x64xf32>
    tile.store %4, %z[%0, %1]
  }
  kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %out: !kiln.tensor<?x?xf32> out) orchestration {
    %c64 = arith.constant 64 : index
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 2.000000e+00 : f32
    %0 = kiln.dim %a, 0
    %1 = kiln.dim %a, 1
    %2 = arith.ceildivsi %0, %c64 : index
    %3 = arith.ceildivsi %1, %c64 : index
    %sum = kiln.alloc(%0, %1) : !kiln.tensor<?x?xf32>
    %plus1 = kiln.alloc(%0, %1) : !kiln.tensor<?x?xf32>
    %plus2 = kiln.alloc(%0, %1) : !kiln.tensor<?x?xf32>
    %product = kiln.alloc(%0, %1) : !kiln.tensor<?x?xf32>
    %4 = kiln.submit @add(%a, %b, %sum) grid(%2, %3)
    %5 = kiln.submit @add_scalar(%sum, %cst, %plus1) grid(%2, %3)
    %6 = kiln.submit @add_scalar(%sum, %cst_0, %plus2) grid(%2, %3)
    %7 = kiln.submit @mul(%plus1, %plus2, %product) grid(%2, %3)
    %8 = kiln.submit @add(%product, %sum, %out) grid(%2, %3)
  }
}
