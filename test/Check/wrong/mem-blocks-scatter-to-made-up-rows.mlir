// Which rows two blocks scatter to is what Kiln made up, so a race between them is none of the program's. It is one where
// all blocks take the same row numbers.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: not %kiln check %t/right.mlir | FileCheck %s --check-prefix=MADEUP
// RUN: %kiln check %t/right.mlir --arg idx=17:shuffled --arg x=17x16 --arg y=17x16 | FileCheck %s --check-prefix=RIGHT
// CHECK: error: race: block
// CHECK: FINDINGS
// MADEUP: findings: 0
// MADEUP: incomplete: {{.*}}race: block
// MADEUP-NEXT: shown by --arg idx=17 --arg x=17x16 --arg y=17x16, where Kiln made up what 'idx' holds; with --arg idx=17:shuffled --arg x=17x16 --arg y=17x16 it does not happen; give what is meant with --arg idx=SHAPE:NUMBERS
// MADEUP-NOT: require(
// MADEUP: INCOMPLETE
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module @scatter_dup {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %idx: !kiln.tensor<?xi32> in, %y: !kiln.tensor<?x?xf32> inout) orchestration {
    %c16 = arith.constant 16 : index
    %c8 = arith.constant 8 : index
    %0 = kiln.dim %x, 1
    %1 = arith.cmpi eq, %0, %c16 : index
    %2 = kiln.dim %y, 1
    %3 = arith.cmpi eq, %2, %c16 : index
    %4 = arith.andi %1, %3 : i1
    %5 = kiln.dim %idx, 0
    %6 = kiln.dim %x, 0
    %7 = arith.cmpi eq, %5, %6 : index
    %8 = arith.andi %4, %7 : i1
    %9 = kiln.dim %y, 0
    %10 = kiln.dim %x, 0
    %11 = arith.cmpi eq, %9, %10 : index
    %12 = arith.andi %8, %11 : i1
    kiln.require %12, "s"
    %13 = kiln.dim %x, 0
    %14 = arith.ceildivsi %13, %c8 : index
    %15 = kiln.incore "k" grid(%14) {
      %c8_0 = arith.constant 8 : index
      %block = tile.block_idx 0
      %16 = arith.muli %block, %c8_0 : index
      %17 = tile.load %x[%16, 0] : !tile.tile<8x16xf32>
      %18 = arith.muli %block, %c8_0 : index
      tile.scatter_rows %17, %y[0, 0] rows(%idx[0])
    }
  }
}

//--- right.mlir
module @scatter_dup {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %idx: !kiln.tensor<?xi32> in, %y: !kiln.tensor<?x?xf32> inout) orchestration {
    %c16 = arith.constant 16 : index
    %c8 = arith.constant 8 : index
    %0 = kiln.dim %x, 1
    %1 = arith.cmpi eq, %0, %c16 : index
    %2 = kiln.dim %y, 1
    %3 = arith.cmpi eq, %2, %c16 : index
    %4 = arith.andi %1, %3 : i1
    %5 = kiln.dim %idx, 0
    %6 = kiln.dim %x, 0
    %7 = arith.cmpi eq, %5, %6 : index
    %8 = arith.andi %4, %7 : i1
    %9 = kiln.dim %y, 0
    %10 = kiln.dim %x, 0
    %11 = arith.cmpi eq, %9, %10 : index
    %12 = arith.andi %8, %11 : i1
    kiln.require %12, "s"
    %13 = kiln.dim %x, 0
    %14 = arith.ceildivsi %13, %c8 : index
    %15 = kiln.incore "k" grid(%14) {
      %c8_0 = arith.constant 8 : index
      %block = tile.block_idx 0
      %16 = arith.muli %block, %c8_0 : index
      %17 = tile.load %x[%16, 0] : !tile.tile<8x16xf32>
      %18 = arith.muli %block, %c8_0 : index
      tile.scatter_rows %17, %y[0, 0] rows(%idx[%18])
    }
  }
}
