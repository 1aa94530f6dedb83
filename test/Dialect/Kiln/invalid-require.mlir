// RUN: kiln-opt %s -verify-diagnostics -split-input-file

kiln.func @main(%x: !kiln.tensor<?xi32> in) orchestration {
  // expected-note @below {{this}}
  %v = kiln.get %x[0] : i32
  %c = arith.constant 3 : i32
  %b = arith.cmpi sge, %v, %c : i32
  // expected-error @below {{depends on what memory holds; what is required is checked before anything runs}}
  kiln.require %b, "there are three"
}

// -----

kiln.func @k(%x: !kiln.tensor<?x8xf32> in) incore {
  // expected-note @below {{this}}
  %i = tile.block_idx 0
  %n = kiln.dim %x, 0
  %b = arith.cmpi slt, %i, %n : index
  // expected-error @below {{depends on which block or lane runs}}
  kiln.require %b, "blocks are few"
}

// -----

kiln.func @main(%n: index) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %b = arith.cmpi sge, %n, %c1 : index
    // expected-error @below {{stands in 'scf.for'; what is required is checked before anything runs, so it stands in the outermost block of an orchestration, kernel or group}}
    kiln.require %b, "there is one"
  }
}

// -----

kiln.func @main(%n: index, %f: i1) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{this}}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> index {
    scf.yield %i : index
  }
  %b = arith.cmpi sge, %s, %c1 : index
  // expected-error @below {{depends on what a loop or branch made}}
  kiln.require %b, "the last is one"
}

// -----

kiln.func @main(%x: !kiln.tensor<?x8xf32> in) orchestration {
  %c2 = arith.constant 2 : index
  %v = kiln.slice %x[0, 0] [%c2, 8] : !kiln.tensor<?x8xf32>
  // expected-note @below {{this}}
  %n = kiln.dim %v, 0
  %b = arith.cmpi sge, %n, %c2 : index
  // expected-error @below {{depends on the extent of a tensor that is no parameter}}
  kiln.require %b, "the view has two"
}

// -----

kiln.func @main(%s: f32) orchestration {
  %c = arith.constant 1.0 : f32
  // expected-note @below {{this}}
  %b = arith.cmpf oge, %s, %c : f32
  // expected-error @below {{depends on the result of 'arith.cmpf'}}
  kiln.require %b, "s is large"
}

// -----

kiln.func @main(%n: index) orchestration {
  %c = arith.constant 1 : index
  // expected-note @below {{this}}
  %b = arith.cmpi ult, %n, %c : index
  // expected-error @below {{depends on an unsigned comparison; use the signed one}}
  kiln.require %b, "n is zero"
}

// -----

kiln.func @main(%n: index) orchestration {
  %c = arith.constant 1 : i32
  // expected-note @below {{this}}
  %i = arith.index_cast %n : index to i32
  %b = arith.cmpi eq, %i, %c : i32
  // expected-error @below {{depends on a cast that does not keep the value}}
  kiln.require %b, "n is one"
}

// -----

kiln.func @main(%f: i1) orchestration {
  // expected-error @below {{needs a message}}
  kiln.require %f, ""
}

// -----

!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%p: !p, %n: index) role(aic) {
  %c = arith.constant 1 : index
  %b = arith.cmpi eq, %n, %c : index
  // expected-error @below {{stands in a role, which runs as a part of its group; write it into the group}}
  kiln.require %b, "n is one"
}

// -----

kiln.func @lone(%n: index) role(aiv) {
  %c = arith.constant 1 : index
  %b = arith.cmpi eq, %n, %c : index
  // expected-note @below {{required here}}
  kiln.require %b, "n is one"
}
kiln.func @g(%n: index) group {
  // expected-error @below {{calls @lone, which requires something of its arguments; it runs as a part of the group, so write the requirement there}}
  kiln.call @lone(%n)
}

// -----

kiln.func @helper(%n: index) incore {
  %c = arith.constant 1 : index
  %b = arith.cmpi eq, %n, %c : index
  // expected-note @below {{required here}}
  kiln.require %b, "n is one"
}
kiln.func @k(%n: index) incore {
  // expected-error @below {{calls @helper, which requires something of its arguments; it runs as a part of the kernel that is launched, so write the requirement there}}
  kiln.call @helper(%n)
}
