// RUN: kiln-opt --allow-unregistered-dialect %s > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kiln-opt --allow-unregistered-dialect %t.mlir | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --mlir-print-op-generic | kiln-opt --allow-unregistered-dialect | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --emit-bytecode | kiln-opt --allow-unregistered-dialect | diff %t.mlir -

// kiln.submit, kiln.incore and kiln.scope with each of their clauses, alone and together.

kiln.func @k(%x: !kiln.tensor<?xf32>, %n: index) incore {
}
kiln.func @g() group {
}

// CHECK-LABEL: kiln.func @submit(
// CHECK-NEXT:    %[[T0:.*]] = kiln.submit
// CHECK-NEXT:    %[[T1:.*]] = kiln.submit @g()
// CHECK-NEXT:    %[[T2:.*]] = kiln.submit @k(%x, %n) grid(4)
// CHECK-NEXT:    %[[T3:.*]] = kiln.submit @k(%x, %n) grid(%n, 2, 0) sync_start
// CHECK-NEXT:    %[[T4:.*]] = kiln.submit deps(%[[T0]], %[[T1]])
// CHECK-NEXT:    %[[T5:.*]] = kiln.submit @k(%x, %n) grid(%n, %n) sync_start deps(%[[T4]]) predicate(%f[%n, 1] > -3)
// CHECK-NEXT:    kiln.submit @k(%x, %n) {test.note}
kiln.func @submit(%x: !kiln.tensor<4xf32>, %f: !kiln.tensor<?x2xi32>, %n: index) orchestration {
  %t0 = kiln.submit
  %t1 = kiln.submit @g()
  %t2 = kiln.submit @k(%x, %n) grid(4)
  %t3 = kiln.submit @k(%x, %n) grid(%n, 2, 0) sync_start
  %t4 = kiln.submit deps(%t0, %t1)
  %t5 = kiln.submit @k(%x, %n) grid(%n, %n) sync_start deps(%t4) predicate(%f[%n, 1] > -3)
  %t6 = kiln.submit @k(%x, %n) {test.note}
}

// CHECK-LABEL: kiln.func @predicates(
// CHECK-NEXT:    kiln.submit predicate(%f[0] > 1)
// CHECK-NEXT:    kiln.submit predicate(%f[0] >= 1)
// CHECK-NEXT:    kiln.submit predicate(%f[0] < 1)
// CHECK-NEXT:    kiln.submit predicate(%f[0] <= 1)
// CHECK-NEXT:    kiln.submit predicate(%f[0] == 1)
// CHECK-NEXT:    kiln.submit predicate(%f[0] ne 1)
// CHECK-NEXT:    kiln.submit predicate(%f[0] == -9223372036854775808)
kiln.func @predicates(%f: !kiln.tensor<1xi64>) orchestration {
  %a = kiln.submit predicate(%f[0] > 1)
  %b = kiln.submit predicate(%f[0] >= 1)
  %c = kiln.submit predicate(%f[0] < 1)
  %d = kiln.submit predicate(%f[0] <= 1)
  %e = kiln.submit predicate(%f[0] == 1)
  %g = kiln.submit predicate(%f[0] ne 1)
  %h = kiln.submit predicate(%f[0] == -9223372036854775808)
}

// CHECK-LABEL: kiln.func @incore(
// CHECK-NEXT:    %[[T0:.*]] = kiln.incore "empty" {
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[T1:.*]] = kiln.incore "all of it" grid(%n, 2) sync_start deps(%[[T0]]) split(left_right) attributes {test.note} {
// CHECK-NEXT:      tile.load %x[0]
// CHECK:         }
// CHECK-NEXT:    kiln.incore "split" split(none) {
// CHECK:         kiln.incore "skipped" grid(%n) sync_start deps(%[[T0]]) predicate(%f[%n, 1] > -3) split(up_down) {
// CHECK:         kiln.incore "maybe" predicate(%f[0, 0] ne 1) {
kiln.func @incore(%x: !kiln.tensor<4xf32>, %n: index, %f: !kiln.tensor<?x2xi32>) orchestration {
  %t0 = kiln.incore "empty" {
  }
  %t1 = kiln.incore "all of it" grid(%n, 2) sync_start deps(%t0) split(left_right) attributes {test.note} {
    %a = tile.load %x[0] : !tile.tile<1x4xf32>
    tile.store %a, %x[0]
  }
  %t2 = kiln.incore "split" split(none) {
  }
  %t3 = kiln.incore "skipped" grid(%n) sync_start deps(%t0) predicate(%f[%n, 1] > -3) split(up_down) {
  }
  %t4 = kiln.incore "maybe" predicate(%f[0, 0] ne 1) {
  }
}

// CHECK-LABEL: kiln.func @scope(
// CHECK-NEXT:    kiln.scope {
// CHECK-NEXT:      kiln.alloc() : !kiln.tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    kiln.scope manual attributes {test.note} {
// CHECK-NEXT:      kiln.scope {
// CHECK-NEXT:        kiln.submit
// CHECK-NEXT:      }
// CHECK-NEXT:    }
kiln.func @scope() orchestration {
  kiln.scope {
    %t = kiln.alloc() : !kiln.tensor<4xf32>
  }
  kiln.scope manual attributes {test.note} {
    kiln.scope {
      %t = kiln.submit
    }
  }
}

// Loops of every kind, in a kernel and in the control plane.
// CHECK-LABEL: kiln.func @loops(
// CHECK:         scf.for
// CHECK:         } {kiln.loop = #kiln.loop<parallel>}
// CHECK:         } {kiln.loop = #kiln.loop<unroll>}
// CHECK:         } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
kiln.func @loops(%n: index) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = kiln.submit
  } {kiln.loop = #kiln.loop<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %t = kiln.submit
  } {kiln.loop = #kiln.loop<unroll>}
  scf.for %i = %c0 to %n step %c1 {
    %t = kiln.submit
  } {kiln.loop = #kiln.loop<pipeline, stages = 3>}
}
