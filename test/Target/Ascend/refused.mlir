// What has no lowering is refused by its name, at the user's line, and nothing is written.
// RUN: split-file %s %t
// RUN: not %kiln emit %t/sort.mlir --target ascend 2>&1 | FileCheck %t/sort.mlir
// RUN: not %kiln emit %t/begin.mlir --target ascend 2>&1 | FileCheck %t/begin.mlir
// RUN: not %kiln emit %t/accumulator.mlir --target ascend 2>&1 | FileCheck %t/accumulator.mlir
// RUN: not %kiln emit %t/column.mlir --target ascend 2>&1 | FileCheck %t/column.mlir
// RUN: not %kiln emit %t/wide.mlir --target ascend 2>&1 | FileCheck %t/wide.mlir
// RUN: not %kiln emit %t/predicate.mlir --target ascend 2>&1 | FileCheck %t/predicate.mlir
// RUN: rm -rf %t.out && not %kiln build %t/sort.mlir -p a2a3 -o %t.out && not ls %t.out

//--- sort.mlir
// CHECK: sort.mlir:[[@LINE+3]]:{{.*}}'tile.sort_rows' cannot be compiled for a2a3: the backend does not have this operation yet
kiln.func @sort(%x: !kiln.tensor<8x64xf32>, %y: !kiln.tensor<8x64xf32> out) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x64xf32>
  %v, %i = tile.sort_rows %a : !tile.tile<8x64xf32>, !tile.tile<8x64xi32>
  tile.store %v, %y[0, 0]
}

//--- begin.mlir
// CHECK: begin.mlir:[[@LINE+3]]:{{.*}}'tile.load' op cannot be compiled for a2a3: a tile may begin before its tensor does
kiln.func @begin(%x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?x64xf32> out, %at: index) incore {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%at, 0] : !tile.tile<8x64xf32>
  tile.store %a, %y[0, 0]
}

//--- accumulator.mlir
// CHECK: accumulator.mlir:[[@LINE+4]]:{{.*}}'tile.full' op cannot be compiled for a2a3: an accumulator starts with zeros, or as a product
kiln.func @accumulator(%x: !kiln.tensor<64x64xf32>, %y: !kiln.tensor<64x64xf32> out) role(aic) {
  %one = arith.constant 1.0 : f32
  %a = tile.load %x[0, 0] : !tile.tile<64x64xf32>
  %c = tile.full %one : !tile.tile<64x64xf32>
  %d = tile.matmul_acc %c, %a, %a : !tile.tile<64x64xf32>
  tile.store %d, %y[0, 0]
}

//--- column.mlir
// CHECK: column.mlir:[[@LINE+2]]:{{.*}}'tile.load' cannot be compiled for a2a3: a column of a matrix is not loaded
kiln.func @column(%x: !kiln.tensor<64x64xf32>, %y: !kiln.tensor<64xf32> out) incore {
  %a = tile.load %x[0, 0] : !tile.tile<64x1xf32>
  tile.store %a, %y[0]
}

//--- wide.mlir
// CHECK: wide.mlir:[[@LINE+2]]:{{.*}}'tile.load' cannot be compiled for a2a3: tiles have no elements of type i64
kiln.func @wide(%x: !kiln.tensor<8x64xi64>, %y: !kiln.tensor<8x64xi64> out) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x64xi64>
  tile.store %a, %y[0, 0]
}

//--- predicate.mlir
// CHECK: predicate.mlir:[[@LINE+7]]:{{.*}}kiln.submit cannot be written for the runtime of this platform: a launch under a predicate is not passed on yet
kiln.func @copy(%x: !kiln.tensor<8x64xf32>, %y: !kiln.tensor<8x64xf32> out) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x64xf32>
  tile.store %a, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<8x64xf32>, %y: !kiln.tensor<8x64xf32> out, %p: !kiln.tensor<1xi32>) orchestration {
  %c = arith.constant 0 : index
  %t = kiln.submit @copy(%x, %y) predicate(%p[0] > 0)
}
