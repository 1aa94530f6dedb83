// NaN wins in max and min, with so many ranks too that MPI would combine: its own may lose it.
// REQUIRES: mpi
// RUN: rm -rf %t && %kiln build %s -p cpu -o %t
// RUN: %mpirun -n 9 %kiln-exec %t --workers 1 | FileCheck %s
// CHECK-COUNT-9: x {{.*}} nan 1024

kiln.func @main(%x: !kiln.tensor<1x1024xf32> inout) orchestration {
  %c4 = arith.constant 4 : index
  %me = kiln.rank
  %is = arith.cmpi eq, %me, %c4 : index
  scf.if %is {
    %t = kiln.submit @spoil(%x)
  }
  %u = kiln.all_reduce %x, max
}
kiln.func @spoil(%x: !kiln.tensor<1x1024xf32> out) incore {
  %nan = arith.constant 0x7FC00000 : f32
  %t = tile.full %nan : !tile.tile<1x1024xf32>
  tile.store %t, %x[0, 0]
}
