// RUN: kiln-opt %s --kiln-outline | FileCheck %s
// RUN: kiln-opt %s --kiln-outline --kiln-outline | FileCheck %s

// Tensors and scalars from outside become parameters in order of first use; constants and the extents of tensors that
// are passed anyway are recomputed inside; names are kept; a taken name is made unique.

// CHECK-LABEL: kiln.func @scale(%x: !kiln.tensor<?x64xf32>, %s: f32, %t: !kiln.tensor<?x64xf32>) incore split(up_down) {
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[DIM:.*]] = kiln.dim %x, 0
// CHECK:         tile.load %x[%{{.*}}, 0] valid(%[[DIM]], 64)
// CHECK:         tile.mul %{{.*}}, %s
// CHECK:         tile.store %{{.*}}, %t[%{{.*}}, 0]

// CHECK-LABEL: kiln.func @scale_0(%t: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?x64xf32>) incore {

// CHECK-LABEL: kiln.func @main(
// CHECK:         %[[T:.*]] = kiln.alloc
// CHECK:         %[[TASK:.*]] = kiln.submit @scale(%x, %s, %[[T]]) grid(%{{.*}}) sync_start
// CHECK:         kiln.submit @scale_0(%[[T]], %y) deps(%[[TASK]])
// CHECK-NOT:     kiln.incore
kiln.func @main(%x: !kiln.tensor<?x64xf32>, %s: f32, %y: !kiln.tensor<?x64xf32>) orchestration {
  %c8 = arith.constant 8 : index
  %m = kiln.dim %x, 0
  %g = arith.ceildivsi %m, %c8 : index
  %t = kiln.alloc(%m) : !kiln.tensor<?x64xf32>
  %task = kiln.incore "scale" grid(%g) sync_start split(up_down) {
    %b = tile.block_idx 0
    %i = arith.muli %b, %c8 : index
    %a = tile.load %x[%i, 0] valid(%m, 64) : !tile.tile<8x64xf32>
    %r = tile.mul %a, %s : !tile.tile<8x64xf32>
    tile.store %r, %t[%i, 0]
  }
  kiln.incore "scale" deps(%task) {
    %a = tile.load %t[0, 0] : !tile.tile<8x64xf32>
    tile.store %a, %y[0, 0]
  }
}

// A predicate is the launch's, not the kernel's.
// CHECK-LABEL: kiln.func @maybe(%x: !kiln.tensor<8x8xf32>) incore {
// CHECK-LABEL: kiln.func @predicate(
// CHECK-NEXT:    %[[T:.*]] = kiln.submit
// CHECK-NEXT:    kiln.submit @maybe(%x) grid(2) sync_start deps(%[[T]]) predicate(%f[%n, 1] <= -3)
// CHECK-NEXT:  }
kiln.func @predicate(%x: !kiln.tensor<8x8xf32>, %f: !kiln.tensor<?x2xi32>, %n: index) orchestration {
  %t = kiln.submit
  %k = kiln.incore "maybe" grid(2) sync_start deps(%t) predicate(%f[%n, 1] <= -3) {
    tile.barrier
    kiln.dump %x
  }
}

// A view is passed under the name of its tensor, also of an allocated one; two views of one are told apart.
// CHECK-LABEL: kiln.func @views(%x: !kiln.tensor<8x8xf32>, %x_0: !kiln.tensor<64xf32> {kiln.name = "x"}, %plus1: !kiln.tensor<64xf32>) incore {
kiln.func @reshaped(%x: !kiln.tensor<64xf32>) orchestration {
  %rows = kiln.reshape %x [8, 8] : !kiln.tensor<8x8xf32>
  %same = kiln.slice %x[0] [64] : !kiln.tensor<64xf32>
  %plus1 = kiln.alloc() : !kiln.tensor<8x8xf32>
  %flat = kiln.reshape %plus1 [64] : !kiln.tensor<64xf32>
  kiln.incore "views" {
    kiln.dump %rows
    kiln.dump %same
    kiln.dump %flat
  }
}
