module @top_k {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %values: !kiln.tensor<?x8xf32> out, %columns: !kiln.tensor<?x8xi32> out) orchestration {
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %0 = kiln.dim %x, 1
    %1 = arith.cmpi sge, %0, %c8 : index
    kiln.require %1, "a row has at least K elements"
    %2 = kiln.dim %values, 0
    %3 = kiln.dim %x, 0
    %4 = arith.cmpi eq, %2, %3 : index
    %5 = kiln.dim %columns, 0
    %6 = kiln.dim %x, 0
    %7 = arith.cmpi eq, %5, %6 : index
    %8 = arith.andi %4, %7 : i1
    kiln.require %8, "values and columns have the rows of x"
    %9 = kiln.dim %x, 0
    %10 = arith.ceildivsi %9, %c16 : index
    %11 = kiln.incore "top_k" grid(%10) {
      %c16_0 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %block = tile.block_idx 0
      %12 = arith.muli %block, %c16_0 : index
      %13 = tile.load %x[%12, 0] pad(min) : !tile.tile<16x64xf32>
      %values_1, %indices = tile.topk_rows %13 : !tile.tile<16x8xf32>, !tile.tile<16x8xi32>
      %14 = kiln.dim %x, 1
      %15:2 = scf.for %arg0 = %c64 to %14 step %c64 iter_args(%arg1 = %values_1, %arg2 = %indices) -> (!tile.tile<16x8xf32>, !tile.tile<16x8xi32>) {
        %16 = tile.load %x[%12, %arg0] pad(min) : !tile.tile<16x64xf32>
        %values_2, %indices_3 = tile.topk_rows %16 : !tile.tile<16x8xf32>, !tile.tile<16x8xi32>
        %17 = tile.concat %arg1, %values_2 axis(1) : !tile.tile<16x16xf32>
        %values_4, %indices_5 = tile.topk_rows %17 : !tile.tile<16x8xf32>, !tile.tile<16x8xi32>
        %18 = arith.index_cast %arg0 : index to i32
        %19 = tile.add %indices_3, %18 : !tile.tile<16x8xi32>
        %20 = tile.concat %arg2, %19 axis(1) : !tile.tile<16x16xi32>
        %21 = tile.gather %20, %indices_5 axis(1) : !tile.tile<16x8xi32>
        scf.yield %values_4, %21 : !tile.tile<16x8xf32>, !tile.tile<16x8xi32>
      }
      tile.store %15#0, %values[%12, 0]
      tile.store %15#1, %columns[%12, 0]
    }
  }
}
