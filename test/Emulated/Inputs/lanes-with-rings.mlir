// One slot each: two tiles at once to two lanes, which each have a ring to themselves; a token, and a barrier of all blocks.
!pair = !tile.pipe<aic -> aiv, (32x48xf32, 1x48xi32), left_right>
!own = !tile.pipe<aiv -> aiv, 32x48xf32, left_right>
!go = !tile.pipe<aiv -> aic, token, up_down>
kiln.func @push_products(%n: !kiln.tensor<?x8xi32>, %x: !kiln.tensor<?x32xf32>, %w: !kiln.tensor<32x48xf32>, %o: !kiln.tensor<?x48xf32>, %s: !kiln.tensor<?x48xf32>, %pair: !pair, %go: !go) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %i = tile.block_idx 0
  %row = arith.muli %i, %c32 : index
  %nt = tile.load %n[%i, 0] : !tile.tile<1x8xi32>
  %n32 = tile.element %nt[0, 2] : i32
  %count = arith.index_cast %n32 : i32 to index
  %first = tile.load %x[%row, 0] : !tile.tile<32x32xf32>
  %right = tile.load %w[0, 0] : !tile.tile<32x48xf32>
  scf.for %k = %c0 to %count step %c1 {
    %k32 = arith.index_cast %k : index to i32
    %row_of = tile.full %k32 : !tile.tile<1x48xi32>
    %c = tile.matmul %first, %right : !tile.tile<32x48xf32>
    tile.push %c, %row_of, %pair
  }
  tile.pop %go
  %back = tile.load %o[%row, 0] : !tile.tile<32x48xf32>
  %two = tile.add %back, %back : !tile.tile<32x48xf32>
  tile.store %two, %s[%row, 0]
  tile.barrier
}
kiln.func @sum(%n: !kiln.tensor<?x8xi32>, %o: !kiln.tensor<?x48xf32>, %pair: !pair, %own: !own, %go: !go) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %i = tile.block_idx 0
  %lane = tile.lane
  %row = arith.muli %i, %c32 : index
  %col = arith.muli %lane, %c24 : index
  %nt = tile.load %n[%i, 0] : !tile.tile<1x8xi32>
  %n32 = tile.element %nt[0, 2] : i32
  %count = arith.index_cast %n32 : i32 to index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %start = tile.full %zero : !tile.tile<32x24xf32>
  tile.push %start, %own
  scf.for %k = %c0 to %count step %c1 {
    %c, %r = tile.pop %pair : !tile.tile<32x24xf32>, !tile.tile<1x24xi32>
    %rf = tile.cast %r : !tile.tile<1x24xf32>
    %more = tile.mul %c, %rf : !tile.tile<32x24xf32>
    %so_far = tile.pop %own : !tile.tile<32x24xf32>
    %faded = tile.mul %so_far, %half : !tile.tile<32x24xf32>
    %next = tile.add %faded, %more : !tile.tile<32x24xf32>
    tile.push %next, %own
  }
  %all = tile.pop %own : !tile.tile<32x24xf32>
  tile.store %all, %o[%row, %col]
  tile.push %go
  tile.barrier
}
kiln.func @rounds(%n: !kiln.tensor<?x8xi32> in, %x: !kiln.tensor<?x32xf32> in, %w: !kiln.tensor<32x48xf32> in, %o: !kiln.tensor<?x48xf32> inout, %s: !kiln.tensor<?x48xf32> out) group lanes(2) {
  %pair = tile.pipe slots(1) : !pair
  %own = tile.pipe slots(1) : !own
  %go = tile.pipe slots(1) : !go
  kiln.call @push_products(%n, %x, %w, %o, %s, %pair, %go)
  kiln.call @sum(%n, %o, %pair, %own, %go)
}
kiln.func @main(%n: !kiln.tensor<?x8xi32> in, %x: !kiln.tensor<?x32xf32> in, %w: !kiln.tensor<32x48xf32> in, %o: !kiln.tensor<?x48xf32> inout, %s: !kiln.tensor<?x48xf32> out) orchestration {
  %blocks = kiln.dim %n, 0
  kiln.submit @rounds(%n, %x, %w, %o, %s) grid(%blocks) sync_start
}
