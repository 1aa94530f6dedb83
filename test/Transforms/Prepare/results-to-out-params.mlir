// RUN: kiln-opt %s --kiln-results-to-out-params | FileCheck %s
// RUN: kiln-opt %s --kiln-results-to-out-params --kiln-results-to-out-params | FileCheck %s

// A result that is a parameter disappears; one that is an alloc becomes an appended parameter, in result order, and
// the caller allocates it with sizes computed from the arguments.

// CHECK-LABEL: kiln.func @make(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<?x8xf32>, %half: !kiln.tensor<?x8xf32> out, %fixed: !kiln.tensor<4xi32> out) orchestration {
// CHECK-NOT:     kiln.alloc
// CHECK-NOT:     kiln.return
kiln.func @make(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<?x8xf32>) -> (!kiln.tensor<?x8xf32>, !kiln.tensor<?x8xf32>, !kiln.tensor<4xi32>) orchestration {
  %c2 = arith.constant 2 : index
  %m = kiln.dim %x, 0
  %n = arith.divsi %m, %c2 : index
  %half = kiln.alloc(%n) : !kiln.tensor<?x8xf32>
  %fixed = kiln.alloc() : !kiln.tensor<4xi32>
  kiln.return %half, %y, %fixed
}

// CHECK-LABEL: kiln.func @main(
// CHECK:         %[[M:.*]] = kiln.dim %a, 0
// CHECK:         %[[N:.*]] = arith.divsi %[[M]], %{{.*}}
// CHECK:         %[[HALF:.*]] = kiln.alloc(%[[N]])
// CHECK:         %[[FIXED:.*]] = kiln.alloc() : !kiln.tensor<4xi32>
// CHECK:         kiln.call @make(%a, %b, %[[HALF]], %[[FIXED]])
// CHECK:         kiln.get %b[0, 0]
// CHECK:         kiln.get %[[FIXED]][1]
kiln.func @main(%a: !kiln.tensor<?x8xf32>, %b: !kiln.tensor<?x8xf32>) orchestration {
  %r0, %r1, %r2 = kiln.call @make(%a, %b) -> !kiln.tensor<?x8xf32>, !kiln.tensor<?x8xf32>, !kiln.tensor<4xi32>
  %v = kiln.get %r1[0, 0] : f32
  %w = kiln.get %r2[1] : i32
}
