// RUN: kiln-opt %s --kiln-check-pipes=report -verify-diagnostics -o /dev/null

// What the numbers and conditions around pipe operations are: unsigned, narrow, of blocks; and barriers.

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
!q = !tile.pipe<aiv -> aic, 8x8xf32>

// Unsigned operations on what may be negative are not their signed namesakes.
kiln.func @push_up_to_4(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %n to %c4 step %c3 {
    tile.push %t, %p
  }
}
kiln.func @pop_unsigned(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %left = arith.subi %c4, %n : index
  %trips = arith.ceildivui %left, %c3 : index
  scf.for %i = %c0 to %trips step %c1 {
    // expected-error @below {{deadlock with n = 5: pop_unsigned waits to pop from 'to_aiv' (0 of 2 slots full)}}
    // expected-note @below {{pop_unsigned waits for push_up_to_4, which has ended}}
    // expected-note @below {{no number of slots helps}}
    %t = tile.pop %p : !t
  }
}
// expected-note @below {{in group @unsigned_trips}}
kiln.func @unsigned_trips(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe : !p
  kiln.call @push_up_to_4(%x, %n, %p)
  kiln.call @pop_unsigned(%n, %p)
}
kiln.func @push_least(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c-1 = arith.constant -1 : index
  %t = tile.load %x[0, 0] : !t
  %trips = arith.minui %c-1, %c4 : index
  scf.for %i = %c0 to %trips step %c1 {
    // expected-error @below {{4 pushes into pipe 'to_aiv' but 0 pops}}
    tile.push %t, %p
  }
}
kiln.func @pop_none(%p: !p) role(aiv) {
}
// expected-note @below {{in group @least_of_unsigned}}
kiln.func @least_of_unsigned(%x: !kiln.tensor<8x8xf32>) group {
  // expected-note @below {{role aiv never pops}}
  %p = tile.pipe : !p
  kiln.call @push_least(%x, %p)
  kiln.call @pop_none(%p)
}

// A block is one of those there are.
kiln.func @push_in_a_block(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  %block = tile.block_idx 0
  %blocks = tile.block_count 0
  %is = arith.cmpi slt, %block, %blocks : index
  scf.if %is {
    tile.push %t, %p
  }
}
kiln.func @pop_one(%p: !p) role(aiv) {
  %t = tile.pop %p : !t
}
// expected-remark @below {{pipes of @in_a_block proved}}
kiln.func @in_a_block(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe : !p
  kiln.call @push_in_a_block(%x, %p)
  kiln.call @pop_one(%p)
}

// Whoever waits at a barrier neither pushes nor pops.
kiln.func @pop_then_meet(%q: !q) role(aic) {
  %t = tile.pop %q : !t
  tile.barrier
}
kiln.func @meet_then_push(%x: !kiln.tensor<8x8xf32>, %q: !q) role(aiv) {
  %t = tile.load %x[0, 0] : !t
  // expected-warning @below {{pipes not proved: when all members come to the barrier is known only when the program runs}}
  tile.barrier
  tile.push %t, %q
}
// expected-note @below {{in group @meeting}}
kiln.func @meeting(%x: !kiln.tensor<8x8xf32>) group {
  %q = tile.pipe : !q
  kiln.call @pop_then_meet(%q)
  kiln.call @meet_then_push(%x, %q)
}

// An i1 is a signed number of one bit, and an i8 wraps.
kiln.func @push_narrow(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : i8
  %no = arith.constant false
  %yes = arith.constant true
  %t = tile.load %x[0, 0] : !t
  %less = arith.cmpi slt, %yes, %no : i1
  scf.if %less {
    tile.push %t, %p
  }
  %sum = arith.addi %c100, %c100 : i8
  %trips = arith.index_cast %sum : i8 to index
  scf.for %i = %c0 to %trips step %c1 {
    tile.push %t, %p
  }
}
// expected-remark @below {{pipes of @narrow proved}}
kiln.func @narrow(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe : !p
  kiln.call @push_narrow(%x, %p)
  kiln.call @pop_one(%p)
}
