// Helpers that kernels call become part of them.
// RUN: kiln-opt %s --kiln-inline -split-input-file | FileCheck %s
// RUN: kiln-opt %s --kiln-inline -split-input-file -o %t.once && kiln-opt %t.once --kiln-inline -split-input-file | diff %t.once -

// A helper of a helper; one that is launched as well stays.
// CHECK-NOT:   kiln.func @square
// CHECK:       kiln.func @twice(
// CHECK-NOT:   kiln.call
// CHECK:       kiln.func @kernel(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>) incore {
// CHECK-COUNT-2: tile.mul
// CHECK-NOT:   kiln.call
kiln.func @square(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %s = tile.mul %t, %t : !tile.tile<16x16xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @twice(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>) incore {
  kiln.call @square(%x, %y)
  kiln.call @square(%y, %y)
}
kiln.func @kernel(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>) incore {
  kiln.call @twice(%x, %y)
}
kiln.func @main(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>) orchestration {
  %a = kiln.submit @kernel(%x, %y)
  %b = kiln.submit @twice(%x, %y)
}

// -----

// A tensor that a helper returns.
// CHECK-NOT: kiln.func @helper
// CHECK:     kiln.func @uses(
// CHECK-NEXT:  %[[T:.*]] = tile.load %x
// CHECK-NEXT:  tile.store %[[T]], %x
kiln.func @helper(%x: !kiln.tensor<16x16xf32>) -> !kiln.tensor<16x16xf32> incore {
  kiln.return %x
}
kiln.func @uses(%x: !kiln.tensor<16x16xf32>) incore {
  %y = kiln.call @helper(%x) -> !kiln.tensor<16x16xf32>
  %t = tile.load %y[0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
