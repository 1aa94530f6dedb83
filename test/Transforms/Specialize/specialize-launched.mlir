// RUN: kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{entry=add facts='f32 rank 2 leading 1;f32 rank 2 leading 1'})" | FileCheck %s

// A kernel that an orchestration launches can be compiled by itself. Who launches it goes: it would pass tensors of the
// types the kernel had. What the kernel calls stays.
// CHECK-LABEL: kiln.func @helper
// CHECK-LABEL: kiln.func @add(%x: !kiln.tensor<?x?xf32, strides [?, 1]>, %y: !kiln.tensor<?x?xf32, strides [?, 1]>)
// CHECK-LABEL: kiln.func @unrelated
// CHECK-NOT: @main
// CHECK-NOT: @outer
kiln.func @helper(%x: !kiln.tensor<?x?xf32>) incore {
  kiln.dump %x
}
kiln.func @add(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  kiln.call @helper(%x)
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @unrelated(%x: !kiln.tensor<?x?xf32>) incore {
  kiln.dump %x
}
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) orchestration {
  %t = kiln.submit @add(%x, %y)
}
kiln.func @outer(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) orchestration {
  kiln.call @main(%x, %y)
}
