// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// The one bit of an i1 is its sign, and what becomes an i1 keeps its lowest bit; loops may count without a sign; `while`
// tests before each round; one thread of a lane writes an element; blocks meet through a counter in memory.

// CHECK-LABEL: void k(
// CHECK:       bool [[BIT:[a-z0-9_]+]] = wrapped<bool>(u64({{[a-z0-9_]+}}));
// CHECK:       = signedOf<bool>([[BIT]]) < signedOf<bool>(wrapped<bool>(u64({{[a-z0-9_]+}}))) ? int(shiftRight<int>(n0, n1)) : int(divideUnsigned<int>(
// CHECK:       = add<int>({{[a-z0-9_]+}}, static_cast<int>(signedOf([[BIT]])));
// CHECK:       for (i64 [[I:at[0-9]+]] = 0; bitsOf<i64>([[I]]) < bitsOf<i64>(
// CHECK:       while (true) {
// CHECK:         if (!({{[a-z0-9_]+}} > 10))
// CHECK-NEXT:      break;
// CHECK:       if (threadInGroup() == 0)
// CHECK-NEXT:    *elementOf<int>(args.y, {0}) = {{.*}};
// CHECK-NEXT:  allBlocks.meet(lane);
// CHECK:       = kiln::random<Reg<float, 8, 8>>(
// CHECK:       storeAdding({{[a-z0-9_]+}}, rowsWindow<float, 8, 8, int>(args.z, {0, 0}, args.x, {0}));
// CHECK:       GridBarrier allBlocks{args.arrivals, blocks * 1};

kiln.func @main(%x: !kiln.tensor<?xi32>, %y: !kiln.tensor<?xi32> inout, %z: !kiln.tensor<?x?xf32> inout, %n: index, %key: i64) orchestration {
  kiln.incore "k" grid(4) sync_start split(none) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %c10 = arith.constant 10 : i32
    %a = kiln.read %x[0] : i32
    %b = kiln.read %x[1] : i32
    %bit = arith.trunci %a : i32 to i1
    %other = arith.trunci %b : i32 to i1
    %wide = arith.extsi %bit : i1 to i32
    %less = arith.cmpi slt, %bit, %other : i1
    %shifted = arith.shrsi %a, %b : i32
    %divided = arith.divui %a, %c10 : i32
    %chosen = arith.select %less, %shifted, %divided : i32
    %sum = arith.addi %chosen, %wide : i32
    %counted = scf.for unsigned %i = %c0 to %n step %c1 iter_args(%s = %sum) -> (i32) {
      %read = kiln.read %x[%i] : i32
      %more = arith.addi %s, %read : i32
      scf.yield %more : i32
    }
    %halved = scf.while (%v = %counted) : (i32) -> i32 {
      %isLarge = arith.cmpi sgt, %v, %c10 : i32
      scf.condition(%isLarge) %v : i32
    } do {
    ^bb0(%v: i32):
      %half = arith.shrsi %v, %one : i32
      %next = arith.subi %half, %c10 : i32
      scf.yield %next : i32
    }
    kiln.write %halved, %y[0]
    tile.barrier
    %r = tile.random key(%key) counter(%c0) : !tile.tile<8x8xf32>
    tile.scatter_rows %r, %z[0, 0] rows(%x[0]) atomic(add)
  }
}
