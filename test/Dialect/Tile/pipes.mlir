// RUN: kiln-opt --allow-unregistered-dialect %s > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kiln-opt --allow-unregistered-dialect %t.mlir | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --mlir-print-op-generic | kiln-opt --allow-unregistered-dialect | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --emit-bytecode | kiln-opt --allow-unregistered-dialect | diff %t.mlir -

// Pipes: made in a group, pushed, popped and freed in its roles.

// CHECK-LABEL: kiln.func @producer(
// CHECK:         tile.push %[[X:.*]], %p
// CHECK-NEXT:    tile.push %[[X]], %[[X]], %two
// CHECK-NEXT:    tile.push %token
kiln.func @producer(%s: f32, %p: !tile.pipe<aic -> aiv, 8x8xf32, up_down>,
                    %two: !tile.pipe<aic -> aiv, (8x8xf32, 8x8xf32)>, %token: !tile.pipe<aic -> aiv, token>) role(aic) {
  %t = tile.full %s : !tile.tile<8x8xf32>
  tile.push %t, %p
  tile.push %t, %t, %two
  tile.push %token
}
// CHECK-LABEL: kiln.func @consumer(
// CHECK-NEXT:    tile.pop %p : !tile.tile<4x8xf32>
// CHECK-NEXT:    tile.free %p
// CHECK-NEXT:    %[[T:.*]]:2 = tile.pop %two {test.note} : !tile.tile<8x8xf32>, !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.free %two
// CHECK-NEXT:    tile.pop %token
// CHECK-NEXT:    tile.free %token
kiln.func @consumer(%p: !tile.pipe<aic -> aiv, 8x8xf32, up_down>, %two: !tile.pipe<aic -> aiv, (8x8xf32, 8x8xf32)>,
                    %token: !tile.pipe<aic -> aiv, token>) role(aiv) {
  %a = tile.pop %p : !tile.tile<4x8xf32>
  tile.free %p
  %b:2 = tile.pop %two {test.note} : !tile.tile<8x8xf32>, !tile.tile<8x8xf32>
  tile.free %two
  tile.pop %token
  tile.free %token
}
// CHECK-LABEL: kiln.func @both(%s: f32) group lanes(2) {
// CHECK-NEXT:    %p = tile.pipe slots(4) : !tile.pipe<aic -> aiv, 8x8xf32, up_down>
// CHECK-NEXT:    %0 = tile.pipe slots(1) : !tile.pipe<aic -> aiv, (8x8xf32, 8x8xf32)>
// CHECK-NEXT:    %{{.*}} = tile.pipe slots(3) name("<>") : !tile.pipe<aic -> aiv, token>
// CHECK-NEXT:    kiln.call @producer(
// CHECK-NEXT:    kiln.call @consumer(
kiln.func @both(%s: f32) group lanes(2) {
  %p = tile.pipe slots(4) : !tile.pipe<aic -> aiv, 8x8xf32, up_down>
  %0 = tile.pipe slots(1) : !tile.pipe<aic -> aiv, (8x8xf32, 8x8xf32)>
  %token = tile.pipe slots(3) name("<>") : !tile.pipe<aic -> aiv, token>
  kiln.call @producer(%s, %p, %0, %token)
  kiln.call @consumer(%p, %0, %token)
}

// A delay line: both ends are one role. Columns are shared by left_right.
// CHECK-LABEL: kiln.func @feedback(
// CHECK:         tile.push %{{.*}}, %p
// CHECK-NEXT:    tile.pop %p : !tile.tile<8x4xf32>
kiln.func @feedback(%s: f32, %p: !tile.pipe<aiv -> aiv, 8x8xf32, left_right>) role(aiv) {
  %t = tile.full %s : !tile.tile<8x4xf32>
  tile.push %t, %p
  %u = tile.pop %p : !tile.tile<8x4xf32>
}
// CHECK-LABEL: kiln.func @delay(
// CHECK-NEXT:    %delay_line = tile.pipe name("delay line") : !tile.pipe<aiv -> aiv, 8x8xf32, left_right>
kiln.func @delay(%s: f32) group lanes(2) {
  %p = tile.pipe name("delay line") : !tile.pipe<aiv -> aiv, 8x8xf32, left_right>
  kiln.call @feedback(%s, %p)
}

// A part of a group: pipe ops in loops and branches of a role.
// CHECK-LABEL: kiln.func @nested(
// CHECK:         scf.for
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        tile.pop %p : !tile.tile<8x8xf32>
kiln.func @nested(%n: index, %c: i1, %p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %c {
      %t = tile.pop %p : !tile.tile<8x8xf32>
    }
  }
}
