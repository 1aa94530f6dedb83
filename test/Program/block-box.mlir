// What a block touches of each tensor: affine in the block's index and the task's scalars, through loops, views and calls.
// RUN: %kiln emit %s --target orchestration --json > %t.json
// RUN: %any_python %S/Inputs/boxes.py %t.json | FileCheck %s

// Block rows of x; along the columns a loop with a known number of rounds: 0, 32 and 64.
// CHECK: rows.x [16*b0 : 16*b0 + 16, 0 : 96]
// A scalar moves the rows; the second store is 16 further.
// CHECK: rows.y [16*b0 + 2*shift : 16*b0 + 2*shift + 32, 0 : 32]
// Elements: of one row, a column that depends on both block indices.
// CHECK: rows.e [3 : 4, b0 - 4*b1 + 7 : b0 - 4*b1 + 8]
kiln.func @rows(%x: !kiln.tensor<?x96xf32>, %shift: index, %y: !kiln.tensor<?x?xf32>, %e: !kiln.tensor<8x?xf32>) incore {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant 0.0 : f32
  %b = tile.block_idx 0
  %b1 = tile.block_idx 1
  %row = arith.muli %b, %c16 : index
  %full = tile.full %zero : !tile.tile<16x32xf32>
  %sum = scf.for %i = %c0 to %c96 step %c32 iter_args(%acc = %full) -> (!tile.tile<16x32xf32>) {
    %t = tile.load %x[%row, %i] : !tile.tile<16x32xf32>
    %next = tile.add %acc, %t : !tile.tile<16x32xf32>
    scf.yield %next : !tile.tile<16x32xf32>
  }
  %twice = arith.muli %shift, %c2 : index
  %at = arith.addi %row, %twice : index
  %further = arith.addi %at, %c16 : index
  tile.store %sum, %y[%at, 0]
  tile.store %sum, %y[%further, 0]
  %back = arith.muli %b1, %c4 : index
  %column = arith.subi %b, %back : index
  %place = arith.addi %column, %c7 : index
  kiln.write %zero, %e[3, %place]
}

// The number of rounds is not known: all columns of a, all rows of b.
// CHECK: product.a [64*b0 : 64*b0 + 64, :]
// CHECK: product.b [:, 32*b1 : 32*b1 + 32]
// Stores whose places have nothing in common: all rows.
// CHECK: product.c [:, 32*b1 : 32*b1 + 32]
kiln.func @product(%a: !kiln.tensor<?x?xf32>, %b: !kiln.tensor<?x?xf32>, %c: !kiln.tensor<?x?xf32>) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %i = tile.block_idx 0
  %j = tile.block_idx 1
  %row = arith.muli %i, %c64 : index
  %other = arith.muli %i, %c32 : index
  %column = arith.muli %j, %c32 : index
  %full = tile.full %zero : !tile.tile<64x32xf32>
  %depth = kiln.dim %a, 1
  %sum = scf.for %k = %c0 to %depth step %c16 iter_args(%acc = %full) -> (!tile.tile<64x32xf32>) {
    %s = tile.load %a[%row, %k] : !tile.tile<64x16xf32>
    %t = tile.load %b[%k, %column] : !tile.tile<16x32xf32>
    %next = tile.matmul_acc %acc, %s, %t : !tile.tile<64x32xf32>
    scf.yield %next : !tile.tile<64x32xf32>
  }
  tile.store %sum, %c[%row, %column]
  tile.store %sum, %c[%other, %column]
}

// Through views: a slice moves the box, dropped axes are one wide, a transpose turns it.
// CHECK: views.x [b0 : b0 + 1, 8*b1 + 3 : 8*b1 + 11, 5 : 21]
// Rows that are looked up may be any: nothing is said.
// CHECK: views.table -
// A vector.
// CHECK: views.out [8*b1 : 8*b1 + 8]
kiln.func @views(%x: !kiln.tensor<?x?x64xf32>, %table: !kiln.tensor<?x16xf32>, %rows: !kiln.tensor<8xi32>, %out: !kiln.tensor<?xf32>) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %b1 = tile.block_idx 1
  %at = arith.muli %b1, %c8 : index
  %c3 = arith.constant 3 : index
  %depth = kiln.dim %x, 1
  %rest = arith.subi %depth, %c3 : index
  %plane = kiln.slice %x[%b, 3, 0] [1, %rest, 64] drop [0] : !kiln.tensor<?x64xf32>
  %turned = kiln.transpose %plane, [1, 0] : !kiln.tensor<64x?xf32>
  %t = tile.load %turned[5, %at] : !tile.tile<16x8xf32>
  %g = tile.gather_rows %table[0, 0] rows(%rows[0]) : !tile.tile<8x16xf32>
  %g2 = tile.transpose %g : !tile.tile<16x8xf32>
  %u = tile.add %t, %g2 : !tile.tile<16x8xf32>
  %r = tile.reduce sum %u axis(0) : !tile.tile<1x8xf32>
  tile.store %r, %out[%at]
}

// A group touches what its roles do, all lanes of them: each lane of vec 8 of the 16 rows from its own scalar on.
// CHECK: pair.x [16*b0 : 16*b0 + 16, 0 : 64]
// CHECK: pair.y [from : from + 16, 0 : 64]
!down = !tile.pipe<aic -> aiv, 16x64xf32, up_down>
kiln.func @cube(%x: !kiln.tensor<?x64xf32>, %down: !down) role(aic) {
  %c16 = arith.constant 16 : index
  %b = tile.block_idx 0
  %row = arith.muli %b, %c16 : index
  %t = tile.load %x[%row, 0] : !tile.tile<16x64xf32>
  tile.push %t, %down
}
kiln.func @vec(%y: !kiln.tensor<?x64xf32>, %at: index, %down: !down) role(aiv) {
  %c8 = arith.constant 8 : index
  %lane = tile.lane
  %part = arith.muli %lane, %c8 : index
  %row = arith.addi %at, %part : index
  %t = tile.pop %down : !tile.tile<8x64xf32>
  tile.store %t, %y[%row, 0]
}
kiln.func @pair(%from: index, %x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?x64xf32>) group lanes(2) {
  %down = tile.pipe : !down
  kiln.call @cube(%x, %down)
  kiln.call @vec(%y, %from, %down)
}

// Narrow integers wrap, so a sum of them is no affine function; a scalar of a narrow type is what it is.
// CHECK: narrow.x [:, 0 : 8]
// CHECK: narrow.y [row : row + 1, 0 : 8]
// CHECK: narrow.z [:, 0 : 8]
kiln.func @narrow(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<?x8xf32>, %z: !kiln.tensor<?x8xf32>, %row: i32, %second: i1) incore {
  %c100 = arith.constant 100 : i8
  %b = tile.block_idx 0
  %wraps = arith.index_cast %b : index to i8
  %sum = arith.addi %wraps, %c100 : i8
  %from = arith.index_cast %sum : i8 to index
  %to = arith.index_cast %row : i32 to index
  %other = arith.index_cast %second : i1 to index
  %t = tile.load %x[%from, 0] : !tile.tile<1x8xf32>
  tile.store %t, %y[%to, 0]
  tile.store %t, %z[%other, 0]
}

kiln.func @main(%x: !kiln.tensor<?x96xf32>, %y: !kiln.tensor<?x?xf32>, %z: !kiln.tensor<?x?xf32>, %e: !kiln.tensor<8x?xf32>, %n: index,
                %cube: !kiln.tensor<?x?x64xf32>, %table: !kiln.tensor<?x16xf32>, %rows: !kiln.tensor<8xi32>, %out: !kiln.tensor<?xf32>,
                %p: !kiln.tensor<?x64xf32>, %q: !kiln.tensor<?x64xf32>, %u: !kiln.tensor<?x8xf32>, %v: !kiln.tensor<?x8xf32>, %w: !kiln.tensor<?x8xf32>,
                %i: i32, %b: i1) orchestration {
  %t0 = kiln.submit @rows(%x, %n, %y, %e) grid(4, 2)
  %t1 = kiln.submit @product(%y, %z, %y) grid(4, 2)
  %t2 = kiln.submit @views(%cube, %table, %rows, %out) grid(4, 2)
  %t3 = kiln.submit @pair(%n, %p, %q) grid(4)
  %t4 = kiln.submit @narrow(%u, %v, %w, %i, %b) grid(300)
}
