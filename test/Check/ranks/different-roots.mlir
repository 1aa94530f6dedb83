// Every rank takes itself for the root.
// RUN: not %kiln check %s --as-given --seeds 1 2>&1 | FileCheck %s
// CHECK: error: {{.*}}ranks 0 and 1 name different roots: rank 0 is at broadcast of f32[8, 8] from rank 0 at {{.*}}different-roots.mlir:[[#]]:{{[0-9]+}}, rank 1 at broadcast of f32[8, 8] from rank 1 at {{.*}}different-roots.mlir:[[#]]
// CHECK: incomplete: {{.*}}kiln.broadcast has a root that depends on which rank it is
// CHECK: FINDINGS
kiln.func @main(%y: !kiln.tensor<8x8xf32> inout) orchestration {
  %me = kiln.rank
  %t = kiln.broadcast %y from %me
}
