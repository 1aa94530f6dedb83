// What has no lowering is refused by its name, at the user's line, and nothing is written.
// RUN: split-file %s %t
// RUN: not %kiln emit %t/sort.mlir --target ascend 2>&1 | FileCheck %t/sort.mlir
// RUN: not %kiln emit %t/begin.mlir --target ascend 2>&1 | FileCheck %t/begin.mlir
// RUN: not %kiln emit %t/accumulator.mlir --target ascend 2>&1 | FileCheck %t/accumulator.mlir
// RUN: not %kiln emit %t/column.mlir --target ascend 2>&1 | FileCheck %t/column.mlir
// RUN: not %kiln emit %t/wide.mlir --target ascend 2>&1 | FileCheck %t/wide.mlir
// RUN: not %kiln emit %t/predicate.mlir --target ascend 2>&1 | FileCheck %t/predicate.mlir
// RUN: not %kiln emit %t/at-once.mlir --target ascend 2>&1 | FileCheck %t/at-once.mlir
// RUN: not %kiln emit %t/narrow.mlir --target ascend -p a5 2>&1 | FileCheck %t/narrow.mlir
// RUN: not %kiln emit %t/rows.mlir --target ascend -p a5 2>&1 | FileCheck %t/rows.mlir
// RUN: not %kiln emit %t/carried.mlir --target ascend -p a5 2>&1 | FileCheck %t/carried.mlir
// RUN: not %kiln emit %t/held.mlir --target ascend -p a5 2>&1 | FileCheck %t/held.mlir
// RUN: not %kiln emit %t/token.mlir --target ascend 2>&1 | FileCheck %t/token.mlir
// RUN: not %kiln emit %t/pair.mlir --target ascend 2>&1 | FileCheck %t/pair.mlir
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

//--- at-once.mlir
// CHECK: at-once.mlir:[[@LINE+6]]:{{.*}}kiln.submit cannot be written for the runtime of this platform: a launch whose blocks all run at once is not passed on yet
kiln.func @copy(%x: !kiln.tensor<8x64xf32>, %y: !kiln.tensor<8x64xf32> out) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x64xf32>
  tile.store %a, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<8x64xf32>, %y: !kiln.tensor<8x64xf32> out) orchestration {
  %t = kiln.submit @copy(%x, %y) grid(4) sync_start
}

//--- narrow.mlir
// CHECK: narrow.mlir:[[@LINE+12]]:{{.*}}@fused cannot be compiled for a5: the columns of a tile that is split left and right are a multiple of 32
kiln.func @cube(%x: !kiln.tensor<64x16xf32>, %down: !tile.pipe<aic -> aiv, 16x16xf32, left_right>) role(aic) {
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %c = tile.matmul %a, %a : !tile.tile<16x16xf32>
  tile.push %c, %down
}
kiln.func @vec(%down: !tile.pipe<aic -> aiv, 16x16xf32, left_right>, %y: !kiln.tensor<64x16xf32>) role(aiv) {
  %lane = tile.lane
  %a = tile.pop %down : !tile.tile<16x8xf32>
  tile.store %a, %y[%lane, 0]
}
kiln.func @fused(%x: !kiln.tensor<64x16xf32> in, %y: !kiln.tensor<64x16xf32> inout) group lanes(2) {
  %down = tile.pipe : !tile.pipe<aic -> aiv, 16x16xf32, left_right>
  kiln.call @cube(%x, %down)
  kiln.call @vec(%down, %y)
}

//--- rows.mlir
// CHECK: rows.mlir:[[@LINE+9]]:{{.*}}'tile.push' op cannot be compiled for a5: the rows of a tile for the matrix unit are a multiple of 16
kiln.func @cube(%up: !tile.pipe<aiv -> aic, 8x16xf32>, %x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<8x16xf32>) role(aic) {
  %a = tile.pop %up : !tile.tile<8x16xf32>
  %b = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %c = tile.matmul %a, %b : !tile.tile<8x16xf32>
  tile.store %c, %y[0, 0]
}
kiln.func @vec(%x: !kiln.tensor<16x16xf32>, %up: !tile.pipe<aiv -> aic, 8x16xf32>) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<8x16xf32>
  tile.push %a, %up
}
kiln.func @fused(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<8x16xf32> out) group {
  %up = tile.pipe : !tile.pipe<aiv -> aic, 8x16xf32>
  kiln.call @cube(%up, %x, %y)
  kiln.call @vec(%x, %up)
}

//--- carried.mlir
// CHECK: carried.mlir:{{[0-9]+}}:{{.*}}cannot be compiled for a5: it carries on a tile that lies in the slot of a pipe
kiln.func @cube(%x: !kiln.tensor<16x32xf32>, %down: !tile.pipe<aic -> aiv, 16x32xf32>, %n: index) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %b = tile.load %x[0, 0] : !tile.tile<16x32xf32>
  %first = tile.matmul %a, %b : !tile.tile<16x32xf32>
  tile.push %first, %down
  scf.for %i = %c0 to %n step %c1 {
    %c = tile.matmul %a, %b : !tile.tile<16x32xf32>
    tile.push %c, %down
  }
}
kiln.func @vec(%down: !tile.pipe<aic -> aiv, 16x32xf32>, %y: !kiln.tensor<16x32xf32>, %n: index) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = tile.pop %down : !tile.tile<16x32xf32>
  tile.free %down
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%was = %first) -> (!tile.tile<16x32xf32>) {
    %new = tile.pop %down : !tile.tile<16x32xf32>
    tile.free %down
    scf.yield %new : !tile.tile<16x32xf32>
  }
  tile.store %last, %y[0, 0]
}
kiln.func @fused(%x: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x32xf32> out, %n: index) group {
  %down = tile.pipe : !tile.pipe<aic -> aiv, 16x32xf32>
  kiln.call @cube(%x, %down, %n)
  kiln.call @vec(%down, %y, %n)
}

//--- token.mlir
// CHECK: token.mlir:[[@LINE+10]]:{{.*}}@fused cannot be compiled for a2a3: a pipe carries one tile at a time
kiln.func @cube(%done: !tile.pipe<aic -> aiv, token>) role(aic) {
  tile.push %done
}
kiln.func @vec(%done: !tile.pipe<aic -> aiv, token>, %x: !kiln.tensor<16x32xf32>, %y: !kiln.tensor<16x32xf32>) role(aiv) {
  tile.pop %done
  %a = tile.load %x[0, 0] : !tile.tile<16x32xf32>
  tile.store %a, %y[0, 0]
}
kiln.func @fused(%x: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x32xf32> out) group {
  %done = tile.pipe : !tile.pipe<aic -> aiv, token>
  kiln.call @cube(%done)
  kiln.call @vec(%done, %x, %y)
}

//--- pair.mlir
// CHECK: pair.mlir:[[@LINE+13]]:{{.*}}@fused cannot be compiled for a2a3: a pipe carries one tile at a time
kiln.func @cube(%x: !kiln.tensor<16x32xf32>, %down: !tile.pipe<aic -> aiv, (16x32xf32, 16x32xf32)>) role(aic) {
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %b = tile.load %x[0, 0] : !tile.tile<16x32xf32>
  %c = tile.matmul %a, %b : !tile.tile<16x32xf32>
  tile.push %c, %c, %down
}
kiln.func @vec(%down: !tile.pipe<aic -> aiv, (16x32xf32, 16x32xf32)>, %y: !kiln.tensor<16x32xf32>) role(aiv) {
  %a, %b = tile.pop %down : !tile.tile<16x32xf32>, !tile.tile<16x32xf32>
  %c = tile.add %a, %b : !tile.tile<16x32xf32>
  tile.store %c, %y[0, 0]
}
kiln.func @fused(%x: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x32xf32> out) group {
  %down = tile.pipe : !tile.pipe<aic -> aiv, (16x32xf32, 16x32xf32)>
  kiln.call @cube(%x, %down)
  kiln.call @vec(%down, %y)
}

//--- held.mlir
// CHECK: held.mlir:[[@LINE+9]]:{{.*}}'tile.pop' cannot be compiled for a5: its slot is not freed before the next one is popped, and of 5 slots several are freed at once; use fewer
kiln.func @cube(%x: !kiln.tensor<16x32xf32>, %down: !tile.pipe<aic -> aiv, 16x32xf32>) role(aic) {
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %b = tile.load %x[0, 0] : !tile.tile<16x32xf32>
  %c = tile.matmul %a, %b : !tile.tile<16x32xf32>
  tile.push %c, %down
  tile.push %c, %down
}
kiln.func @vec(%down: !tile.pipe<aic -> aiv, 16x32xf32>, %y: !kiln.tensor<16x32xf32>) role(aiv) {
  %a = tile.pop %down : !tile.tile<16x32xf32>
  %b = tile.pop %down : !tile.tile<16x32xf32>
  %c = tile.add %a, %b : !tile.tile<16x32xf32>
  tile.store %c, %y[0, 0]
}
kiln.func @fused(%x: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x32xf32> out) group {
  %down = tile.pipe slots(4) : !tile.pipe<aic -> aiv, 16x32xf32>
  kiln.call @cube(%x, %down)
  kiln.call @vec(%down, %y)
}
