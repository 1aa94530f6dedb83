// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

// Tile and pipe types.

kiln.func @f(%x: f32) incore {
  // expected-error @below {{a tile has two dimensions, this one has 1}}
  %t = tile.full %x : !tile.tile<8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{a tile has two dimensions, this one has 3}}
  %t = tile.full %x : !tile.tile<8x8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{expected static shape}}
  %t = tile.full %x : !tile.tile<?x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{the extents of a tile are at least 1, these are 0x8}}
  %t = tile.full %x : !tile.tile<0x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{a tile of 1048577x1 is larger than any core's memory}}
  %t = tile.full %x : !tile.tile<1048577x1xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{a tile of 65536x65536 is larger than any core's memory}}
  %t = tile.full %x : !tile.tile<65536x65536xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{a tile of 9223372036854775807x9223372036854775807 is larger than any core's memory}}
  %t = tile.full %x : !tile.tile<9223372036854775807x9223372036854775807xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{'f64' cannot be the element of a tile; use f32, f16, bf16, f8E4M3FN, f8E5M2, i8, i16, i32, i64 or i1}}
  %t = tile.full %x : !tile.tile<8x8xf64>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{'index' cannot be the element of a tile}}
  %t = tile.full %x : !tile.tile<8x8xindex>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{expected vec, mat, left, right, acc or bias, found 'gm'}}
  %t = tile.full %x : !tile.tile<8x8xf32, gm>
}

// -----

// expected-error @below {{no machine has a role 'gpu'; roles are core, dma, compute, aic, aiv}}
kiln.func @from(%p: !tile.pipe<gpu -> aic, 8x8xf32>) role(aic) {}

// -----

// expected-error @below {{no machine has a role ''; roles are core, dma, compute, aic, aiv}}
kiln.func @to(%p: !tile.pipe<aic -> "", 8x8xf32>) role(aic) {}

// -----

// expected-error @below {{expected none, up_down or left_right, found 'diagonal'}}
kiln.func @split(%p: !tile.pipe<aic -> aiv, 8x8xf32, diagonal>) role(aic) {}

// -----

// expected-error @below {{a tile has two dimensions, this one has 1}}
kiln.func @payload(%p: !tile.pipe<aic -> aiv, 8xf32>) role(aic) {}

// -----

// expected-error @below {{the extents of a tile are at least 1, these are 8x0}}
kiln.func @payload(%p: !tile.pipe<aic -> aiv, (8x8xf32, 8x0xf32)>) role(aic) {}

// -----

// expected-error @below {{expected non-function type}}
kiln.func @payload(%p: !tile.pipe<aic -> aiv, ()>) role(aic) {}

// -----

// expected-error @below {{expected '->'}}
kiln.func @arrow(%p: !tile.pipe<aic, aiv, 8x8xf32>) role(aic) {}

// -----

// expected-error @below {{expected ','}}
kiln.func @comma(%p: !tile.pipe<aic -> aiv>) role(aic) {}
