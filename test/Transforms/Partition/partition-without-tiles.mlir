// A kernel without tiles is divided between lanes although the text names nothing of their dialect: one of them writes.
// RUN: kiln-opt %s --kiln-pipeline=platform=h200 | FileCheck %s

// CHECK-LABEL: kiln.func @scalar_compute
// CHECK:         %[[LANE:.*]] = tile.lane
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]]
// CHECK:         scf.if %[[FIRST]] {
// CHECK-NEXT:      kiln.write %x, %y[0]
kiln.func @scalar(%y: !kiln.tensor<4xf32>, %x: f32) incore lanes(2) split(up_down) {
  kiln.write %x, %y[0]
}
