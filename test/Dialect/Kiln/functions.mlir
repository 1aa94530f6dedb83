// RUN: kiln-opt --allow-unregistered-dialect %s > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kiln-opt --allow-unregistered-dialect %t.mlir | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --mlir-print-op-generic | kiln-opt --allow-unregistered-dialect | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --emit-bytecode | kiln-opt --allow-unregistered-dialect | diff %t.mlir -

// Every function kind and clause, parameters with names, directions and attributes, and results.

// CHECK-LABEL: kiln.func @none() orchestration {
// CHECK-NEXT:  }
kiln.func @none() orchestration {}

// CHECK-LABEL: kiln.func @directions(%a: !kiln.tensor<4xf32> in, %b: !kiln.tensor<4xf32> out,
// CHECK-SAME:    %c: !kiln.tensor<4xf32> inout, %d: !kiln.tensor<4xf32>) incore {
kiln.func @directions(%a: !kiln.tensor<4xf32> in, %b: !kiln.tensor<4xf32> out, %c: !kiln.tensor<4xf32> inout,
                      %d: !kiln.tensor<4xf32>) incore {
}

// CHECK-LABEL: kiln.func @scalars(%n: index, %i: i64, %b: i1, %f: f32, %h: bf16) incore {
kiln.func @scalars(%n: index, %i: i64, %b: i1, %f: f32, %h: bf16) incore {
}

// A name that cannot be an SSA name is kept in an attribute, with or without a direction.
// CHECK-LABEL: kiln.func @names(%lambda_x: f32 {kiln.name = "lambda x"},
// CHECK-SAME:    %_9: !kiln.tensor<4xf32> in {kiln.name = "9"}, %_3C: f32 {kiln.name = "<"}, %ok: f32) incore {
kiln.func @names(%x: f32 {kiln.name = "lambda x"}, %y: !kiln.tensor<4xf32> in {kiln.name = "9"},
                 %z: f32 {kiln.name = "<"}, %w: f32 {kiln.name = "ok"}) incore {
}

// Two parameters may have one name; which of them is meant is not the syntax's business.
// CHECK-LABEL: kiln.func @twice(%x: f32, %x_0: f32 {kiln.name = "x"}) incore {
kiln.func @twice(%x: f32, %y: f32 {kiln.name = "x"}) incore {
}

// Numbers and %argN are made up by MLIR: the parameters stay without a name, unless one is given.
// CHECK-LABEL: kiln.func @unnamed(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32 {kiln.name = "arg3"},
// CHECK-SAME:    %arg3_0: f32 {kiln.name = ""}) incore {
kiln.func @unnamed(%0: f32, %1: f32, %arg7: f32, %x: f32 {kiln.name = "arg3"}, %y: f32 {kiln.name = ""}) incore {
}

// CHECK-LABEL: kiln.func @splits(%x: !kiln.tensor<4xf32>) incore split(up_down) {
kiln.func @splits(%x: !kiln.tensor<4xf32>) incore split(up_down) {
}
// CHECK-LABEL: kiln.func @splits_left_right() incore split(left_right) {
kiln.func @splits_left_right() incore split(left_right) {
}
// CHECK-LABEL: kiln.func @splits_none() incore split(none) {
kiln.func @splits_none() incore split(none) {
}

// CHECK-LABEL: kiln.func @cube(%p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aic) {
kiln.func @cube(%p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aic) {
}
// CHECK-LABEL: kiln.func @vector(%p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aiv) {
kiln.func @vector(%p: !tile.pipe<aic -> aiv, 8x8xf32>) role(aiv) {
}
// CHECK-LABEL: kiln.func @copies() role(dma) {
kiln.func @copies() role(dma) {
}
// CHECK-LABEL: kiln.func @computes() role(compute) {
kiln.func @computes() role(compute) {
}
// CHECK-LABEL: kiln.func @pair() group {
kiln.func @pair() group {
  %p = tile.pipe : !tile.pipe<aic -> aiv, 8x8xf32>
  kiln.call @cube(%p)
  kiln.call @vector(%p)
}
// CHECK-LABEL: kiln.func @hopper() group lanes(3) {
kiln.func @hopper() group lanes(3) {
  kiln.call @copies()
  kiln.call @computes()
}

// Attributes of other dialects stay.
// CHECK-LABEL: kiln.func @attributed(%x: f32 {test.note = 1 : i64}) incore attributes {sym_visibility = "private", test.note} {
kiln.func @attributed(%x: f32 {test.note = 1}) incore attributes {sym_visibility = "private", test.note} {
}

// CHECK-LABEL: kiln.func @returns(%x: !kiln.tensor<?x4xf32>, %n: index) -> (!kiln.tensor<?x4xf32>, !kiln.tensor<?xf32>) incore {
// CHECK-NEXT:    %[[T:.*]] = kiln.alloc(%n) : !kiln.tensor<?xf32>
// CHECK-NEXT:    kiln.return %x, %[[T]]
// CHECK-NEXT:  }
kiln.func @returns(%x: !kiln.tensor<?x4xf32>, %n: index) -> (!kiln.tensor<?x4xf32>, !kiln.tensor<?xf32>) incore {
  %t = kiln.alloc(%n) : !kiln.tensor<?xf32>
  kiln.return %x, %t
}
// CHECK-LABEL: kiln.func @returns_one(%x: !kiln.tensor<4xf32>) -> !kiln.tensor<4xf32> orchestration {
kiln.func @returns_one(%x: !kiln.tensor<4xf32>) -> !kiln.tensor<4xf32> orchestration {
  kiln.return %x
}

// The return of a function without results may be written; it is not printed.
// CHECK-LABEL: kiln.func @explicit_return() incore {
// CHECK-NEXT:  }
kiln.func @explicit_return() incore {
  kiln.return
}

// CHECK-LABEL: kiln.func @calls(%x: !kiln.tensor<8x4xf32>) incore {
// CHECK-NEXT:    %[[N:.*]] = kiln.dim %x, 0
// CHECK-NEXT:    %[[R:.*]]:2 = kiln.call @returns(%x, %[[N]]) -> !kiln.tensor<?x4xf32>, !kiln.tensor<?xf32>
// CHECK-NEXT:    kiln.dim %[[R]]#1, 0
// CHECK-NEXT:    kiln.call @explicit_return()
kiln.func @calls(%x: !kiln.tensor<8x4xf32>) incore {
  %n = kiln.dim %x, 0
  %r:2 = kiln.call @returns(%x, %n) -> !kiln.tensor<?x4xf32>, !kiln.tensor<?xf32>
  %d = kiln.dim %r#1, 0
  kiln.call @explicit_return()
}
// CHECK-LABEL: kiln.func @calls_one(%x: !kiln.tensor<4xf32>) orchestration {
// CHECK-NEXT:    kiln.call @returns_one(%x) -> !kiln.tensor<4xf32>
// CHECK-NEXT:    kiln.call @none() {test.note}
kiln.func @calls_one(%x: !kiln.tensor<4xf32>) orchestration {
  %r = kiln.call @returns_one(%x) -> !kiln.tensor<4xf32>
  kiln.call @none() {test.note}
}

// A call inside kiln.incore is a call from a kernel.
// CHECK-LABEL: kiln.func @calls_from_region(
// CHECK:         kiln.incore "k" {
// CHECK-NEXT:      kiln.call @scalars(
kiln.func @calls_from_region(%n: index, %i: i64, %b: i1, %f: f32, %h: bf16) orchestration {
  %t = kiln.incore "k" {
    kiln.call @scalars(%n, %i, %b, %f, %h)
  }
}

// A tensor is passed where less is known about it.
// CHECK-LABEL: kiln.func @forgets(
// CHECK-NEXT:    kiln.call @wants(%x, %y)
kiln.func @forgets(%x: !kiln.tensor<8x4xf32, strides [4, 1]>, %y: !kiln.tensor<8xf32, strides [1]>) incore {
  kiln.call @wants(%x, %y)
}
kiln.func @wants(%x: !kiln.tensor<?x4xf32, strides [?, 1]>, %y: !kiln.tensor<8xf32>) incore {
}

// Names of functions that need quotes.
// CHECK-LABEL: kiln.func @"two words"() incore {
kiln.func @"two words"() incore {
}
// CHECK-LABEL: kiln.func @run() orchestration {
// CHECK-NEXT:    kiln.submit @"two words"()
kiln.func @run() orchestration {
  %t = kiln.submit @"two words"()
}
