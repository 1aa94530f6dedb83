// The right twins: what is wrong elsewhere, done as it should be, is proved for any number of ranks.
// RUN: %kiln check %s --as-given --seeds 1 2>&1 | FileCheck %s
// CHECK: 2 collectives and 2 messages of ranks: the same on every rank, proved for any number of ranks
// CHECK: 3 ranks: {{.*}} matched
// CHECK-NOT: incomplete
// CHECK: CLEAN
kiln.func @main(%x: !kiln.tensor<8x8xf32> inout, %y: !kiln.tensor<8x8xf32> inout) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %n = kiln.ranks
  %t = kiln.all_reduce %x, sum
  %u = kiln.broadcast %y from %c0 deps(%t)
  %from = kiln.alloc() : !kiln.tensor<8x8xf32>
  %into = kiln.alloc() : !kiln.tensor<8x8xf32>
  %v = kiln.submit @copy(%y, %from)
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %around = arith.addi %me, %n : index
  %down = arith.subi %around, %c1 : index
  %previous = arith.remsi %down, %n : index
  %several = arith.cmpi sgt, %n, %c1 : index
  scf.if %several {
    %s = kiln.send %from to %next
    %r = kiln.recv %into from %previous
    %w = kiln.submit @copy(%into, %y)
  }
}
kiln.func @copy(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
}
