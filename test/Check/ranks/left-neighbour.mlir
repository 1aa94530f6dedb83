// The left neighbour is (rank - 1) % ranks, and may be written so that no number is negative.
// RUN: %kiln check %s --ranks 3 | FileCheck %s
// CHECK: 2 messages of ranks: the same on every rank, proved for any number of ranks
// CHECK: 3 ranks: 3 collectives matched
// CHECK: CLEAN
kiln.func @copy(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out) orchestration {
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %n = kiln.ranks
  %a = arith.addi %me, %c1 : index
  %right = arith.remsi %a, %n : index
  %b = arith.addi %me, %n : index
  %c = arith.subi %b, %c1 : index
  %left = arith.remsi %c, %n : index
  %t = kiln.alloc() : !kiln.tensor<8x8xf32>
  %s = kiln.send %x to %right
  %r = kiln.recv %t from %left
  %k = kiln.submit @copy(%t, %y)
}
