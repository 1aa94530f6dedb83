// RUN: kiln-opt %s > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kiln-opt %t.mlir | diff %t.mlir -
// RUN: kiln-opt %s --mlir-print-op-generic | kiln-opt | diff %t.mlir -
// RUN: kiln-opt %s --emit-bytecode | kiln-opt | diff %t.mlir -

// Every spelling of a tensor type: element types, ranks, dynamic extents, strides.

// CHECK-LABEL: kiln.func @elements(
// CHECK-SAME:    %f32: !kiln.tensor<4xf32>, %f16: !kiln.tensor<4xf16>, %bf16: !kiln.tensor<4xbf16>,
// CHECK-SAME:    %e4m3: !kiln.tensor<4xf8E4M3FN>, %e5m2: !kiln.tensor<4xf8E5M2>, %i8: !kiln.tensor<4xi8>,
// CHECK-SAME:    %i16: !kiln.tensor<4xi16>, %i32: !kiln.tensor<4xi32>, %i64: !kiln.tensor<4xi64>,
// CHECK-SAME:    %i1: !kiln.tensor<4xi1>) incore {
kiln.func @elements(%f32: !kiln.tensor<4xf32>, %f16: !kiln.tensor<4xf16>, %bf16: !kiln.tensor<4xbf16>,
                    %e4m3: !kiln.tensor<4xf8E4M3FN>, %e5m2: !kiln.tensor<4xf8E5M2>, %i8: !kiln.tensor<4xi8>,
                    %i16: !kiln.tensor<4xi16>, %i32: !kiln.tensor<4xi32>, %i64: !kiln.tensor<4xi64>,
                    %i1: !kiln.tensor<4xi1>) incore {
}

// CHECK-LABEL: kiln.func @ranks(
// CHECK-SAME:    %a: !kiln.tensor<0xf32>, %b: !kiln.tensor<?x64xf32>, %c: !kiln.tensor<2x?x?xf32>,
// CHECK-SAME:    %d: !kiln.tensor<1x2x3x4xf32>, %e: !kiln.tensor<?x?x?x?x?xf32>) incore {
kiln.func @ranks(%a: !kiln.tensor<0xf32>, %b: !kiln.tensor<?x64xf32>, %c: !kiln.tensor<2x?x?xf32>,
                 %d: !kiln.tensor<1x2x3x4xf32>, %e: !kiln.tensor<?x?x?x?x?xf32>) incore {
}

// CHECK-LABEL: kiln.func @strides(
// CHECK-SAME:    %a: !kiln.tensor<?x64xbf16, strides [64, 1]>, %b: !kiln.tensor<?x64xbf16, strides [?, 1]>,
// CHECK-SAME:    %c: !kiln.tensor<8x64xbf16, strides [0, 1]>, %d: !kiln.tensor<8xbf16, strides [?]>) incore {
kiln.func @strides(%a: !kiln.tensor<?x64xbf16, strides [64, 1]>, %b: !kiln.tensor<?x64xbf16, strides [?, 1]>,
                   %c: !kiln.tensor<8x64xbf16, strides [0, 1]>, %d: !kiln.tensor<8xbf16, strides [?]>) incore {
}

// The largest that can be counted; an extent of 0 does not hide the others.
// CHECK-LABEL: kiln.func @large(
// CHECK-SAME:    %a: !kiln.tensor<72057594037927936xi8>, %b: !kiln.tensor<0x72057594037927936xi8>) incore {
kiln.func @large(%a: !kiln.tensor<72057594037927936xi8>, %b: !kiln.tensor<0x72057594037927936xi8>) incore {
}

// CHECK-LABEL: kiln.func @tasks() orchestration {
// CHECK:         %[[T:.*]] = kiln.submit
// CHECK:         scf.if %{{.*}} -> (!kiln.task) {
kiln.func @tasks() orchestration {
  %t = kiln.submit
  %true = arith.constant true
  %u = scf.if %true -> (!kiln.task) {
    scf.yield %t : !kiln.task
  } else {
    %v = kiln.submit deps(%t)
    scf.yield %v : !kiln.task
  }
  %w = kiln.submit deps(%u)
}
