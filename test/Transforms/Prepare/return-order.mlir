// Which result is which: a function may return its parameters and what it allocates in any order. Each result is one
// tensor and each tensor at most one result, so every caller sees what it would see if the order were straight.
// RUN: kiln-opt %s --kiln-results-to-out-params --kiln-infer-directions | FileCheck %s
// RUN: kiln-opt %s --kiln-results-to-out-params --kiln-infer-directions --kiln-results-to-out-params --kiln-infer-directions | FileCheck %s

kiln.func @copy(%from: !kiln.tensor<8x8xf32>, %to: !kiln.tensor<8x8xf32>) incore {
  %x = tile.load %from[0, 0] : !tile.tile<8x8xf32>
  tile.store %x, %to[0, 0]
}

// Parameters, swapped.
// CHECK-LABEL: kiln.func @swapped(%a: !kiln.tensor<8x8xf32> in, %b: !kiln.tensor<8x8xf32> out) orchestration
kiln.func @swapped(%a: !kiln.tensor<8x8xf32>, %b: !kiln.tensor<8x8xf32>) -> (!kiln.tensor<8x8xf32>, !kiln.tensor<8x8xf32>) orchestration {
  %t = kiln.submit @copy(%a, %b)
  kiln.return %b, %a
}

// One of two parameters, between two allocations: those are appended in the order of the results.
// CHECK-LABEL: kiln.func @mixed(%a: !kiln.tensor<8x8xf32> in, %b: !kiln.tensor<8x8xf32> out, %second: !kiln.tensor<8x8xf32> out, %first: !kiln.tensor<8x8xf32> out) orchestration
// CHECK: kiln.submit @copy(%a, %first)
// CHECK: kiln.submit @copy(%a, %second)
kiln.func @mixed(%a: !kiln.tensor<8x8xf32>, %b: !kiln.tensor<8x8xf32>) -> (!kiln.tensor<8x8xf32>, !kiln.tensor<8x8xf32>, !kiln.tensor<8x8xf32>) orchestration {
  %first = kiln.alloc() : !kiln.tensor<8x8xf32>
  %second = kiln.alloc() : !kiln.tensor<8x8xf32>
  %t = kiln.submit @copy(%a, %first)
  %u = kiln.submit @copy(%a, %second)
  %v = kiln.submit @copy(%a, %b)
  kiln.return %second, %b, %first
}

// An auxiliary tensor that nobody returns stays inside, and does not shift the others.
// CHECK-LABEL: kiln.func @auxiliary(%a: !kiln.tensor<8x8xf32> in, %out: !kiln.tensor<8x8xf32> out) orchestration
// CHECK: %[[AUX:.*]] = kiln.alloc()
// CHECK: kiln.submit @copy(%a, %[[AUX]])
// CHECK: kiln.submit @copy(%[[AUX]], %out)
kiln.func @auxiliary(%a: !kiln.tensor<8x8xf32>) -> !kiln.tensor<8x8xf32> orchestration {
  %aux = kiln.alloc() : !kiln.tensor<8x8xf32>
  %out = kiln.alloc() : !kiln.tensor<8x8xf32>
  %t = kiln.submit @copy(%a, %aux)
  %u = kiln.submit @copy(%aux, %out)
  kiln.return %out
}

// A wrapper's directions are those of all it runs: %x is read by one call and written by another, whichever comes first.
// CHECK-LABEL: kiln.func @main(%x: !kiln.tensor<8x8xf32> inout {kiln.inferred}, %y: !kiln.tensor<8x8xf32> inout {kiln.inferred}, %z: !kiln.tensor<8x8xf32> inout {kiln.inferred}) orchestration
// CHECK-NEXT: kiln.call @swapped(%x, %y)
// CHECK-NEXT: kiln.submit @copy(%y, %z)
// CHECK: %[[SECOND:.*]] = kiln.alloc()
// CHECK: %[[FIRST:.*]] = kiln.alloc()
// CHECK: kiln.call @mixed(%z, %x, %[[SECOND]], %[[FIRST]])
// CHECK-NEXT: kiln.submit @copy(%[[SECOND]], %z)
// CHECK-NEXT: kiln.submit @copy(%x, %z)
// CHECK-NEXT: kiln.submit @copy(%[[FIRST]], %z)
// CHECK: %[[OUT:.*]] = kiln.alloc()
// CHECK: kiln.call @auxiliary(%y, %[[OUT]])
// CHECK-NEXT: kiln.submit @copy(%[[OUT]], %z)
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %z: !kiln.tensor<8x8xf32>) orchestration {
  %b, %a = kiln.call @swapped(%x, %y) -> !kiln.tensor<8x8xf32>, !kiln.tensor<8x8xf32>
  %t = kiln.submit @copy(%b, %z)
  %second, %middle, %first = kiln.call @mixed(%z, %a) -> !kiln.tensor<8x8xf32>, !kiln.tensor<8x8xf32>, !kiln.tensor<8x8xf32>
  %u = kiln.submit @copy(%second, %z)
  %v = kiln.submit @copy(%middle, %z)
  %w = kiln.submit @copy(%first, %z)
  %out = kiln.call @auxiliary(%b) -> !kiln.tensor<8x8xf32>
  %s = kiln.submit @copy(%out, %z)
}
