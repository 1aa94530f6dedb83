// RUN: kiln-opt %s --kiln-spread-requires | FileCheck %s
// RUN: kiln-opt %s --kiln-spread-requires --kiln-spread-requires | FileCheck %s

// What the kernel requires is about arguments of the caller, who launches it in any case: the caller requires it too.
// What the caller requires reaches the kernel, where it is about what the kernel is given. All stand first.

// CHECK-LABEL: kiln.func @kernel(
// CHECK-DAG:     kiln.require %{{.*}}, "n is positive"
// CHECK-DAG:     kiln.require %{{.*}}, "rows come in tiles of 8"
// CHECK-NOT:     kiln.require
// CHECK:         tile.load
kiln.func @kernel(%t: !kiln.tensor<?x8xf32> in, %o: !kiln.tensor<?x8xf32> out, %count: index) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x8xf32>
  tile.store %x, %o[0, 0]
  %c0 = arith.constant 0 : index
  %isPositive = arith.cmpi sgt, %count, %c0 : index
  kiln.require %isPositive, "n is positive"
}

// A launch that may not happen asks nothing of the caller; what is about a value of the caller's own stays there.
// CHECK-LABEL: kiln.func @sometimes(
// CHECK-DAG:     kiln.require %{{.*}}, "only for those who launch it"
// CHECK-DAG:     kiln.require %{{.*}}, "rows come in tiles of 8"
// CHECK-NOT:     kiln.require
// CHECK:         tile.load
kiln.func @sometimes(%t: !kiln.tensor<?x8xf32> in, %o: !kiln.tensor<?x8xf32> out) incore {
  %c3 = arith.constant 3 : index
  %d = kiln.dim %o, 0
  %isMore = arith.cmpi sgt, %d, %c3 : index
  kiln.require %isMore, "only for those who launch it"
  %x = tile.load %t[0, 0] : !tile.tile<8x8xf32>
  tile.store %x, %o[0, 0]
}

// Two launches that pass different tensors: nothing can be said of either.
// CHECK-LABEL: kiln.func @twice(
// CHECK-NOT:     kiln.require
kiln.func @twice(%t: !kiln.tensor<?x8xf32> inout) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x8xf32>
  tile.store %x, %t[0, 0]
}

// CHECK-LABEL: kiln.func @main(
// CHECK:         kiln.dim %x, 0
// CHECK-DAG:     kiln.require %{{.*}}, "rows come in tiles of 8"
// CHECK-DAG:     kiln.require %{{.*}}, "n is positive"
// CHECK-NOT:     kiln.require
// CHECK:         kiln.alloc
kiln.func @main(%x: !kiln.tensor<?x8xf32> in, %y: !kiln.tensor<?x8xf32> inout, %n: index, %f: i1) orchestration {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %d = kiln.dim %x, 0
  %own = kiln.alloc(%d) : !kiln.tensor<?x8xf32>
  %r = arith.remsi %d, %c8 : index
  %isMultiple = arith.cmpi eq, %r, %c0 : index
  kiln.require %isMultiple, "rows come in tiles of 8"
  %t = kiln.submit @kernel(%x, %own, %n)
  scf.if %f {
    %u = kiln.submit @sometimes(%x, %y)
  }
  %v = kiln.submit @twice(%own)
  %w = kiln.submit @twice(%y)
}

// A part that is used twice, once by another part.
// CHECK-LABEL: kiln.func @shared(
// CHECK:         %[[POSITIVE:.*]] = arith.cmpi sgt
// CHECK:         %[[EITHER:.*]] = arith.ori %[[POSITIVE]], %f
// CHECK:         %[[BOTH:.*]] = arith.andi %[[POSITIVE]], %[[EITHER]]
// CHECK:         kiln.require %[[BOTH]], "shared"
kiln.func @shared(%n: index, %f: i1) incore {
  %c0 = arith.constant 0 : index
  %isPositive = arith.cmpi sgt, %n, %c0 : index
  %either = arith.ori %isPositive, %f : i1
  %both = arith.andi %isPositive, %either : i1
  kiln.require %both, "shared"
}
kiln.func @launches_shared(%n: index, %f: i1) orchestration {
  %t = kiln.submit @shared(%n, %f)
}
