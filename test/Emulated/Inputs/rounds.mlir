// Rounds until what a product makes is small: through a split pipe to the matrix unit, back to both lanes, and whether to go on.
!up = !tile.pipe<aiv -> aic, 64x64xbf16, up_down>
!down = !tile.pipe<aic -> aiv, 64x64xf32, up_down>
!more = !tile.pipe<aic -> aiv, 1x8xf32>
kiln.func @multiply(%w: !kiln.tensor<?x64xbf16>, %up: !up, %down: !down, %go: !more) role(aic) {
  %c64 = arith.constant 64 : index
  %i = tile.block_idx 0
  %row = arith.muli %i, %c64 : index
  %left = tile.load %w[%row, 0] : !tile.tile<64x64xbf16>
  %bar = arith.constant 0.5 : f32
  %big = arith.constant 1.0e9 : f32
  %last = scf.while (%e = %big) : (f32) -> f32 {
    %more = arith.cmpf ogt, %e, %bar : f32
    %flag = arith.uitofp %more : i1 to f32
    %t = tile.full %flag : !tile.tile<1x8xf32>
    tile.push %t, %go
    scf.condition(%more) %e : f32
  } do {
  ^bb0(%e: f32):
    %a = tile.pop %up : !tile.tile<64x64xbf16>
    %c = tile.matmul %left, %a : !tile.tile<64x64xf32>
    tile.push %c, %down
    %abs = tile.abs %c : !tile.tile<64x64xf32>
    %mr = tile.reduce max %abs axis(1) : !tile.tile<64x1xf32>
    %m = tile.reduce max %mr axis(0) : !tile.tile<1x1xf32>
    %s = tile.element %m[0, 0] : f32
    scf.yield %s : f32
  }
}
kiln.func @scale(%x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?x64xf32>, %up: !up, %down: !down, %go: !more) role(aiv) {
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
  %i = tile.block_idx 0
  %lane = tile.lane
  %begin = arith.muli %i, %c64 : index
  %off = arith.muli %lane, %c32 : index
  %row = arith.addi %begin, %off : index
  %first = tile.load %x[%row, 0] : !tile.tile<32x64xf32>
  %share = arith.constant 0.0078125 : f32
  %zero = arith.constant 0.0 : f32
  %last = scf.while (%t = %first) : (!tile.tile<32x64xf32>) -> !tile.tile<32x64xf32> {
    %f = tile.pop %go : !tile.tile<1x8xf32>
    %e = tile.element %f[0, 3] : f32
    %more = arith.cmpf ogt, %e, %zero : f32
    scf.condition(%more) %t : !tile.tile<32x64xf32>
  } do {
  ^bb0(%t: !tile.tile<32x64xf32>):
    %b = tile.cast %t : !tile.tile<32x64xbf16>
    tile.push %b, %up
    %c = tile.pop %down : !tile.tile<32x64xf32>
    %less = tile.mul %c, %share : !tile.tile<32x64xf32>
    scf.yield %less : !tile.tile<32x64xf32>
  }
  tile.store %last, %y[%row, 0]
}
kiln.func @rounds(%w: !kiln.tensor<?x64xbf16> in, %x: !kiln.tensor<?x64xf32> in, %y: !kiln.tensor<?x64xf32> out) group lanes(2) {
  %up = tile.pipe : !up
  %down = tile.pipe : !down
  %go = tile.pipe : !more
  kiln.call @multiply(%w, %up, %down, %go)
  kiln.call @scale(%x, %y, %up, %down, %go)
}
kiln.func @main(%w: !kiln.tensor<?x64xbf16> in, %x: !kiln.tensor<?x64xf32> in, %y: !kiln.tensor<?x64xf32> out) orchestration {
  %c64 = arith.constant 64 : index
  %rows = kiln.dim %x, 0
  %n = arith.ceildivsi %rows, %c64 : index
  kiln.submit @rounds(%w, %x, %y) grid(%n)
}
