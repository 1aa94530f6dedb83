// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

// Gathering, scattering, ordering, random numbers and hints.

kiln.func @f(%x: !kiln.tensor<64xf32>, %r: !kiln.tensor<8xi32>) incore {
  // expected-error @below {{'tile.gather_rows' op needs a tensor of rows, rank 2 or more, not '!kiln.tensor<64xf32>'}}
  %t = tile.gather_rows %x[0] rows(%r[0]) : !tile.tile<1x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xi32>, %i: index) incore {
  // expected-error @below {{'tile.gather_rows' op needs one index for each of the 2 axes, has 1}}
  %t = tile.gather_rows %x[0] rows(%r[0]) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xi32>, %i: index) incore {
  // expected-error @below {{'tile.gather_rows' op the tensor holds 'f32', the tile 'f16'}}
  %t = tile.gather_rows %x[0, 0] rows(%r[0]) : !tile.tile<8x8xf16>
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xi32>, %i: index) incore {
  // expected-error @below {{'tile.gather_rows' op index 64 puts the tile outside the tensor '!kiln.tensor<16x64xf32>'}}
  %t = tile.gather_rows %x[0, 64] rows(%r[0]) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xi16>) incore {
  // expected-error @below {{'tile.gather_rows' op row numbers are i32 or i64, not 'i16'}}
  %t = tile.gather_rows %x[0, 0] rows(%r[0]) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xi32>, %i: index) incore {
  // expected-error @below {{'tile.gather_rows' op needs one index for each of the 1 axes of the row numbers, has 2}}
  %t = tile.gather_rows %x[0, 0] rows(%r[0, 0]) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xi32>, %i: index) incore {
  // expected-error @below {{'tile.gather_rows' op valid takes rows and columns}}
  %t = tile.gather_rows %x[0, 0] rows(%r[0]) valid(%i) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xi32>, %i: index) incore {
  // expected-error @below {{'tile.gather_rows' op valid has the negative extent -1}}
  %t = tile.gather_rows %x[0, 0] rows(%r[0]) valid(%i, -1) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<64xf32>, %r: !kiln.tensor<8xi32>, %v: f32) incore {
  %t = tile.full %v : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.scatter_rows' op needs a tensor of rows, rank 2 or more, not '!kiln.tensor<64xf32>'}}
  tile.scatter_rows %t, %x[0] rows(%r[0])
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xi32>, %i: index, %v: f32) incore {
  %t = tile.full %v : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.scatter_rows' op needs one index for each of the 2 axes, has 3}}
  tile.scatter_rows %t, %x[0, 0, 0] rows(%r[0])
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xi32>, %r: !kiln.tensor<8xi32>, %v: f32) incore {
  %t = tile.full %v : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.scatter_rows' op the tensor holds 'i32', the tile 'f32'}}
  tile.scatter_rows %t, %x[0, 0] rows(%r[0])
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xi32>, %i: index, %v: f32) incore {
  %t = tile.full %v : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.scatter_rows' op index -8 puts the tile outside the tensor '!kiln.tensor<16x64xf32>'}}
  tile.scatter_rows %t, %x[0, -8] rows(%r[0])
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xf32>, %v: f32) incore {
  %t = tile.full %v : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.scatter_rows' op row numbers are i32 or i64, not 'f32'}}
  tile.scatter_rows %t, %x[0, 0] rows(%r[0])
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<2x8xi32>, %v: f32) incore {
  %t = tile.full %v : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.scatter_rows' op needs one index for each of the 2 axes of the row numbers, has 1}}
  tile.scatter_rows %t, %x[0, 0] rows(%r[0])
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>, %r: !kiln.tensor<8xi32>, %i: index, %v: f32) incore {
  %t = tile.full %v : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.scatter_rows' op valid has the negative extent -2}}
  tile.scatter_rows %t, %x[0, 0] rows(%r[0]) valid(-2, 8)
}

// -----

kiln.func @f(%v: f32, %i: i32, %h: i16) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  %n = tile.full %i : !tile.tile<4x2xi32>
  // expected-error @below {{'tile.gather' op axis is 0 (rows) or 1 (columns), not 2}}
  %t = tile.gather %x, %n axis(2) : !tile.tile<4x2xf32>
}

// -----

kiln.func @f(%v: f32, %i: i32, %h: i16) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  %n = tile.full %i : !tile.tile<4x2xi32>
  %s = tile.full %h : !tile.tile<4x2xi16>
  // expected-error @below {{'tile.gather' op indices are i32 or i64, not 'i16'}}
  %t = tile.gather %x, %s axis(1) : !tile.tile<4x2xf32>
}

// -----

kiln.func @f(%v: f32, %i: i32, %h: i16) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  %n = tile.full %i : !tile.tile<4x2xi32>
  // expected-error @below {{'tile.gather' op along axis 0 of '!tile.tile<4x8xf32>' needs indices with 8 columns, not '!tile.tile<4x2xi32>'}}
  %t = tile.gather %x, %n axis(0) : !tile.tile<4x2xf32>
}

// -----

kiln.func @f(%v: f32, %i: i32, %h: i16) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  %n = tile.full %i : !tile.tile<4x2xi32>
  %w = tile.full %i : !tile.tile<3x8xi32>
  // expected-error @below {{'tile.gather' op along axis 1 of '!tile.tile<4x8xf32>' needs indices with 4 rows, not '!tile.tile<3x8xi32>'}}
  %t = tile.gather %x, %w axis(1) : !tile.tile<3x8xf32>
}

// -----

kiln.func @f(%v: f32, %i: i32, %h: i16) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  %n = tile.full %i : !tile.tile<4x2xi32>
  // expected-error @below {{'tile.gather' op makes '!tile.tile<4x2xf32>', not '!tile.tile<4x2xi32>'}}
  %t = tile.gather %x, %n axis(1) : !tile.tile<4x2xi32>
}

// -----

kiln.func @f(%v: f32) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.sort_rows' op of '!tile.tile<4x8xf32>' cannot make the values '!tile.tile<4x8xf16>'}}
  %t:2 = tile.sort_rows %x : !tile.tile<4x8xf16>, !tile.tile<4x8xi32>
}

// -----

kiln.func @f(%v: f32) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.sort_rows' op of '!tile.tile<4x8xf32>' cannot make the values '!tile.tile<2x8xf32>'}}
  %t:2 = tile.sort_rows %x : !tile.tile<2x8xf32>, !tile.tile<2x8xi32>
}

// -----

kiln.func @f(%v: f32) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.sort_rows' op makes the columns '!tile.tile<4x8xi32>', not '!tile.tile<4x8xi64>'}}
  %t:2 = tile.sort_rows %x : !tile.tile<4x8xf32>, !tile.tile<4x8xi64>
}

// -----

kiln.func @f(%v: f32) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.sort_rows' op keeps the 8 columns, not 4}}
  %t:2 = tile.sort_rows %x : !tile.tile<4x4xf32>, !tile.tile<4x4xi32>
}

// -----

kiln.func @f(%v: f32) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.topk_rows' op of '!tile.tile<4x8xf32>' cannot make the values '!tile.tile<4x2xi32>'}}
  %t:2 = tile.topk_rows %x : !tile.tile<4x2xi32>, !tile.tile<4x2xi32>
}

// -----

kiln.func @f(%v: f32) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.topk_rows' op makes the columns '!tile.tile<4x2xi32>', not '!tile.tile<4x3xi32>'}}
  %t:2 = tile.topk_rows %x : !tile.tile<4x2xf32>, !tile.tile<4x3xi32>
}

// -----

kiln.func @f(%v: f32) incore {
  %x = tile.full %v : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.topk_rows' op takes 9 of only 8 elements a row}}
  %t:2 = tile.topk_rows %x : !tile.tile<4x9xf32>, !tile.tile<4x9xi32>
}

// -----

kiln.func @f(%k: i64, %n: index) incore {
  // expected-error @below {{'tile.random' op makes i32 (bits) or f32 (uniform in [0, 1)), not 'f16'}}
  %t = tile.random key(%k) counter(%n) : !tile.tile<4x4xf16>
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>) incore {
  // expected-error @below {{'tile.prefetch' op names a tile of 0x8; extents are at least 1}}
  tile.prefetch %x[0, 0] shape(0, 8)
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>) incore {
  // expected-error @below {{'tile.prefetch' op names a tile of 8x-1; extents are at least 1}}
  tile.prefetch %x[0, 0] shape(8, -1)
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>) incore {
  // expected-error @below {{'tile.prefetch' op needs one index for each of the 2 axes, has 1}}
  tile.prefetch %x[0] shape(8, 8)
}

// -----

kiln.func @f(%x: !kiln.tensor<16x64xf32>) incore {
  // expected-error @below {{'tile.prefetch' op index 16 puts the tile outside the tensor '!kiln.tensor<16x64xf32>'}}
  tile.prefetch %x[16, 0] shape(8, 8)
}

// -----

kiln.func @f(%x: !kiln.tensor<64xf32>) incore {
  // expected-error @below {{'tile.prefetch' op a tensor of rank 1 is accessed as 1xN or Nx1, not as 8x8}}
  tile.prefetch %x[0] shape(8, 8)
}
