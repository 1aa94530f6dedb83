// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

// Text that is not Kiln: undeclared values, wrong words, missing pieces.

kiln.func @f(%x: !kiln.tensor<8x8xf32>) incore {
  // expected-error @below {{use of undeclared value '%y'}}
  %t = tile.load %y[0, 0] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<8x8xf32>) incore {
  // expected-error @below {{use of undeclared SSA value name}}
  %t = tile.load %x[%i, 0] : !tile.tile<8x8xf32>
}

// -----

// Used before it is made.
kiln.func @f(%x: f32) incore {
  // expected-error @below {{use of undeclared value '%t'}}
  %u = tile.neg %t : !tile.tile<8x8xf32>
  %t = tile.full %x : !tile.tile<8x8xf32>
}

// -----

// An op does not see its own result.
kiln.func @f() orchestration {
  // expected-error @below {{use of undeclared value '%t'}}
  %t = kiln.submit predicate(%t[0] > 0)
}

// -----

// A value of another function.
kiln.func @g(%x: f32) incore {
}
kiln.func @f() incore {
  // expected-error @below {{use of undeclared value '%x'}}
  %t = tile.full %x : !tile.tile<8x8xf32>
}

// -----

// A value of a region that ended.
kiln.func @f(%c: i1, %x: f32) incore {
  scf.if %c {
    %t = tile.full %x : !tile.tile<8x8xf32>
  }
  // expected-error @below {{use of undeclared value '%t'}}
  %u = tile.neg %t : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aiv) {
  %t = tile.pop %p : !tile.tile<8x8xf32>
  // expected-error @below {{use of undeclared value '%t'}}
  %u = tile.neg %t#1 : !tile.tile<8x8xf32>
}

// -----

kiln.func @f() incore {
  // expected-error @below {{custom op 'tile.lod' is unknown}}
  %t = tile.lod
}

// -----

kiln.func @f() incore {
  // expected-error @below {{operation being parsed with an unregistered dialect}}
  "tiles.load"() : () -> ()
}

// -----

// expected-error @below {{custom op 'kiln.function' is unknown}}
kiln.function @f() incore {}

// -----

// expected-error @below {{expected valid '@'-identifier for symbol name}}
kiln.func f() incore {}

// -----

// expected-error @below {{expected '('}}
kiln.func @f incore {}

// -----

// expected-error @below {{expected ':'}}
kiln.func @f(%x) incore {}

// -----

// expected-error @below {{expected SSA operand}}
kiln.func @f(x: f32) incore {}

// -----

// expected-error @below {{expected '{' to begin a region}}
kiln.func @f() incore

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{expected ':'}}
  %t = tile.full %x
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{expected ':'}}
  %t = tile.full %x, %x : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{expected 'axis'}}
  %t = tile.iota along(1) : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: !kiln.tensor<8x8xf32>) incore {
  // The clauses have an order.
  // expected-error @below {{expected ':'}}
  %t = tile.load %x[0, 0] valid(1, 1) pad(zero) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<8x8xf32>) incore {
  // expected-error @below {{expected SSA value or integer}}
  // expected-error @below {{expected integer value}}
  %t = tile.load %x[0, 0.5] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<8x8xf32>) incore {
  // expected-error @below {{expected SSA value or integer}}
  // expected-error @below {{expected '['}}
  %t = tile.load %x : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<8x8xf32>) incore {
  // expected-error @below {{expected SSA value or integer}}
  // expected-error @below {{integer value too large}}
  %t = tile.load %x[0, 99999999999999999999] : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<8x8xf32>) incore {
  // expected-error @below {{'tile.load' op result #0 must be a two-dimensional value of static shape, but got 'f32'}}
  %t = tile.load %x[0, 0] : f32
}

// -----

kiln.func @f() orchestration {
  // expected-error @below {{expected attribute value}}
  %t = kiln.incore proj {}
}

// -----

kiln.func @f() orchestration {
  // expected-error @below {{'kiln.alloc' expected string}}
  %a = kiln.alloc() name(a) : !kiln.tensor<4xf32>
}

// -----

kiln.func @f() orchestration {
  // expected-error @below {{operation defines 1 results but was provided 2 to bind}}
  %a:2 = kiln.alloc() : !kiln.tensor<4xf32>
}

// -----

// expected-error @below {{undefined symbol alias id 'up'}}
kiln.func @f(%p: !up) role(aic) {}

// -----

// Operations of MLIR's own dialects find values that are defined later.
kiln.func @f(%n: index) incore {
  // expected-error @below {{'arith.addi' op operand 0 is used before it is defined; move its definition up}}
  %a = arith.addi %b, %n : index
  // expected-note @below {{it is defined here}}
  %b = arith.muli %n, %n : index
}

// -----

kiln.func @f(%n: index, %c: i1) incore {
  scf.if %c {
    // expected-error @below {{operand 1 is used before it is defined}}
    %a = arith.addi %n, %b : index
  }
  // expected-note @below {{it is defined here}}
  %b = arith.muli %n, %n : index
}
