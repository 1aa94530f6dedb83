// Every collective, in groups too, on 1 to 4 ranks in one process, against the reference; the same bits every time.
// REQUIRES: torch
// RUN: %kiln run %s -p a2a3sim --ranks 1 --arg x=24x8@0 --arg y=24x8 --arg z=24x8@0 | FileCheck %s
// RUN: %kiln run %s -p a2a3sim --ranks 2 --arg x=24x8@0 --arg y=24x8 --arg z=24x8@0 | FileCheck %s
// RUN: %kiln run %s -p a2a3sim --ranks 3 --arg x=24x8@0 --arg y=24x8 --arg z=24x8@0 --seed 5 | FileCheck %s
// RUN: %kiln run %s -p cpu --ranks 4 --arg x=24x8@0 --arg y=24x8 --arg z=24x8@0 | FileCheck %s --check-prefixes=CHECK,FOUR
// RUN: %kiln run %s -p torch --ranks 4 --arg x=24x8@0 --arg y=24x8 --arg z=24x8@0 | FileCheck %s --check-prefix=ALONE
// CHECK: rank 0 {{.*}}against torch {{ *}}max |error| 0 {{ *}}ok
// FOUR: rank 3 {{.*}}against torch {{ *}}max |error| 0 {{ *}}ok
// CHECK: PASS
// ALONE: RAN

kiln.func @main(%x: !kiln.tensor<?x8xf32> in, %y: !kiln.tensor<24x8xf32> out, %z: !kiln.tensor<?x8xf32> out) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %n = kiln.ranks
  %rows = kiln.dim %x, 0
  %gather = kiln.all_gather %x to %y
  %sum = kiln.all_reduce %y, sum fixed_order
  %swapped = kiln.alloc() : !kiln.tensor<24x8xf32>
  %exchange = kiln.all_to_all %y to %swapped
  %largest = kiln.reduce_scatter %swapped to %z, max
  %root = kiln.broadcast %z from %c0
  %along = kiln.all_reduce %z, sum along <one of one = 1, rest = ?>
  %whole = kiln.all_reduce %z, min along <rest of one = 1, rest = ?>
  %barrier = kiln.rank_barrier
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %around = arith.addi %me, %n : index
  %down = arith.subi %around, %c1 : index
  %previous = arith.remsi %down, %n : index
  %several = arith.cmpi sgt, %n, %c1 : index
  scf.if %several {
    %got = kiln.alloc(%rows) : !kiln.tensor<?x8xf32>
    %r = kiln.recv %got from %previous
    %s = kiln.send %x to %next
    %t = kiln.submit @add(%got, %z)
  }
}
kiln.func @add(%x: !kiln.tensor<?x8xf32> in, %y: !kiln.tensor<?x8xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %b = tile.load %y[0, 0] : !tile.tile<8x8xf32>
  %c = tile.add %a, %b : !tile.tile<8x8xf32>
  tile.store %c, %y[0, 0]
}
