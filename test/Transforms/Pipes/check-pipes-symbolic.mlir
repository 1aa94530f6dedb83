// RUN: kiln-opt %s --kiln-check-pipes=report -verify-diagnostics -split-input-file -o /dev/null

// Trip counts that are parameters: proved for all values, or refuted with one that shows it.

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @push_n(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{1 push into pipe 'to_aiv' but 0 pops (n against n - 1) with n = 1: 1 tile left in the pipe at the end}}
    // expected-note @below {{role aic pushes here}}
    tile.push %t, %p
  }
}
kiln.func @pop_n(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{0 pushes into pipe 'to_aiv' but 1 pop (n against m) with n = 0, m = 1: the last pop waits forever}}
    %t = tile.pop %p : !t
    tile.store %t, %y[0, 0]
  }
}
kiln.func @pop_n_less_1_then_1(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.subi %n, %c1 : index
  scf.for %i = %c0 to %m step %c1 {
    %t = tile.pop %p : !t
    tile.store %t, %y[0, 0]
  }
  // expected-error @below {{0 pushes into pipe 'to_aiv' but 1 pop with n = 0: the last pop waits forever}}
  %t = tile.pop %p : !t
}
kiln.func @pop_1_then_n_less_1(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{0 pushes into pipe 'to_aiv' but 1 pop with n = 0: the last pop waits forever}}
  %t = tile.pop %p : !t
  scf.for %i = %c1 to %n step %c1 {
    %u = tile.pop %p : !t
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_n_less_1(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %n step %c1 {
    // expected-note @below {{role aiv pops here}}
    %u = tile.pop %p : !t
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_pairs(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c2 {
    %u = tile.pop %p : !t
    %j = arith.addi %i, %c1 : index
    %in = arith.cmpi slt, %j, %n : index
    scf.if %in {
      %v = tile.pop %p : !t
    }
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_1_if_any(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %in = arith.cmpi sgt, %n, %c0 : index
  scf.if %in {
    %u = tile.pop %p : !t
  }
  scf.for %i = %c1 to %n step %c1 {
    %u = tile.pop %p : !t
    tile.store %u, %y[0, 0]
  }
}
// expected-remark @below {{pipes of @group_same proved}}
kiln.func @group_same(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push_n(%x, %n, %p)
  kiln.call @pop_n(%y, %n, %p)
}
// One iteration peeled off, after or before the loop, takes n for at least 1, and nothing says that it is.
// expected-note @below {{in group @group_after}}
kiln.func @group_after(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(1) : !p
  kiln.call @push_n(%x, %n, %p)
  kiln.call @pop_n_less_1_then_1(%y, %n, %p)
}
// expected-note @below {{in group @group_before}}
kiln.func @group_before(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(1) : !p
  kiln.call @push_n(%x, %n, %p)
  kiln.call @pop_1_then_n_less_1(%y, %n, %p)
}
// expected-remark @below {{pipes of @group_guard proved}}
kiln.func @group_guard(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(1) : !p
  kiln.call @push_n(%x, %n, %p)
  kiln.call @pop_1_if_any(%y, %n, %p)
}
// A loop unrolled by two, with the odd iteration guarded.
// expected-remark @below {{pipes of @group_two proved}}
kiln.func @group_two(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(1) : !p
  kiln.call @push_n(%x, %n, %p)
  kiln.call @pop_pairs(%y, %n, %p)
}
// expected-note @below {{in group @group_less}}
kiln.func @group_less(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(1) : !p
  kiln.call @push_n(%x, %n, %p)
  kiln.call @pop_n_less_1(%y, %n, %p)
}
// expected-note @below {{in group @group_other}}
kiln.func @group_other(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index, %m: index) group {
  %p = tile.pipe slots(1) : !p
  kiln.call @push_n(%x, %n, %p)
  kiln.call @pop_n(%y, %m, %p)
}

// -----

// A condition on what memory holds: trials make up the element, whatever its place, and do not try for long.
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @push_if(%x: !kiln.tensor<8x8xf32>, %counts: !kiln.tensor<?xi32>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %b = tile.block_idx 0
  %t = tile.load %x[0, 0] : !t
  %count = kiln.read %counts[%b] : i32
  %n = arith.index_cast %count : i32 to index
  %any = arith.cmpi sgt, %n, %c0 : index
  scf.if %any {
    tile.push %t, %p
  }
}
kiln.func @pop_if(%y: !kiln.tensor<8x8xf32>, %counts: !kiln.tensor<?xi32>, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %b = tile.block_idx 0
  %count = kiln.read %counts[%b] : i32
  %n = arith.index_cast %count : i32 to index
  %any = arith.cmpi sgt, %n, %c0 : index
  scf.if %any {
    %t = tile.pop %p : !t
    tile.store %t, %y[0, 0]
  }
}
// expected-remark @below {{pipes of @group_if proved}}
kiln.func @group_if(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %counts: !kiln.tensor<?xi32>) group {
  %p = tile.pipe slots(1) : !p
  kiln.call @push_if(%x, %counts, %p)
  kiln.call @pop_if(%y, %counts, %p)
}
