// y = x / sqrt(mean(x * x) + eps) * w along the rows, for bf16 rows of 8192: the sum takes a whole row at once,
// the second look, which finds it in the cache, a quarter.
module @rms_norm {
  kiln.func @main(%x: !kiln.tensor<?x8192xbf16> in, %w: !kiln.tensor<8192xbf16> in, %y: !kiln.tensor<?x8192xbf16> out) orchestration {
    %c2 = arith.constant 2 : index
    %0 = kiln.dim %x, 0
    %1 = arith.ceildivsi %0, %c2 : index
    %2 = kiln.incore "rms_norm" grid(%1) {
      %rows = arith.constant 2 : index
      %cols = arith.constant 8192 : index
      %part = arith.constant 2048 : index
      %zero = arith.constant 0.000000e+00 : f32
      %eps = arith.constant 9.99999997E-7 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %i = arith.muli %block, %rows : index
      %n = kiln.dim %x, 1
      %s0 = tile.full %zero : !tile.tile<2x1xf32>
      %sum = scf.for %at = %c0 to %n step %cols iter_args(%s = %s0) -> (!tile.tile<2x1xf32>) {
        %raw = tile.load %x[%i, %at] : !tile.tile<2x8192xbf16>
        %v = tile.cast %raw : !tile.tile<2x8192xf32>
        %9 = tile.mul %v, %v : !tile.tile<2x8192xf32>
        %10 = tile.reduce sum %9 axis(1) : !tile.tile<2x1xf32>
        %11 = tile.add %s, %10 : !tile.tile<2x1xf32>
        scf.yield %11 : !tile.tile<2x1xf32>
      }
      %count = arith.index_cast %n : index to i64
      %length = arith.sitofp %count : i64 to f32
      %mean = tile.div %sum, %length : !tile.tile<2x1xf32>
      %shifted = tile.add %mean, %eps : !tile.tile<2x1xf32>
      %scale = tile.rsqrt %shifted : !tile.tile<2x1xf32>
      scf.for %at = %c0 to %n step %part {
        %raw = tile.load %x[%i, %at] : !tile.tile<2x2048xbf16>
        %v = tile.cast %raw : !tile.tile<2x2048xf32>
        %weights = tile.load %w[%at] : !tile.tile<1x2048xbf16>
        %wide = tile.cast %weights : !tile.tile<1x2048xf32>
        %9 = tile.mul %v, %scale : !tile.tile<2x2048xf32>
        %10 = tile.mul %9, %wide : !tile.tile<2x2048xf32>
        %11 = tile.cast %10 : !tile.tile<2x2048xbf16>
        tile.store %11, %y[%i, %at]
      }
    }
  }
}
