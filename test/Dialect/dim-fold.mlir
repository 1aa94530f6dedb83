// RUN: kiln-opt %s --canonicalize | FileCheck %s

// A static extent is a constant; a dynamic one is asked for at run time.

// CHECK-LABEL: kiln.func @dim(
// CHECK-NEXT:    %[[C4:.*]] = arith.constant 4 : index
// CHECK-NEXT:    %[[D:.*]] = kiln.dim %x, 1
// CHECK-NEXT:    kiln.submit @kernel(%[[C4]], %[[D]])
// CHECK-NEXT:  }
kiln.func @dim(%x: !kiln.tensor<4x?xf32>) orchestration {
  %a = kiln.dim %x, 0
  %b = kiln.dim %x, 1
  %t = kiln.submit @kernel(%a, %b)
}
kiln.func @kernel(%a: index, %b: index) incore {
}
