// What a group requires of its arguments, or whoever launches it, holds in the proof of its pipes.
// RUN: kiln-opt %s --kiln-spread-requires --kiln-check-pipes=report -verify-diagnostics -split-input-file -o /dev/null

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
  // expected-error @below {{2 pushes into pipe 'to_aiv' but 0 pops with n = 0: 2 tiles left in the pipe at the end}}
  // expected-error @below {{2 pushes into pipe 'to_aiv' but 1 pop with n = 1: 1 tile left in the pipe at the end}}
  tile.push %t, %p
  scf.for %i = %c2 to %n step %c1 {
    tile.push %t, %p
  }
}
kiln.func @vec(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-note @below {{role aiv pops here}}
    %u = tile.pop %p : !t
  }
}
// expected-note @below {{in group @without}}
kiln.func @without(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %n, %p)
  kiln.call @vec(%n, %p)
}
// expected-remark-re @below {{pipes of @own proved{{$}}}}
kiln.func @own(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %c3 = arith.constant 3 : index
  %isEnough = arith.cmpi sge, %n, %c3 : index
  kiln.require %isEnough, "there are at least three steps"
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %n, %p)
  kiln.call @vec(%n, %p)
}
// Too weak.
// expected-note @below {{in group @weak}}
kiln.func @weak(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %c1 = arith.constant 1 : index
  %isEnough = arith.cmpi sge, %n, %c1 : index
  kiln.require %isEnough, "there is a step"
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %n, %p)
  kiln.call @vec(%n, %p)
}
// expected-remark-re @below {{pipes of @launched proved{{$}}}}
kiln.func @launched(%x: !kiln.tensor<8x8xf32>, %steps: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %steps, %p)
  kiln.call @vec(%steps, %p)
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %n: index) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %isMore = arith.cmpi sgt, %n, %c0 : index
  %isOther = arith.cmpi ne, %n, %c1 : index
  %both = arith.andi %isMore, %isOther : i1
  kiln.require %both, "n is positive and not 1"
  %t = kiln.submit @launched(%x, %n)
}

// -----

// One side counts whole tiles, the other begun ones: the same only if there are no others.
!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<?x8xf32>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 0
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.load %x[%i, 0] : !t
    // expected-error @below {{1 tile left in the pipe at the end}}
    tile.push %t, %p
  }
}
kiln.func @vec(%x: !kiln.tensor<?x8xf32>, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 0
  %whole = arith.floordivsi %n, %c64 : index
  scf.for %i = %c0 to %whole step %c1 {
    // expected-note @below {{role aiv pops here}}
    %u = tile.pop %p : !t
  }
}
// expected-note @below {{in group @ragged}}
kiln.func @ragged(%x: !kiln.tensor<?x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%x, %p)
}

// -----

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<?x8xf32>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 0
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.load %x[%i, 0] : !t
    tile.push %t, %p
  }
}
kiln.func @vec(%x: !kiln.tensor<?x8xf32>, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 0
  %whole = arith.floordivsi %n, %c64 : index
  scf.for %i = %c0 to %whole step %c1 {
    %u = tile.pop %p : !t
  }
}
// expected-remark-re @below {{pipes of @whole proved{{$}}}}
kiln.func @whole(%x: !kiln.tensor<?x8xf32>) group {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 0
  %r = arith.remsi %n, %c64 : index
  %isWhole = arith.cmpi eq, %r, %c0 : index
  kiln.require %isWhole, "rows come in tiles of 64"
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%x, %p)
}
