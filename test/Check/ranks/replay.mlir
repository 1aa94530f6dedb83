// What shows a finding of several ranks again has the arguments that were given.
// RUN: not %kiln check %s --arg x=40x16 --arg y=40x16 --seeds 1 | FileCheck %s
// RUN: not %kiln check %s --ranks 2 --arg x=40x16 --arg y=40x16 --as-given --seeds 1 --seed 0 | FileCheck %s
// CHECK: error: the ranks wait for each other for ever
// CHECK: replay: {{.*}}kiln check {{.*}}replay.mlir --ranks 2 --arg x=40x16 --arg y=40x16 --as-given --seeds 1 --seed 0
// CHECK: FINDINGS
module @allreduce_cond {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %c0 = arith.constant 0 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "s"
    %7 = kiln.dim %x, 1
    %8 = arith.cmpi eq, %7, %c16 : index
    kiln.require %8, "w"
    %9 = kiln.dim %x, 0
    %10 = arith.ceildivsi %9, %c16 : index
    %11 = kiln.incore "k" grid(%10) {
      %c16_0 = arith.constant 16 : index
      %block = tile.block_idx 0
      %14 = arith.muli %block, %c16_0 : index
      %15 = tile.load %x[%14, 0] : !tile.tile<16x16xf32>
      %16 = arith.muli %block, %c16_0 : index
      tile.store %15, %y[%16, 0]
    }
    %12 = kiln.rank
    %13 = arith.cmpi eq, %12, %c0 : index
    scf.if %13 {
      %14 = kiln.all_reduce %y, sum
    }
  }
}
