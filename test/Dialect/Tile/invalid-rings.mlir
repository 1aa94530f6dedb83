// RUN: kiln-opt %s -split-input-file -verify-diagnostics

!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @g(%x: !kiln.tensor<8x8xf32>) group {
  // expected-error@+1 {{the last parameter of @g is no internal tensor ?xNxi8}}
  %p = tile.pipe slots(2) {kiln.ring = array<i64: 512, 0>} : !p
}

// -----

!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @g(%x: !kiln.tensor<?x1024xi8> inout {kiln.internal}) group {
  // expected-error@+1 {{only a tile.pipe with slots(n) has a kiln.ring}}
  %p = tile.pipe {kiln.ring = array<i64: 512, 0>} : !p
}

// -----

!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @g(%x: !kiln.tensor<?x1024xi8> inout {kiln.internal}) group {
  // expected-error@+1 {{has a ring for 2 tiles, but carries 1}}
  %p = tile.pipe slots(2) {kiln.ring = array<i64: 512, 0, 256>} : !p
}

// -----

!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @g(%x: !kiln.tensor<?x1024xi8> inout {kiln.internal}) group {
  // expected-error@+1 {{has a ring that does not fit: 3 slots of 256 bytes, 512 apart, from byte 0 of 1024}}
  %p = tile.pipe slots(3) {kiln.ring = array<i64: 512, 0>} : !p
}

// -----

!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @g(%x: !kiln.tensor<?x1024xi8> inout {kiln.internal}) group {
  // expected-error@+1 {{has a ring that does not fit: 2 slots of 256 bytes, 9223372036854775807 apart, from byte 512 of 1024}}
  %p = tile.pipe slots(2) {kiln.ring = array<i64: 9223372036854775807, 512>} : !p
}

// -----

// expected-error@+1 {{parameter 0: only the last parameter of a group, a tensor, can be kiln.internal}}
kiln.func @k(%x: !kiln.tensor<?x1024xi8> inout {kiln.internal}) incore {
}

// -----

// expected-error@+1 {{parameter 0: only the last parameter of a group, a tensor, can be kiln.internal}}
kiln.func @g(%x: !kiln.tensor<?x1024xi8> inout {kiln.internal}, %y: !kiln.tensor<8xf32>) group {
}

// -----

kiln.func @k(%x: !kiln.tensor<8x8xf32>) incore {
  // expected-error@+1 {{needs one i64 in kiln.address for each of the 1 tiles it makes}}
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0, 32>} : !tile.tile<8x8xf32, vec>
}
