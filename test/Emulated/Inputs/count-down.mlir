// Both roles go on until an element is no longer positive: how often is in the data of each block.
!p = !tile.pipe<aiv -> aic, 16x16xf32>
kiln.func @produce(%x: !kiln.tensor<?x16xf32>, %p: !p) role(aiv) {
  %c16 = arith.constant 16 : index
  %i = tile.block_idx 0
  %row = arith.muli %i, %c16 : index
  %first = tile.load %x[%row, 0] : !tile.tile<16x16xf32>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  tile.push %first, %p
  %last = scf.while (%t = %first) : (!tile.tile<16x16xf32>) -> !tile.tile<16x16xf32> {
    %e = tile.element %t[3, 5] : f32
    %more = arith.cmpf ogt, %e, %zero : f32
    scf.condition(%more) %t : !tile.tile<16x16xf32>
  } do {
  ^bb0(%t: !tile.tile<16x16xf32>):
    %less = tile.sub %t, %one : !tile.tile<16x16xf32>
    tile.push %less, %p
    scf.yield %less : !tile.tile<16x16xf32>
  }
}
kiln.func @consume(%y: !kiln.tensor<?x16xf32>, %p: !p) role(aic) {
  %c16 = arith.constant 16 : index
  %i = tile.block_idx 0
  %row = arith.muli %i, %c16 : index
  %zero = arith.constant 0.0 : f32
  %first = tile.pop %p : !tile.tile<16x16xf32>
  %start = tile.mul %first, %zero : !tile.tile<16x16xf32>
  %last, %sum = scf.while (%t = %first, %s = %start) : (!tile.tile<16x16xf32>, !tile.tile<16x16xf32>) -> (!tile.tile<16x16xf32>, !tile.tile<16x16xf32>) {
    %e = tile.element %t[3, 5] : f32
    %more = arith.cmpf ogt, %e, %zero : f32
    scf.condition(%more) %t, %s : !tile.tile<16x16xf32>, !tile.tile<16x16xf32>
  } do {
  ^bb0(%t: !tile.tile<16x16xf32>, %s: !tile.tile<16x16xf32>):
    %got = tile.pop %p : !tile.tile<16x16xf32>
    %next = tile.add %s, %got : !tile.tile<16x16xf32>
    scf.yield %got, %next : !tile.tile<16x16xf32>, !tile.tile<16x16xf32>
  }
  tile.store %sum, %y[%row, 0]
}
kiln.func @count_down(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) group {
  %p = tile.pipe : !p
  kiln.call @produce(%x, %p)
  kiln.call @consume(%y, %p)
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c16 = arith.constant 16 : index
  %rows = kiln.dim %x, 0
  %n = arith.ceildivsi %rows, %c16 : index
  kiln.submit @count_down(%x, %y) grid(%n)
}
