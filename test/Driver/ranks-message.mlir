// What one rank sends is smaller than what the other receives into: an error with both lines, however the bytes travel.
// REQUIRES: mpi
// RUN: sh -c '%kiln run %s -p cpu --ranks 2 --no-reference 2>&1; test $? = 1' | FileCheck %s
// RUN: sh -c '%mpirun -n 2 %kiln run %s -p cpu --no-reference 2>&1; test $? = 1' | FileCheck %s
// CHECK: ranks {{0 and 1|1 and 0}} send and receive different types or extents: {{.*}}rank 0 {{(is )?}}at send of f32[4, 8] to rank 1 at {{.*}}ranks-message.mlir:[[#@LINE+10]]:
// CHECK-NOT: RAN

kiln.func @main(%x: !kiln.tensor<8x8xf32> inout) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %first = arith.cmpi eq, %me, %c0 : index
  scf.if %first {
    %part = kiln.slice %x[0, 0] [4, 8] : !kiln.tensor<4x8xf32>
    %s = kiln.send %part to %c1
  } else {
    %r = kiln.recv %x from %c0
  }
}
