// Programs with padding that is right, though not at first sight: no finding at any of these shapes.
// RUN: %kiln run %s --seeds 2 --nan --no-reference --arg x=16x13 --arg n=16x13 2>&1 | FileCheck %s
// RUN: %kiln run %s --seeds 2 --nan --no-reference --arg x=10x20 --arg n=10x20 2>&1 | FileCheck %s
// RUN: %kiln run %s --seeds 2 --nan --no-reference --arg x=1x1 --arg n=1x1 2>&1 | FileCheck %s
// RUN: %kiln run %s --seeds 2 --nan --no-reference --arg x=17x8 --arg n=17x8 2>&1 | FileCheck %s
// CHECK: checked 2 schedules from seed 0 on: 0 findings

!t = !tile.tile<16x8xf32>
!column = !tile.tile<16x1xf32>
!square = !tile.tile<16x16xf32>
!x = !kiln.tensor<?x?xf32>
!results = !kiln.tensor<16x16xf32>

// Columns collect data of all tiles of a row; the last tile adds zeros to some of them.
kiln.func @sum_over_tiles(%x: !x in, %y: !results out) incore {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %x, 1
  %init = tile.full %zero : !t
  %acc = scf.for %j = %c0 to %n step %c8 iter_args(%sum = %init) -> (!t) {
    %a = tile.load %x[0, %j] : !t
    %next = tile.add %sum, %a : !t
    scf.yield %next : !t
  }
  %s = tile.reduce sum %acc axis(1) : !column
  tile.store %s, %y[0, 0]
}

// No absolute value is less than the zeros.
kiln.func @largest_over_tiles(%x: !x in, %y: !results out) incore {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %x, 1
  %init = tile.full %zero : !t
  %acc = scf.for %j = %c0 to %n step %c8 iter_args(%most = %init) -> (!t) {
    %a = tile.load %x[0, %j] : !t
    %b = tile.abs %a : !t
    %next = tile.max %most, %b : !t
    scf.yield %next : !t
  }
  %m = tile.reduce max %acc axis(1) : !column
  tile.store %m, %y[0, 0]
}

// A maximum that a select makes.
kiln.func @select_the_larger(%x: !x in, %y: !results out) incore {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %low = arith.constant 0xFF800000 : f32
  %n = kiln.dim %x, 1
  %init = tile.full %low : !t
  %acc = scf.for %j = %c0 to %n step %c8 iter_args(%most = %init) -> (!t) {
    %a = tile.load %x[0, %j] pad(min) : !t
    %is = tile.cmp gt %a, %most : !tile.tile<16x8xi1>
    %next = tile.select %is, %a, %most : !t
    scf.yield %next : !t
  }
  %m = tile.reduce max %acc axis(1) : !column
  tile.store %m, %y[0, 0]
}

// The least i8 is not the least i32, but no datum is less.
kiln.func @narrow_type(%n: !kiln.tensor<?x?xi8> in, %y: !results out) incore {
  %a = tile.load %n[0, 0] pad(min) : !tile.tile<16x8xi8>
  %b = tile.cast %a : !tile.tile<16x8xi32>
  %m = tile.reduce max %b axis(1) : !tile.tile<16x1xi32>
  %f = tile.cast %m : !column
  tile.store %f, %y[0, 0]
}

// Running sums as a product with a triangle, which is made of constants by a mask; its first row is
// masked whole.
kiln.func @running_sums(%x: !x in, %y: !results out) incore {
  %above = arith.constant -1 : index
  %one = arith.constant 1.0 : f32
  %a = tile.load %x[0, 0] : !t
  %ones = tile.full %one : !square
  %triangle = tile.mask_diag %ones offset(%above) : !square
  %sums = tile.matmul %triangle, %a : !t
  %total = tile.reduce sum %a axis(0) : !tile.tile<1x8xf32>
  %rest = tile.sub %total, %sums : !t
  %q = tile.mul %a, %rest : !t
  %s = tile.reduce sum %q axis(0) : !tile.tile<1x8xf32>
  tile.store %s, %y[0, 0]
}

// Causal attention. Rows that see nothing of the second block of keys keep what they have, which is
// summed over the rows in the end.
kiln.func @causal(%x: !x in, %y: !results out) incore {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %n = kiln.dim %x, 0
  %q = tile.load %x[0, 0] : !t
  %m0 = tile.full %low : !column
  %l0 = tile.full %zero : !column
  %a0 = tile.full %zero : !t
  %r:3 = scf.for %j = %c0 to %n step %c4 iter_args(%m = %m0, %l = %l0, %acc = %a0) -> (!column, !column, !t) {
    %k = tile.load %x[%j, 0] : !tile.tile<4x8xf32>
    %s = tile.matmul %q, %k trans_b : !tile.tile<16x4xf32>
    %left = arith.subi %n, %j : index
    %inside = tile.mask %s valid(16, %left) pad(min) : !tile.tile<16x4xf32>
    %offset = arith.subi %c0, %j : index
    %seen = tile.mask_diag %inside offset(%offset) pad(min) : !tile.tile<16x4xf32>
    %most = tile.reduce max %seen axis(1) : !column
    %next = tile.max %m, %most : !column
    %d = tile.sub %seen, %next : !tile.tile<16x4xf32>
    %p = tile.exp %d : !tile.tile<16x4xf32>
    %dm = tile.sub %m, %next : !column
    %scale = tile.exp %dm : !column
    %ps = tile.reduce sum %p axis(1) : !column
    %ls = tile.mul %l, %scale : !column
    %l1 = tile.add %ls, %ps : !column
    %as = tile.mul %acc, %scale : !t
    %a1 = tile.matmul_acc %as, %p, %k : !t
    scf.yield %next, %l1, %a1 : !column, !column, !t
  }
  %o = tile.div %r#2, %r#1 : !t
  %rows = tile.mask %o valid(%n, 8) : !t
  %sum = tile.reduce sum %rows axis(0) : !tile.tile<1x8xf32>
  tile.store %sum, %y[0, 0]
}

// A mask that is added; the largest probabilities; the probability of one column.
kiln.func @probabilities(%x: !x in, %y: !results out) incore {
  %two = arith.constant 2 : i32
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %x, 1
  %a = tile.load %x[0, 0] : !t
  %zeros = tile.full %zero : !t
  %mask = tile.mask %zeros valid(16, %n) pad(min) : !t
  %b = tile.add %a, %mask : !t
  %m = tile.reduce max %b axis(1) : !column
  %d = tile.sub %b, %m : !t
  %e = tile.exp %d : !t
  %s = tile.reduce sum %e axis(1) : !column
  %p = tile.div %e, %s : !t
  %v, %i = tile.topk_rows %p : !tile.tile<16x4xf32>, !tile.tile<16x4xi32>
  %at = tile.reduce argmax %p axis(1) : !tile.tile<16x1xi32>
  %col = tile.iota axis(1) : !tile.tile<1x8xi32>
  %is = tile.cmp eq %col, %at : !tile.tile<16x8xi1>
  %picked = tile.select %is, %p, %zero : !t
  %best = tile.reduce sum %picked axis(1) : !column
  tile.store %best, %y[0, 0]
}

kiln.func @main(%x: !x in, %n: !kiln.tensor<?x?xi8> in) orchestration {
  %y = kiln.alloc() : !results
  %0 = kiln.submit @sum_over_tiles(%x, %y)
  %1 = kiln.submit @largest_over_tiles(%x, %y)
  %2 = kiln.submit @select_the_larger(%x, %y)
  %3 = kiln.submit @narrow_type(%n, %y)
  %4 = kiln.submit @running_sums(%x, %y)
  %5 = kiln.submit @causal(%x, %y)
  %6 = kiln.submit @probabilities(%x, %y)
}
