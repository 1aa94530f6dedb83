// Nothing says that what is sent has the extents of what is received into: then the proof cannot know.
// RUN: not %kiln check %s --ranks 3 --arg x=40x16 --arg y=40x16 --seeds 1 | FileCheck %s
// CHECK: INCOMPLETE
module @ring_open {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c1 = arith.constant 1 : index
    %7 = kiln.rank
    %8 = kiln.ranks
    %9 = arith.addi %7, %c1 : index
    %10 = arith.remsi %9, %8 : index
    %11 = kiln.send %x to %10
    %12 = arith.addi %7, %8 : index
    %13 = arith.subi %12, %c1 : index
    %14 = arith.remsi %13, %8 : index
    %15 = kiln.recv %y from %14
  }
}
