// A returned tensor, and a kernel written in place whose blocks meet.
kiln.func @twice(%x: !kiln.tensor<8x8xf32>) -> !kiln.tensor<8x8xf32> orchestration {
  %y = kiln.alloc() : !kiln.tensor<8x8xf32>
  %t = kiln.incore "double" {
    %two = arith.constant 2.0 : f32
    %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
    %b = tile.mul %a, %two : !tile.tile<8x8xf32>
    tile.store %b, %y[0, 0]
  }
  kiln.return %y
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %z: !kiln.tensor<8x8xf32>) orchestration {
  %y = kiln.call @twice(%x) -> !kiln.tensor<8x8xf32>
  %part = kiln.alloc() : !kiln.tensor<8x8xf32>
  %t = kiln.incore "rotate" grid(2) sync_start {
    %c4 = arith.constant 4 : index
    %one = arith.constant 1 : index
    %b = tile.block_idx 0
    %row = arith.muli %b, %c4 : index
    %other = arith.subi %one, %b : index
    %there = arith.muli %other, %c4 : index
    %a = tile.load %y[%row, 0] : !tile.tile<4x8xf32>
    tile.store %a, %part[%row, 0]
    tile.barrier
    %c = tile.load %part[%there, 0] : !tile.tile<4x8xf32>
    tile.store %c, %z[%row, 0]
  }
}
