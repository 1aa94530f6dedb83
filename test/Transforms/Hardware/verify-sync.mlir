// The verifier reports what is not ordered, with both operations, whoever put the flags there.
// RUN: kiln-opt %s --tile-verify-sync=machine=a2a3 -split-input-file -verify-diagnostics

// Right: each unit waits for the one before it, and everything has finished at the end.
kiln.func @right(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> out) role(aiv) {
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  sync.set mte2 -> v id(0)
  sync.wait mte2 -> v id(0)
  %b = tile.exp %a {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  sync.set v -> mte3 id(0)
  sync.wait v -> mte3 id(0)
  tile.store %b, %y[0, 0]
  sync.barrier all
}

// -----

kiln.func @read_before_write(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> out) role(aiv) {
  // expected-note@+1 {{this one (tile.load)}}
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  // expected-error@+1 {{(unit v) may begin before an operation of unit mte2 that touches the same memory has finished}}
  %b = tile.exp %a {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  sync.barrier all
}

// -----

// Two instructions of one unit are not in order by themselves.
kiln.func @one_unit(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> out) role(aiv) {
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  sync.set mte2 -> v id(0)
  sync.wait mte2 -> v id(0)
  // expected-note@+1 {{this one (tile.exp)}}
  %b = tile.exp %a {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  // expected-error@+1 {{(unit v) may begin before an operation of unit v}}
  %c = tile.exp %b {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  sync.barrier all
}

// -----

// Within an iteration all is in order; the next one loads over what is still read.
kiln.func @next_iteration(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> out) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    sync.barrier mte2
    // expected-error@+1 {{(unit mte2) may begin before an operation of unit mte3}}
    %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
    sync.set mte2 -> mte3 id(0)
    sync.wait mte2 -> mte3 id(0)
    // expected-note@+1 {{this one (tile.store)}}
    tile.store %a, %y[0, 0]
  }
  sync.barrier all
}

// -----

// A branch that is taken leaves what another does not.
kiln.func @branch(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> out, %c: i1) role(aiv) {
  scf.if %c {
    // expected-note@+1 {{this one (tile.load)}}
    %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  }
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{(unit v) may begin before an operation of unit mte2}}
  %b = tile.full %zero {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  sync.barrier all
}

// -----

kiln.func @not_finished(%x: !kiln.tensor<64x64xf32> in) role(aiv) {
  // expected-error@+1 {{may not have finished when the role ends}}
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
}

// -----

kiln.func @set_twice() role(aiv) {
  // expected-note@+1 {{this one (sync.set)}}
  sync.set mte2 -> v id(0)
  // expected-error@+1 {{sets a flag that is set already}}
  sync.set mte2 -> v id(0)
}

// -----

kiln.func @never_set() role(aiv) {
  // expected-error@+1 {{waits for a flag that nobody has set}}
  sync.wait mte2 -> v id(0)
}

// -----

kiln.func @never_waited_for() role(aiv) {
  // expected-error@+1 {{sets a flag that nobody waits for}}
  sync.set mte2 -> v id(0)
}

// -----

kiln.func @no_such_flag() role(aiv) {
  // expected-error@+1 {{uses flag 8; there are 8 between two units}}
  sync.set mte2 -> v id(8)
  sync.wait mte2 -> v id(8)
}
