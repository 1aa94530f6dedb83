// RUN: kiln-opt %s --kiln-infer-directions | FileCheck %s
// RUN: kiln-opt %s --kiln-infer-directions --kiln-infer-directions | FileCheck %s

// Loads read, stores write, an atomic store does both, a dimension is neither; views count for what they view.
// CHECK-LABEL: kiln.func @kernel(%r: !kiln.tensor<?x8xf32> in, %w: !kiln.tensor<?x8xf32> out, %rw: !kiln.tensor<?x8xf32> inout {kiln.inferred}, %acc: !kiln.tensor<?x8xf32> inout {kiln.inferred}, %dim_only: !kiln.tensor<?x8xf32> in, %unused: !kiln.tensor<?x8xf32> in, %viewed: !kiln.tensor<8x8xf32> out)
kiln.func @kernel(%r: !kiln.tensor<?x8xf32>, %w: !kiln.tensor<?x8xf32>, %rw: !kiln.tensor<?x8xf32>, %acc: !kiln.tensor<?x8xf32>, %dim_only: !kiln.tensor<?x8xf32>, %unused: !kiln.tensor<?x8xf32>, %viewed: !kiln.tensor<8x8xf32>) incore {
  %d = kiln.dim %dim_only, 0
  %x = tile.load %r[%d, 0] : !tile.tile<8x8xf32>
  %y = tile.load %rw[0, 0] : !tile.tile<8x8xf32>
  tile.store %x, %w[0, 0]
  tile.store %y, %rw[0, 0]
  tile.store %x, %acc[0, 0] atomic(add)
  %s = kiln.slice %viewed[0, 0] [4, 8] : !kiln.tensor<4x8xf32>
  %t = kiln.transpose %s, [1, 0] : !kiln.tensor<8x4xf32>
  %c = arith.constant 1.0 : f32
  kiln.write %c, %t[1, 2]
}

// A group whose second member writes what the first reads is inout; so is whoever launches it.
!p = !tile.pipe<aic -> aiv, 8x8xf32>
// CHECK-LABEL: kiln.func @first(%t: !kiln.tensor<8x8xf32> in,
kiln.func @first(%t: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %x = tile.load %t[0, 0] : !tile.tile<8x8xf32>
  tile.push %x, %p
}
// CHECK-LABEL: kiln.func @second(%t: !kiln.tensor<8x8xf32> out,
kiln.func @second(%t: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %x = tile.pop %p : !tile.tile<8x8xf32>
  tile.store %x, %t[0, 0]
}
// CHECK-LABEL: kiln.func @both(%t: !kiln.tensor<8x8xf32> inout {kiln.inferred}) group
kiln.func @both(%t: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe : !p
  kiln.call @first(%t, %p)
  kiln.call @second(%t, %p)
}
// The callee stands after its caller here; order in the file does not matter.
// CHECK-LABEL: kiln.func @main(%t: !kiln.tensor<8x8xf32> inout {kiln.inferred}, %flag: !kiln.tensor<2xi32> in, %o: !kiln.tensor<8x8xf32> out) orchestration
kiln.func @main(%t: !kiln.tensor<8x8xf32>, %flag: !kiln.tensor<2xi32>, %o: !kiln.tensor<8x8xf32>) orchestration {
  %task = kiln.submit @both(%t) predicate(%flag[0] > 0)
  kiln.call @later(%o)
}
// CHECK-LABEL: kiln.func @later(%z: !kiln.tensor<8x8xf32> out) orchestration
kiln.func @later(%z: !kiln.tensor<8x8xf32>) orchestration {
  %task = kiln.submit @fill(%z)
}
// CHECK-LABEL: kiln.func @fill(%z: !kiln.tensor<8x8xf32> out) incore
kiln.func @fill(%z: !kiln.tensor<8x8xf32>) incore {
  %c = arith.constant 1.0 : f32
  %x = tile.full %c : !tile.tile<8x8xf32>
  tile.store %x, %z[0, 0]
}

// Row numbers are read; hints and dump marks are neither.
// CHECK-LABEL: kiln.func @rows(%from: !kiln.tensor<8x8xf32> in, %to: !kiln.tensor<8x8xf32> out, %add: !kiln.tensor<8x8xf32> inout {kiln.inferred}, %r0: !kiln.tensor<8xi32> in, %r1: !kiln.tensor<8xi32> in, %hinted: !kiln.tensor<8x8xf32> in, %marked: !kiln.tensor<8x8xf32> out)
kiln.func @rows(%from: !kiln.tensor<8x8xf32>, %to: !kiln.tensor<8x8xf32>, %add: !kiln.tensor<8x8xf32>, %r0: !kiln.tensor<8xi32>, %r1: !kiln.tensor<8xi32>, %hinted: !kiln.tensor<8x8xf32>, %marked: !kiln.tensor<8x8xf32>) incore {
  %x = tile.gather_rows %from[0, 0] rows(%r0[0]) : !tile.tile<8x8xf32>
  tile.scatter_rows %x, %to[0, 0] rows(%r1[0])
  tile.scatter_rows %x, %add[0, 0] rows(%r1[0]) atomic(add)
  tile.prefetch %hinted[0, 0] shape(8, 8)
  kiln.dump %marked
  tile.store %x, %marked[0, 0]
}

// A table that is scattered into as well.
// CHECK-LABEL: kiln.func @table(%t: !kiln.tensor<8x8xi32> inout {kiln.inferred})
kiln.func @table(%t: !kiln.tensor<8x8xi32>) incore {
  %c = arith.constant 1 : i32
  %x = tile.full %c : !tile.tile<8x8xi32>
  tile.scatter_rows %x, %t[0, 0] rows(%t[0, 0])
}

// CHECK-LABEL: kiln.func @in_place(%flag: !kiln.tensor<2xi32> in)
kiln.func @in_place(%flag: !kiln.tensor<2xi32>) orchestration {
  %k = kiln.incore "k" predicate(%flag[0] > 0) {
  }
}

// What is declared stays. inout may only be written, which keeps the rest. What an orchestration declares out it may
// read, for it may have written it before.
// CHECK-LABEL: kiln.func @partial(%cache: !kiln.tensor<8x8xf32> inout) incore
kiln.func @partial(%cache: !kiln.tensor<8x8xf32> inout) incore {
  %c = arith.constant 1.0 : f32
  %x = tile.full %c : !tile.tile<1x8xf32>
  tile.store %x, %cache[3, 0]
}
// CHECK-LABEL: kiln.func @sum(%acc: !kiln.tensor<8x8xf32> inout {kiln.inferred}) incore
kiln.func @sum(%acc: !kiln.tensor<8x8xf32>) incore {
  %c = arith.constant 1.0 : f32
  %x = tile.full %c : !tile.tile<8x8xf32>
  tile.store %x, %acc[0, 0] atomic(add)
}
// CHECK-LABEL: kiln.func @promises(%cache: !kiln.tensor<8x8xf32> inout, %total: !kiln.tensor<8x8xf32> out) orchestration
kiln.func @promises(%cache: !kiln.tensor<8x8xf32> inout, %total: !kiln.tensor<8x8xf32> out) orchestration {
  %t = kiln.submit @partial(%cache)
  %u = kiln.submit @fill(%total)
  %v = kiln.submit @sum(%total)
}
