// What does not fit: the tiles at the worst moment, the rings, and what would fit.
// RUN: kiln-opt %s --tile-plan-memory=machine=a5sim -split-input-file -verify-diagnostics
// RUN: not kiln-opt %s --tile-plan-memory=machine=abacus -split-input-file 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: there is no machine 'abacus'
// RUN: split-file %s %t
// RUN: not kiln-opt %t/fits.mlir --tile-plan-memory=map=%t/no/such/folder/map.json 2>&1 | FileCheck %s --check-prefix=MAP
// RUN: not kiln-opt %t/lanes.mlir --tile-plan-memory=machine=hopper 2>&1 | FileCheck %s --check-prefix=LANES
// LANES: error: @stage needs 262144 bytes of mat; role compute of hopper has 231424
// LANES: note: a tile of 256x128xf32 takes 262144 bytes on 2 lanes
// MAP: cannot write the memory map to '{{.*}}map.json': No such file or directory

// expected-error@+3 {{@many needs 393216 bytes of vec; role aiv of ascend950 has 245760}}
// expected-note@+2 {{1 more tiles take 65536 bytes}}
// expected-note@+1 {{with tiles of 1/2 of the size it would fit: for example 64x128 instead of 128x128}}
kiln.func @many(%x: !kiln.tensor<128x128xf32>) role(aiv) {
  // expected-note@+1 {{a tile of 128x128xf32 takes 65536 bytes}}
  %a = tile.load %x[0, 0] : !tile.tile<128x128xf32, vec>
  // expected-note@+1 {{a tile of 128x128xf32 takes 65536 bytes}}
  %b = tile.load %x[0, 0] : !tile.tile<128x128xf32, vec>
  // expected-note@+1 {{a tile of 128x128xf32 takes 65536 bytes}}
  %c = tile.load %x[0, 0] : !tile.tile<128x128xf32, vec>
  // expected-note@+1 {{a tile of 128x128xf32 takes 65536 bytes}}
  %d = tile.load %x[0, 0] : !tile.tile<128x128xf32, vec>
  // expected-note@+1 {{a tile of 128x128xf32 takes 65536 bytes}}
  %e = tile.load %x[0, 0] : !tile.tile<128x128xf32, vec>
  %f = tile.load %x[0, 0] : !tile.tile<128x128xf32, vec>
  %1 = tile.add %a, %b : !tile.tile<128x128xf32, vec>
  %2 = tile.add %1, %c : !tile.tile<128x128xf32, vec>
  %3 = tile.add %2, %d : !tile.tile<128x128xf32, vec>
  %4 = tile.add %3, %e : !tile.tile<128x128xf32, vec>
  %5 = tile.add %4, %f : !tile.tile<128x128xf32, vec>
  tile.store %5, %x[0, 0]
}

// -----

// A ring that is too deep.
!p = !tile.pipe<aic -> aiv, 128x128xf32, up_down>
kiln.func @pushes(%p: !p) role(aic) {
  %z = arith.constant 0.0 : f32
  %a = tile.full %z : !tile.tile<128x128xf32, acc>
  tile.push %a, %p
}
// expected-error@+3 {{@pops needs 262144 bytes of vec; role aiv of ascend950 has 245760}}
// expected-note@+2 {{with 6 slots a pipe it would fit}}
// expected-note@+1 {{with tiles of 1/2 of the size it would fit: for example 64x64 instead of 64x128}}
kiln.func @pops(%x: !kiln.tensor<64x128xf32>, %p: !p) role(aiv) {
  %a = tile.pop %p : !tile.tile<64x128xf32, vec>
  // expected-note@+1 {{a tile of 64x128xf32 takes 32768 bytes}}
  %b = tile.load %x[0, 0] : !tile.tile<64x128xf32, vec>
  %s = tile.add %a, %b : !tile.tile<64x128xf32, vec>
  tile.store %s, %x[0, 0]
  tile.free %p
}
kiln.func @group(%x: !kiln.tensor<64x128xf32>) group lanes(2) {
  // expected-note@+1 {{the ring of pipe 'to_aiv' takes 229376 bytes: 7 slots of 32768}}
  %p = tile.pipe slots(7) : !p
  kiln.call @pushes(%p)
  kiln.call @pops(%x, %p)
}

// -----

// An address that somebody wrote by hand.
kiln.func @odd(%x: !kiln.tensor<8x8xf32>) role(aiv) {
  // expected-error@+1 {{puts a tile of 8x8xf32 at byte 4 of vec, where tiles are aligned to 32 bytes}}
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 4>} : !tile.tile<8x8xf32, vec>
  tile.store %a, %x[0, 0]
}

// -----

//--- fits.mlir
kiln.func @fits(%x: !kiln.tensor<8x8xf32>) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32, vec>
  tile.store %a, %x[0, 0]
}

// -----

//--- lanes.mlir
kiln.func @stage(%x: !kiln.tensor<?x128xf32>) role(compute) {
  %a = tile.load %x[0, 0] : !tile.tile<256x128xf32, mat>
  tile.store %a, %x[8, 0]
}
kiln.func @copy(%x: !kiln.tensor<?x128xf32>) group lanes(2) {
  kiln.call @stage(%x)
}
