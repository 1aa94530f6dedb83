module @top_k {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %values: !kiln.tensor<?x8xf32> out, %columns: !kiln.tensor<?x8xi32> out) orchestration {
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 0
    %1 = arith.ceildivsi %0, %c16 : index
    %2 = kiln.incore "top_k" grid(%1) {
      %c16_0 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %3 = arith.muli %block, %c16_0 : index
      %4 = tile.load %x[%3, 0] pad(min) : !tile.tile<16x64xf32>
      %values_1, %indices = tile.topk_rows %4 : !tile.tile<16x8xf32>, !tile.tile<16x8xi32>
      %5 = kiln.dim %x, 1
      %6:2 = scf.for %arg0 = %c64 to %5 step %c64 iter_args(%arg1 = %values_1, %arg2 = %indices) -> (!tile.tile<16x8xf32>, !tile.tile<16x8xi32>) {
        %7 = tile.load %x[%3, %arg0] pad(min) : !tile.tile<16x64xf32>
        %values_2, %indices_3 = tile.topk_rows %7 : !tile.tile<16x8xf32>, !tile.tile<16x8xi32>
        %8 = tile.concat %arg1, %values_2 axis(1) : !tile.tile<16x16xf32>
        %values_4, %indices_5 = tile.topk_rows %8 : !tile.tile<16x8xf32>, !tile.tile<16x8xi32>
        %9 = arith.index_cast %arg0 : index to i32
        %10 = tile.add %indices_3, %9 : !tile.tile<16x8xi32>
        %11 = tile.concat %arg2, %10 axis(1) : !tile.tile<16x16xi32>
        %12 = tile.gather %11, %indices_5 axis(1) : !tile.tile<16x8xi32>
        scf.yield %values_4, %12 : !tile.tile<16x8xf32>, !tile.tile<16x8xi32>
      }
      tile.store %6#0, %values[%3, 0]
      tile.store %6#1, %columns[%3, 0]
    }
  }
}
