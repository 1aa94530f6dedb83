// What is decided about while loops, choices, remainders and extents.
// RUN: kiln-opt %s --kiln-check-pipes=report -verify-diagnostics -split-input-file -o /dev/null

// A while loop that counts is a loop; one that doubles runs as often in both roles, and the tiles it handles as well.
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push_while(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %end = scf.while (%i = %c0) : (index) -> index {
    %on = arith.cmpi slt, %i, %n : index
    scf.condition(%on) %i : index
  } do {
  ^bb0(%i: index):
    // expected-error @below {{1 push into pipe 'to_aic' but 0 pops (n against n - 1) with n = 1: 1 tile left in the pipe at the end}}
    tile.push %t, %p
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
}
kiln.func @pop_for(%n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.pop %p : !tile.tile<8x8xf32>
  }
}
kiln.func @pop_one_less(%n: index, %p: !p) role(aic) {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %n step %c1 {
    // expected-note @below {{role aic pops here}}
    %u = tile.pop %p : !tile.tile<8x8xf32>
  }
}
// expected-remark @below {{pipes of @while_and_for proved}}
kiln.func @while_and_for(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push_while(%x, %n, %p)
  kiln.call @pop_for(%n, %p)
}
// expected-note @below {{in group @while_and_less}}
kiln.func @while_and_less(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push_while(%x, %n, %p)
  kiln.call @pop_one_less(%n, %p)
}

// -----

!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push_doubling(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %end = scf.while (%i = %c1) : (index) -> index {
    %on = arith.cmpi slt, %i, %n : index
    scf.condition(%on) %i : index
  } do {
  ^bb0(%i: index):
    %late = arith.cmpi sgt, %i, %c4 : index
    // expected-note @below {{how often role aiv pushes depends on this condition; role aic pops whether it holds or not}}
    scf.if %late {
      // expected-note @below {{role aiv pushes here}}
      tile.push %t, %p
    }
    tile.push %t, %p
    %next = arith.muli %i, %c2 : index
    scf.yield %next : index
  }
}
kiln.func @pop_doubling(%n: index, %p: !p) role(aic) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %end = scf.while (%i = %c1) : (index) -> index {
    %on = arith.cmpi slt, %i, %n : index
    scf.condition(%on) %i : index
  } do {
  ^bb0(%i: index):
    %late = arith.cmpi sgt, %i, %c4 : index
    scf.if %late {
      %u = tile.pop %p : !tile.tile<8x8xf32>
    }
    %v = tile.pop %p : !tile.tile<8x8xf32>
    %next = arith.muli %i, %c2 : index
    scf.yield %next : index
  }
}
kiln.func @pop_n(%n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{0 pushes into pipe 'to_aic' but 1 pop with n = 1: the last pop waits forever}}
    %u = tile.pop %p : !tile.tile<8x8xf32>
  }
}
// expected-remark @below {{pipes of @doubling proved}}
kiln.func @doubling(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push_doubling(%x, %n, %p)
  kiln.call @pop_doubling(%n, %p)
}
// expected-note @below {{in group @doubling_and_for}}
kiln.func @doubling_and_for(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push_doubling(%x, %n, %p)
  kiln.call @pop_n(%n, %p)
}

// -----

// Trip counts that are selections and minima: the cases are told apart.
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push_least(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = arith.minsi %n, %m : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %least step %c1 {
    tile.push %t, %p
  }
}
kiln.func @pop_least(%n: index, %m: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %less = arith.cmpi slt, %n, %m : index
  %least = scf.if %less -> (index) {
    scf.yield %n : index
  } else {
    scf.yield %m : index
  }
  scf.for %i = %c0 to %least step %c1 {
    %u = tile.pop %p : !tile.tile<8x8xf32>
  }
}
// expected-remark @below {{pipes of @least proved}}
kiln.func @least(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push_least(%x, %n, %m, %p)
  kiln.call @pop_least(%n, %m, %p)
}

// -----

// Every other iteration pushes two tiles; the other end pops one in each, and the odd one after the loop.
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push_pairs(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %odd = arith.remsi %i, %c2 : index
    %even = arith.cmpi eq, %odd, %c0 : index
    scf.if %even {
      tile.push %t, %p
      tile.push %t, %p
    }
  }
}
kiln.func @pop_each(%n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.pop %p : !tile.tile<8x8xf32>
  }
  %bit = arith.andi %n, %c1 : index
  %odd = arith.cmpi ne, %bit, %c0 : index
  scf.if %odd {
    %u = tile.pop %p : !tile.tile<8x8xf32>
  }
}
// expected-remark @below {{pipes of @pairs proved}}
kiln.func @pairs(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push_pairs(%x, %n, %p)
  kiln.call @pop_each(%n, %p)
}

// -----

// Extents of two tensors may differ, but nobody said so.
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push_rows(%x: !kiln.tensor<?x8xf32>, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  scf.for %i = %c0 to %n step %c8 {
    %t = tile.load %x[%i, 0] : !tile.tile<8x8xf32>
    tile.push %t, %p
  }
}
kiln.func @pop_rows(%y: !kiln.tensor<?x8xf32>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = kiln.dim %y, 0
  scf.for %i = %c0 to %n step %c8 {
    %t = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %t, %y[%i, 0]
  }
}
// expected-remark @below {{pipes of @rows proved if x.dim(0) = y.dim(0)}}
kiln.func @rows(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<?x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push_rows(%x, %p)
  kiln.call @pop_rows(%y, %p)
}

// -----

// A count that a launch computes by subtraction may be negative, so the pop before the loop is a condition.
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push_more(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %more = arith.addi %n, %c1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %more step %c1 {
    tile.push %t, %p
  }
}
kiln.func @pop_first(%n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = tile.pop %p : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.pop %p : !tile.tile<8x8xf32>
  }
}
// expected-remark @below {{pipes of @launched_with_n proved}}
kiln.func @launched_with_n(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push_more(%x, %n, %p)
  kiln.call @pop_first(%n, %p)
}
// expected-remark @below {{pipes of @launched_with_less proved if n >= 0}}
kiln.func @launched_with_less(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push_more(%x, %n, %p)
  kiln.call @pop_first(%n, %p)
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %n: index) orchestration {
  %c1 = arith.constant 1 : index
  %less = arith.subi %n, %c1 : index
  %0 = kiln.submit @launched_with_n(%x, %n)
  %1 = kiln.submit @launched_with_less(%x, %less)
}
