module @two_groups {
  kiln.func @multiply(%a: !kiln.tensor<64x64xf32>, %b: !kiln.tensor<64x64xf32>, %down: !tile.pipe<aic -> aiv, 64x64xf32, up_down>) role(aic) {
    %0 = tile.load %a[0, 0] : !tile.tile<64x64xf32>
    %1 = tile.load %b[0, 0] : !tile.tile<64x64xf32>
    %2 = tile.matmul %0, %1 : !tile.tile<64x64xf32>
    tile.push %2, %down
  }
  kiln.func @relu(%down: !tile.pipe<aic -> aiv, 64x64xf32, up_down>, %h: !kiln.tensor<64x64xf32>) role(aiv) {
    %c32 = arith.constant 32 : index
    %cst = arith.constant 0.000000e+00 : f32
    %lane = tile.lane
    %0 = arith.muli %lane, %c32 : index
    %1 = tile.pop %down : !tile.tile<32x64xf32>
    %2 = tile.max %1, %cst : !tile.tile<32x64xf32>
    tile.store %2, %h[%0, 0]
  }
  kiln.func @multiply_relu(%a: !kiln.tensor<64x64xf32> in, %b: !kiln.tensor<64x64xf32> in, %h: !kiln.tensor<64x64xf32> out) group lanes(2) {
    %down = tile.pipe slots(2) : !tile.pipe<aic -> aiv, 64x64xf32, up_down>
    kiln.call @multiply(%a, %b, %down)
    kiln.call @relu(%down, %h)
  }
  kiln.func @multiply_c(%c: !kiln.tensor<64x64xf32>, %up: !tile.pipe<aiv -> aic, 64x64xf32, up_down>, %down: !tile.pipe<aic -> aiv, 64x64xf32, up_down>) role(aic) {
    %0 = tile.load %c[0, 0] : !tile.tile<64x64xf32>
    %1 = tile.pop %up : !tile.tile<64x64xf32>
    %2 = tile.matmul %1, %0 : !tile.tile<64x64xf32>
    tile.push %2, %down
  }
  kiln.func @add_one(%h: !kiln.tensor<64x64xf32>, %up: !tile.pipe<aiv -> aic, 64x64xf32, up_down>, %down: !tile.pipe<aic -> aiv, 64x64xf32, up_down>, %out: !kiln.tensor<64x64xf32>) role(aiv) {
    %c32 = arith.constant 32 : index
    %cst = arith.constant 1.000000e+00 : f32
    %lane = tile.lane
    %0 = arith.muli %lane, %c32 : index
    %1 = tile.load %h[%0, 0] : !tile.tile<32x64xf32>
    tile.push %1, %up
    %2 = tile.pop %down : !tile.tile<32x64xf32>
    %3 = tile.add %2, %cst : !tile.tile<32x64xf32>
    tile.store %3, %out[%0, 0]
  }
  kiln.func @add_multiply(%h: !kiln.tensor<64x64xf32> in, %c: !kiln.tensor<64x64xf32> in, %out: !kiln.tensor<64x64xf32> out) group lanes(2) {
    %up = tile.pipe slots(2) : !tile.pipe<aiv -> aic, 64x64xf32, up_down>
    %down = tile.pipe slots(2) : !tile.pipe<aic -> aiv, 64x64xf32, up_down>
    kiln.call @multiply_c(%c, %up, %down)
    kiln.call @add_one(%h, %up, %down, %out)
  }
  kiln.func @main(%a: !kiln.tensor<64x64xf32> in, %b: !kiln.tensor<64x64xf32> in, %c: !kiln.tensor<64x64xf32> in, %out: !kiln.tensor<64x64xf32> out) orchestration {
    %hidden = kiln.alloc() : !kiln.tensor<64x64xf32>
    %0 = kiln.submit @multiply_relu(%a, %b, %hidden)
    %1 = kiln.submit @add_multiply(%hidden, %c, %out)
  }
}
