// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

// Making pipes, and what the roles at their ends do with them.

kiln.func @group() group {
  // expected-error @below {{'tile.pipe' op a pipe has 1 to 1048576 slots, not 0}}
  %p = tile.pipe slots(0) : !tile.pipe<aic -> aiv, 8x8xf32>
}

// -----

kiln.func @group() group {
  // expected-error @below {{'tile.pipe' op a pipe has 1 to 1048576 slots, not -2}}
  %p = tile.pipe slots(-2) : !tile.pipe<aic -> aiv, 8x8xf32>
}

// -----

kiln.func @group() group {
  // expected-error @below {{'tile.pipe' op a pipe has 1 to 1048576 slots, not 9223372036854775807}}
  %p = tile.pipe slots(9223372036854775807) : !tile.pipe<aic -> aiv, 8x8xf32>
}

// -----

kiln.func @group() group lanes(2) {
  // expected-error @below {{'tile.pipe' op split none cannot join what 2 lanes of aiv push; split up_down would work}}
  %p = tile.pipe : !tile.pipe<aiv -> aic, 8x8xf32>
}

// -----

kiln.func @group() group lanes(2) {
  // expected-error @below {{'tile.pipe' op split none cannot join what 2 lanes of aiv push; split left_right would work}}
  %p = tile.pipe : !tile.pipe<aiv -> aic, (7x8xf32, 8x2xf32)>
}

// -----

// Nothing would work, so nothing is proposed.
kiln.func @group() group lanes(2) {
  // expected-error @below {{'tile.pipe' op split none cannot join what 2 lanes of aiv push; no split would work, so use one lane}}
  %p = tile.pipe : !tile.pipe<aiv -> aic, 7x7xf32>
}

// -----

kiln.func @group() group lanes(2) {
  // expected-error @below {{'tile.pipe' op has split up_down, but neither aic nor dma has lanes}}
  %p = tile.pipe : !tile.pipe<aic -> dma, 8x8xf32, up_down>
}

// -----

kiln.func @group() group lanes(2) {
  // expected-error @below {{'tile.pipe' op split up_down cannot divide the extent 7 evenly over 2 lanes; split left_right would work}}
  %p = tile.pipe : !tile.pipe<aic -> aiv, 7x8xf32, up_down>
}

// -----

kiln.func @group() group lanes(2) {
  // expected-error @below {{'tile.pipe' op split left_right cannot divide the extent 1 evenly over 2 lanes; split up_down would work}}
  %p = tile.pipe : !tile.pipe<aic -> aiv, (8x8xf32, 8x1xf32), left_right>
}

// -----

kiln.func @group() group lanes(9223372036854775807) {
  // expected-error @below {{'tile.pipe' op split up_down cannot divide the extent 8 evenly over 9223372036854775807 lanes; no split would work, so use one lane}}
  %p = tile.pipe : !tile.pipe<aic -> aiv, 8x8xf32, up_down>
}

// -----

kiln.func @main(%c: i1) orchestration {
  scf.if %c {
    // expected-error @below {{'tile.pipe' op expects parent op 'kiln.func'}}
    %p = tile.pipe : !tile.pipe<aic -> aiv, 8x8xf32>
  }
}

// -----

//===----------------------------------------------------------------------===//
// The ends of a pipe
//===----------------------------------------------------------------------===//

kiln.func @group(%x: f32) group {
  %p = tile.pipe : !tile.pipe<aic -> aiv, 8x8xf32>
  // expected-error @below {{'tile.pop' op stands outside a role function}}
  %t = tile.pop %p : !tile.tile<8x8xf32>
}

// -----

kiln.func @group(%x: f32) group {
  %p = tile.pipe : !tile.pipe<aic -> aiv, token>
  // expected-error @below {{'tile.push' op stands outside a role function}}
  tile.push %p
}

// -----

kiln.func @group(%x: f32) group {
  %p = tile.pipe : !tile.pipe<aic -> aiv, token>
  // expected-error @below {{'tile.free' op stands outside a role function}}
  tile.free %p
}

// -----

kiln.func @role(%p: !tile.pipe<aic -> aiv, token>) role(aiv) {
  // expected-error @below {{'tile.push' op a function of role aiv cannot push into '!tile.pipe<aic -> aiv, token>'; role aic does}}
  tile.push %p
}

// -----

kiln.func @role(%p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aic) {
  // expected-error @below {{'tile.pop' op a function of role aic cannot pop from '!tile.pipe<aic -> aiv, 8x8xf32>'; role aiv does}}
  %t = tile.pop %p : !tile.tile<8x8xf32>
}

// -----

kiln.func @role(%p: !tile.pipe<aic -> aiv, 8x8xf32>) role(dma) {
  // expected-error @below {{'tile.free' op a function of role dma cannot free a slot of '!tile.pipe<aic -> aiv, 8x8xf32>'; role aiv does}}
  tile.free %p
}

// -----

//===----------------------------------------------------------------------===//
// What travels
//===----------------------------------------------------------------------===//

kiln.func @role(%x: f32, %p: !tile.pipe<aic -> aiv, (8x8xf32, 8x1xf32)>) role(aic) {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.push' op handles 1 tiles, but '!tile.pipe<aic -> aiv, (8x8xf32, 8x1xf32)>' carries 2}}
  tile.push %t, %p
}

// -----

kiln.func @role(%p: !tile.pipe<aic -> aiv, token>) role(aiv) {
  // expected-error @below {{'tile.pop' op handles 1 tiles, but '!tile.pipe<aic -> aiv, token>' carries 0}}
  %t = tile.pop %p : !tile.tile<8x8xf32>
}

// -----

kiln.func @role(%p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aiv) {
  // expected-error @below {{'tile.pop' op handles '!tile.tile<4x8xf32>', but '!tile.pipe<aic -> aiv, 8x8xf32>' carries '!tile.tile<8x8xf32>'}}
  %t = tile.pop %p : !tile.tile<4x8xf32>
}

// -----

kiln.func @role(%p: !tile.pipe<aic -> aiv, 8x8xf32, up_down>) role(aiv) {
  // expected-error @below {{'tile.pop' op handles '!tile.tile<3x8xf32>', but '!tile.pipe<aic -> aiv, 8x8xf32, up_down>' carries '!tile.tile<8x8xf32>' or an even share of it per lane}}
  %t = tile.pop %p : !tile.tile<3x8xf32>
}

// -----

kiln.func @role(%p: !tile.pipe<aic -> aiv, 8x8xf32, up_down>) role(aiv) {
  // expected-error @below {{'tile.pop' op handles '!tile.tile<4x8xf16>'}}
  %t = tile.pop %p : !tile.tile<4x8xf16>
}

// -----

// The end without lanes sees the whole tile.
kiln.func @role(%x: f32, %p: !tile.pipe<aic -> aiv, 8x8xf32, up_down>) role(aic) {
  %t = tile.full %x : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.push' op handles '!tile.tile<4x8xf32>', but '!tile.pipe<aic -> aiv, 8x8xf32, up_down>' carries '!tile.tile<8x8xf32>'}}
  tile.push %t, %p
}

// -----

kiln.func @role(%x: f32) role(aic) {
  tile.push
  // expected-error @below {{expected the tiles to push and then the pipe}}
}

// -----

kiln.func @role(%x: f32) role(aic) {
  %t = tile.full %x : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.push' op operand #0 must be a bounded FIFO of tiles from one role to another, but got '!tile.tile<4x8xf32>'}}
  tile.push %t
}
