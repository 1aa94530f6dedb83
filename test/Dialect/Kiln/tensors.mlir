// RUN: kiln-opt --allow-unregistered-dialect %s > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kiln-opt --allow-unregistered-dialect %t.mlir | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --mlir-print-op-generic | kiln-opt --allow-unregistered-dialect | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --emit-bytecode | kiln-opt --allow-unregistered-dialect | diff %t.mlir -

// Tensors, views of them, and single elements.

// The SSA name of an allocation is its name; a name that cannot be one is written after it.
// CHECK-LABEL: kiln.func @alloc(
// CHECK-NEXT:    %a = kiln.alloc() : !kiln.tensor<4x4xf32>
// CHECK-NEXT:    %b = kiln.alloc(%n) : !kiln.tensor<?x64xf32>
// CHECK-NEXT:    %0 = kiln.alloc(%n, %m) : !kiln.tensor<?x64x?xf32>
// CHECK-NEXT:    %two_words = kiln.alloc() name("two words") : !kiln.tensor<4xf32>
// CHECK-NEXT:    %a_0 = kiln.alloc(%n) name("a") : !kiln.tensor<?xf32>
// CHECK-NEXT:    %1 = kiln.alloc() {test.note} : !kiln.tensor<4xf32>
// CHECK-NEXT:    %2 = kiln.alloc() : !kiln.tensor<4xf32>
kiln.func @alloc(%n: index, %m: index) orchestration {
  %a = kiln.alloc() : !kiln.tensor<4x4xf32>
  %b = kiln.alloc(%n) : !kiln.tensor<?x64xf32>
  %0 = kiln.alloc(%n, %m) : !kiln.tensor<?x64x?xf32>
  %d = kiln.alloc() name("two words") : !kiln.tensor<4xf32>
  %e = kiln.alloc(%n) name("a") : !kiln.tensor<?xf32>
  kiln.alloc() {test.note} : !kiln.tensor<4xf32>
  %g = kiln.alloc() name("") : !kiln.tensor<4xf32>
}

// CHECK-LABEL: kiln.func @dim(
// CHECK-NEXT:    kiln.dim %x, 0
// CHECK-NEXT:    kiln.dim %x, 1
kiln.func @dim(%x: !kiln.tensor<?x64xf32>) orchestration {
  %a = kiln.dim %x, 0
  %b = kiln.dim %x, 1
}

// CHECK-LABEL: kiln.func @slice(
// CHECK-NEXT:    kiln.slice %x[0, 0] [64, 64] : !kiln.tensor<64x64xf32>
// CHECK-NEXT:    kiln.slice %x[%i, 60] [%n, 4] : !kiln.tensor<?x4xf32>
// CHECK-NEXT:    kiln.slice %x[%i, 0] [1, 64] drop [0] : !kiln.tensor<64xf32>
// CHECK-NEXT:    kiln.slice %x[0, %i] [1, 1] drop [1] : !kiln.tensor<1xf32>
// CHECK-NEXT:    kiln.slice %y[0, 1, 2] [1, 1, %n] drop [0, 1] : !kiln.tensor<?xi8>
// CHECK-NEXT:    kiln.slice %x[64, 0] [0, 64] : !kiln.tensor<?x?xf32>
kiln.func @slice(%x: !kiln.tensor<64x64xf32>, %y: !kiln.tensor<?x2x?xi8>, %i: index, %n: index) incore {
  %a = kiln.slice %x[0, 0] [64, 64] : !kiln.tensor<64x64xf32>
  %b = kiln.slice %x[%i, 60] [%n, 4] : !kiln.tensor<?x4xf32>
  %c = kiln.slice %x[%i, 0] [1, 64] drop [0] : !kiln.tensor<64xf32>
  %d = kiln.slice %x[0, %i] [1, 1] drop [1] : !kiln.tensor<1xf32>
  %e = kiln.slice %y[0, 1, 2] [1, 1, %n] drop [0, 1] : !kiln.tensor<?xi8>
  // An empty slice at the end, and a result that forgets its extents.
  %f = kiln.slice %x[64, 0] [0, 64] : !kiln.tensor<?x?xf32>
}

// CHECK-LABEL: kiln.func @transpose(
// CHECK-NEXT:    kiln.transpose %x, [1, 0] : !kiln.tensor<64x?xf32>
// CHECK-NEXT:    kiln.transpose %y, [2, 0, 1] : !kiln.tensor<4x2x3xf32>
kiln.func @transpose(%x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<2x3x4xf32>) incore {
  %a = kiln.transpose %x, [1, 0] : !kiln.tensor<64x?xf32>
  %b = kiln.transpose %y, [2, 0, 1] : !kiln.tensor<4x2x3xf32>
}

// CHECK-LABEL: kiln.func @reshape(
// CHECK-NEXT:    kiln.reshape %x[4, 16] : !kiln.tensor<4x16xf32>
// CHECK-NEXT:    kiln.reshape %x[64] : !kiln.tensor<?xf32>
// CHECK-NEXT:    kiln.reshape %x[%n, 2, %m] : !kiln.tensor<?x2x?xf32>
kiln.func @reshape(%x: !kiln.tensor<8x8xf32>, %n: index, %m: index) incore {
  %a = kiln.reshape %x[4, 16] : !kiln.tensor<4x16xf32>
  %b = kiln.reshape %x[64] : !kiln.tensor<?xf32>
  %c = kiln.reshape %x[%n, 2, %m] : !kiln.tensor<?x2x?xf32>
}

// CHECK-LABEL: kiln.func @elements(
// CHECK-NEXT:    %[[V:.*]] = kiln.read %x[%i, 3] : f32
// CHECK-NEXT:    kiln.write %[[V]], %x[0, %i]
// CHECK-NEXT:    kiln.read %y[7] : i1
kiln.func @elements(%x: !kiln.tensor<?x4xf32>, %y: !kiln.tensor<8xi1>, %i: index) incore {
  %v = kiln.read %x[%i, 3] : f32
  kiln.write %v, %x[0, %i]
  %b = kiln.read %y[7] : i1
}

// CHECK-LABEL: kiln.func @get(
// CHECK-NEXT:    kiln.get %x[3] : i64
// CHECK-NEXT:    kiln.get %x[%i] : i64
kiln.func @get(%x: !kiln.tensor<4xi64>, %i: index) orchestration {
  %a = kiln.get %x[3] : i64
  %b = kiln.get %x[%i] : i64
}

// CHECK-LABEL: kiln.func @dump(
// CHECK-NEXT:    kiln.dump %x
// CHECK-NEXT:    %[[V:.*]] = kiln.slice %x
// CHECK-NEXT:    kiln.dump %[[V]]
kiln.func @dump(%x: !kiln.tensor<4x4xf32>) orchestration {
  kiln.dump %x
  %v = kiln.slice %x[0, 0] [2, 4] : !kiln.tensor<2x4xf32>
  kiln.dump %v
}
