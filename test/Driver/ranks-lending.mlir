// Large messages are lent and not copied: what either rank writes afterwards is its own, in every order of sending, reading and
// writing. The blocks reach beyond their last huge page.
// REQUIRES: mpi, torch
// RUN: %mpirun -n 2 %kiln run %s --arg x=3000x1024@0 --arg out=3000x1024@0 | FileCheck %s
// RUN: %mpirun -n 3 %kiln run %s --workers 2 --arg x=4500x1024@0 --arg out=4500x1024@0 | FileCheck %s
// CHECK: out {{ *}}against torch {{.*}}ok
// CHECK: PASS
// CHECK-NOT: FAIL

kiln.func @main(%x: !kiln.tensor<?x1024xf32> inout, %out: !kiln.tensor<?x1024xf32> inout) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c16 = arith.constant 16 : index
  %me = kiln.rank
  %n = kiln.ranks
  %rows = kiln.dim %x, 0
  %blocks = arith.ceildivsi %rows, %c32 : index
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %around = arith.addi %me, %n : index
  %down = arith.subi %around, %c1 : index
  %previous = arith.remsi %down, %n : index
  %kept = kiln.alloc(%rows) : !kiln.tensor<?x1024xf32>
  scf.for %step = %c0 to %c4 step %c1 {
    // What was sent in the last step is written here, and what was received is replaced.
    %a = kiln.submit @scale(%x) grid(%blocks, %c16)
    %s = kiln.send %x to %next
    %r = kiln.recv %kept from %previous
    %b = kiln.submit @add(%kept, %out) grid(%blocks, %c16)
    // Once more into memory of this step alone, which is written and sent on.
    %got = kiln.alloc(%rows) : !kiln.tensor<?x1024xf32>
    %s2 = kiln.send %x to %next
    %r2 = kiln.recv %got from %previous
    %c = kiln.submit @scale(%got) grid(%blocks, %c16)
    %d = kiln.submit @add(%got, %out) grid(%blocks, %c16)
    %passed = kiln.alloc(%rows) : !kiln.tensor<?x1024xf32>
    %s3 = kiln.send %kept to %next
    %r3 = kiln.recv %passed from %previous
    %e = kiln.submit @add(%passed, %out) grid(%blocks, %c16)
  }
}
kiln.func @scale(%x: !kiln.tensor<?x1024xf32> inout) incore {
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %bj = tile.block_idx 1
  %i = arith.muli %bi, %c32 : index
  %j = arith.muli %bj, %c64 : index
  %a = tile.load %x[%i, %j] : !tile.tile<32x64xf32>
  %f = arith.constant 0.5 : f32
  %s = tile.full %f : !tile.tile<32x64xf32>
  %b = tile.mul %a, %s : !tile.tile<32x64xf32>
  tile.store %b, %x[%i, %j]
}
kiln.func @add(%x: !kiln.tensor<?x1024xf32> in, %y: !kiln.tensor<?x1024xf32> inout) incore {
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %bj = tile.block_idx 1
  %i = arith.muli %bi, %c32 : index
  %j = arith.muli %bj, %c64 : index
  %a = tile.load %x[%i, %j] : !tile.tile<32x64xf32>
  %b = tile.load %y[%i, %j] : !tile.tile<32x64xf32>
  %c = tile.add %a, %b : !tile.tile<32x64xf32>
  tile.store %c, %y[%i, %j]
}
