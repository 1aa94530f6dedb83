// RUN: kiln-opt %s --kiln-check-pipes=report -verify-diagnostics -split-input-file -o /dev/null

// A loop that one role has in two parts, which a pass split where a mask begins to matter, and other pairs of
// loops that look like it.

// Whole steps, and not before the start.
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<dma -> compute, 8x8xf32>
kiln.func @copy(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c4 {
    tile.push %t, %p
  }
}
kiln.func @add(%y: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(compute) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %most = arith.subi %m, %c8 : index
  %steps = arith.floordivsi %most, %c4 : index
  %more = arith.addi %steps, %c1 : index
  %count = arith.maxsi %more, %c0 : index
  %middle = arith.muli %count, %c4 : index
  %end = arith.minsi %middle, %n : index
  scf.for %i = %c0 to %end step %c4 {
    %t = tile.pop %p : !t
    tile.free %p
  }
  scf.for %i = %middle to %n step %c4 {
    %t = tile.pop %p : !t
    tile.free %p
  }
}
// expected-remark @below {{pipes of @split proved}}
kiln.func @split(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index, %m: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @copy(%x, %n, %m, %p)
  kiln.call @add(%y, %n, %m, %p)
}

// -----

// The middle need not be where a step begins.
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<dma -> compute, 8x8xf32>
kiln.func @copy(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c4 {
    // expected-note @below {{role dma pushes here}}
    tile.push %t, %p
  }
}
kiln.func @add(%y: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(compute) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %middle = arith.maxsi %m, %c0 : index
  %end = arith.minsi %middle, %n : index
  scf.for %i = %c0 to %end step %c4 {
    %t = tile.pop %p : !t
    tile.free %p
  }
  scf.for %i = %middle to %n step %c4 {
    // expected-error @below {{1 push into pipe 'to_compute' but 2 pops (ceildiv(n, 4) against ceildiv(minsi(n, maxsi(0, m)), 4) + ceildiv(n - maxsi(0, m), 4)) with n = 2, m = 1: the last pop waits forever}}
    %t = tile.pop %p : !t
    tile.free %p
  }
}
// expected-note @below {{in group @split}}
kiln.func @split(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index, %m: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @copy(%x, %n, %m, %p)
  kiln.call @add(%y, %n, %m, %p)
}

// -----

// The middle may be before the start.
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<dma -> compute, 8x8xf32>
kiln.func @copy(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c4 {
    // expected-note @below {{role dma pushes here}}
    tile.push %t, %p
  }
}
kiln.func @add(%y: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(compute) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %most = arith.subi %m, %c8 : index
  %steps = arith.floordivsi %most, %c4 : index
  %more = arith.addi %steps, %c1 : index
  %middle = arith.muli %more, %c4 : index
  %end = arith.minsi %middle, %n : index
  scf.for %i = %c0 to %end step %c4 {
    %t = tile.pop %p : !t
    tile.free %p
  }
  scf.for %i = %middle to %n step %c4 {
    // expected-error @below {{0 pushes into pipe 'to_compute' but 1 pop with n = 0, m = 0: the last pop waits forever}}
    %t = tile.pop %p : !t
    tile.free %p
  }
}
// expected-note @below {{in group @split}}
kiln.func @split(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index, %m: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @copy(%x, %n, %m, %p)
  kiln.call @add(%y, %n, %m, %p)
}

// -----

// The first part may be longer than the whole.
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<dma -> compute, 8x8xf32>
kiln.func @copy(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c4 {
    // expected-note @below {{role dma pushes here}}
    tile.push %t, %p
  }
}
kiln.func @add(%y: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(compute) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %most = arith.subi %m, %c8 : index
  %steps = arith.floordivsi %most, %c4 : index
  %more = arith.addi %steps, %c1 : index
  %count = arith.maxsi %more, %c0 : index
  %middle = arith.muli %count, %c4 : index
  %end = arith.minsi %middle, %n : index
  scf.for %i = %c0 to %middle step %c4 {
    // expected-error @below {{0 pushes into pipe 'to_compute' but 1 pop with n = 0, m = 8: the last pop waits forever}}
    %t = tile.pop %p : !t
    tile.free %p
  }
  scf.for %i = %middle to %n step %c4 {
    %t = tile.pop %p : !t
    tile.free %p
  }
}
// expected-note @below {{in group @split}}
kiln.func @split(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index, %m: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @copy(%x, %n, %m, %p)
  kiln.call @add(%y, %n, %m, %p)
}

// -----

// The second part begins a step late.
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<dma -> compute, 8x8xf32>
kiln.func @copy(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c4 {
    // expected-error @below {{1 push into pipe 'to_compute' but 0 pops (ceildiv(n, 4) against ceildiv(n, 4) - maxsi(ceildiv(m + 1, 4) - 2, 0) + ceildiv(minsi(n, 4 * maxsi(ceildiv(m + 1, 4) - 2, 0)), 4) - 1) with n = 1, m = 0: 1 tile left in the pipe at the end}}
    tile.push %t, %p
  }
}
kiln.func @add(%y: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(compute) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %most = arith.subi %m, %c8 : index
  %steps = arith.floordivsi %most, %c4 : index
  %more = arith.addi %steps, %c1 : index
  %count = arith.maxsi %more, %c0 : index
  %middle = arith.muli %count, %c4 : index
  %late = arith.addi %middle, %c4 : index
  %end = arith.minsi %middle, %n : index
  scf.for %i = %c0 to %end step %c4 {
    // expected-note @below {{role compute pops here}}
    %t = tile.pop %p : !t
    tile.free %p
  }
  scf.for %i = %late to %n step %c4 {
    %t = tile.pop %p : !t
    tile.free %p
  }
}
// expected-note @below {{in group @split}}
kiln.func @split(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index, %m: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @copy(%x, %n, %m, %p)
  kiln.call @add(%y, %n, %m, %p)
}

// -----

// The second part pops more.
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<dma -> compute, 8x8xf32>
kiln.func @copy(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c4 {
    // expected-note @below {{role dma pushes here}}
    tile.push %t, %p
  }
}
kiln.func @add(%y: !kiln.tensor<8x8xf32>, %n: index, %m: index, %p: !p) role(compute) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %most = arith.subi %m, %c8 : index
  %steps = arith.floordivsi %most, %c4 : index
  %more = arith.addi %steps, %c1 : index
  %count = arith.maxsi %more, %c0 : index
  %middle = arith.muli %count, %c4 : index
  %end = arith.minsi %middle, %n : index
  scf.for %i = %c0 to %end step %c4 {
    %t = tile.pop %p : !t
    tile.free %p
  }
  scf.for %i = %middle to %n step %c4 {
    %t = tile.pop %p : !t
    tile.free %p
    // expected-error @below {{1 push into pipe 'to_compute' but 2 pops (ceildiv(n, 4) against 2 * ceildiv(n, 4) - 2 * maxsi(ceildiv(m + 1, 4) - 2, 0) + ceildiv(minsi(n, 4 * maxsi(ceildiv(m + 1, 4) - 2, 0)), 4)) with n = 1, m = 0: the last pop waits forever}}
    %u = tile.pop %p : !t
    tile.free %p
  }
}
// expected-note @below {{in group @split}}
kiln.func @split(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index, %m: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @copy(%x, %n, %m, %p)
  kiln.call @add(%y, %n, %m, %p)
}
