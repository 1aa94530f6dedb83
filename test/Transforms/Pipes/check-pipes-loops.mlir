// RUN: kiln-opt %s --kiln-check-pipes=report -verify-diagnostics -o /dev/null

// Loops inside loops, producers that run ahead, and trip counts that are large.

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
!q = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push_rows(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p, %q: !q) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    %j1 = arith.addi %i, %c1 : index
    scf.for %j = %c0 to %j1 step %c1 {
      tile.push %t, %p
    }
    %r = tile.pop %q : !t
  }
}
kiln.func @pop_rows(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p, %q: !q) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cst = arith.constant 0.0 : f32
  %init = tile.full %cst : !t
  scf.for %i = %c0 to %n step %c1 {
    %j1 = arith.addi %i, %c1 : index
    %s = scf.for %j = %c0 to %j1 step %c1 iter_args(%a = %init) -> (!t) {
      %t = tile.pop %p : !t
      %b = tile.add %a, %t : !t
      scf.yield %b : !t
    }
    tile.push %s, %q
  }
}
// The inner trip count is a function of the outer index, the same in both roles.
// expected-remark @below {{pipes of @causal proved}}
kiln.func @causal(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  %q = tile.pipe slots(1) : !q
  kiln.call @push_rows(%x, %n, %p, %q)
  kiln.call @pop_rows(%y, %n, %p, %q)
}
// Two tiles ahead, guarded at the end.
kiln.func @cube(%n: index, %p: !p, %q: !q) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.pop %q : !t
    // expected-error @below {{deadlock with n = 3: cube waits to push into 'to_aiv' (1 of 1 slot full)}}
    // expected-note @below {{cycle of waits: cube -> vec -> cube}}
    tile.push %t, %p
  }
}
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p, %q: !q) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = tile.load %x[0, 0] : !t
  %any = arith.cmpi sgt, %n, %c0 : index
  scf.if %any {
    tile.push %t, %q
  }
  %any2 = arith.cmpi sgt, %n, %c1 : index
  scf.if %any2 {
    tile.push %t, %q
  }
  scf.for %i = %c0 to %n step %c1 {
    %i2 = arith.addi %i, %c2 : index
    %more = arith.cmpi slt, %i2, %n : index
    scf.if %more {
      // expected-note @below {{vec waits to push into 'to_aic' (1 of 1 slot popped and not freed)}}
      tile.push %t, %q
    }
    %u = tile.pop %p : !t
  }
}
// expected-note @below {{in group @ahead_of_one_slot}}
kiln.func @ahead_of_one_slot(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  // expected-note @below {{slots(2) on this pipe would be enough}}
  %p = tile.pipe slots(1) : !p
  %q = tile.pipe slots(1) : !q
  kiln.call @cube(%n, %p, %q)
  kiln.call @vec(%x, %n, %p, %q)
}
// expected-remark @below {{pipes of @ahead_of_two_slots proved}}
kiln.func @ahead_of_two_slots(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  %q = tile.pipe slots(2) : !q
  kiln.call @cube(%n, %p, %q)
  kiln.call @vec(%x, %n, %p, %q)
}
// expected-remark @below {{pipes of @a_billion proved}}
kiln.func @a_billion(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  %q = tile.pipe slots(2) : !q
  %n = arith.constant 1000000000 : index
  kiln.call @cube(%n, %p, %q)
  kiln.call @vec(%x, %n, %p, %q)
}
// expected-remark @below {{pipes of @thousands proved}}
kiln.func @thousands(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  %q = tile.pipe slots(2) : !q
  %n = arith.constant 5000 : index
  kiln.call @cube(%n, %p, %q)
  kiln.call @vec(%x, %n, %p, %q)
}

// Three roles in a row, each with a prologue and an epilogue of its own form; two loops after each other.
!a = !tile.pipe<dma -> aic, 8x8xf32>
kiln.func @fetch(%x: !kiln.tensor<?x8xf32>, %m: index, %a: !a) role(dma) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = kiln.dim %x, 0
  scf.for %i = %c0 to %rows step %c8 {
    %t = tile.load %x[%i, 0] : !t
    tile.push %t, %a
  }
  scf.for %i = %c0 to %m step %c1 {
    %t = tile.load %x[0, 0] : !t
    tile.push %t, %a
  }
}
kiln.func @forward(%x: !kiln.tensor<?x8xf32>, %m: index, %a: !a, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = kiln.dim %x, 0
  %tiles = arith.ceildivsi %rows, %c8 : index
  scf.for %i = %c0 to %tiles step %c1 {
    %t = tile.pop %a : !t
    tile.push %t, %p
  }
  scf.for %i = %c0 to %m step %c1 {
    %t = tile.pop %a : !t
    tile.push %t, %p
  }
}
kiln.func @drain(%x: !kiln.tensor<?x8xf32>, %m: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %rows = kiln.dim %x, 0
  %padded = arith.addi %rows, %c7 : index
  %tiles = arith.divui %padded, %c8 : index
  %all = arith.addi %tiles, %m : index
  scf.for %i = %c0 to %tiles step %c1 {
    %t = tile.pop %p : !t
  }
  scf.for %i = %tiles to %all step %c1 {
    %t = tile.pop %p : !t
  }
}
// expected-remark @below {{pipes of @three_roles proved}}
kiln.func @three_roles(%x: !kiln.tensor<?x8xf32>, %m: index) group {
  %a = tile.pipe slots(1) : !a
  %p = tile.pipe slots(1) : !p
  kiln.call @fetch(%x, %m, %a)
  kiln.call @forward(%x, %m, %a, %p)
  kiln.call @drain(%x, %m, %p)
}

// A flag read from memory that nobody in the group writes is one flag for all.
kiln.func @push_if(%flags: !kiln.tensor<4xi1>, %x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    %flag = kiln.read %flags[%i] : i1
    scf.if %flag {
      tile.push %t, %p
    }
  }
}
kiln.func @pop_if(%flags: !kiln.tensor<4xi1>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %flag = kiln.read %flags[%i] : i1
    scf.if %flag {
      %t = tile.pop %p : !t
    }
  }
}
// expected-remark @below {{pipes of @by_flags proved}}
kiln.func @by_flags(%flags: !kiln.tensor<4xi1>, %x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe : !p
  kiln.call @push_if(%flags, %x, %n, %p)
  kiln.call @pop_if(%flags, %n, %p)
}
// expected-note @below {{in group @by_other_flags}}
kiln.func @by_other_flags(%flags: !kiln.tensor<4xi1>, %others: !kiln.tensor<4xi1>, %x: !kiln.tensor<8x8xf32>, %n: index) group {
  // expected-warning @below {{pipes not proved: no proof was found for all that memory may hold}}
  %p = tile.pipe : !p
  kiln.call @push_if(%flags, %x, %n, %p)
  kiln.call @pop_if(%others, %n, %p)
}

// A comparison of floats is not looked into, but is the same in both roles.
kiln.func @push_if_positive(%x: !kiln.tensor<8x8xf32>, %s: f32, %p: !p) role(aic) {
  %zero = arith.constant 0.0 : f32
  %t = tile.load %x[0, 0] : !t
  %positive = arith.cmpf ogt, %s, %zero : f32
  scf.if %positive {
    tile.push %t, %p
  }
}
kiln.func @pop_if_positive(%s: f32, %p: !p) role(aiv) {
  %zero = arith.constant 0.0 : f32
  %positive = arith.cmpf ogt, %s, %zero : f32
  scf.if %positive {
    %t = tile.pop %p : !t
  }
}
// expected-remark @below {{pipes of @by_sign proved}}
kiln.func @by_sign(%x: !kiln.tensor<8x8xf32>, %s: f32) group {
  %p = tile.pipe : !p
  kiln.call @push_if_positive(%x, %s, %p)
  kiln.call @pop_if_positive(%s, %p)
}
// expected-note @below {{in group @by_two_signs}}
kiln.func @by_two_signs(%x: !kiln.tensor<8x8xf32>, %s: f32, %r: f32) group {
  // expected-warning @below {{pipes not proved: no proof was found for all trip counts}}
  %p = tile.pipe : !p
  kiln.call @push_if_positive(%x, %s, %p)
  kiln.call @pop_if_positive(%r, %p)
}

// Narrow arithmetic wraps: 127 + 1 is -128 in 8 bits, but 128 as an index.
kiln.func @push_narrow(%x: !kiln.tensor<8x8xf32>, %n: i8, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i8
  %t = tile.load %x[0, 0] : !t
  %more = arith.addi %n, %one : i8
  %m = arith.index_cast %more : i8 to index
  scf.for %i = %c0 to %m step %c1 {
    // expected-note @below {{role aic pushes here}}
    tile.push %t, %p
  }
}
kiln.func @pop_wide(%n: i8, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %wide = arith.index_cast %n : i8 to index
  %m = arith.addi %wide, %c1 : index
  scf.for %i = %c0 to %m step %c1 {
    // expected-error @below {{0 pushes into pipe 'to_aiv' but 128 pops with n = 127: the last pop waits forever}}
    %t = tile.pop %p : !t
  }
}
kiln.func @pop_narrow(%n: i8, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i8
  %more = arith.addi %one, %n : i8
  %m = arith.index_cast %more : i8 to index
  scf.for %i = %c0 to %m step %c1 {
    %t = tile.pop %p : !t
  }
}
// expected-note @below {{in group @narrow_against_wide}}
kiln.func @narrow_against_wide(%x: !kiln.tensor<8x8xf32>, %n: i8) group {
  %p = tile.pipe : !p
  kiln.call @push_narrow(%x, %n, %p)
  kiln.call @pop_wide(%n, %p)
}
// expected-remark @below {{pipes of @narrow_against_narrow proved}}
kiln.func @narrow_against_narrow(%x: !kiln.tensor<8x8xf32>, %n: i8) group {
  %p = tile.pipe : !p
  kiln.call @push_narrow(%x, %n, %p)
  kiln.call @pop_narrow(%n, %p)
}
