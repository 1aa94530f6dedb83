module @matmul_residual_pipes {
  kiln.func @mul_cube(%b: !kiln.tensor<64x64xf32>, %up: !tile.pipe<aiv -> aic, 64x64xf32, up_down>, %down: !tile.pipe<aic -> aiv, 64x64xf32, up_down>) role(aic) {
    %0 = tile.load %b[0, 0] : !tile.tile<64x64xf32>
    %1 = tile.pop %up : !tile.tile<64x64xf32>
    %2 = tile.matmul %1, %0 : !tile.tile<64x64xf32>
    tile.push %2, %down
  }
  kiln.func @add_vec(%a: !kiln.tensor<64x64xf32>, %up: !tile.pipe<aiv -> aic, 64x64xf32, up_down>, %r: !kiln.tensor<64x64xf32>, %down: !tile.pipe<aic -> aiv, 64x64xf32, up_down>, %out: !kiln.tensor<64x64xf32>) role(aiv) {
    %c32 = arith.constant 32 : index
    %lane = tile.lane
    %0 = arith.muli %lane, %c32 : index
    %1 = tile.load %a[%0, 0] : !tile.tile<32x64xf32>
    tile.push %1, %up
    %2 = tile.load %r[%0, 0] : !tile.tile<32x64xf32>
    %3 = tile.pop %down : !tile.tile<32x64xf32>
    %4 = tile.add %3, %2 : !tile.tile<32x64xf32>
    tile.store %4, %out[%0, 0]
  }
  kiln.func @fused(%a: !kiln.tensor<64x64xf32> in, %b: !kiln.tensor<64x64xf32> in, %r: !kiln.tensor<64x64xf32> in, %out: !kiln.tensor<64x64xf32> out) group lanes(2) {
    %up = tile.pipe slots(2) : !tile.pipe<aiv -> aic, 64x64xf32, up_down>
    %down = tile.pipe slots(2) : !tile.pipe<aic -> aiv, 64x64xf32, up_down>
    kiln.call @mul_cube(%b, %up, %down)
    kiln.call @add_vec(%a, %up, %r, %down, %out)
  }
  kiln.func @main(%a: !kiln.tensor<64x64xf32> in, %b: !kiln.tensor<64x64xf32> in, %r: !kiln.tensor<64x64xf32> in, %out: !kiln.tensor<64x64xf32> out) orchestration {
    %0 = kiln.submit @fused(%a, %b, %r, %out)
  }
}
