// With a number of ranks that is given the program runs with so many of them, and not alone, where it would send to itself.
// RUN: %kiln check %s --ranks 3 --arg x=40x16 --arg y=40x16 --seeds 1 | FileCheck %s
// RUN: not %kiln check %s --arg x=40x16 --arg y=40x16 --seeds 1 | FileCheck %s --check-prefix=ALONE
// CHECK-NOT: error:
// CHECK: 3 ranks: 3 collectives matched
// CHECK-NOT: simulation on
// CHECK: CLEAN
// ALONE: error:
// ALONE: FINDINGS
module @ring_wrong {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c1 = arith.constant 1 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "s"
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
