// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// What people read: a number that is used once stands where it is used, with the parentheses it needs; what a loop carries is
// one variable from before the loop to after it, and a tile is made there if nobody reads what was there.

// CHECK-LABEL: void numbers(
// CHECK:       = load<{{.*}}(args.x, {(block.index[0] + 3) * 16, block.index[1] - (block.index[0] - 1)}), {{.*}});
// CHECK-NEXT:  i64 [[WHERE:[a-z0-9_]+]] = args.x.extents[0] - 16 > 5 ? i64(block.index[0]) : i64(-8);
// Read in a loop: it stays before that.
// CHECK-NEXT:  i64 [[BOUND:[a-z0-9_]+]] = ceilDiv(args.x.extents[0], 16);
// CHECK-NEXT:  #pragma unroll 1
// CHECK-NEXT:  for (i64 [[I:at[0-9]+]] = 0; [[I]] < args.x.extents[1] * 2; ++[[I]]) {
// CHECK-NEXT:    {{.*}} {([[I]] + [[BOUND]]) * 16, 0}

// Both are swapped: the first is kept until the second has it. The old sum is read after the new one was made.
// CHECK-LABEL: void carried(
// CHECK:       auto [[A:[a-z0-9_]+]] = load<
// CHECK-NEXT:  auto [[B:[a-z0-9_]+]] = load<
// CHECK-NEXT:  auto [[C:[a-z0-9_]+]] = load<
// CHECK:       for (
// CHECK-NEXT:    auto [[NEXT:[a-z0-9_]+]] = tile::add<{{.*}}>([[C]], [[A]]);
// CHECK-NEXT:    store([[C]],
// CHECK-NEXT:    auto [[SAVED:s[0-9]+]] = [[A]];
// CHECK-NEXT:    [[A]] = [[B]];
// CHECK-NEXT:    [[B]] = [[SAVED]];
// CHECK-NEXT:    [[C]] = [[NEXT]];
// CHECK-NEXT:  }
// CHECK-NEXT:  store([[A]],
// CHECK-NEXT:  store([[B]],
// CHECK-NEXT:  store([[C]],

// Each way makes the tile in the variable of the branch.
// CHECK-LABEL: void branches(
// CHECK:       Reg<float, 16, 64> [[R:[a-z0-9_]+]];
// CHECK-NEXT:  if (block.index[0] < args.x.extents[0]) {
// CHECK-NEXT:    [[R]] = tile::exp<
// CHECK-NEXT:  } else {
// CHECK-NEXT:    [[R]] = [[X:[a-z0-9_]+]];

// Indices of 32 bits where they are known to fit, with all that is computed on the way, the step out of a loop too.
// CHECK-LABEL: void narrow(
// CHECK:       for (int [[I:at[0-9]+]] = 0; [[I]] < 70000; ++[[I]]) {
// CHECK-NEXT:    int [[ROW:[a-z0-9_]+]] = [[I]] * 16;
// CHECK-NEXT:    {{.*}} {[[ROW]] + 3, [[ROW]] + 2}
// CHECK-NEXT:    {{.*}} {i64([[I]]) * 70000, i64([[I]]) * 280000}
// CHECK:       for (i64 {{at[0-9]+}} = 0; {{at[0-9]+}} < 2147483600; {{at[0-9]+}} += 100) {
// CHECK:       for (int {{at[0-9]+}} = 0; {{at[0-9]+}} < 2147483500; {{at[0-9]+}} += 100) {
// CHECK:       for (i64 {{at[0-9]+}} = 0; {{at[0-9]+}} < args.x.extents[0]; ++{{at[0-9]+}}) {
// A variable that later holds more than fits is not narrow because its start is.
// CHECK:       i64 [[C:[a-z0-9_]+]] = 
// CHECK:       for (int
// CHECK:         [[C]] = [[C]] * 3;

kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>, %z: !kiln.tensor<70000x70000xf32>) orchestration {
  kiln.incore "numbers" grid(2, 2) split(none) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    %less = arith.constant -8 : index
    %bi = tile.block_idx 0
    %bj = tile.block_idx 1
    %rows = kiln.dim %x, 0
    %cols = kiln.dim %x, 1
    %i = arith.addi %bi, %c3 : index
    %at = arith.muli %i, %c16 : index
    %l = arith.subi %bi, %c1 : index
    %j = arith.subi %bj, %l : index
    %v = tile.load %x[%at, %j] : !tile.tile<16x64xf32>
    %left = arith.subi %rows, %c16 : index
    %many = arith.cmpi sgt, %left, %c5 : index
    %where = arith.select %many, %bi, %less : index
    %count = arith.ceildivsi %rows, %c16 : index
    %end = arith.muli %cols, %c2 : index
    %sum = scf.for %k = %c0 to %end step %c1 iter_args(%s = %v) -> (!tile.tile<16x64xf32>) {
      %far = arith.addi %k, %count : index
      %row = arith.muli %far, %c16 : index
      %w = tile.load %x[%row, 0] : !tile.tile<16x64xf32>
      %zz = tile.load %x[%where, %where] : !tile.tile<16x64xf32>
      %t = tile.add %s, %w : !tile.tile<16x64xf32>
      %u = tile.add %t, %zz : !tile.tile<16x64xf32>
      scf.yield %u : !tile.tile<16x64xf32>
    }
    tile.store %sum, %y[0, 0]
  }
  kiln.incore "carried" split(none) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = kiln.dim %x, 0
    %p = tile.load %x[0, 0] : !tile.tile<16x64xf32>
    %q = tile.load %x[16, 0] : !tile.tile<16x64xf32>
    %r = tile.load %x[32, 0] : !tile.tile<16x64xf32>
    %res:3 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %p, %b = %q, %c = %r) -> (!tile.tile<16x64xf32>, !tile.tile<16x64xf32>, !tile.tile<16x64xf32>) {
      %next = tile.add %c, %a : !tile.tile<16x64xf32>
      tile.store %c, %y[64, 0]
      scf.yield %b, %a, %next : !tile.tile<16x64xf32>, !tile.tile<16x64xf32>, !tile.tile<16x64xf32>
    }
    tile.store %res#0, %y[0, 0]
    tile.store %res#1, %y[16, 0]
    tile.store %res#2, %y[32, 0]
  }
  kiln.incore "branches" grid(2) split(none) {
    %bi = tile.block_idx 0
    %n = kiln.dim %x, 0
    %v = tile.load %x[0, 0] : !tile.tile<16x64xf32>
    %some = arith.cmpi slt, %bi, %n : index
    %r = scf.if %some -> (!tile.tile<16x64xf32>) {
      %e = tile.exp %v : !tile.tile<16x64xf32>
      scf.yield %e : !tile.tile<16x64xf32>
    } else {
      scf.yield %v : !tile.tile<16x64xf32>
    }
    tile.store %r, %y[0, 0]
  }
  kiln.incore "narrow" split(none) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c100 = arith.constant 100 : index
    %most = arith.constant 2147483600 : index
    %less = arith.constant 2147483500 : index
    %rows = kiln.dim %z, 0
    %n = kiln.dim %x, 0
    scf.for %i = %c0 to %rows step %c1 {
      %s = arith.muli %i, %c16 : index
      %row = arith.addi %s, %c3 : index
      %left = arith.subi %row, %c1 : index
      %v = tile.load %z[%row, %left] : !tile.tile<16x64xf32>
      %far = arith.muli %i, %rows : index
      %again = arith.muli %i, %rows : index
      %four = arith.muli %again, %c4 : index
      %w = tile.load %z[%far, %four] : !tile.tile<16x64xf32>
      %t = tile.add %v, %w : !tile.tile<16x64xf32>
      tile.store %t, %y[0, 0]
    }
    scf.for %i = %c0 to %most step %c100 {
      %v = tile.load %z[%i, 0] : !tile.tile<16x64xf32>
      tile.store %v, %y[0, 0]
    }
    scf.for %i = %c0 to %less step %c100 {
      %v = tile.load %z[%i, 0] : !tile.tile<16x64xf32>
      tile.store %v, %y[0, 0]
    }
    scf.for %i = %c0 to %n step %c1 {
      %v = tile.load %z[%i, 0] : !tile.tile<16x64xf32>
      tile.store %v, %y[0, 0]
    }
    scf.for %i = %c1 to %rows step %c1 {
      %start = arith.muli %i, %c3 : index
      %end = scf.for %k = %c0 to %c16 step %c1 iter_args(%c = %start) -> (index) {
        %more = arith.muli %c, %c3 : index
        scf.yield %more : index
      }
      %v = tile.load %z[%end, 0] : !tile.tile<16x64xf32>
      tile.store %v, %y[0, 0]
    }
  }
}
