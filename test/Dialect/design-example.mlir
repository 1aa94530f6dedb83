// The text example of the language design, word for word.
// RUN: kiln-opt %s > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kiln-opt %t.mlir | diff %t.mlir -
// RUN: kiln-opt %s --mlir-print-op-generic | kiln-opt | diff %t.mlir -
// RUN: kiln-opt %s --emit-bytecode | kiln-opt | diff %t.mlir -

// out = a * b + r on one core group; a comes from the vector lanes, each lane owns half the rows.
!up   = !tile.pipe<aiv -> aic, 64x64xf32, up_down>
!down = !tile.pipe<aic -> aiv, 64x64xf32, up_down>
kiln.func @mul_cube(%b: !kiln.tensor<64x64xf32>, %up: !up, %down: !down) role(aic) {
  %bt = tile.load %b[0, 0] : !tile.tile<64x64xf32>
  %at = tile.pop %up : !tile.tile<64x64xf32>
  %c  = tile.matmul %at, %bt : !tile.tile<64x64xf32>
  tile.push %c, %down
}
kiln.func @add_vec(%a: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<64x64xf32>, %out: !kiln.tensor<64x64xf32>,
                   %up: !up, %down: !down) role(aiv) {
  %c32  = arith.constant 32 : index
  %lane = tile.lane
  %row  = arith.muli %lane, %c32 : index
  %at = tile.load %a[%row, 0] : !tile.tile<32x64xf32>
  tile.push %at, %up
  %rt = tile.load %r[%row, 0] : !tile.tile<32x64xf32>
  %c  = tile.pop %down : !tile.tile<32x64xf32>
  %y  = tile.add %c, %rt : !tile.tile<32x64xf32>
  tile.store %y, %out[%row, 0]
}
kiln.func @fused(%a: !kiln.tensor<64x64xf32>, %b: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<64x64xf32>,
                 %out: !kiln.tensor<64x64xf32>) group lanes(2) {
  %up   = tile.pipe slots(2) : !up
  %down = tile.pipe slots(2) : !down
  kiln.call @mul_cube(%b, %up, %down)
  kiln.call @add_vec(%a, %r, %out, %up, %down)
}

// CHECK-LABEL: kiln.func @mul_cube(%b: !kiln.tensor<64x64xf32>,
// CHECK-SAME:    %up: !tile.pipe<aiv -> aic, 64x64xf32, up_down>, %down: !tile.pipe<aic -> aiv, 64x64xf32, up_down>) role(aic) {
// CHECK-NEXT:    %[[BT:.*]] = tile.load %b[0, 0] : !tile.tile<64x64xf32>
// CHECK-NEXT:    %[[AT:.*]] = tile.pop %up : !tile.tile<64x64xf32>
// CHECK-NEXT:    %[[C:.*]] = tile.matmul %[[AT]], %[[BT]] : !tile.tile<64x64xf32>
// CHECK-NEXT:    tile.push %[[C]], %down
// CHECK-NEXT:  }

// CHECK-LABEL: kiln.func @add_vec(%a: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<64x64xf32>, %out: !kiln.tensor<64x64xf32>,
// CHECK-SAME:    %up: !tile.pipe<aiv -> aic, 64x64xf32, up_down>, %down: !tile.pipe<aic -> aiv, 64x64xf32, up_down>) role(aiv) {
// CHECK-NEXT:    %[[C32:.*]] = arith.constant 32 : index
// CHECK-NEXT:    %[[LANE:.*]] = tile.lane
// CHECK-NEXT:    %[[ROW:.*]] = arith.muli %[[LANE]], %[[C32]] : index
// CHECK-NEXT:    %[[A:.*]] = tile.load %a[%[[ROW]], 0] : !tile.tile<32x64xf32>
// CHECK-NEXT:    tile.push %[[A]], %up
// CHECK-NEXT:    %[[R:.*]] = tile.load %r[%[[ROW]], 0] : !tile.tile<32x64xf32>
// CHECK-NEXT:    %[[P:.*]] = tile.pop %down : !tile.tile<32x64xf32>
// CHECK-NEXT:    %[[Y:.*]] = tile.add %[[P]], %[[R]] : !tile.tile<32x64xf32>
// CHECK-NEXT:    tile.store %[[Y]], %out[%[[ROW]], 0]
// CHECK-NEXT:  }

// CHECK-LABEL: kiln.func @fused(%a: !kiln.tensor<64x64xf32>, %b: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<64x64xf32>,
// CHECK-SAME:    %out: !kiln.tensor<64x64xf32>) group lanes(2) {
// CHECK-NEXT:    %[[UP:.*]] = tile.pipe slots(2) : !tile.pipe<aiv -> aic, 64x64xf32, up_down>
// CHECK-NEXT:    %[[DOWN:.*]] = tile.pipe slots(2) : !tile.pipe<aic -> aiv, 64x64xf32, up_down>
// CHECK-NEXT:    kiln.call @mul_cube(%b, %[[UP]], %[[DOWN]])
// CHECK-NEXT:    kiln.call @add_vec(%a, %r, %out, %[[UP]], %[[DOWN]])
// CHECK-NEXT:  }
