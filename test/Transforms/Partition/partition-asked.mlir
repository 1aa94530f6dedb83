// A kernel gets the lanes, the split and the slots that it asks for.
// RUN: kiln-opt %s | kiln-opt | FileCheck %s --check-prefix=TEXT
// RUN: kiln-opt %s --kiln-outline | FileCheck %s --check-prefix=OUTLINED
// RUN: kiln-opt %s --kiln-partition-roles | FileCheck %s

// TEXT: @asks{{.*}} incore lanes(2) split(left_right) slots(3) {
// CHECK-LABEL: kiln.func @asks({{.*}}) group lanes(2) {
// CHECK: tile.pipe slots(3) : !tile.pipe<aic -> aiv, 32x32xf32, left_right>
kiln.func @asks(%a: !kiln.tensor<32x32xf32>, %y: !kiln.tensor<32x32xf32>) incore lanes(2) split(left_right) slots(3) {
  %x = tile.load %a[0, 0] : !tile.tile<32x32xf32>
  %p = tile.matmul %x, %x : !tile.tile<32x32xf32>
  %e = tile.exp %p : !tile.tile<32x32xf32>
  tile.store %e, %y[0, 0]
}

// One lane shares nothing, whatever the split.
// TEXT: @one_lane{{.*}} incore lanes(1) split(up_down) {
// CHECK-LABEL: kiln.func @one_lane({{.*}}) group {
// CHECK: tile.pipe : !tile.pipe<aic -> aiv, 32x32xf32>
kiln.func @one_lane(%a: !kiln.tensor<32x32xf32>, %y: !kiln.tensor<32x32xf32>) incore lanes(1) split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<32x32xf32>
  %p = tile.matmul %x, %x : !tile.tile<32x32xf32>
  %e = tile.exp %p : !tile.tile<32x32xf32>
  tile.store %e, %y[0, 0]
}

// What is one role's has neither pipes nor lanes.
// CHECK-LABEL: kiln.func @no_pipes({{.*}}) role(aiv) {
kiln.func @no_pipes(%a: !kiln.tensor<32x32xf32>, %y: !kiln.tensor<32x32xf32>) incore lanes(1) slots(4) {
  %x = tile.load %a[0, 0] : !tile.tile<32x32xf32>
  %e = tile.exp %x : !tile.tile<32x32xf32>
  tile.store %e, %y[0, 0]
}

// A kernel written in place takes them along.
// TEXT: kiln.incore "in_place" grid(4) lanes(2) split(up_down) slots(2) {
// OUTLINED: kiln.func @in_place({{.*}}) incore lanes(2) split(up_down) slots(2) {
kiln.func @main(%a: !kiln.tensor<32x32xf32>, %y: !kiln.tensor<32x32xf32>) orchestration {
  %t = kiln.incore "in_place" grid(4) lanes(2) split(up_down) slots(2) {
    %x = tile.load %a[0, 0] : !tile.tile<32x32xf32>
    tile.store %x, %y[0, 0]
  }
}
