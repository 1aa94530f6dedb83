// RUN: kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{facts='f32 rank 2 leading 1 offsets32 static 0:128:64;f32 rank 2 leading 0;f32 rank 2 divisible 8'})" | FileCheck %s
// RUN: kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{facts='f32 rank 2 leading 1 offsets32 static 0:128:64;f32 rank 2 leading 0;f32 rank 2 divisible 8'},canonicalize,kiln-outline)" | FileCheck %s --check-prefix=OUTLINE
// RUN: kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{facts='f32 rank 2;f32 rank 2;f32 rank 2'})" | FileCheck %s --check-prefix=NOTHING

// What the platform declares is noted.
// CHECK: module attributes {kiln.reads = ["leading", "offsets32", "static", "divisible"]}
// Static extents and strides go into the type, as does the 1 of the leading dimension; the rest are attributes.
// CHECK: kiln.func @main(%a: !kiln.tensor<128x?xf32, strides [64, 1]> {kiln.offsets32},
// CHECK-SAME: %b: !kiln.tensor<?x?xf32, strides [1, ?]>, %n: index, %c: !kiln.tensor<?x16xf32> {kiln.divisible = 8 : i64})
// CHECK: kiln.transpose %b, [1, 0] : !kiln.tensor<?x?xf32>

// The extent is a constant downstream, and kernels know what the entry knows.
// OUTLINE: kiln.func @copy(%a: !kiln.tensor<128x?xf32, strides [64, 1]> {kiln.offsets32},
// OUTLINE-SAME: %c: !kiln.tensor<?x16xf32> {kiln.divisible = 8 : i64})
// OUTLINE: %[[BLOCKS:.*]] = arith.constant 8 : index
// OUTLINE: kiln.submit @copy(%a, %c) grid(%[[BLOCKS]])

// Without facts nothing changes.
// NOTHING: kiln.func @main(%a: !kiln.tensor<?x?xf32>, %b: !kiln.tensor<?x?xf32>, %n: index, %c: !kiln.tensor<?x16xf32>)
kiln.func @main(%a: !kiln.tensor<?x?xf32>, %b: !kiln.tensor<?x?xf32>, %n: index, %c: !kiln.tensor<?x16xf32>) orchestration {
  %c16 = arith.constant 16 : index
  %m = kiln.dim %a, 0
  %blocks = arith.ceildivsi %m, %c16 : index
  %t = kiln.incore "copy" grid(%blocks) {
    %tile = tile.load %a[0, 0] : !tile.tile<16x16xf32>
    tile.store %tile, %c[0, 0]
  }
  %bt = kiln.transpose %b, [1, 0] : !kiln.tensor<?x?xf32>
  kiln.dump %bt
}
