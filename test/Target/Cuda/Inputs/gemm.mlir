// c = a b for bf16, accumulated in f32: a block of 128 x 256, shared by two lanes.
module @gemm {
  kiln.func @main(%a: !kiln.tensor<?x?xbf16> in, %b: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xbf16> out) orchestration {
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %0 = kiln.dim %c, 0
    %1 = arith.ceildivsi %0, %c128 : index
    %2 = kiln.dim %c, 1
    %3 = arith.ceildivsi %2, %c256 : index
    %4 = kiln.incore "gemm" grid(%1, %3) split(up_down) {
      %tm = arith.constant 128 : index
      %tn = arith.constant 256 : index
      %tk = arith.constant 64 : index
      %zero = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %bi = tile.block_idx 0
      %bj = tile.block_idx 1
      %i = arith.muli %bi, %tm : index
      %j = arith.muli %bj, %tn : index
      %k = kiln.dim %a, 1
      %start = tile.full %zero : !tile.tile<128x256xf32>
      %sum = scf.for %at = %c0 to %k step %tk iter_args(%acc = %start) -> (!tile.tile<128x256xf32>) {
        %x = tile.load %a[%i, %at] : !tile.tile<128x64xbf16>
        %y = tile.load %b[%at, %j] : !tile.tile<64x256xbf16>
        %next = tile.matmul_acc %acc, %x, %y : !tile.tile<128x256xf32>
        scf.yield %next : !tile.tile<128x256xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
      %rounded = tile.cast %sum : !tile.tile<128x256xbf16>
      tile.store %rounded, %c[%i, %j]
    }
  }
}
