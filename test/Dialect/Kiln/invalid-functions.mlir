// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

// What a function may be, what may stand in it, and what it may return.

// expected-error @below {{expected the kind of the function: orchestration, incore, role(name) or group}}
kiln.func @no_kind() {}

// -----

// expected-error @below {{expected the kind of the function: orchestration, incore, role(name) or group}}
kiln.func @wrong_kind() kernel {}

// -----

// expected-error @below {{expected '('}}
kiln.func @role_without_name() role {}

// -----

// expected-error @below {{expected valid keyword}}
kiln.func @role_empty() role() {}

// -----

// expected-error @below {{expected none, up_down or left_right}}
kiln.func @split_unknown() incore split(diagonal) {}

// -----

// expected-error @below {{expected '('}}
kiln.func @split_bare() incore split {}

// -----

// expected-error @below {{expected integer value}}
kiln.func @lanes_word() group lanes(two) {}

// -----

// expected-error @below {{integer value too large}}
kiln.func @lanes_huge() group lanes(99999999999999999999) {}

// -----

// expected-error @below {{'kind' is part of the signature, not an attribute}}
kiln.func @kind_twice() incore attributes {kind = 2 : i32} {}

// -----

// expected-error @below {{'function_type' is part of the signature, not an attribute}}
kiln.func @type_twice() incore attributes {function_type = 3} {}

// -----

// expected-error @below {{'arg_attrs' is part of the signature, not an attribute}}
kiln.func @arg_attrs_twice(%x: f32) incore attributes {arg_attrs = [{}, {}, {}]} {}

// -----

// expected-error @below {{'kiln.func' op no machine has a role 'gpu'; roles are core, dma, compute, aic, aiv}}
kiln.func @role_unknown() role(gpu) {}

// -----

// expected-error @below {{'kiln.func' op has lanes(0); there is at least one}}
kiln.func @lanes_zero() group lanes(0) {}

// -----

// expected-error @below {{'kiln.func' op has lanes(-2); there is at least one}}
kiln.func @lanes_negative() group lanes(-2) {}

// -----

// expected-error @below {{'kiln.func' op lanes(n) belongs to a group or an incore function}}
kiln.func @lanes_of_role() role(aiv) lanes(2) {}

// -----

// expected-error @below {{'kiln.func' op split(...) belongs to an incore function; in a group the pipes have splits}}
kiln.func @split_of_group() group split(up_down) {}

// -----

// expected-error @below {{'kiln.func' op slots(n) belongs to an incore function; in a group the pipes have slots}}
kiln.func @slots_of_group() group slots(2) {}

// -----

// expected-error @below {{'kiln.func' op has slots(0); a pipe has 1 to 1048576 slots}}
kiln.func @slots_zero() incore slots(0) {}

// -----

// expected-error @below {{'kiln.func' op has lanes(0); there is at least one}}
kiln.func @lanes_of_kernel() incore lanes(0) {}

// -----

kiln.func @incore_slots() orchestration {
  // expected-error @below {{'kiln.incore' op has slots(1048577); a pipe has 1 to 1048576 slots}}
  %t = kiln.incore "k" grid(1) slots(1048577) {}
}

// -----

kiln.func @incore_lanes() orchestration {
  // expected-error @below {{'kiln.incore' op has lanes(-1); there is at least one}}
  %t = kiln.incore "k" grid(1) lanes(-1) {}
}

// -----

// expected-error @below {{'kiln.func' op parameter 1 is a pipe; only role functions are given pipes}}
kiln.func @pipe_parameter(%x: f32, %p: !tile.pipe<aic -> aiv, 8x8xf32>) incore {}

// -----

// expected-error @below {{'kiln.func' op parameter 0 is a pipe; only role functions are given pipes}}
kiln.func @pipe_parameter_group(%p: !tile.pipe<aic -> aiv, 8x8xf32>) group {}

// -----

// expected-error @below {{'kiln.func' op parameter 0 has type '!tile.tile<8x8xf32>'; parameters are tensors, scalars and pipes}}
kiln.func @tile_parameter(%x: !tile.tile<8x8xf32>) incore {}

// -----

// expected-error @below {{'kiln.func' op parameter 0 has type 'i17'; parameters are tensors, scalars and pipes}}
kiln.func @odd_parameter(%x: i17) incore {}

// -----

// expected-error @below {{'kiln.func' op returns 'index'; functions return tensors only}}
kiln.func @returns_scalar(%n: index) -> index incore {}

// -----

kiln.func @outer() incore {
  // expected-error @below {{'kiln.func' op symbol's parent must have the SymbolTable trait}}
  kiln.func @inner() incore {}
}

// -----

kiln.func @outer() orchestration {
  kiln.scope {
    // expected-error @below {{'kiln.func' op symbol's parent must have the SymbolTable trait}}
    kiln.func @inner() incore {}
  }
}

// -----

// expected-note @below {{the other one is here}}
kiln.func @same() incore {}
// expected-error @below {{there are two functions @same; give one of them another name, also where it is launched}}
kiln.func @same() incore {}

// -----

// expected-note @below {{previously referenced here}}
kiln.func @parameter_twice(%x: f32,
// expected-error @below {{region entry argument '%x' is already in use}}
                           %x: f32) incore {}

// -----

// expected-error @below {{'kiln.func' op expects region #0 to have 0 or 1 blocks}}
kiln.func @two_blocks() incore {
  kiln.return
^other:
  kiln.return
}

// -----

//===----------------------------------------------------------------------===//
// What may stand where
//===----------------------------------------------------------------------===//

kiln.func @main(%x: !kiln.tensor<8x8xf32>) orchestration {
  // expected-error @below {{'tile.load' op computes on a core and cannot stand in an orchestration; put it into a kernel or a kiln.incore region}}
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
}

// -----

kiln.func @main(%x: !kiln.tensor<8x8xf32>, %c: i1) orchestration {
  scf.if %c {
    // expected-error @below {{'tile.lane' op computes on a core and cannot stand in an orchestration}}
    %l = tile.lane
  }
}

// -----

kiln.func @main(%x: !kiln.tensor<8xf32>) orchestration {
  // expected-error @below {{'kiln.read' op cannot stand in an orchestration; use kiln.get, which waits for the producers}}
  %v = kiln.read %x[0] : f32
}

// -----

kiln.func @main(%x: !kiln.tensor<8xf32>, %v: f32) orchestration {
  // expected-error @below {{'kiln.write' op cannot stand in an orchestration; use kiln.get, which waits for the producers}}
  kiln.write %v, %x[0]
}

// -----

kiln.func @kernel() incore {
  // expected-error @below {{'tile.pipe' op needs a role: write a group with role functions, or let the compiler place the pipes}}
  %p = tile.pipe : !tile.pipe<aic -> aiv, 8x8xf32>
}

// -----

kiln.func @kernel() incore {
  // expected-error @below {{'kiln.submit' op belongs to an orchestration, not to a kernel}}
  %t = kiln.submit
}

// -----

kiln.func @kernel() role(aic) {
  // expected-error @below {{'kiln.scope' op belongs to an orchestration, not to a kernel}}
  kiln.scope {}
}

// -----

kiln.func @kernel(%x: !kiln.tensor<8xf32>) incore {
  // expected-error @below {{'kiln.get' op belongs to an orchestration, not to a kernel}}
  %v = kiln.get %x[0] : f32
}

// -----

kiln.func @kernel() role(aic) {
  // expected-error @below {{'kiln.alloc' op belongs to an orchestration, not to a kernel}}
  %t = kiln.alloc() : !kiln.tensor<8xf32>
}

// -----

kiln.func @main() orchestration {
  %t = kiln.incore "outer" {
    // expected-error @below {{'kiln.incore' op belongs to an orchestration, not to a kernel}}
    %u = kiln.incore "inner" {}
  }
}

// -----

kiln.func @role() role(aic) {
  // expected-error @below {{'tile.pipe' op makes a pipe; pipes are made in the group and passed to the roles}}
  %p = tile.pipe : !tile.pipe<aic -> aiv, 8x8xf32>
}

// -----

kiln.func @group() group {
  // expected-error @below {{'tile.lane' op cannot stand in a group, which only makes pipes and calls its roles}}
  %l = tile.lane
}

// -----

kiln.func @group() group {
  // expected-error @below {{'kiln.submit' op cannot stand in a group, which only makes pipes and calls its roles}}
  %t = kiln.submit
}

// -----

kiln.func @group(%c: i1) group {
  // expected-error @below {{'scf.if' op cannot stand in a group, which only makes pipes and calls its roles}}
  scf.if %c {}
}

// -----

kiln.func @group() group {
  // expected-error @below {{'scf.execute_region' op cannot stand in a group, which only makes pipes and calls its roles}}
  scf.execute_region {
    scf.yield
  }
}

// -----

//===----------------------------------------------------------------------===//
// Tensors and pipes are names, not data
//===----------------------------------------------------------------------===//

kiln.func @select(%c: i1, %x: !kiln.tensor<8xf32>, %y: !kiln.tensor<8xf32>) orchestration {
  // expected-error @below {{'arith.select' op makes a '!kiln.tensor<8xf32>'; tensors and pipes are never carried, yielded or selected}}
  %z = arith.select %c, %x, %y : !kiln.tensor<8xf32>
}

// -----

kiln.func @yield(%c: i1, %x: !kiln.tensor<8xf32>) orchestration {
  // expected-error @below {{'scf.if' op makes a '!kiln.tensor<8xf32>'; tensors and pipes are never carried, yielded or selected}}
  %z = scf.if %c -> (!kiln.tensor<8xf32>) {
    scf.yield %x : !kiln.tensor<8xf32>
  } else {
    scf.yield %x : !kiln.tensor<8xf32>
  }
}

// -----

kiln.func @select_pipe(%c: i1, %p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aic) {
  // expected-error @below {{'arith.select' op makes a '!tile.pipe<aic -> aiv, 8x8xf32>'}}
  %q = arith.select %c, %p, %p : !tile.pipe<aic -> aiv, 8x8xf32>
}

// -----

kiln.func @carry(%x: !kiln.tensor<8xf32>) orchestration {
  // expected-error @below {{'scf.while' op carries a '!kiln.tensor<8xf32>'; tensors and pipes are never carried, yielded or selected}}
  scf.while (%y = %x) : (!kiln.tensor<8xf32>) -> () {
    %c = arith.constant false
    scf.condition(%c)
  } do {
    scf.yield %x : !kiln.tensor<8xf32>
  }
}

// -----

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

kiln.func @fewer(%x: !kiln.tensor<8xf32>) -> !kiln.tensor<8xf32> incore {
  // expected-error @below {{'kiln.return' op returns 0 tensors of other types than the function declares}}
  kiln.return
}

// -----

kiln.func @other_type(%x: !kiln.tensor<8xf32>) -> !kiln.tensor<?xf32> incore {
  // expected-error @below {{'kiln.return' op returns 1 tensors of other types than the function declares}}
  kiln.return %x
}

// -----

// expected-error @below {{'kiln.return' op returns 0 tensors of other types than the function declares}}
kiln.func @forgotten(%x: !kiln.tensor<8xf32>) -> !kiln.tensor<8xf32> incore {
}

// -----

kiln.func @view(%x: !kiln.tensor<8x8xf32>) -> !kiln.tensor<4x8xf32> incore {
  %v = kiln.slice %x[0, 0] [4, 8] : !kiln.tensor<4x8xf32>
  // expected-error @below {{'kiln.return' op result 0 is neither a parameter nor a kiln.alloc of the function's outermost block}}
  kiln.return %v
}

// -----

kiln.func @same_twice(%x: !kiln.tensor<8xf32>) -> (!kiln.tensor<8xf32>, !kiln.tensor<8xf32>) incore {
  // expected-error @below {{'kiln.return' op result 1 names a tensor that is returned already}}
  kiln.return %x, %x
}

// -----

kiln.func @return_scalar(%n: index) incore {
  // expected-error @below {{'kiln.return' op operand #0 must be variadic of a strided view of data in global memory, but got 'index'}}
  kiln.return %n
}

// -----

kiln.func @return_in_scope() orchestration {
  kiln.scope {
    // expected-error @below {{'kiln.return' op expects parent op 'kiln.func'}}
    kiln.return
  }
}

// -----

kiln.func @k(%y: !kiln.tensor<16x16xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'scf.for' op has the step 0; the step of a loop is at least 1}}
  scf.for %i = %c0 to %n step %c0 {
  }
}

// -----

kiln.func @k(%y: !kiln.tensor<16x16xf32>, %n: index) orchestration {
  %c0 = arith.constant 0 : index
  %s = arith.constant -2 : index
  // expected-error @below {{'scf.for' op has the step -2; the step of a loop is at least 1}}
  scf.for %i = %c0 to %n step %s {
  }
}

// -----

kiln.func @parallel_and_carries(%x: !kiln.tensor<64x16xf32>, %y: !kiln.tensor<16x16xf32>) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{'scf.for' op is parallel and carries a value from one iteration to the next; leave out parallel, or let each iteration store what it makes}}
  %r = scf.for %i = %c0 to %c64 step %c16 iter_args(%a = %t) -> (!tile.tile<16x16xf32>) {
    %n = tile.load %x[%i, 0] : !tile.tile<16x16xf32>
    scf.yield %n : !tile.tile<16x16xf32>
  } {kiln.loop = #kiln.loop<parallel>}
  tile.store %r, %y[0, 0]
}
