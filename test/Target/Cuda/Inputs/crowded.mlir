// An accumulator, what it is added to and what is computed of both are more than a thread has registers for: elements are
// computed where they are used.
kiln.func @main(%x: !kiln.tensor<?x?xbf16>, %w: !kiln.tensor<?x?xbf16>, %b: !kiln.tensor<?xf32>, %r: !kiln.tensor<?x?xbf16>, %y: !kiln.tensor<?x?xbf16>) orchestration {
  kiln.incore "linear" grid(2, 2) split(none) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %bi = tile.block_idx 0
    %bj = tile.block_idx 1
    %i = arith.muli %bi, %c128 : index
    %j = arith.muli %bj, %c128 : index
    %k = kiln.dim %x, 1
    %start = tile.full %zero : !tile.tile<128x128xf32>
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<128x128xf32>) {
      %xt = tile.load %x[%i, %at] : !tile.tile<128x64xbf16>
      %wt = tile.load %w[%j, %at] : !tile.tile<128x64xbf16>
      %next = tile.matmul_acc %acc, %xt, %wt trans_b : !tile.tile<128x128xf32>
      scf.yield %next : !tile.tile<128x128xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
    %bt = tile.load %b[%j] : !tile.tile<1x128xf32>
    %s = tile.add %sum, %bt : !tile.tile<128x128xf32>
    %half = arith.constant 0.5 : f32
    %rt2 = arith.constant 0.70710678 : f32
    %one = arith.constant 1.0 : f32
    %u = tile.mul %s, %rt2 : !tile.tile<128x128xf32>
    %e = tile.erf %u : !tile.tile<128x128xf32>
    %e1 = tile.add %e, %one : !tile.tile<128x128xf32>
    %h = tile.mul %s, %half : !tile.tile<128x128xf32>
    %g = tile.mul %h, %e1 : !tile.tile<128x128xf32>
    %rt = tile.load %r[%i, %j] : !tile.tile<128x128xbf16>
    %rf = tile.cast %rt : !tile.tile<128x128xf32>
    %t = tile.add %g, %rf : !tile.tile<128x128xf32>
    %o = tile.cast %t : !tile.tile<128x128xbf16>
    tile.store %o, %y[%i, %j]
  }
}
