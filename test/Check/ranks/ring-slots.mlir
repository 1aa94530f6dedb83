// What comes by is kept in slots that are counted by the loop: a slot and the next one have nothing in common, and a parameter is as
// large as a slot that was made of its extents. So this is proved for any number of ranks; the wrong twin receives into the slot that
// it sends from.
// RUN: split-file %s %t
// RUN: %kiln check %t/right.mlir --as-given --arg x=4x8 --arg y=4x8 --seeds 1 2>&1 | FileCheck %s
// RUN: not %kiln check %t/wrong.mlir --as-given --arg x=4x8 --arg y=4x8 --seeds 1 --ranks 3 2>&1 | FileCheck %s --check-prefix=WRONG
// CHECK: 4 messages of ranks: the same on every rank, proved for any number of ranks
// CHECK-NOT: incomplete
// CHECK: CLEAN
// WRONG: error: {{.*}}wait for each other for ever
// WRONG: FINDINGS

//--- right.mlir
kiln.func @add(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %b = tile.load %y[0, 0] : !tile.tile<4x8xf32>
  %c = tile.add %a, %b : !tile.tile<4x8xf32>
  tile.store %c, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> inout) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = kiln.dim %x, 0
  %columns = kiln.dim %x, 1
  %me = kiln.rank
  %n = kiln.ranks
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %around = arith.addi %me, %n : index
  %down = arith.subi %around, %c1 : index
  %previous = arith.remsi %down, %n : index
  %most = arith.subi %n, %c1 : index
  %all = arith.muli %n, %rows : index
  %slots = kiln.alloc(%all, %columns) : !kiln.tensor<?x?xf32>
  %start = arith.muli %c0, %rows : index
  %first = kiln.slice %slots[%start, 0] [%rows, %columns] : !kiln.tensor<?x?xf32>
  %several = arith.cmpi sgt, %n, %c1 : index
  scf.if %several {
    %s = kiln.send %x to %next
    %r = kiln.recv %first from %previous
  }
  scf.for %i = %c0 to %most step %c1 {
    %at = arith.muli %i, %rows : index
    %here = kiln.slice %slots[%at, 0] [%rows, %columns] : !kiln.tensor<?x?xf32>
    %i1 = arith.addi %i, %c1 : index
    %behind = arith.muli %i1, %rows : index
    %there = kiln.slice %slots[%behind, 0] [%rows, %columns] : !kiln.tensor<?x?xf32>
    %s1 = kiln.send %here to %next
    %r1 = kiln.recv %there from %previous
    %t = kiln.submit @add(%there, %y)
  }
}

//--- wrong.mlir
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> inout) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = kiln.dim %y, 0
  %columns = kiln.dim %y, 1
  %me = kiln.rank
  %n = kiln.ranks
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %around = arith.addi %me, %n : index
  %down = arith.subi %around, %c1 : index
  %previous = arith.remsi %down, %n : index
  scf.for %i = %c0 to %c1 step %c1 {
    %at = arith.muli %i, %rows : index
    %here = kiln.slice %y[%at, 0] [%rows, %columns] : !kiln.tensor<?x?xf32>
    %i1 = arith.subi %i, %c0 : index
    %behind = arith.muli %i1, %rows : index
    %there = kiln.slice %y[%behind, 0] [%rows, %columns] : !kiln.tensor<?x?xf32>
    %s1 = kiln.send %here to %next
    %r1 = kiln.recv %there from %previous
  }
}
