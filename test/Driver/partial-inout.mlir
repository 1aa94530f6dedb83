// One row is replaced and the rest is kept, which is what inout says; nothing need read it.
// REQUIRES: torch
// RUN: %kiln run %s -p cpu --arg r=3 | FileCheck %s
// RUN: %kiln run %s -p a2a3sim --arg r=3 | FileCheck %s
// RUN: %kiln run %s -p a5sim --arg r=3 | FileCheck %s
// RUN: %kiln run %s -p torch --arg r=3
// RUN: %kiln emit %s --after kiln-infer-directions | FileCheck %s --check-prefix=IR
// CHECK: y {{.*}}ok
// IR: kiln.func @main(%x: !kiln.tensor<1x64xf32> in, %y: !kiln.tensor<10x64xf32> inout, %r: index) orchestration
kiln.func @main(%x: !kiln.tensor<1x64xf32> in, %y: !kiln.tensor<10x64xf32> inout, %r: index) orchestration {
  %t = kiln.incore "update" {
    %row = tile.load %x[0, 0] : !tile.tile<1x64xf32>
    %two = tile.add %row, %row : !tile.tile<1x64xf32>
    tile.store %two, %y[%r, 0]
  }
}
