// What examples/ring_matmul computes, with all blocks fetched before the product begins: its peer in scripts/bench-ranks.
module @gather_matmul {
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
    %0 = kiln.dim %a, 0
    %1 = kiln.dim %a, 1
    %2 = kiln.dim %b, 1
    %3 = kiln.dim %c, 0
    %4 = kiln.ranks
    %5 = arith.muli %4, %0 : index
    %blocks = kiln.alloc(%5, %1) : !kiln.tensor<?x?xf32>
    %6 = kiln.all_gather %a to %blocks
    %7 = kiln.slice %blocks[0, 0] [%3, %1] : !kiln.tensor<?x?xf32>
    %8 = arith.ceildivsi %3, %c32 : index
    %9 = arith.ceildivsi %2, %c64 : index
    %10 = kiln.submit @multiply(%7, %b, %c) grid(%8, %9)
  }
}
