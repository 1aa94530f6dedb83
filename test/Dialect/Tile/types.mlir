// RUN: kiln-opt %s > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kiln-opt %t.mlir | diff %t.mlir -
// RUN: kiln-opt %s --mlir-print-op-generic | kiln-opt | diff %t.mlir -
// RUN: kiln-opt %s --emit-bytecode | kiln-opt | diff %t.mlir -

// Every spelling of a tile and of a pipe type.

// CHECK-LABEL: kiln.func @elements(
// CHECK-DAG:     tile.full %f32 : !tile.tile<1x1xf32>
// CHECK-DAG:     tile.full %f16 : !tile.tile<3x5xf16>
// CHECK-DAG:     tile.full %bf16 : !tile.tile<128x64xbf16>
// CHECK-DAG:     tile.full %i8 : !tile.tile<1x8xi8>
// CHECK-DAG:     tile.full %i16 : !tile.tile<8x1xi16>
// CHECK-DAG:     tile.full %i32 : !tile.tile<8x8xi32>
// CHECK-DAG:     tile.full %i64 : !tile.tile<8x8xi64>
// CHECK-DAG:     tile.full %i1 : !tile.tile<8x8xi1>
// CHECK-DAG:     tile.load %e4m3[0] : !tile.tile<1x4xf8E4M3FN>
// CHECK-DAG:     tile.load %e5m2[0] : !tile.tile<4x1xf8E5M2>
kiln.func @elements(%f32: f32, %f16: f16, %bf16: bf16, %i8: i8, %i16: i16, %i32: i32, %i64: i64, %i1: i1,
                    %e4m3: !kiln.tensor<4xf8E4M3FN>, %e5m2: !kiln.tensor<4xf8E5M2>) incore {
  %a = tile.full %f32 : !tile.tile<1x1xf32>
  %b = tile.full %f16 : !tile.tile<3x5xf16>
  %c = tile.full %bf16 : !tile.tile<128x64xbf16>
  %d = tile.full %i8 : !tile.tile<1x8xi8>
  %e = tile.full %i16 : !tile.tile<8x1xi16>
  %f = tile.full %i32 : !tile.tile<8x8xi32>
  %g = tile.full %i64 : !tile.tile<8x8xi64>
  %h = tile.full %i1 : !tile.tile<8x8xi1>
  %i = tile.load %e4m3[0] : !tile.tile<1x4xf8E4M3FN>
  %j = tile.load %e5m2[0] : !tile.tile<4x1xf8E5M2>
}

// `unassigned` can be said and is not printed.
// CHECK-LABEL: kiln.func @spaces(
// CHECK-NEXT:    %[[T:.*]] = tile.full %x : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.move %[[T]] : !tile.tile<8x8xf32, vec>
// CHECK-NEXT:    tile.move %[[T]] : !tile.tile<8x8xf32, mat>
// CHECK-NEXT:    tile.move %[[T]] : !tile.tile<8x8xf32, left>
// CHECK-NEXT:    tile.move %[[T]] : !tile.tile<8x8xf32, right>
// CHECK-NEXT:    tile.move %[[T]] : !tile.tile<8x8xf32, acc>
// CHECK-NEXT:    tile.move %[[T]] : !tile.tile<8x8xf32, bias>
kiln.func @spaces(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32, unassigned>
  %a = tile.move %t : !tile.tile<8x8xf32, vec>
  %b = tile.move %t : !tile.tile<8x8xf32, mat>
  %c = tile.move %t : !tile.tile<8x8xf32, left>
  %d = tile.move %t : !tile.tile<8x8xf32, right>
  %e = tile.move %t : !tile.tile<8x8xf32, acc>
  %f = tile.move %t : !tile.tile<8x8xf32, bias>
}

// The split is left out when it is none; a list of one tile needs no parentheses; a role may be quoted.
// CHECK-LABEL: kiln.func @pipes(
// CHECK-SAME:    %a: !tile.pipe<aic -> aiv, 64x64xf32>,
// CHECK-SAME:    %b: !tile.pipe<aic -> aiv, 64x64xf32>,
// CHECK-SAME:    %c: !tile.pipe<aiv -> aic, 64x64xbf16, up_down>,
// CHECK-SAME:    %d: !tile.pipe<aiv -> aic, 64x64xi8, left_right>,
// CHECK-SAME:    %e: !tile.pipe<aic -> aiv, (64x64xf32, 64x1xf32, 1x1xi32), up_down>,
// CHECK-SAME:    %f: !tile.pipe<aic -> aiv, token>,
// CHECK-SAME:    %g: !tile.pipe<aiv -> aiv, token, up_down>,
// CHECK-SAME:    %h: !tile.pipe<aic -> aiv, 8x8xf32>,
// CHECK-SAME:    %i: !tile.pipe<dma -> compute, 8x8xf32>) role(aic) {
kiln.func @pipes(%a: !tile.pipe<aic -> aiv, 64x64xf32>, %b: !tile.pipe<aic -> aiv, 64x64xf32, none>,
                 %c: !tile.pipe<aiv -> aic, 64x64xbf16, up_down>, %d: !tile.pipe<aiv -> aic, 64x64xi8, left_right>,
                 %e: !tile.pipe<aic -> aiv, (64x64xf32, 64x1xf32, 1x1xi32), up_down>,
                 %f: !tile.pipe<aic -> aiv, token>, %g: !tile.pipe<aiv -> aiv, token, up_down>,
                 %h: !tile.pipe<"aic" -> "aiv", (8x8xf32)>, %i: !tile.pipe<dma -> compute, 8x8xf32>) role(aic) {
}
