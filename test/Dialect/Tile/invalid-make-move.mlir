// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

// Making tiles and moving them.

//===----------------------------------------------------------------------===//
// Make and move
//===----------------------------------------------------------------------===//

kiln.func @f(%x: i32) incore {
  // expected-error @below {{'tile.full' op fills '!tile.tile<8x8xf32>' with a 'i32'}}
  %t = tile.full %x : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.full' op fills '!tile.tile<8x8xf32>' with a '!tile.tile<8x8xf32>'}}
  %u = tile.full %t : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{'tile.iota' op axis is 0 (rows) or 1 (columns), not 2}}
  %t = tile.iota axis(2) : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{'tile.iota' op axis is 0 (rows) or 1 (columns), not -1}}
  %t = tile.iota axis(-1) : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.load' op needs one index for each of the 2 axes, has 1}}
  %t = tile.load %a[0] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.load' op the tensor holds 'f32', the tile 'f16'}}
  %t = tile.load %a[0, 0] : !tile.tile<8x8xf16>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.load' op a tensor of rank 1 is accessed as 1xN or Nx1, not as 8x8}}
  %t = tile.load %v[0] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.load' op index 64 puts the tile outside the tensor '!kiln.tensor<64x64xf32>'}}
  %t = tile.load %a[0, 64] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.load' op index -8 puts the tile outside the tensor '!kiln.tensor<64x64xf32>'}}
  %t = tile.load %a[-8, 0] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.load' op has 0 values for the 1 entries of its indices that are not constant}}
  %t = tile.load %a[-9223372036854775808, 0] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.load' op valid takes rows and columns}}
  %t = tile.load %a[0, 0] valid(%i) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.load' op valid takes rows and columns}}
  %t = tile.load %a[0, 0] valid(1, 2, 3) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.load' op valid has the negative extent -1}}
  %t = tile.load %a[0, 0] valid(-1, 2) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{expected zero, min, max or a number as pad, found 'none'}}
  %t = tile.load %a[0, 0] pad(none) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{expected floating point literal}}
  %t = tile.load %a[0, 0] pad("zero") : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.load' op operand #0 must be a strided view of data in global memory, but got 'index'}}
  %t = tile.load %i[0] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.store' op needs one index for each of the 2 axes, has 3}}
  tile.store %t, %a[0, 0, 0]
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  %b = arith.constant true
  %t = tile.full %b : !tile.tile<8x8xi1>
  // expected-error @below {{'tile.store' op the tensor holds 'f32', the tile 'i1'}}
  tile.store %t, %a[0, 0]
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.store' op a tensor of rank 1 is accessed as 1xN or Nx1, not as 8x8}}
  tile.store %t, %v[0]
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  %t = tile.full %x : !tile.tile<1x8xf32>
  // expected-error @below {{'tile.store' op index 64 puts the tile outside the tensor '!kiln.tensor<64xf32>'}}
  tile.store %t, %v[64]
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.store' op valid takes rows and columns}}
  tile.store %t, %a[0, 0] valid(%i)
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.store' op valid has the negative extent -4}}
  tile.store %t, %a[0, 0] valid(%i, -4)
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'atomic' [add]}}
  tile.store %t, %a[0, 0] atomic(max)
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  // expected-error @below {{'tile.store' op operand #0 must be a two-dimensional value of static shape, but got 'f32'}}
  tile.store %x, %a[0, 0]
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.move' op changes only the memory of a tile, not '!tile.tile<8x8xf32>' to '!tile.tile<8x4xf32, vec>'}}
  %u = tile.move %t : !tile.tile<8x4xf32, vec>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.move' op changes only the memory of a tile, not '!tile.tile<8x8xf32>' to '!tile.tile<8x8xf16, vec>'}}
  %u = tile.move %t : !tile.tile<8x8xf16, vec>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.reshape' op keeps the elements: '!tile.tile<8x8xf32>' has 64, '!tile.tile<8x4xf32>' has 32}}
  %u = tile.reshape %t : !tile.tile<8x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.reshape' op keeps the elements}}
  %u = tile.reshape %t : !tile.tile<4x16xi32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x4xf32>
  // expected-error @below {{'tile.transpose' op of '!tile.tile<8x4xf32>' is '!tile.tile<4x8xf32>', not '!tile.tile<8x4xf32>'}}
  %u = tile.transpose %t : !tile.tile<8x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x4xf32>
  // expected-error @below {{'tile.transpose' op of '!tile.tile<8x4xf32>' is '!tile.tile<4x8xf32>', not '!tile.tile<4x8xf16>'}}
  %u = tile.transpose %t : !tile.tile<4x8xf16>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.cast' op keeps the shape: '!tile.tile<8x8xf32>' to '!tile.tile<8x1xbf16>'}}
  %u = tile.cast %t : !tile.tile<8x1xbf16>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.extract' op needs a row and a column index}}
  %u = tile.extract %t[0] : !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.extract' op mixes 'f16' with 'f32'}}
  %u = tile.extract %t[0, 0] : !tile.tile<4x4xf16>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.extract' op a box of 4x4 at offset 5 of axis 1 overruns 8x8}}
  %u = tile.extract %t[0, 5] : !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%a: !kiln.tensor<64x64xf32>, %v: !kiln.tensor<64xf32>, %i: index, %x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.extract' op a box of 16x4 at offset 0 of axis 0 overruns 8x8}}
  %u = tile.extract %t[%i, 0] : !tile.tile<16x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.extract' op a box of 4x4 at offset -1 of axis 0 overruns 8x8}}
  %u = tile.extract %t[-1, 0] : !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.extract' op a box of 4x4 at offset 9223372036854775807 of axis 0 overruns 8x8}}
  %u = tile.extract %t[9223372036854775807, 0] : !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.insert' op the result has the type of the tile inserted into}}
  %u = tile.insert %t, %t[0, 0] : !tile.tile<8x8xf16>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.insert' op a box of 8x8 at offset 1 of axis 0 overruns 8x8}}
  %u = tile.insert %t, %t[1, 0] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  %b = arith.constant true
  %c = tile.full %b : !tile.tile<1x1xi1>
  // expected-error @below {{'tile.insert' op mixes 'i1' with 'f32'}}
  %u = tile.insert %c, %t[0, 0] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.concat' op needs at least one tile}}
  %u = tile.concat axis(0) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.concat' op axis is 0 (rows) or 1 (columns), not 3}}
  %u = tile.concat %t axis(3) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.concat' op cannot put '!tile.tile<8x8xf32>' into '!tile.tile<16x4xf32>' along axis 0}}
  %u = tile.concat %t, %t axis(0) : !tile.tile<16x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.concat' op cannot put '!tile.tile<8x8xf32>' into '!tile.tile<16x8xf16>' along axis 0}}
  %u = tile.concat %t, %t axis(0) : !tile.tile<16x8xf16>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.concat' op the tiles have 16 along axis 1, the result 24}}
  %u = tile.concat %t, %t axis(1) : !tile.tile<8x24xf32>
}
