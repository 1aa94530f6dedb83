// The ranks come to two collectives in different orders.
// RUN: not %kiln check %s --as-given --seeds 1 2>&1 | FileCheck %s
// CHECK: error: {{.*}}ranks 0 and 1 come to different collectives: rank 0 is at all_reduce of f32[8, 8] at {{.*}}different-orders.mlir:11:{{[0-9]+}}, rank 1 at broadcast of f32[8, 8] from rank 0 at {{.*}}different-orders.mlir:14
// CHECK: FINDINGS
kiln.func @main(%x: !kiln.tensor<8x8xf32> inout, %y: !kiln.tensor<8x8xf32> inout) orchestration {
  %c0 = arith.constant 0 : index
  %me = kiln.rank
  %is = arith.cmpi eq, %me, %c0 : index

  scf.if %is {
    %t = kiln.all_reduce %x, sum
    %u = kiln.broadcast %y from %c0
  } else {
    %u = kiln.broadcast %y from %c0
    %t = kiln.all_reduce %x, sum
  }
}
