// RUN: kiln-opt %s --canonicalize | FileCheck %s

// A view that shows all of a tensor, unchanged, is the tensor. Beside each, what looks like it and is not.

// CHECK-LABEL: kiln.func @slice(
// CHECK-NEXT:    kiln.submit @use(%x)
// CHECK-NEXT:    %[[PART:.*]] = kiln.slice %x[1, 0] [3, 4]
// CHECK-NEXT:    kiln.submit @use(%[[PART]])
// CHECK-NEXT:    %[[DYNAMIC:.*]] = kiln.slice %y[0, 0] [%n, 4]
// CHECK-NEXT:    kiln.submit @use(%[[DYNAMIC]])
// CHECK-NEXT:    %[[FLAT:.*]] = kiln.slice %x[0, 0] [1, 4] drop
// CHECK-NEXT:    kiln.submit @row(%[[FLAT]])
// CHECK-NEXT:  }
kiln.func @slice(%x: !kiln.tensor<4x4xf32>, %y: !kiln.tensor<?x4xf32>, %n: index) orchestration {
  %all = kiln.slice %x[0, 0] [4, 4] : !kiln.tensor<4x4xf32>
  %a = kiln.submit @use(%all)
  %part = kiln.slice %x[1, 0] [3, 4] : !kiln.tensor<3x4xf32>
  %b = kiln.submit @use(%part)
  %dynamic = kiln.slice %y[0, 0] [%n, 4] : !kiln.tensor<?x4xf32>
  %c = kiln.submit @use(%dynamic)
  %flat = kiln.slice %x[0, 0] [1, 4] drop [0] : !kiln.tensor<4xf32>
  %d = kiln.submit @row(%flat)
}

// CHECK-LABEL: kiln.func @transpose(
// CHECK-NEXT:    kiln.submit @use(%x)
// CHECK-NEXT:    %[[T:.*]] = kiln.transpose %x, [1, 0]
// CHECK-NEXT:    kiln.submit @use(%[[T]])
// CHECK-NEXT:  }
kiln.func @transpose(%x: !kiln.tensor<4x4xf32>) orchestration {
  %same = kiln.transpose %x, [0, 1] : !kiln.tensor<4x4xf32>
  %a = kiln.submit @use(%same)
  %turned = kiln.transpose %x, [1, 0] : !kiln.tensor<4x4xf32>
  %b = kiln.submit @use(%turned)
}

// A reshape to dynamic extents may change them though the type stays.
// CHECK-LABEL: kiln.func @reshape(
// CHECK-NEXT:    kiln.submit @use(%x)
// CHECK-NEXT:    %[[R:.*]] = kiln.reshape %x[2, 8]
// CHECK-NEXT:    kiln.submit @use(%[[R]])
// CHECK-NEXT:    %[[D:.*]] = kiln.reshape %y[%n, %n]
// CHECK-NEXT:    kiln.submit @use(%[[D]])
// CHECK-NEXT:  }
kiln.func @reshape(%x: !kiln.tensor<4x4xf32>, %y: !kiln.tensor<?x?xf32>, %n: index) orchestration {
  %same = kiln.reshape %x[4, 4] : !kiln.tensor<4x4xf32>
  %a = kiln.submit @use(%same)
  %other = kiln.reshape %x[2, 8] : !kiln.tensor<2x8xf32>
  %b = kiln.submit @use(%other)
  %dynamic = kiln.reshape %y[%n, %n] : !kiln.tensor<?x?xf32>
  %c = kiln.submit @use(%dynamic)
}

kiln.func @use(%x: !kiln.tensor<?x?xf32>) incore {
}
kiln.func @row(%x: !kiln.tensor<?xf32>) incore {
}
