// Two messages may be under way to one rank, and what is used first need not be what was asked for first.
// REQUIRES: torch
// RUN: %kiln run %s --ranks 2 -p cpu --arg x=8x16@0 --arg y=8x16@0 | FileCheck %s
// RUN: %kiln run %s --ranks 3 -p a2a3sim --arg x=12x16@0 --arg y=12x16@0 | FileCheck %s
// CHECK: y {{ *}}against torch {{.*}}ok
// CHECK: PASS

kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> inout) orchestration {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %rows = kiln.dim %x, 0
  %me = kiln.rank
  %n = kiln.ranks
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %around = arith.addi %me, %n : index
  %down = arith.subi %around, %c1 : index
  %previous = arith.remsi %down, %n : index
  %first = kiln.alloc(%rows) : !kiln.tensor<?x16xf32>
  %second = kiln.alloc(%rows) : !kiln.tensor<?x16xf32>
  %s1 = kiln.send %x to %next
  %r1 = kiln.recv %first from %previous
  %s2 = kiln.send %y to %next
  %r2 = kiln.recv %second from %previous
  %a = kiln.submit @add(%second, %y)
  %b = kiln.submit @add(%first, %y)
}
kiln.func @add(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> inout) incore {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.tile<4x16xf32>
  %b = tile.load %y[%c0, %c0] : !tile.tile<4x16xf32>
  %s = tile.add %a, %b : !tile.tile<4x16xf32>
  tile.store %s, %y[%c0, %c0]
}
