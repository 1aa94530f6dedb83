// What has tiles or tensors and says nothing of itself is refused by name, by every pass that would have to know.
// RUN: not kiln-opt %s --allow-unregistered-dialect --kiln-infer-directions 2>&1 | FileCheck %s -DWHAT="which tensors it reads and writes"
// RUN: not kiln-opt %s --allow-unregistered-dialect --kiln-partition-roles 2>&1 | FileCheck %s -DWHAT="how it divides over lanes"
// RUN: not kiln-opt %s --allow-unregistered-dialect --tile-place-frees 2>&1 | FileCheck %s -DWHAT="whether it makes a view of a tile"
// RUN: not kiln-opt %s --allow-unregistered-dialect --kiln-skew-pipeline 2>&1 | FileCheck %s -DWHAT="which tensors it reads and writes"
// RUN: not kiln-opt %s --allow-unregistered-dialect --tile-choose-spaces 2>&1 | FileCheck %s -DWHAT="what class of work it is"
// RUN: not kiln-opt %s --allow-unregistered-dialect --tile-plan-memory 2>&1 | FileCheck %s -DWHAT="whether it works in place"

kiln.func @k(%x: !kiln.tensor<16x16xf32>) incore split(up_down) {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  // CHECK: unknown-op.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'foo.bar' op does not say [[WHAT]]
  %u = "foo.bar"(%t) : (!tile.tile<16x16xf32>) -> !tile.tile<16x16xf32>
  tile.store %u, %x[0, 0]
}
