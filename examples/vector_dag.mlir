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
    %1 = kiln.dim %b, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %a, 1
    %4 = kiln.dim %b, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "a and b have one shape"
    %7 = kiln.dim %a, 0
    %8 = kiln.dim %out, 0
    %9 = arith.cmpi eq, %7, %8 : index
    %10 = kiln.dim %a, 1
    %11 = kiln.dim %out, 1
    %12 = arith.cmpi eq, %10, %11 : index
    %13 = arith.andi %9, %12 : i1
    kiln.require %13, "out has the shape of a and b"
    %14 = kiln.dim %a, 0
    %15 = kiln.dim %a, 1
    %16 = arith.ceildivsi %14, %c64 : index
    %17 = arith.ceildivsi %15, %c64 : index
    %sum = kiln.alloc(%14, %15) : !kiln.tensor<?x?xf32>
    %plus1 = kiln.alloc(%14, %15) : !kiln.tensor<?x?xf32>
    %plus2 = kiln.alloc(%14, %15) : !kiln.tensor<?x?xf32>
    %product = kiln.alloc(%14, %15) : !kiln.tensor<?x?xf32>
    %18 = kiln.submit @add(%a, %b, %sum) grid(%16, %17)
    %19 = kiln.submit @add_scalar(%sum, %cst, %plus1) grid(%16, %17)
    %20 = kiln.submit @add_scalar(%sum, %cst_0, %plus2) grid(%16, %17)
    %21 = kiln.submit @mul(%plus1, %plus2, %product) grid(%16, %17)
    %22 = kiln.submit @add(%product, %sum, %out) grid(%16, %17)
  }
}
