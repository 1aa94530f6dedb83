// Ranks that combine different numbers of rows fail with both lines, whether MPI would carry the rows with the line of text or after it.
// REQUIRES: mpi
// RUN: sh -c '%mpirun -n 2 %kiln run %s -p cpu --no-reference --arg x=64x1024 2>&1; test $? = 1' | FileCheck %s
// RUN: sh -c '%mpirun -n 2 %kiln run %s -p cpu --no-reference --arg x=64x8 2>&1; test $? = 1' | FileCheck %s
// RUN: sh -c '%mpirun -n 2 %kiln run %s -p cpu --no-reference --arg x=64x60 2>&1; test $? = 1' | FileCheck %s
// CHECK: ranks {{0 and 1|1 and 0}} do not come to the same collective: {{.*}}rank 0 {{(is )?}}at sum, all_reduce of f32[1, {{8|60|1024}}] at {{.*}}ranks-extents.mlir:[[#@LINE+9]]:
// CHECK-NOT: MPI_ERR

kiln.func @main(%x: !kiln.tensor<?x?xf32> inout) orchestration {
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %rows = arith.addi %me, %c1 : index
  %columns = kiln.dim %x, 1
  %part = kiln.slice %x[0, 0] [%rows, %columns] : !kiln.tensor<?x?xf32>
  %t = kiln.all_reduce %part, sum
}
