// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

// Calls and launches between functions.

kiln.func @main() orchestration {
  // expected-error @below {{'kiln.call' op there is no function @nowhere}}
  kiln.call @nowhere()
}

// -----

kiln.func @main() orchestration {
  // expected-error @below {{'kiln.submit' op there is no function @nowhere}}
  %t = kiln.submit @nowhere()
}

// -----

module @not_a_function {}
kiln.func @main() orchestration {
  // expected-error @below {{'kiln.submit' op there is no function @not_a_function}}
  %t = kiln.submit @not_a_function()
}

// -----

kiln.func @k(%x: f32) incore {}
kiln.func @main() orchestration {
  // expected-error @below {{'kiln.submit' op passes 0 arguments to @k, which takes 1}}
  %t = kiln.submit @k()
}

// -----

kiln.func @k(%x: f32, %n: index) incore {}
kiln.func @main(%x: f32) orchestration {
  // expected-error @below {{'kiln.submit' op argument 1 of @k is 'f32', expected 'index'}}
  %t = kiln.submit @k(%x, %x)
}

// -----

// Static facts may be forgotten, never invented.
kiln.func @k(%x: !kiln.tensor<8xf32>) incore {}
kiln.func @main(%x: !kiln.tensor<?xf32>) orchestration {
  // expected-error @below {{'kiln.submit' op argument 0 of @k is '!kiln.tensor<?xf32>', expected '!kiln.tensor<8xf32>'}}
  %t = kiln.submit @k(%x)
}

// -----

kiln.func @k(%x: !kiln.tensor<8x8xf32, strides [8, 1]>) incore {}
kiln.func @main(%x: !kiln.tensor<8x8xf32>) orchestration {
  // expected-error @below {{expected '!kiln.tensor<8x8xf32, strides [8, 1]>'}}
  %t = kiln.submit @k(%x)
}

// -----

kiln.func @k(%x: !kiln.tensor<8x8xf32, strides [8, 1]>) incore {}
kiln.func @main(%x: !kiln.tensor<8x8xf32, strides [?, 1]>) orchestration {
  // expected-error @below {{expected '!kiln.tensor<8x8xf32, strides [8, 1]>'}}
  %t = kiln.submit @k(%x)
}

// -----

kiln.func @k(%x: !kiln.tensor<?xf32>) incore {}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8xf16>) orchestration {
  // expected-error @below {{'kiln.submit' op argument 0 of @k is '!kiln.tensor<8x8xf32>', expected '!kiln.tensor<?xf32>'}}
  %t = kiln.submit @k(%x)
}

// -----

kiln.func @k(%x: !kiln.tensor<?xf32>) incore {}
kiln.func @main(%y: !kiln.tensor<8xf16>) orchestration {
  // expected-error @below {{'kiln.submit' op argument 0 of @k is '!kiln.tensor<8xf16>', expected '!kiln.tensor<?xf32>'}}
  %t = kiln.submit @k(%y)
}

// -----

kiln.func @other() orchestration {}
kiln.func @main() orchestration {
  // expected-error @below {{'kiln.submit' op launches the orchestration @other; call it instead}}
  %t = kiln.submit @other()
}

// -----

kiln.func @role(%p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aic) {}
kiln.func @main() orchestration {
  // expected-error @below {{'kiln.submit' op launches @role, which has a pipe parameter; launch the group that makes the pipe}}
  %t = kiln.submit @role()
}

// -----

// expected-error @below {{'kiln.incore' op stands outside a kiln.func}}
%t = kiln.incore "nowhere" {}

// -----

kiln.func @k() incore {}
// expected-error @below {{'kiln.call' op stands outside a kiln.func}}
kiln.call @k()

// -----

kiln.func @helper() incore {}
kiln.func @main(%x: !kiln.tensor<8xf32>) incore {
  // expected-error @below {{'kiln.call' op expects other results than @helper returns}}
  %r = kiln.call @helper() -> !kiln.tensor<8xf32>
}

// -----

kiln.func @helper(%x: !kiln.tensor<8xf32>) -> !kiln.tensor<8xf32> incore {
  kiln.return %x
}
kiln.func @main(%x: !kiln.tensor<8xf32>) incore {
  // expected-error @below {{'kiln.call' op expects other results than @helper returns}}
  kiln.call @helper(%x)
}

// -----

kiln.func @helper() incore {}
kiln.func @role() role(aic) {
  // expected-error @below {{'kiln.call' op cannot stand in a role function; a role calls no other function}}
  kiln.call @helper()
}

// -----

kiln.func @k() incore {}
kiln.func @main() orchestration {
  // expected-error @below {{'kiln.call' op calls @k, which is of kind incore; here only orchestration functions can be called (kernels and groups are launched with kiln.submit)}}
  kiln.call @k()
}

// -----

kiln.func @other() orchestration {}
kiln.func @k() incore {
  // expected-error @below {{'kiln.call' op calls @other, which is of kind orchestration; here only incore functions can be called}}
  kiln.call @other()
}

// -----

kiln.func @other() orchestration {}
kiln.func @main() orchestration {
  %t = kiln.incore "k" {
    // expected-error @below {{'kiln.call' op calls @other, which is of kind orchestration; here only incore functions can be called}}
    kiln.call @other()
  }
}

// -----

//===----------------------------------------------------------------------===//
// Recursion
//===----------------------------------------------------------------------===//

kiln.func @self() orchestration {
  // expected-error @below {{'kiln.call' op leads back to @self; recursion is not allowed}}
  kiln.call @self()
}

// -----

kiln.func @a() orchestration {
  kiln.call @b()
}
kiln.func @b() orchestration {
  // expected-error @below {{'kiln.call' op leads back to @a; recursion is not allowed}}
  kiln.call @a()
}

// -----

// A launch leads back as a call does, and nesting hides nothing.
kiln.func @entry() orchestration {
  kiln.call @a()
}
kiln.func @a() orchestration {
  kiln.call @b()
}
kiln.func @b() orchestration {
  kiln.scope {
    // expected-error @below {{'kiln.call' op leads back to @a; recursion is not allowed}}
    kiln.call @a()
  }
}

// -----

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

kiln.func @k() incore {}
kiln.func @group() group {
  // expected-error @below {{'kiln.call' op calls @k, which is no role function; a group calls roles}}
  kiln.call @k()
}

// -----

kiln.func @one() role(aic) {}
kiln.func @two() role(aic) {}
kiln.func @group() group {
  kiln.call @one()
  // expected-error @below {{'kiln.call' op calls a second function of role aic; a group has one per role}}
  kiln.call @two()
}

// -----

kiln.func @vector() role(aiv) {}
kiln.func @group() group lanes(1000000000000) {
  // expected-error @below {{'kiln.call' op runs 1000000000000 lanes of role aiv, which has at most 2}}
  kiln.call @vector()
}

// -----

kiln.func @vector(%p: !tile.pipe<aic -> aiv, 8x8xf32, up_down>) role(aiv) {
  // expected-error @below {{'tile.pop' op handles '!tile.tile<8x8xf32>', but with 2 lanes and split up_down each lane has '!tile.tile<4x8xf32>'}}
  %t = tile.pop %p : !tile.tile<8x8xf32>
}
kiln.func @group() group lanes(2) {
  %p = tile.pipe : !tile.pipe<aic -> aiv, 8x8xf32, up_down>
  // expected-note @below {{called here by group @group}}
  kiln.call @vector(%p)
}

// -----

kiln.func @vector(%x: f32, %p: !tile.pipe<aiv -> aic, 8x8xf32, left_right>) role(aiv) {
  %t = tile.full %x : !tile.tile<8x4xf32>
  // expected-error @below {{'tile.push' op handles '!tile.tile<8x4xf32>', but with 1 lanes and split left_right each lane has '!tile.tile<8x8xf32>'}}
  tile.push %t, %p
}
kiln.func @group(%x: f32) group {
  %p = tile.pipe : !tile.pipe<aiv -> aic, 8x8xf32, left_right>
  // expected-note @below {{called here by group @group}}
  kiln.call @vector(%x, %p)
}

// -----

kiln.func @cube(%p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aic) {}
kiln.func @group() group {
  %p = tile.pipe : !tile.pipe<aic -> aiv, 8x8xf32, up_down>
  // expected-error @below {{'kiln.call' op argument 0 of @cube is '!tile.pipe<aic -> aiv, 8x8xf32, up_down>', expected '!tile.pipe<aic -> aiv, 8x8xf32>'}}
  kiln.call @cube(%p)
}

// -----

kiln.func @returns(%x: !kiln.tensor<8xf32>) -> !kiln.tensor<8xf32> incore {
  kiln.return %x
}
kiln.func @main(%x: !kiln.tensor<8xf32>) orchestration {
  // expected-error @below {{'kiln.submit' op launches @returns, which returns tensors; a launch has no use for results, so make them parameters}}
  %t = kiln.submit @returns(%x)
}

// -----

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

kiln.func @k() incore {
  // expected-note @below {{the barrier}}
  tile.barrier
}
kiln.func @main() orchestration {
  // expected-error @below {{'kiln.submit' op launches @k, which contains a barrier; all its blocks must run at once, so the launch needs sync_start}}
  %t = kiln.submit @k() grid(4)
}

// -----

kiln.func @g() group {
  kiln.call @role()
}
kiln.func @role() role(aiv) {
  // expected-note @below {{the barrier}}
  tile.barrier
}
kiln.func @main() orchestration {
  %fine = kiln.submit @g() grid(4) sync_start
  // expected-error @below {{'kiln.submit' op launches @g, which contains a barrier}}
  %t = kiln.submit @g()
}

// -----

kiln.func @outer() incore {
  kiln.call @inner()
}
kiln.func @inner() incore {
  // expected-note @below {{the barrier}}
  tile.barrier
}
kiln.func @main() orchestration {
  // expected-error @below {{'kiln.submit' op launches @outer, which contains a barrier}}
  %t = kiln.submit @outer() grid(4)
}

// -----

kiln.func @main() orchestration {
  %fine = kiln.incore "fine" grid(4) sync_start {
    tile.barrier
  }
  %t = kiln.incore "k" grid(4) {
    // expected-error @below {{'tile.barrier' op needs all blocks of the launch to run at once: give the launch sync_start}}
    tile.barrier
  }
}

// -----

kiln.func @inner() incore {
  // expected-note @below {{the barrier}}
  tile.barrier
}
kiln.func @main() orchestration {
  %fine = kiln.incore "fine" grid(4) sync_start {
    kiln.call @inner()
  }
  %t = kiln.incore "k" grid(4) {
    // expected-error @below {{'kiln.call' op calls @inner, which contains a barrier}}
    kiln.call @inner()
  }
}

// -----

kiln.func @main() orchestration {
  // expected-error @below {{'tile.barrier' op computes on a core and cannot stand in an orchestration}}
  tile.barrier
}

// -----

kiln.func @g() group {
  // expected-error @below {{'tile.barrier' op cannot stand in a group, which only makes pipes and calls its roles}}
  tile.barrier
}

// -----

// Recursion is found, not followed for ever in search of a barrier.
kiln.func @main() orchestration {
  %t = kiln.submit @a()
}
kiln.func @a() incore {
  kiln.call @b()
}
kiln.func @b() incore {
  // expected-error @below {{'kiln.call' op leads back to @a; recursion is not allowed}}
  kiln.call @a()
}

// -----

//===----------------------------------------------------------------------===//
// Dump marks
//===----------------------------------------------------------------------===//

kiln.func @k() incore {
  %t = kiln.alloc() : !kiln.tensor<4xf32>
  // expected-error @below {{'kiln.dump' op marks a parameter of a kernel; this tensor is made inside it}}
  kiln.dump %t
}

// -----

kiln.func @main() orchestration {
  %fine = kiln.alloc() : !kiln.tensor<4x4xf32>
  kiln.dump %fine
  %k = kiln.incore "k" {
    kiln.dump %fine
    %t = kiln.alloc() : !kiln.tensor<4x4xf32>
    %v = kiln.slice %t[0, 0] [2, 2] : !kiln.tensor<2x2xf32>
    // expected-error @below {{'kiln.dump' op marks a parameter of a kernel; this tensor is made inside it}}
    kiln.dump %v
  }
}

// -----

kiln.func @g(%x: !kiln.tensor<4xf32>) group {
  // expected-error @below {{'kiln.dump' op cannot stand in a group, which only makes pipes and calls its roles}}
  kiln.dump %x
}
