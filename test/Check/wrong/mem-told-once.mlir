// What one place does wrong is told once, with the first arguments that show it, whichever schedule and shapes show it
// again.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: not %kiln check %t/views.mlir | FileCheck %s --check-prefix=VIEWS
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// CHECK: error: tile.matmul uses a tile popped from pipe
// CHECK-NOT: {{error:|require_same_shape}}
// CHECK: findings: 1
// CHECK: FINDINGS
// VIEWS: error: race: task
// VIEWS: error: nobody writes elements
// VIEWS-NOT: error:
// VIEWS: findings: 2
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module @weights_pop {
  kiln.func @vec(%w: !kiln.tensor<32x32xf32>, %up: !tile.pipe<aiv -> aic, 32x32xf32>, %x: !kiln.tensor<?x32xf32>, %down: !tile.pipe<aic -> aiv, 32x32xf32>, %y: !kiln.tensor<?x32xf32>) role(aiv) {
    %c32 = arith.constant 32 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = tile.load %w[0, 0] : !tile.tile<32x32xf32>
    tile.push %0, %up
    %1 = kiln.dim %x, 0
    %2 = arith.ceildivsi %1, %c32 : index
    scf.for %arg0 = %c0 to %2 step %c1 {
      %3 = arith.muli %arg0, %c32 : index
      %4 = tile.load %x[%3, 0] : !tile.tile<32x32xf32>
      tile.push %4, %up
      %5 = tile.pop %down : !tile.tile<32x32xf32>
      %6 = arith.muli %arg0, %c32 : index
      tile.store %5, %y[%6, 0]
    }
  }
  kiln.func @cube(%up: !tile.pipe<aiv -> aic, 32x32xf32>, %x: !kiln.tensor<?x32xf32>, %down: !tile.pipe<aic -> aiv, 32x32xf32>) role(aic) {
    %c32 = arith.constant 32 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = tile.pop %up : !tile.tile<32x32xf32>
    tile.free %up
    %1 = kiln.dim %x, 0
    %2 = arith.ceildivsi %1, %c32 : index
    scf.for %arg0 = %c0 to %2 step %c1 {
      %3 = tile.pop %up : !tile.tile<32x32xf32>
      %4 = tile.matmul %3, %0 : !tile.tile<32x32xf32>
      tile.push %4, %down
      tile.free %up
    }
  }
  kiln.func @g(%x: !kiln.tensor<?x32xf32> in, %w: !kiln.tensor<32x32xf32> in, %y: !kiln.tensor<?x32xf32> out) group {
    %up = tile.pipe slots(3) : !tile.pipe<aiv -> aic, 32x32xf32>
    %down = tile.pipe slots(2) : !tile.pipe<aic -> aiv, 32x32xf32>
    kiln.call @vec(%w, %up, %x, %down, %y)
    kiln.call @cube(%up, %x, %down)
  }
  kiln.func @main(%x: !kiln.tensor<?x32xf32> in, %w: !kiln.tensor<32x32xf32> in, %y: !kiln.tensor<?x32xf32> out) orchestration {
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "s"
    %3 = kiln.submit @g(%x, %w, %y)
  }
}

//--- views.mlir
module @two_tasks_view {
  kiln.func @copy(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
    %0 = tile.load %x[0, 0] : !tile.tile<64x32xf32>
    tile.store %0, %y[0, 0]
  }
  kiln.func @main(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> out) orchestration {
    kiln.scope manual {
      %0 = kiln.slice %x[0, 0] [64, 32] : !kiln.tensor<64x32xf32>
      %1 = kiln.slice %y[0, 0] [64, 32] : !kiln.tensor<64x32xf32>
      %2 = kiln.submit @copy(%0, %1)
      %3 = kiln.slice %x[0, 32] [64, 32] : !kiln.tensor<64x32xf32>
      %4 = kiln.transpose %y, [1, 0] : !kiln.tensor<64x64xf32>
      %5 = kiln.slice %4[0, 32] [64, 32] : !kiln.tensor<64x32xf32>
      %6 = kiln.submit @copy(%3, %5)
    }
  }
}

//--- right.mlir
module @weights_pop {
  kiln.func @vec(%w: !kiln.tensor<32x32xf32>, %up: !tile.pipe<aiv -> aic, 32x32xf32>, %x: !kiln.tensor<?x32xf32>, %down: !tile.pipe<aic -> aiv, 32x32xf32>, %y: !kiln.tensor<?x32xf32>) role(aiv) {
    %c32 = arith.constant 32 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = tile.load %w[0, 0] : !tile.tile<32x32xf32>
    tile.push %0, %up
    %1 = kiln.dim %x, 0
    %2 = arith.ceildivsi %1, %c32 : index
    scf.for %arg0 = %c0 to %2 step %c1 {
      %3 = arith.muli %arg0, %c32 : index
      %4 = tile.load %x[%3, 0] : !tile.tile<32x32xf32>
      tile.push %4, %up
      %5 = tile.pop %down : !tile.tile<32x32xf32>
      %6 = arith.muli %arg0, %c32 : index
      tile.store %5, %y[%6, 0]
    }
  }
  kiln.func @cube(%up: !tile.pipe<aiv -> aic, 32x32xf32>, %x: !kiln.tensor<?x32xf32>, %down: !tile.pipe<aic -> aiv, 32x32xf32>) role(aic) {
    %c32 = arith.constant 32 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = tile.pop %up : !tile.tile<32x32xf32>
    %1 = kiln.dim %x, 0
    %2 = arith.ceildivsi %1, %c32 : index
    scf.for %arg0 = %c0 to %2 step %c1 {
      %3 = tile.pop %up : !tile.tile<32x32xf32>
      %4 = tile.matmul %3, %0 : !tile.tile<32x32xf32>
      tile.push %4, %down
      }
  }
  kiln.func @g(%x: !kiln.tensor<?x32xf32> in, %w: !kiln.tensor<32x32xf32> in, %y: !kiln.tensor<?x32xf32> out) group {
    %up = tile.pipe slots(3) : !tile.pipe<aiv -> aic, 32x32xf32>
    %down = tile.pipe slots(2) : !tile.pipe<aic -> aiv, 32x32xf32>
    kiln.call @vec(%w, %up, %x, %down, %y)
    kiln.call @cube(%up, %x, %down)
  }
  kiln.func @main(%x: !kiln.tensor<?x32xf32> in, %w: !kiln.tensor<32x32xf32> in, %y: !kiln.tensor<?x32xf32> out) orchestration {
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "s"
    %3 = kiln.submit @g(%x, %w, %y)
  }
}
