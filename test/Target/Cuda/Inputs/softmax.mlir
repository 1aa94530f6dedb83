// y = softmax(x) along the rows, for bf16 rows of 8192: a row is a lane's, in registers; each is read once.
module @softmax {
  kiln.func @main(%x: !kiln.tensor<?x8192xbf16> in, %y: !kiln.tensor<?x8192xbf16> out) orchestration {
    %c2 = arith.constant 2 : index
    %0 = kiln.dim %x, 0
    %1 = arith.ceildivsi %0, %c2 : index
    %2 = kiln.incore "softmax" grid(%1) {
      %rows = arith.constant 2 : index
      %cols = arith.constant 8192 : index
      %lowest = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.000000e+00 : f32
      %log2e = arith.constant 1.44269504 : f32
      %c0 = arith.constant 0 : index
      %block = tile.block_idx 0
      %i = arith.muli %block, %rows : index
      %n = kiln.dim %x, 1
      %m0 = tile.full %lowest : !tile.tile<2x1xf32>
      %s0 = tile.full %zero : !tile.tile<2x1xf32>
      %7:2 = scf.for %at = %c0 to %n step %cols iter_args(%m = %m0, %s = %s0) -> (!tile.tile<2x1xf32>, !tile.tile<2x1xf32>) {
        %raw = tile.load %x[%i, %at] pad(min) : !tile.tile<2x8192xbf16>
        %wide = tile.cast %raw : !tile.tile<2x8192xf32>
        %v = tile.mul %wide, %log2e : !tile.tile<2x8192xf32>
        %9 = tile.reduce max %v axis(1) : !tile.tile<2x1xf32>
        %10 = tile.max %m, %9 : !tile.tile<2x1xf32>
        %11 = tile.sub %v, %10 : !tile.tile<2x8192xf32>
        %12 = tile.exp2 %11 : !tile.tile<2x8192xf32>
        %13 = tile.reduce sum %12 axis(1) : !tile.tile<2x1xf32>
        %14 = tile.sub %m, %10 : !tile.tile<2x1xf32>
        %15 = tile.exp2 %14 : !tile.tile<2x1xf32>
        %16 = tile.mul %s, %15 : !tile.tile<2x1xf32>
        %17 = tile.add %16, %13 : !tile.tile<2x1xf32>
        scf.yield %10, %17 : !tile.tile<2x1xf32>, !tile.tile<2x1xf32>
      }
      %scale = tile.recip %7#1 : !tile.tile<2x1xf32>
      scf.for %at = %c0 to %n step %cols {
        %raw = tile.load %x[%i, %at] pad(min) : !tile.tile<2x8192xbf16>
        %wide = tile.cast %raw : !tile.tile<2x8192xf32>
        %v = tile.mul %wide, %log2e : !tile.tile<2x8192xf32>
        %9 = tile.sub %v, %7#0 : !tile.tile<2x8192xf32>
        %10 = tile.exp2 %9 : !tile.tile<2x8192xf32>
        %11 = tile.mul %10, %scale : !tile.tile<2x8192xf32>
        %12 = tile.cast %11 : !tile.tile<2x8192xbf16>
        tile.store %12, %y[%i, %at]
      }
    }
  }
}
